/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gio/gio.h>
#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* A row of the command table in engine/main.c. */
typedef struct
{
  const char *name;
  const char *summary;
  /* argv[0] is the command's name; returns the exit status. */
  int (*run) (int argc, char **argv);
} AssayCommand;

/* Exit statuses, the same for every command. */
enum
{
  ASSAY_EXIT_FINE = 0,
  ASSAY_EXIT_FAULTS = 1,     /* the check found faults */
  ASSAY_EXIT_IMPOSSIBLE = 2, /* could not be done */
};

int assay_command_run (int argc, char **argv);
int assay_command_compare (int argc, char **argv);
int assay_command_explain (int argc, char **argv);
int assay_command_exec (int argc, char **argv);
int assay_command_figure (int argc, char **argv);
int assay_command_import_counters (int argc, char **argv);
int assay_command_import_sanitizer (int argc, char **argv);
int assay_command_devices (int argc, char **argv);
int assay_command_doctor (int argc, char **argv);
int assay_command_lint (int argc, char **argv);
int assay_command_matrix (int argc, char **argv);
int assay_command_report (int argc, char **argv);
int assay_command_sweep (int argc, char **argv);
int assay_command_trace (int argc, char **argv);

/* For all of them */

/* Parses options; wrong ones are told on stderr, and FALSE. What is left are the arguments. */
gboolean assay_command_parse (GOptionContext *context, int *argc, char ***argv);
/* Tells on stderr what could not be done; returns ASSAY_EXIT_IMPOSSIBLE. */
int assay_command_fail (const char *command, const GError *error);
/* Cancelled by the first SIGINT, SIGTERM or SIGHUP, so that work in progress ends its workers and takes its
 * folders away; a second one of a kind kills as ever. One for the process, owned by it. */
GCancellable *assay_command_interruptible (void);
/* What others wrote, for a terminal: valid UTF-8 without control characters, cut after `most` characters
 * (transfer full). */
char *assay_command_plain (const char *text, glong most);
/* Writes JSON to a file, or to stdout for "-". */
gboolean assay_command_write_json (JsonNode *node, const char *target, GError **error);

/* Columns of text, as wide as their widest cell. */
typedef struct _AssayTextTable AssayTextTable;
/* Titles in turn, ending with NULL; one that begins with '>' is aligned to the right. */
AssayTextTable *assay_text_table_new (const char *first, ...) G_GNUC_NULL_TERMINATED;
void assay_text_table_free (AssayTextTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayTextTable, assay_text_table_free)
/* One cell for each column; NULL is "–". */
void assay_text_table_add (AssayTextTable *table, const char *first, ...);
/* Every line begins with `indent`. Prints nothing where there is no row. */
void assay_text_table_print (const AssayTextTable *table, const char *indent);

G_END_DECLS
