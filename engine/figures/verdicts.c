/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/figures/verdicts.h"

#include "engine/figures/figures.h"
#include "engine/plot/axis.h"
#include "engine/record/error-place.h"

#include <math.h>
#include <string.h>

/* Beyond four bits worse than the reference, an accepted candidate is called imprecise. */
#define IMPRECISE 16.0

typedef struct
{
  const AssayRun *run;
  const AssayWorkloadRecord *workload;
  const AssayOutput *output;
} Shown;

static void
answer (AssayVerdict *verdict, AssayAnswer answer, const char *word, char *text)
{
  verdict->answer = answer;
  verdict->word = g_strdup (word);
  verdict->text = text;
}

static const AssayOutput *
same_output (const AssayWorkloadRecord *workload, const char *name)
{
  const AssayOutput *output = assay_workload_find_output (workload, name);
  return output && output->comparison ? output : NULL;
}

static const AssayFinding *
find_rule (const AssayRun *run, const char *prefix, int severity, const char *output)
{
  for (guint i = 0; i < run->findings->len; i++)
    {
      const AssayFinding *finding = g_ptr_array_index (run->findings, i);
      if (g_str_has_prefix (finding->rule, prefix) && finding->severity <= severity
          && (!output || !finding->where.output || g_str_equal (finding->where.output, output)))
        return finding;
    }
  return NULL;
}

/* ---- candidate ---- */

/* Memory, races, barriers: what the numbers need not show. */
static const AssayFinding *
find_fault (const AssayRun *run)
{
  static const char *const FAMILIES[] = {"mem.", "race.", "sync.", "run."};
  for (gsize i = 0; i < G_N_ELEMENTS (FAMILIES); i++)
    {
      const AssayFinding *finding = find_rule (run, FAMILIES[i], ASSAY_SEVERITY_MAJOR, NULL);
      if (finding && finding->blame == ASSAY_BLAME_CANDIDATE)
        return finding;
    }
  return NULL;
}

typedef struct
{
  guint compared, refused, failed, all;
  const AssayWorkloadRecord *witness; /* the refused one with the largest share of misses */
  const AssayOutput *of_witness;
} Tally;

static Tally
tally (const Shown *shown)
{
  Tally t = {0};
  double most = -1;
  for (guint i = 0; i < shown->run->workloads->len; i++)
    {
      const AssayWorkloadRecord *workload = g_ptr_array_index (shown->run->workloads, i);
      const AssayOutput *output = same_output (workload, shown->output->name);
      t.all++;
      t.failed += workload->status == ASSAY_WORKLOAD_RUNTIME_ERROR
                  || workload->status == ASSAY_WORKLOAD_TIMEOUT;
      if (!output)
        continue;
      t.compared++;
      if (output->comparison->accepted)
        continue;
      t.refused++;
      if (output->comparison->mismatch_share <= most)
        continue;
      most = output->comparison->mismatch_share;
      t.witness = workload;
      t.of_witness = output;
    }
  return t;
}

static char *
bits_between (double own, double its)
{
  g_autofree char *bits = assay_format_number (fabs (log2 (own / its)), 2);
  if (fabs (log2 (own / its)) < 0.5)
    return g_strdup ("as precise as the reference");
  return g_strdup_printf ("%s bits %s precise than the reference", bits,
                          own > its ? "less" : "more");
}

/* The candidate is refused for what the reference gets wrong. */
static gboolean
reference_errs (const AssayOutput *output)
{
  const AssayComparison *its = output->gold ? output->gold->reference : NULL;
  const AssayCrossCheck *cross = output->cross_check;
  if (cross && !cross->reference_accepted && cross->candidate_accepted)
    return TRUE;
  return its && !its->accepted && output->comparison->rms <= its->rms;
}

