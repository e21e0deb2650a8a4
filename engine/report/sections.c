/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/report/sections.h"

#include "engine/figures/figures.h"

#include <math.h>
#include <string.h>

static const char *
or_dash (const char *text)
{
  return text && *text ? text : "–";
}

static gboolean
has_words (const char *text)
{
  return text && text[strspn (text, " \t\r\n")] != 0;
}

void
assay_document_add_head (AssayDocument *report, const AssayDocumentInput *input)
{
  const AssayReview *review = input->review;
  AssayBlock *title = assay_document_add (report, ASSAY_BLOCK_TITLE, review->task.id);
  AssayBlock *facts = NULL;
  title->lead = g_strjoin (" · ", or_dash (input->title), or_dash (input->category),
                           or_dash (input->framework), NULL);
  title->note = g_strdup (review->accept ? review->accept : "undecided");
  facts = assay_document_add (report, ASSAY_BLOCK_FACTS, NULL);
  g_autofree char *minutes = g_strdup_printf ("%.0f min active", review->seconds_active / 60);
  g_autofree char *hash = review->task.sha256 && strlen (review->task.sha256) > 12
                              ? g_strdup_printf ("sha256 %.12s…", review->task.sha256)
                              : g_strdup (or_dash (review->task.sha256));
  g_autofree char *licence = g_strdup_printf ("%s, training %s", or_dash (input->licence),
                                              or_dash (input->training_allowed));
  g_autofree char *device =
      input->run ? g_strdup_printf ("%s %s, run %s", or_dash (input->run->device.name),
                                    or_dash (input->run->device.target), input->run->id)
                 : g_strdup ("no run");
  assay_block_add_row (facts, "reviewer", or_dash (review->reviewer), NULL);
  assay_block_add_row (facts, "candidate", or_dash (review->candidate), NULL);
  assay_block_add_row (facts, "measured on", device, NULL);
  assay_block_add_row (facts, "task", hash, NULL);
  assay_block_add_row (facts, "licence", licence, NULL);
  assay_block_add_row (facts, "time", minutes, NULL);
  if (has_words (review->summary))
    assay_document_add (report, ASSAY_BLOCK_PARAGRAPH, review->summary);
}

/* The scores of an axis as digits, and the problem of its lowest score. */
static void
axis_scores (const AssayDocumentInput *input, const char *axis, GString *digits, const char **why)
{
  gint64 lowest = G_MAXINT64;
  *why = "";
  for (guint i = 0; i < input->review->scores->len; i++)
    {
      const AssayScore *score = g_ptr_array_index (input->review->scores, i);
      const AssayCriterion *criterion = assay_rubric_criterion (input->rubric, score->criterion);
      gint64 level = 0;
      if (!criterion || g_strcmp0 (criterion->axis, axis) != 0)
        continue;
      if (digits->len)
        g_string_append_c (digits, ' ');
      if (!assay_score_level (score, &level))
        {
          g_string_append (digits, "–");
          continue;
        }
      g_string_append_printf (digits, "%" G_GINT64_FORMAT, level);
      if (level < lowest)
        {
          lowest = level;
          *why = assay_criterion_anchor (criterion, level);
        }
    }
}

void
assay_document_add_verdicts (AssayDocument *report, const AssayDocumentInput *input)
{
  assay_document_add (report, ASSAY_BLOCK_HEADING, "Verdicts")->level = 1;
  AssayBlock *block = assay_document_add (report, ASSAY_BLOCK_VERDICTS, NULL);
  block->level = (int) input->rubric->scale.max;
  for (guint i = 0; i < input->rubric->axes->len; i++)
    {
      const AssayAxisWords *axis = g_ptr_array_index (input->rubric->axes, i);
      const char *verdict = assay_review_verdict (input->review, axis->id);
      g_autoptr (GString) digits = g_string_new (NULL);
      const char *why = NULL;
      axis_scores (input, axis->id, digits, &why);
      /* The place of the word in the rubric's list says how good it is: first, between, last. */
      const char *tone = "none";
      for (guint v = 0; verdict && axis->verdicts[v]; v++)
        if (g_str_equal (axis->verdicts[v], verdict))
          tone = v == 0 ? "good" : axis->verdicts[v + 1] ? "between" : "bad";
      assay_block_add_row (block, axis->title, verdict ? verdict : "missing", digits->str,
                           why ? why : "", tone, NULL);
    }
}

