/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/record/run.h"

G_BEGIN_DECLS

/* The four questions a reviewer brings to the numbers, each answered in a word, with the figures that
 * say so. Candidate, tolerance and reference are judged over all workloads of the output; where the
 * error sits is told of the one that is shown. */
typedef enum
{
  ASSAY_QUESTION_CANDIDATE, /* is it right? */
  ASSAY_QUESTION_TOLERANCE, /* too loose, too tight? */
  ASSAY_QUESTION_REFERENCE, /* good enough? */
  ASSAY_QUESTION_PLACE,     /* where does the error sit? */
  ASSAY_N_QUESTIONS,
} AssayQuestion;

typedef enum
{
  ASSAY_ANSWER_GOOD,
  ASSAY_ANSWER_DOUBTFUL,
  ASSAY_ANSWER_BAD,
  ASSAY_ANSWER_UNKNOWN,
} AssayAnswer;

typedef struct
{
  int answer;           /* AssayAnswer */
  const char *question; /* "Candidate" */
  char *word;           /* "Wrong" */
  char *text;           /* one or two sentences */
} AssayVerdict;

void assay_verdicts (const AssayRun *run, const AssayWorkloadRecord *workload,
                     const AssayOutput *output, AssayVerdict verdicts[ASSAY_N_QUESTIONS]);
void assay_verdicts_clear (AssayVerdict verdicts[ASSAY_N_QUESTIONS]);

G_END_DECLS