static void
candidate_refused (const Tally *t, AssayVerdict *verdict)
{
  const AssayComparison *c = t->of_witness->comparison;
  const AssayComparison *its = t->of_witness->gold ? t->of_witness->gold->reference : NULL;
  const AssayCrossCheck *cross = t->of_witness->cross_check;
  g_autofree char *misses = assay_format_count (c->mismatches);
  g_autofree char *count = assay_format_count (c->count);
  g_autofree char *by = assay_format_number (c->max_abs.value, 3);
  if (cross && !cross->reference_accepted && cross->candidate_accepted)
    answer (verdict, ASSAY_ANSWER_DOUBTFUL, "Right, but refused",
            g_strdup ("The reference refuses it; the cross-check, written from the specification, "
                      "accepts it."));
  else if (reference_errs (t->of_witness))
    {
      g_autofree char *bits = bits_between (c->rms, its->rms);
      answer (
          verdict, ASSAY_ANSWER_DOUBTFUL, "Right, but refused",
          g_strdup_printf ("Against gold on %s it is %s, whose own error is what the gate sees.",
                           t->witness->name, bits));
    }
  else
    answer (
        verdict, ASSAY_ANSWER_BAD, "Wrong",
        g_strdup_printf ("Refused on %u of %u workloads: %s of %s elements miss on %s, by up to "
                         "%s.",
                         t->refused, t->all, misses, count, t->witness->name, by));
}

static const AssayOffList *
find_off_list (const Shown *shown)
{
  for (guint i = 0; i < shown->run->off_list->len; i++)
    {
      const AssayOffList *entry = g_ptr_array_index (shown->run->off_list, i);
      if (entry->wrong && g_strcmp0 (entry->output, shown->output->name) == 0)
        return entry;
    }
  return NULL;
}

static char *
all_of (guint workloads)
{
  return workloads == 1   ? g_strdup ("the only workload")
         : workloads == 2 ? g_strdup ("both workloads")
                          : g_strdup_printf ("all %u workloads", workloads);
}

static void
candidate_accepted (const Shown *shown, const Tally *t, AssayVerdict *verdict)
{
  const AssayComparison *c = shown->output->comparison;
  const AssayComparison *its = shown->output->gold ? shown->output->gold->reference : NULL;
  const AssayFinding *repeat =
      find_rule (shown->run, "num.nondeterministic", ASSAY_SEVERITY_MAJOR, shown->output->name);
  const AssayOffList *off = find_off_list (shown);
  g_autofree char *all = all_of (t->compared);
  g_autofree char *rms = assay_format_number (c->rms_ulp, 3);
  g_autofree char *backward =
      c->backward_error ? assay_format_number (c->backward_error->max, 2) : NULL;
  if (off)
    {
      gboolean benchmark = g_str_equal (off->kind, "benchmark");
      g_autofree char *there = assay_format_number (off->rms_ulp, 3);
      answer (verdict, ASSAY_ANSWER_BAD, "Wrong off the list",
              benchmark ? g_strdup_printf ("Right on %s, but rms %s ulp on %s, which only the "
                                           "benchmark uses.",
                                           all, there, off->workload)
                        : g_strdup_printf ("Right on %s, but rms %s ulp on %s with %s.", all, there,
                                           off->workload, off->name));
    }
  else if (repeat)
    answer (verdict, ASSAY_ANSWER_BAD, "Not reproducible", g_strdup (repeat->title));
  else if (its && c->rms_ulp > 4 && c->rms > IMPRECISE * its->rms)
    {
      g_autofree char *bits = bits_between (c->rms, its->rms);
      answer (verdict, ASSAY_ANSWER_DOUBTFUL, "Imprecise",
              g_strdup_printf ("It is %s: a lower precision somewhere.", bits));
    }
  else
    {
      g_autofree char *bits =
          its && its->rms > 0 && c->rms > 0 ? bits_between (c->rms, its->rms) : NULL;
      answer (verdict, ASSAY_ANSWER_GOOD, "Right",
              c->not_correctly_rounded == 0
                  ? g_strdup_printf ("Accepted on %s; every element here is exact.", all)
              : c->backward_error
                  ? g_strdup_printf ("Accepted on %s; backward error here at most %s%s%s.", all,
                                     backward, bits ? ", " : "", bits ? bits : "")
                  : g_strdup_printf ("Accepted on %s; here rms %s ulp%s%s.", all, rms,
                                     bits ? ", " : "", bits ? bits : ""));
    }
}