static void
add_quote (AssayDocument *report, const AssayDocumentInput *input, const AssayEvidence *evidence)
{
  AssayBlock *block = assay_document_add (report, ASSAY_BLOCK_CODE, evidence->quote);
  gboolean lines = evidence->first_line > 0 || g_strcmp0 (evidence->kind, "source") == 0;
  block->lead = g_strdup (lines || !evidence->title ? or_dash (evidence->ref) : evidence->title);
  block->first = lines ? MAX (1, evidence->first_line) : 0;
  if (input->task_folder && assay_evidence_is_stale (evidence, input->task_folder))
    block->note = g_strdup ("the file has changed since this was quoted");
}

static void
add_evidence (AssayDocument *report, const AssayDocumentInput *input, const AssayScore *score,
              guint *figure)
{
  g_autoptr (GString) others = g_string_new (NULL);
  for (guint i = 0; i < score->evidence->len; i++)
    {
      const AssayEvidence *evidence = g_ptr_array_index (score->evidence, i);
      g_autoptr (AssayPlotScene) scene =
          input->run && evidence->ref ? assay_figure_from_ref (input->run, evidence->ref) : NULL;
      if (scene)
        {
          g_autofree char *caption =
              g_strdup_printf ("Figure %u. %s Run %s, %s.", ++*figure, scene->description,
                               input->run->id, evidence->ref + strlen ("numerics/"));
          AssayBlock *block = assay_document_add (report, ASSAY_BLOCK_FIGURE, caption);
          block->scene = g_steal_pointer (&scene);
        }
      else if (has_words (evidence->quote))
        add_quote (report, input, evidence);
      else
        g_string_append_printf (others, "%s%s (%s)", others->len ? "; " : "",
                                evidence->title ? evidence->title : or_dash (evidence->ref),
                                evidence->kind);
    }
  if (has_words (score->evidence_text))
    g_string_append_printf (others, "%s%s", others->len ? "; " : "", score->evidence_text);
  if (others->len)
    assay_document_add (report, ASSAY_BLOCK_PARAGRAPH, others->str)->lead = g_strdup ("Evidence.");
}

/* The number, or why there is none; `anchor` gets the level's words. */
static char *
score_words (const AssayCriterion *criterion, const AssayScore *score, const char **anchor)
{
  gint64 level = 0;
  *anchor = "";
  if (assay_score_level (score, &level))
    {
      *anchor = or_dash (assay_criterion_anchor (criterion, level));
      return g_strdup (score->value);
    }
  return g_strdup (g_str_equal (score->value, "na") ? "not applicable" : "cannot judge");
}

/* A criterion without words or evidence takes one line, any other a heading of its own. */
static void
add_criterion (AssayDocument *report, const AssayDocumentInput *input,
               const AssayCriterion *criterion, const AssayScore *score, guint *figure)
{
  const char *anchor = NULL;
  g_autofree char *words = score_words (criterion, score, &anchor);
  gboolean plain = !has_words (score->problem) && !has_words (score->fix)
                   && !has_words (score->evidence_text) && !score->evidence->len;
  if (plain)
    {
      AssayBlock *line = assay_document_add (report, ASSAY_BLOCK_PARAGRAPH, anchor);
      line->lead = g_strdup_printf ("%s: %s.", criterion->title, words);
      return;
    }
  g_autofree char *title = g_strdup_printf ("%s: %s", criterion->title, words);
  AssayBlock *heading = assay_document_add (report, ASSAY_BLOCK_HEADING, title);
  heading->level = 2;
  heading->note = score->overridden ? g_strdup_printf ("machine suggested %" G_GINT64_FORMAT,
                                                       score->machine_suggestion)
                                    : NULL;
  if (*anchor)
    assay_document_add (report, ASSAY_BLOCK_PARAGRAPH, anchor)->lead = g_strdup ("Level.");
  if (has_words (score->problem))
    assay_document_add (report, ASSAY_BLOCK_PARAGRAPH, score->problem)->lead =
        g_strdup ("Problem.");
  add_evidence (report, input, score, figure);
  if (has_words (score->fix))
    assay_document_add (report, ASSAY_BLOCK_PARAGRAPH, score->fix)->lead = g_strdup ("Fix.");
}

