/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/record/run.h"

G_BEGIN_DECLS

/* Where the error of an output sits, from its map by position and its worst elements. A place counts as
 * hot when its rms error is above 8 ulp and 16 times both what is usual in this output and what the
 * reference in the task's precision has there: badly conditioned places are not the candidate's doing. */
typedef enum
{
  ASSAY_PLACE_NOWHERE,    /* every element is the gold, rounded */
  ASSAY_PLACE_EVEN,       /* no place stands out */
  ASSAY_PLACE_EVERYWHERE, /* more than half of the elements miss the rule */
  ASSAY_PLACE_ROWS,
  ASSAY_PLACE_COLUMNS,
  ASSAY_PLACE_STEPS,    /* at every so many elements */
  ASSAY_PLACE_DIAGONAL, /* the worst of them where column - row is one number: a mask */
  ASSAY_PLACE_CELLS,    /* some cells of the map, in no line */
  ASSAY_PLACE_PART_ROWS, /* nearly all of the error in a run of rows that is at most two fifths of all, */
  ASSAY_PLACE_PART_COLUMNS, /* or of columns: no line stands out, but there is little elsewhere */
} AssayPlaceKind;

typedef struct
{
  int kind; /* AssayPlaceKind */
  gint64 first,
      last; /* ROWS, COLUMNS, PART_*: of the output seen as rows × columns; STEPS: the first element */
  gint64 extent;    /* ROWS, COLUMNS, PART_*: how many there are */
  double share;     /* PART_*: of the squared error, by medians of lines */
  gint64 step;      /* STEPS; DIAGONAL: column - row */
  guint hot, cells; /* hot cells of all */
} AssayErrorPlace;

/* `output` has a comparison. */
AssayErrorPlace assay_error_place (const AssayOutput *output);
/* (transfer full) (nullable): "rows 96 to 99 of 100" for a band of rows or columns, else NULL. */
char *assay_error_band (const AssayOutput *output);

G_END_DECLS