static void
judge_candidate (const Shown *shown, AssayVerdict *verdict)
{
  Tally t = tally (shown);
  const AssayFinding *fault = find_fault (shown->run);
  verdict->question = "Candidate";
  if (t.refused && !fault)
    candidate_refused (&t, verdict);
  else if (fault)
    answer (verdict, ASSAY_ANSWER_BAD, "Wrong",
            g_strdup_printf ("%s%s", fault->title,
                             t.refused ? "" : "; the numbers that were compared are accepted"));
  else
    candidate_accepted (shown, &t, verdict);
}

/* ---- tolerance ---- */

typedef struct
{
  guint wrong, living, honest, refused;
  GString *accepted, *rejected; /* names, the first few */
  gboolean reference_refused;
  const char *redrawn; /* an input whose other values pass, and nothing else does */
  guint others;        /* living ones that are not such, nor the following */
  guint equal;         /* living ones that are the reference, bit for bit: the inputs' doing */
} Planted;

/* Over all workloads: a wrong answer lives when no workload refused it, a right one falls when one did. */
static gboolean
passes_everywhere (const AssayAudit *audit, const AssayProbe *probe)
{
  for (guint i = 0; i < audit->probes->len; i++)
    {
      const AssayProbe *other = g_ptr_array_index (audit->probes, i);
      if (!other->accepted && g_strcmp0 (other->name, probe->name) == 0
          && g_strcmp0 (other->output, probe->output) == 0)
        return FALSE;
    }
  return TRUE;
}

/* A copy of an input, or a constant, that is what the reference gives, on every workload. */
static gboolean
equals_everywhere (const AssayAudit *audit, const AssayProbe *probe)
{
  for (guint i = 0; i < audit->probes->len; i++)
    {
      const AssayProbe *other = g_ptr_array_index (audit->probes, i);
      if (g_strcmp0 (other->name, probe->name) == 0 && g_strcmp0 (other->output, probe->output) == 0
          && other->needed_atol != 0)
        return FALSE;
    }
  return probe->kind == ASSAY_PROBE_TRIVIAL;
}

static void
add_name (GString *names, guint count, const char *name)
{
  if (count <= 2)
    g_string_append_printf (names, "%s%s", count > 1 ? ", " : "", name);
  else if (count == 3)
    g_string_append_printf (names, ", …");
}

static void
add_probe (Planted *planted, const AssayAudit *audit, const AssayProbe *probe)
{
  gboolean passes = passes_everywhere (audit, probe);
  if (probe->kind == ASSAY_PROBE_REFERENCE)
    planted->reference_refused |= !passes;
  else if (probe->kind == ASSAY_PROBE_HONEST)
    {
      planted->honest++;
      if (!passes)
        add_name (planted->rejected, ++planted->refused, probe->name);
    }
  else
    {
      planted->wrong++;
      if (!passes)
        return;
      gboolean redrawn = g_str_has_prefix (probe->name, ASSAY_PROBE_REDRAWN);
      gboolean equal = equals_everywhere (audit, probe);
      planted->equal += equal;
      planted->others += !redrawn && !equal;
      if (redrawn)
        planted->redrawn = probe->name + strlen (ASSAY_PROBE_REDRAWN);
      add_name (planted->accepted, ++planted->living, probe->name);
    }
}

static Planted
count_planted (const AssayAudit *audit, const char *output)
{
  Planted planted = {.accepted = g_string_new (NULL), .rejected = g_string_new (NULL)};
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; i < audit->probes->len; i++)
    {
      const AssayProbe *probe = g_ptr_array_index (audit->probes, i);
      if (g_strcmp0 (probe->output, output) == 0 && g_hash_table_add (seen, probe->name))
        add_probe (&planted, audit, probe);
    }
  return planted;
}

