/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/task/task.h"

G_BEGIN_DECLS

/* What the checks of a task's meaning share. Inside this room only; assay_task_problems is the door. */

typedef struct
{
  const AssayTask *task;
  GPtrArray *list; /* char * */
} AssayProblems;

void assay_problem (AssayProblems *problems, const char *path, const char *expected,
                    const char *found);
void assay_problem_quoted (AssayProblems *problems, const char *path, const char *expected,
                           const char *found);
void assay_problem_error (AssayProblems *problems, const char *path, const GError *error);

void assay_check_word (AssayProblems *problems, const char *path, const char *word,
                       const char *const *words);
void assay_check_file (AssayProblems *problems, const char *path, const char *relative);
void assay_check_files (AssayProblems *problems, const char *path, char **files);
void assay_check_expression (AssayProblems *problems, const char *path, const char *text);
void assay_check_expressions (AssayProblems *problems, const char *path, char **texts);
/* (transfer full): known names in a row: axes alone, or inputs, outputs and axes. */
char *assay_task_names (const AssayTask *task, gboolean arrays);

void assay_check_programs (AssayProblems *problems);
void assay_check_workloads (AssayProblems *problems);

G_END_DECLS
