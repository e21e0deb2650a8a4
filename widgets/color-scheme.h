/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef enum
{
  ASSAY_COLOR_SCHEME_SYSTEM, /* what the desktop's portal says; light where there is none */
  ASSAY_COLOR_SCHEME_LIGHT,
  ASSAY_COLOR_SCHEME_DARK,
} AssayColorScheme;

/* Loads our style sheet and the palette of the scheme, and keeps both in step with
 * GtkSettings:gtk-application-prefer-dark-theme. Call once per display. */
void assay_color_scheme_install (GdkDisplay *display);
void assay_color_scheme_set (AssayColorScheme scheme);
AssayColorScheme assay_color_scheme_get (void);
gboolean assay_color_scheme_is_dark (void);

G_END_DECLS