static void
tolerance_from (const Shown *shown, const Planted *p, AssayVerdict *verdict)
{
  g_autofree char *right = p->honest == 1 ? g_strdup ("the right one")
                                          : g_strdup_printf ("all %u right ones", p->honest);
  const AssayFinding *below =
      find_rule (shown->run, "num.atol-dominated", ASSAY_SEVERITY_MAJOR, shown->output->name);
  if (p->others)
    answer (verdict, ASSAY_ANSWER_BAD,
            p->refused && !p->reference_refused ? "Loose and tight" : "Too loose",
            g_strdup_printf ("Accepts %u of %u wrong answers: %s%s%s", p->living, p->wrong,
                             p->accepted->str, p->refused ? ". Refuses right ones: " : "",
                             p->refused ? p->rejected->str : ""));
  else if (p->equal)
    answer (verdict, ASSAY_ANSWER_BAD, "Inputs at fault",
            g_strdup_printf ("On these inputs the %s is the right answer: they do not tell right "
                             "from wrong, whatever the tolerance. %u of %u other wrong answers are "
                             "refused.",
                             p->accepted->str, p->wrong - p->living, p->wrong - p->equal));
  else if (p->redrawn)
    answer (
        verdict, ASSAY_ANSWER_DOUBTFUL, "Sound, input dead",
        g_strdup_printf ("Refuses %u of %u wrong answers, yet other values of input %s pass: the "
                         "result does not depend on it.",
                         p->wrong - p->living, p->wrong, p->redrawn));
  else if (below)
    answer (verdict, ASSAY_ANSWER_BAD, "Too loose", g_strdup (below->title));
  else if (p->refused && p->reference_refused)
    answer (verdict, ASSAY_ANSWER_DOUBTFUL, "Too tight",
            g_strdup_printf ("But only because the reference is off: right answers are refused for "
                             "its error. All %u wrong ones are refused.",
                             p->wrong));
  else if (p->refused)
    answer (verdict, ASSAY_ANSWER_BAD, "Too tight",
            g_strdup_printf ("Refuses %u of %u right answers: %s", p->refused, p->honest,
                             p->rejected->str));
  else
    answer (
        verdict, ASSAY_ANSWER_GOOD, "Sound",
        g_strdup_printf ("Neither: refuses all %u wrong answers and accepts %s.", p->wrong, right));
}

static void
judge_tolerance (const Shown *shown, AssayVerdict *verdict)
{
  const AssayAudit *audit = shown->run->audit;
  verdict->question = "Tolerance";
  if (!audit || audit->probes->len == 0)
    {
      answer (verdict, ASSAY_ANSWER_UNKNOWN, "Not known",
              g_strdup ("No answers were planted yet."));
      return;
    }
  Planted planted = count_planted (audit, shown->output->name);
  tolerance_from (shown, &planted, verdict);
  g_string_free (planted.accepted, TRUE);
  g_string_free (planted.rejected, TRUE);
}

/* ---- reference ---- */

typedef struct
{
  const AssayOutput *output; /* NULL: none */
  const char *workload;
} Place;

/* The workloads on which the reference takes most of the tolerance, and on which it is contradicted most. */
static Place
worst_reference (const Shown *shown, Place *contradicted)
{
  Place worst = {0};
  for (guint i = 0; i < shown->run->workloads->len; i++)
    {
      const AssayWorkloadRecord *workload = g_ptr_array_index (shown->run->workloads, i);
      const AssayOutput *output = same_output (workload, shown->output->name);
      if (output && assay_output_is_contradicted (output)
          && (!contradicted->output
              || output->cross_check->max_abs > contradicted->output->cross_check->max_abs))
        *contradicted = (Place) {output, workload->name};
      if (output && output->gold && output->gold->reference
          && (!worst.output
              || output->gold->reference->margin > worst.output->gold->reference->margin))
        worst = (Place) {output, workload->name};
    }
  return worst;
}

