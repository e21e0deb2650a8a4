/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "app/application.h"
#include "app/window.h"

G_BEGIN_DECLS

/* One application with its window on a private display, in a home of its own that is removed again.
 * Tests drive real widgets and wait for effects, never for time. */
typedef struct
{
  AssayApplication *application;
  AssayWindow *window;
  char *home; /* temporary; holds workspace, state, copies of tasks */
  char *workspace;
} AssayUi;

/* Sets the environment (home, no portal), initialises GTK; skips the program (77) without a display. */
void assay_ui_init (int *argc, char ***argv);
/* Starts the application on copies of the tasks below tests/ui/tasks (`tasks` NULL) or on `tasks`;
 * `engine` is the program to use as the engine, NULL for none. Recorded runs lie in the workspace. */
AssayUi *assay_ui_start (const char *tasks, const char *engine);
void assay_ui_free (AssayUi *ui);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayUi, assay_ui_free)

typedef gboolean (*AssayUiCondition) (gpointer data);
/* Runs the main loop until `condition` holds; fails the test after a minute. */
void assay_ui_wait (AssayUiCondition condition, gpointer data, const char *what);
/* Lets everything that is pending happen, and the next frame be drawn. */
void assay_ui_settle (AssayUi *ui);
/* First descendant of the type whose buildable id, CSS name or class is `name`; NULL name: any. */
GtkWidget *assay_ui_find (GtkWidget *root, GType type, const char *name);
/* A visible descendant label, button or text whose text contains `text`; NULL where none does. */
GtkWidget *assay_ui_find_text (GtkWidget *root, const char *text);
void assay_ui_activate (AssayUi *ui, const char *action, const char *format, ...);
/* An open window of a type, or NULL. */
GtkWidget *assay_ui_window (GType type);
gboolean assay_ui_shoot (AssayUi *ui, const char *path);
gboolean assay_ui_shoot_widget (GtkWidget *widget, const char *path);
char *assay_ui_data (const char *relative);

G_END_DECLS
