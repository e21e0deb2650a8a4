/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* The one table of keys. It feeds the application's accelerators, the window's plain keys, the
 * shortcuts window and the command palette; a test holds it free of duplicates. */

typedef enum
{
  ASSAY_KEYS_ACCEL,  /* works everywhere, with a modifier or a function key */
  ASSAY_KEYS_WINDOW, /* a plain key, where no text is being typed */
  ASSAY_KEYS_PLOT,   /* bound by the plot itself; listed here for the reader */
} AssayKeyScope;

typedef struct
{
  const char *group;  /* heading in the shortcuts window */
  const char *title;  /* imperative; also the palette's text */
  const char *action; /* detailed action name; NULL for PLOT */
  const char *keys;   /* GTK accelerators, blanks between; NULL: palette only */
  AssayKeyScope scope;
  gboolean in_palette;
} AssayShortcut;

extern const AssayShortcut ASSAY_SHORTCUTS[];
extern const guint ASSAY_N_SHORTCUTS;

void assay_shortcuts_set_accels (GtkApplication *application);
/* Plain keys, in the bubble phase: text fields come first. (transfer full) */
GtkEventController *assay_shortcuts_window_controller (void);
GtkWidget *assay_shortcuts_window_new (void);

G_END_DECLS