/* " on long": a number says which workload it is of, unless there is one alone. */
static char *
on_workload (const Shown *shown, const char *workload)
{
  return shown->run->workloads->len > 1 ? g_strdup_printf (" on %s", workload) : g_strdup ("");
}

static void
judge_reference (const Shown *shown, AssayVerdict *verdict)
{
  Place contradicted = {0};
  Place at = worst_reference (shown, &contradicted);
  const AssayOutput *worst = at.output;
  verdict->question = "Reference";
  if (contradicted.output)
    {
      const AssayCrossCheck *cross = contradicted.output->cross_check;
      g_autofree char *place = assay_format_index (contradicted.output->shape, cross->index);
      g_autofree char *on = on_workload (shown, contradicted.workload);
      answer (verdict, ASSAY_ANSWER_BAD, "Contradicted",
              g_strdup_printf ("The cross-check says %.6g where it says %.6g, at %s%s: another "
                               "formula. What is called gold here is the reference's.",
                               cross->cross_check, cross->reference, place, on));
      return;
    }
  if (!worst)
    {
      answer (verdict, ASSAY_ANSWER_UNKNOWN, "Not known",
              g_strdup ("There is no gold to hold it to."));
      return;
    }
  const AssayComparison *c = worst->gold->reference;
  g_autofree char *share = assay_format_number (100 * c->margin, 2);
  g_autofree char *ulp = assay_format_number (fabs (c->max_ulp_real.value), 3);
  g_autofree char *on = on_workload (shown, at.workload);
  if (!worst->gold->stable)
    answer (verdict, ASSAY_ANSWER_DOUBTFUL, "Unstable",
            g_strdup ("Higher precisions do not agree with one another: there is no gold."));
  else if (isnan (c->margin) || c->margin <= 0.25)
    answer (verdict, ASSAY_ANSWER_GOOD, "Good enough",
            fabs (c->max_ulp_real.value) <= 0.5
                ? g_strdup ("It gives the gold, rounded once, in every element.")
                : g_strdup_printf ("Its own error takes %s %% of the tolerance%s, at most %s ulp.",
                                   share, on, ulp));
  else
    answer (
        verdict, ASSAY_ANSWER_BAD, "Not good enough",
        g_strdup_printf ("Its own error takes %s %% of the tolerance%s, up to %s ulp; a quarter is "
                         "fair.",
                         share, on, ulp));
}

/* ---- place ---- */

/* "worst 3.2 ulp at [1, 2], where the result almost vanishes" */
static char *
worst_words (const AssayOutput *output)
{
  const AssayComparison *c = output->comparison;
  g_autofree char *value = assay_format_number (fabs (c->max_ulp_real.value), 3);
  g_autofree char *index = assay_format_index (output->shape, c->max_ulp_real.index);
  const AssayWorst *worst = c->worst->len ? g_ptr_array_index (c->worst, 0) : NULL;
  gboolean vanishes = worst && fabs (worst->gold) * 64 < c->rms_gold && c->accepted;
  return g_strdup_printf ("worst %s ulp at %s%s", value, index,
                          vanishes ? ", where the result nearly vanishes" : "");
}

static const char *
part_word (const AssayErrorPlace *place)
{
  gboolean rows = place->kind == ASSAY_PLACE_PART_ROWS;
  if (place->first == 0)
    return rows ? "In the first rows" : "In the first columns";
  if (place->last == place->extent - 1)
    return rows ? "In the last rows" : "In the last columns";
  return rows ? "In part of the rows" : "In part of the columns";
}

