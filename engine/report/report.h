/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/plot/scene.h"
#include "engine/record/run.h"
#include "engine/review/review.h"

G_BEGIN_DECLS

/* One report model, three writers: what Markdown, PDF and the preview say is the same list of blocks. */

typedef enum
{
  ASSAY_BLOCK_TITLE,     /* text; lead: subtitle; note: the recommendation or "draft" */
  ASSAY_BLOCK_HEADING,   /* text, level 1 or 2; note: words at the right end */
  ASSAY_BLOCK_PARAGRAPH, /* lead (bold) and text */
  ASSAY_BLOCK_FACTS,     /* rows of {key, value} */
  ASSAY_BLOCK_VERDICTS,  /* rows of {axis, verdict, scores as digits, why}; level: highest score */
  ASSAY_BLOCK_TABLE,     /* columns, rows; weights */
  ASSAY_BLOCK_FIGURE,    /* scene, text: caption */
  ASSAY_BLOCK_CODE,      /* text: lines; first: number of the first; lead: file; marks */
  ASSAY_BLOCK_FINDING,   /* text: title; lead: rule; note: blame …; level: severity */
} AssayBlockKind;

typedef struct
{
  AssayBlockKind kind;
  int level;
  char *text, *lead, *note;
  GStrv columns;
  GPtrArray *rows; /* GStrv */
  GArray *weights; /* double a column */
  AssayPlotScene *scene;
  gint64 first, mark_first, mark_last;
} AssayBlock;

typedef struct
{
  GPtrArray *blocks; /* AssayBlock * */
  char *heading;     /* running head, left */
  char *status;      /* running head, right: rubric, draft or submitted */
  char *footer;
  char *title, *author, *created; /* PDF metadata; created: ISO 8601 */
  JsonNode *record;               /* the JSON document */
} AssayDocument;

/* What a report is made from; everything is only read, and may be NULL unless said. */
typedef struct
{
  const AssayReview *review; /* not NULL */
  const AssayRubric *rubric; /* not NULL */
  const AssayRun *run;       /* the run the figures come from */
  const GPtrArray *findings; /* AssayFinding *, judged */
  const char *title, *category, *framework;
  const char *licence, *training_allowed;
  const char *task_folder; /* for quoted lines */
} AssayDocumentInput;

AssayDocument *assay_document_new (const AssayDocumentInput *input);
void assay_document_free (AssayDocument *report);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayDocument, assay_document_free)

/* (transfer full): figures are linked as `<figures>/figure-N.svg`. */
char *assay_document_markdown (const AssayDocument *report, const char *figures);

/* Writes by the ending of `path`: .md (with a folder `<stem>-figures` beside it), .pdf, .json. The
 * file is complete or absent; an existing one is replaced. */
gboolean assay_document_export (const AssayDocument *report, const char *path, GError **error);

/* Block builders, for sections. */
AssayBlock *assay_document_add (AssayDocument *report, AssayBlockKind kind, const char *text);
void assay_block_add_row (AssayBlock *block, const char *first, ...) G_GNUC_NULL_TERMINATED;

G_END_DECLS