/* Axes in the rubric's order; a criterion without words takes one line. */
void
assay_document_add_criteria (AssayDocument *report, const AssayDocumentInput *input)
{
  guint figure = 0;
  for (guint a = 0; a < input->rubric->axes->len; a++)
    {
      const AssayAxisWords *axis = g_ptr_array_index (input->rubric->axes, a);
      gboolean headed = FALSE;
      for (guint i = 0; i < input->review->scores->len; i++)
        {
          const AssayScore *score = g_ptr_array_index (input->review->scores, i);
          const AssayCriterion *criterion =
              assay_rubric_criterion (input->rubric, score->criterion);
          if (!criterion || !score->value || g_strcmp0 (criterion->axis, axis->id) != 0)
            continue;
          if (!headed)
            {
              AssayBlock *heading = assay_document_add (report, ASSAY_BLOCK_HEADING, axis->title);
              heading->level = 1;
              heading->note = g_strdup (assay_review_verdict (input->review, axis->id));
              headed = TRUE;
            }
          add_criterion (report, input, criterion, score, &figure);
        }
    }
}

static char *
where_words (const AssayFinding *finding)
{
  GString *out = g_string_new (NULL);
  const AssayWhere *where = &finding->where;
  g_string_append_printf (out, "blame: %s", ASSAY_BLAMES[finding->blame]);
  if (finding->component)
    g_string_append_printf (out, ", %s", finding->component);
  if (where->file && where->line > 0)
    g_string_append_printf (out, " · %s:%" G_GINT64_FORMAT, where->file, where->line);
  else if (where->file)
    g_string_append_printf (out, " · %s", where->file);
  if (where->workload)
    g_string_append_printf (out, " · workload %s", where->workload);
  if (finding->count > 1)
    g_string_append_printf (out, " · %" G_GUINT64_FORMAT " times", finding->count);
  if (finding->disposition != ASSAY_DISPOSITION_OPEN)
    g_string_append_printf (out, " · %s", ASSAY_DISPOSITIONS[finding->disposition]);
  return g_string_free (out, FALSE);
}

void
assay_document_add_findings (AssayDocument *report, const AssayDocumentInput *input)
{
  if (!input->findings || !input->findings->len)
    return;
  AssayBlock *heading = assay_document_add (report, ASSAY_BLOCK_HEADING, "Findings");
  heading->level = 1;
  heading->note = g_strdup_printf ("%u by measurement", input->findings->len);
  for (guint i = 0; i < input->findings->len; i++)
    {
      const AssayFinding *finding = g_ptr_array_index (input->findings, i);
      AssayBlock *block = assay_document_add (report, ASSAY_BLOCK_FINDING, finding->title);
      block->lead = g_strdup (finding->rule);
      block->note = where_words (finding);
      block->level = finding->severity;
      if (has_words (finding->detail))
        assay_document_add (report, ASSAY_BLOCK_PARAGRAPH, finding->detail);
      if (has_words (finding->suggestion))
        assay_document_add (report, ASSAY_BLOCK_PARAGRAPH, finding->suggestion)->lead =
            g_strdup ("Suggestion.");
      if (has_words (finding->reason))
        assay_document_add (report, ASSAY_BLOCK_PARAGRAPH, finding->reason)->lead =
            g_strdup ("Reviewer.");
      if (has_words (finding->reproduce))
        {
          AssayBlock *code = assay_document_add (report, ASSAY_BLOCK_CODE, finding->reproduce);
          code->lead = g_strdup ("To see it again:");
        }
    }
}

static void
add_columns (AssayBlock *block, const char *const *names, const double *weights, guint n)
{
  block->columns = g_strdupv ((char **) names);
  g_array_append_vals (block->weights, weights, n);
}

static void
add_workloads (AssayDocument *report, const AssayRun *run)
{
  static const char *const NAMES[] = {"workload", "output",     "status",        "worst ulp",
                                      "rms ulp",  "mismatches", "reference ulp", NULL};
  static const double WEIGHTS[] = {1.2, 1.2, 1.7, 1, 1, 1.1, 1.2};
  if (!run->workloads->len)
    return;
  AssayBlock *block = assay_document_add (report, ASSAY_BLOCK_TABLE, NULL);
  add_columns (block, NAMES, WEIGHTS, G_N_ELEMENTS (WEIGHTS));
  for (guint i = 0; i < run->workloads->len; i++)
    {
      const AssayWorkloadRecord *workload = g_ptr_array_index (run->workloads, i);
      const char *status = ASSAY_WORKLOAD_STATUSES[workload->status];
      if (!workload->outputs->len)
        assay_block_add_row (block, workload->name, "–", status, "–", "–", "–", "–", NULL);
      for (guint o = 0; o < workload->outputs->len; o++)
        {
          const AssayOutput *output = g_ptr_array_index (workload->outputs, o);
          const AssayComparison *c = output->comparison;
          const AssayComparison *r = output->gold ? output->gold->reference : NULL;
          g_autofree char *worst = c ? assay_format_number (fabs (c->max_ulp_real.value), 3) : NULL;
          g_autofree char *rms = c ? assay_format_number (c->rms_ulp, 3) : NULL;
          g_autofree char *misses = c ? assay_format_count (c->mismatches) : NULL;
          g_autofree char *its = r ? assay_format_number (fabs (r->max_ulp_real.value), 3) : NULL;
          assay_block_add_row (block, workload->name, output->name, status, or_dash (worst),
                               or_dash (rms), or_dash (misses), or_dash (its), NULL);
        }
    }
}