static void
judge_place (const Shown *shown, AssayVerdict *verdict)
{
  const AssayComparison *c = shown->output->comparison;
  AssayErrorPlace place = assay_error_place (shown->output);
  g_autofree char *worst = worst_words (shown->output);
  g_autofree char *misses = assay_format_count (c->mismatches);
  g_autofree char *count = assay_format_count (c->count);
  g_autofree char *band = assay_error_band (shown->output);
  verdict->question = "Error";
  AssayAnswer bad = c->accepted ? ASSAY_ANSWER_DOUBTFUL : ASSAY_ANSWER_BAD;
  if (!c->accepted && reference_errs (shown->output))
    {
      answer (verdict, ASSAY_ANSWER_GOOD, "In the reference",
              g_strdup_printf (
                  "%s of %s elements miss it, none of them by an error of the candidate's.", misses,
                  count));
      return;
    }
  switch (place.kind)
    {
    case ASSAY_PLACE_NOWHERE:
      answer (verdict, ASSAY_ANSWER_GOOD, "Nowhere",
              g_strdup_printf ("All %s elements are the exact result, rounded.", count));
      break;
    case ASSAY_PLACE_EVERYWHERE:
      answer (verdict, bad, "Everywhere",
              g_strdup_printf ("%s of %s elements miss; %s.", misses, count, worst));
      break;
    case ASSAY_PLACE_ROWS:
    case ASSAY_PLACE_COLUMNS:
      answer (verdict, bad, place.kind == ASSAY_PLACE_ROWS ? "In some rows" : "In some columns",
              g_strdup_printf ("In %s; %s.", band, worst));
      break;
    case ASSAY_PLACE_STEPS:
      answer (verdict, bad, "At regular steps",
              g_strdup_printf ("%s elements, at multiples of %" G_GINT64_FORMAT
                               " (from %" G_GINT64_FORMAT "): edges of blocks? %s.",
                               misses, place.step, place.first, worst));
      break;
    case ASSAY_PLACE_DIAGONAL:
      answer (verdict, bad, "On a diagonal",
              g_strdup_printf (
                  "%s of %s elements miss; the worst lie where column − row is %" G_GINT64_FORMAT
                  ": a mask? %s.",
                  misses, count, place.step, worst));
      break;
    case ASSAY_PLACE_CELLS:
      answer (verdict, bad, "In single places",
              g_strdup_printf ("%s of %s elements miss, in %u of %u cells of the map; %s.", misses,
                               count, place.hot, place.cells, worst));
      break;
    case ASSAY_PLACE_PART_ROWS:
    case ASSAY_PLACE_PART_COLUMNS:
      answer (verdict, c->accepted ? ASSAY_ANSWER_GOOD : ASSAY_ANSWER_BAD, part_word (&place),
              g_strdup_printf ("%.0f %% of the squared error lies in %s %" G_GINT64_FORMAT
                               " to %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT "; %s.",
                               floor (100 * place.share),
                               place.kind == ASSAY_PLACE_PART_ROWS ? "rows" : "columns",
                               place.first, place.last, place.extent, worst));
      break;
    default:
      answer (verdict, c->accepted ? ASSAY_ANSWER_GOOD : ASSAY_ANSWER_BAD, "Spread evenly",
              g_strdup_printf ("No row, column or tile stands out; %s.", worst));
      break;
    }
}

void
assay_verdicts (const AssayRun *run, const AssayWorkloadRecord *workload, const AssayOutput *output,
                AssayVerdict verdicts[ASSAY_N_QUESTIONS])
{
  Shown shown = {run, workload, output};
  memset (verdicts, 0, ASSAY_N_QUESTIONS * sizeof *verdicts);
  judge_candidate (&shown, &verdicts[ASSAY_QUESTION_CANDIDATE]);
  judge_tolerance (&shown, &verdicts[ASSAY_QUESTION_TOLERANCE]);
  judge_reference (&shown, &verdicts[ASSAY_QUESTION_REFERENCE]);
  judge_place (&shown, &verdicts[ASSAY_QUESTION_PLACE]);
}

void
assay_verdicts_clear (AssayVerdict verdicts[ASSAY_N_QUESTIONS])
{
  for (int i = 0; i < ASSAY_N_QUESTIONS; i++)
    {
      g_clear_pointer (&verdicts[i].word, g_free);
      g_clear_pointer (&verdicts[i].text, g_free);
    }
}