static void
add_stages (AssayDocument *report, const AssayRun *run)
{
  static const char *const NAMES[] = {"stage", "status", "seconds", "why", NULL};
  static const double WEIGHTS[] = {1, 1, 0.8, 4};
  AssayBlock *block = assay_document_add (report, ASSAY_BLOCK_TABLE, NULL);
  add_columns (block, NAMES, WEIGHTS, G_N_ELEMENTS (WEIGHTS));
  for (guint i = 0; i < run->stages->len; i++)
    {
      const AssayStage *stage = g_ptr_array_index (run->stages, i);
      g_autofree char *seconds = isfinite (stage->seconds) && stage->seconds > 0
                                     ? g_strdup_printf ("%.2f", stage->seconds)
                                     : g_strdup ("–");
      assay_block_add_row (block, stage->name, ASSAY_STATUSES[stage->status], seconds,
                           stage->reason ? stage->reason : "", NULL);
    }
}

void
assay_document_add_measurement (AssayDocument *report, const AssayDocumentInput *input)
{
  const AssayRun *run = input->run;
  if (!run)
    return;
  assay_document_add (report, ASSAY_BLOCK_HEADING, "How it was measured")->level = 1;
  add_workloads (report, run);
  AssayBlock *facts = assay_document_add (report, ASSAY_BLOCK_FACTS, NULL);
  assay_block_add_row (facts, "device", or_dash (run->device.name), NULL);
  assay_block_add_row (facts, "target", or_dash (run->device.target), NULL);
  assay_block_add_row (facts, "toolkit", or_dash (run->device.toolkit), NULL);
  assay_block_add_row (facts, "arithmetic", or_dash (run->device.math_mode), NULL);
  assay_block_add_row (facts, "checks", or_dash (run->device.checks), NULL);
  assay_block_add_row (facts, "sandbox", or_dash (run->environment.sandbox), NULL);
  assay_block_add_row (facts, "host", or_dash (run->environment.cpu), NULL);
  assay_block_add_row (facts, "started", or_dash (run->started), NULL);
  if (run->audit && has_words (run->audit->summary))
    assay_document_add (report, ASSAY_BLOCK_PARAGRAPH, run->audit->summary)->lead =
        g_strdup ("Tolerance audit.");
  if (g_strcmp0 (run->device.kind, "virtual") == 0)
    assay_document_add (
        report, ASSAY_BLOCK_PARAGRAPH,
        "Values, memory accesses and races are those of the kernel's PTX, run on the virtual GPU "
        "in "
        "a sequentially consistent order. It has no notion of time; nothing here is a speed.");
  add_stages (report, run);
}

JsonNode *
assay_document_record (const AssayDocumentInput *input)
{
  JsonObject *object = json_object_new ();
  json_object_set_string_member (object, "format", "assay-report");
  json_object_set_int_member (object, "version", 1);
  json_object_set_member (object, "review",
                          assay_json_table_write (&ASSAY_REVIEW_TABLE, input->review));
  json_object_set_member (object, "rubric",
                          assay_json_table_write (&ASSAY_RUBRIC_TABLE, input->rubric));
  JsonArray *findings = json_array_new ();
  for (guint i = 0; input->findings && i < input->findings->len; i++)
    json_array_add_element (
        findings,
        assay_json_table_write (&ASSAY_FINDING_TABLE, g_ptr_array_index (input->findings, i)));
  json_object_set_array_member (object, "findings", findings);
  if (input->run)
    json_object_set_member (object, "run", assay_json_table_write (&ASSAY_RUN_TABLE, input->run));
  JsonObject *task = json_object_new ();
  const char *const facts[][2] = {{"title", input->title},
                                  {"category", input->category},
                                  {"framework", input->framework},
                                  {"licence", input->licence},
                                  {"training_allowed", input->training_allowed}};
  for (gsize i = 0; i < G_N_ELEMENTS (facts); i++)
    if (facts[i][1])
      json_object_set_string_member (task, facts[i][0], facts[i][1]);
  json_object_set_object_member (object, "task", task);
  JsonNode *node = json_node_init_object (json_node_alloc (), object);
  json_object_unref (object);
  return node;
}
