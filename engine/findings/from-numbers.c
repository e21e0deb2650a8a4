/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/findings/derive.h"

#include "engine/record/error-place.h"

#include <math.h>

/* What comparisons say about the candidate and about the reference. One finding for each output and
 * kind, over all workloads; the worst workload is the witness. */

typedef struct
{
  const AssayWorkloadRecord *workload;
  const AssayOutput *output;
} Witness;

typedef gboolean (*Test) (const AssayOutput *output, double *weight);

static guint64
special_mismatches (const AssayComparison *c)
{
  return c->nan.candidate_only + c->nan.reference_only;
}

static guint64
infinite_mismatches (const AssayComparison *c)
{
  return c->inf.opposite + c->inf.candidate_only + c->inf.reference_only;
}

/* The reference misses its own tolerance against gold, and the candidate is the more precise of the two;
 * or the cross-check contradicts the reference, and agrees with the candidate. */
static gboolean
reference_is_to_blame (const AssayOutput *output)
{
  const AssayComparison *c = output->comparison;
  const AssayComparison *its = output->gold ? output->gold->reference : NULL;
  const AssayCrossCheck *cross = output->cross_check;
  if (cross && !cross->reference_accepted && cross->candidate_accepted)
    return TRUE;
  return its && !its->accepted && c->rms <= its->rms
         && fabs (c->max_ulp_real.value) <= fabs (its->max_ulp_real.value);
}

static gboolean
is_wrong (const AssayOutput *output, double *weight)
{
  const AssayComparison *c = output->comparison;
  *weight = c->mismatch_share;
  if (reference_is_to_blame (output))
    return FALSE;
  return !c->accepted && c->mismatches > special_mismatches (c) + infinite_mismatches (c);
}

/* NaN that somebody computed: what was never written holds a NaN of ours, and is told as that. */
static guint64
spurious_nan (const AssayOutput *output)
{
  guint64 nan = output->comparison->nan.candidate_only;
  return nan - MIN (nan, output->never_written);
}

static gboolean
has_nan (const AssayOutput *output, double *weight)
{
  *weight = (double) (spurious_nan (output) + output->comparison->nan.reference_only);
  return *weight > 0;
}

static gboolean
overflows (const AssayOutput *output, double *weight)
{
  *weight = (double) infinite_mismatches (output->comparison);
  return *weight > 0;
}

/* A rejected candidate's bias is part of the rejection; this is for what the gate lets through. */
static gboolean
is_biased (const AssayOutput *output, double *weight)
{
  const AssayComparison *c = output->comparison;
  if (!output->gold || !c->accepted || c->rms == 0 || c->count < 256)
    return FALSE;
  *weight = fabs (c->mean_signed) / c->rms;
  return *weight > 0.5 && c->toward_zero_share > 0.9 && c->rms_ulp > 4;
}

static gboolean
reference_imprecise (const AssayOutput *output, double *weight)
{
  const AssayGold *gold = output->gold;
  if (!gold || !gold->reference || isnan (gold->reference->margin))
    return FALSE;
  *weight = gold->reference->margin;
  return *weight > 0.25;
}

static gboolean
contradicted (const AssayOutput *output, double *weight)
{
  *weight = output->cross_check ? output->cross_check->max_abs : 0;
  return output->cross_check && !output->cross_check->reference_accepted;
}

/* An accepted output whose error sits in one place: something the gate does not see. */
static gboolean
has_structure (const AssayOutput *output, double *weight)
{
  g_autofree char *where = assay_error_band (output);
  *weight = output->comparison->rms_ulp;
  return output->comparison->accepted && where != NULL;
}

/* The witness with the largest weight among all workloads' outputs of this name, and how many fail. */
static Witness
find_witness (AssayDeriving *deriving, const char *name, Test test, guint *failing, guint *judged)
{
  Witness witness = {NULL, NULL};
  double largest = -1;
  *failing = *judged = 0;
  for (guint w = 0; w < deriving->run->workloads->len; w++)
    {
      const AssayWorkloadRecord *workload = g_ptr_array_index (deriving->run->workloads, w);
      for (guint o = 0; o < workload->outputs->len; o++)
        {
          const AssayOutput *output = g_ptr_array_index (workload->outputs, o);
          double weight = 0;
          if (!output->comparison || g_strcmp0 (output->name, name) != 0)
            continue;
          (*judged)++;
          if (!test (output, &weight))
            continue;
          (*failing)++;
          if (weight > largest)
            {
              largest = weight;
              witness = (Witness) {workload, output};
            }
        }
    }
  return witness;
}

static char *
place_of (const AssayOutput *output, gint64 index)
{
  g_autoptr (GString) out = g_string_new (NULL);
  gint64 rest = index;
  for (guint d = output->shape->len; d-- > 0;)
    {
      gint64 extent = MAX (g_array_index (output->shape, gint64, d), 1);
      g_autofree char *part =
          g_strdup_printf ("%" G_GINT64_FORMAT "%s", rest % extent, out->len ? ", " : "");
      g_string_prepend (out, part);
      rest /= extent;
    }
  return g_strdup_printf ("[%s]", out->str);
}

static void
add_plot (AssayFinding *finding, const char *figure, const Witness *witness, const char *title)
{
  g_autofree char *ref =
      g_strdup_printf ("numerics/%s/%s/%s", figure, witness->workload->name, witness->output->name);
  assay_derive_evidence (finding, "plot", ref, title);
}

static AssayFinding *
begin (AssayDeriving *deriving, const char *rule, const Witness *witness, guint failing)
{
  AssayFinding *finding = assay_derive_add (deriving, rule);
  finding->where.workload = g_strdup (witness->workload->name);
  finding->where.output = g_strdup (witness->output->name);
  finding->count = failing;
  return finding;
}

static void
add_wrong (AssayDeriving *deriving, const char *name)
{
  guint failing, judged;
  Witness w = find_witness (deriving, name, is_wrong, &failing, &judged);
  if (!w.output)
    return;
  const AssayComparison *c = w.output->comparison;
  AssayFinding *finding = begin (deriving, "num.candidate-wrong", &w, failing);
  g_autofree char *mismatches = assay_derive_count (c->mismatches);
  g_autofree char *count = assay_derive_elements (c->count);
  g_autofree char *place = place_of (w.output, c->max_abs.index);
  g_autofree char *structure = assay_error_band (w.output);
  g_autofree char *rule = w.output->tolerance ? assay_tolerance_describe (w.output->tolerance)
                                              : g_strdup ("exact equality");
  finding->where.index = c->max_abs.index;
  finding->detail = g_strdup_printf (
      "%s\n\nThe largest difference is %.4g at %s: the candidate has %.9g, the reference %.9g. "
      "Against "
      "gold the error is %.4g RMS, %.4g ulp at most.%s%s%s%s",
      c->verdict, c->max_abs.value, place, c->max_abs.candidate, c->max_abs.reference, c->rms,
      c->max_ulp_real.value, structure ? " The error is concentrated in " : "",
      structure ? structure : "", structure ? "." : "",
      g_hash_table_contains (deriving->broken, w.workload->name)
          ? " Memory, races or barriers were reported on this workload and may explain it."
          : "");
  if (c->backward_error)
    {
      g_autofree char *detail = finding->detail;
      finding->detail = g_strdup_printf ("%s\n\nHeld against %s, which does not vanish where a sum "
                                         "cancels, the error is %.3g at most and "
                                         "%.3g RMS.",
                                         detail, c->backward_error->scale, c->backward_error->max,
                                         c->backward_error->rms);
    }
  add_plot (finding, "position", &w, "where the error is");
  add_plot (finding, "absolute", &w, "how large it is");
  g_autofree char *on = assay_derive_workloads (failing, judged);
  assay_derive_finish (deriving, finding,
                       g_strdup_printf ("%s misses %s on %s: %s of %s on %s, by up to %.3g", name,
                                        rule, on, mismatches, count, w.workload->name,
                                        c->max_abs.value),
                       name);
}

static void
add_special (AssayDeriving *deriving, const char *name)
{
  guint failing, judged;
  Witness w = find_witness (deriving, name, has_nan, &failing, &judged);
  if (w.output)
    {
      const AssayNanCounts *nan = &w.output->comparison->nan;
      AssayFinding *finding = begin (deriving, "num.nan", &w, failing);
      g_autofree char *spurious = assay_derive_count (spurious_nan (w.output));
      g_autofree char *missing = assay_derive_count (nan->reference_only);
      add_plot (finding, "position", &w, "where the error is");
      assay_derive_finish (
          deriving, finding,
          g_strdup_printf ("%s has %s NaN where the reference has numbers, and misses "
                           "%s, on %s",
                           name, spurious, missing, w.workload->name),
          name);
    }
  w = find_witness (deriving, name, overflows, &failing, &judged);
  if (!w.output)
    return;
  const AssayInfCounts *inf = &w.output->comparison->inf;
  AssayFinding *finding = begin (deriving, "num.overflow", &w, failing);
  g_autofree char *own = assay_derive_elements (inf->candidate_only + inf->opposite);
  g_autofree char *other = assay_derive_count (inf->reference_only);
  assay_derive_finish (deriving, finding,
                       g_strdup_printf ("%s overflows to infinity at %s where the reference "
                                        "does not, and is finite at %s where it does, on %s",
                                        name, own, other, w.workload->name),
                       name);
}

static void
add_shape_of_error (AssayDeriving *deriving, const char *name)
{
  guint failing, judged;
  Witness w = find_witness (deriving, name, has_structure, &failing, &judged);
  if (w.output)
    {
      g_autofree char *where = assay_error_band (w.output);
      AssayFinding *finding = begin (deriving, "num.error-structure", &w, failing);
      add_plot (finding, "position", &w, "where the error is");
      assay_derive_finish (deriving, finding,
                           g_strdup_printf ("The error of %s is concentrated in %s on %s, and the "
                                            "tolerance accepts it",
                                            name, where, w.workload->name),
                           name);
    }
  w = find_witness (deriving, name, is_biased, &failing, &judged);
  if (!w.output)
    return;
  const AssayComparison *c = w.output->comparison;
  AssayFinding *finding = begin (deriving, "num.biased-error", &w, failing);
  add_plot (finding, "ulp", &w, "the histogram leans to one side");
  assay_derive_finish (
      deriving, finding,
      g_strdup_printf (
          "%.0f %% of the errors of %s point toward zero on %s; their mean is %.2g of their RMS",
          100 * c->toward_zero_share, name, w.workload->name, fabs (c->mean_signed) / c->rms),
      name);
}

static void
add_reference (AssayDeriving *deriving, const char *name)
{
  guint failing, judged;
  Witness w = find_witness (deriving, name, reference_imprecise, &failing, &judged);
  if (!w.output)
    return;
  const AssayComparison *c = w.output->gold->reference, *own = w.output->comparison;
  AssayFinding *finding = begin (deriving, "num.reference-imprecise", &w, failing);
  finding->detail = g_strdup_printf ("The task's own reference against gold (%s): %s",
                                     w.output->gold->method, c->verdict);
  if (!own->accepted && reference_is_to_blame (w.output))
    {
      g_autofree char *detail = finding->detail;
      finding->detail =
          g_strdup_printf ("%s\n\nThe candidate is refused though it is more precise: "
                           "its RMS error against gold is %.3g, the reference's %.3g.",
                           detail, own->rms, c->rms);
    }
  add_plot (finding, "margin", &w, "the reference against the gate");
  assay_derive_finish (
      deriving, finding,
      g_strdup_printf ("The reference's own error takes %.0f %% of the tolerance of %s "
                       "on %s: a right candidate can fail",
                       100 * c->margin, name, w.workload->name),
      name);
}

static void
add_contradiction (AssayDeriving *deriving, const char *name)
{
  guint failing, judged;
  Witness w = find_witness (deriving, name, contradicted, &failing, &judged);
  if (!w.output)
    return;
  const AssayCrossCheck *cross = w.output->cross_check;
  AssayFinding *finding = begin (deriving, "task.spec-mismatch", &w, failing);
  g_autofree char *place = place_of (w.output, cross->index);
  g_autofree char *on = assay_derive_workloads (failing, judged);
  finding->where.index = cross->index;
  finding->detail = g_strdup_printf (
      "The task's two references give different answers by its own rule. Furthest apart at %s: the "
      "reference has %.9g, the cross-check %.9g. The candidate %s with the cross-check. Higher "
      "precision cannot settle this: it is about the formula.",
      place, cross->reference, cross->cross_check,
      cross->candidate_accepted ? "agrees" : "does not agree");
  add_plot (finding, "position", &w, "where the candidate differs from the reference");
  assay_derive_finish (deriving, finding,
                       g_strdup_printf ("Reference and cross-check disagree about %s on %s: %.6g "
                                        "against %.6g at %s; the candidate agrees with %s",
                                        name, on, cross->reference, cross->cross_check, place,
                                        cross->candidate_accepted        ? "the cross-check"
                                        : w.output->comparison->accepted ? "the reference"
                                                                         : "neither"),
                       name);
}

static void
add_bad_reference (AssayDeriving *deriving)
{
  if (assay_derive_has (deriving, "task.reference-fails"))
    return;
  for (guint i = 0; i < deriving->run->workloads->len; i++)
    {
      const AssayWorkloadRecord *workload = g_ptr_array_index (deriving->run->workloads, i);
      if (workload->status != ASSAY_WORKLOAD_INVALID_REFERENCE)
        continue;
      AssayFinding *finding = assay_derive_add (deriving, "task.reference-fails");
      finding->where.workload = g_strdup (workload->name);
      finding->detail = g_strdup (workload->reason);
      assay_derive_finish (
          deriving, finding,
          g_strdup_printf ("The reference gives no values for workload %s: %s", workload->name,
                           workload->reason ? workload->reason : "no reason given"),
          workload->name);
      return;
    }
}

/* A different result after a race is the race's doing. */
static void
add_repeats (AssayDeriving *deriving)
{
  const GPtrArray *repeats = deriving->facts->repeats;
  const AssayRepeat *worst = NULL;
  guint failing = 0;
  for (guint i = 0; repeats && i < repeats->len; i++)
    {
      const AssayRepeat *repeat = g_ptr_array_index (repeats, i);
      if (!repeat->different || g_hash_table_contains (deriving->broken, repeat->workload))
        continue;
      failing++;
      if (!worst || repeat->different > worst->different)
        worst = repeat;
    }
  if (!worst)
    return;
  AssayFinding *finding = assay_derive_add (deriving, "num.nondeterministic");
  gboolean promised = assay_task_promise (deriving->facts->task->numerics.deterministic) == 1;
  finding->severity = promised ? ASSAY_SEVERITY_MAJOR : ASSAY_SEVERITY_MINOR;
  finding->where.workload = g_strdup (worst->workload);
  finding->where.output = g_strdup (worst->output);
  finding->count = failing;
  g_autofree char *different = assay_derive_count (worst->different);
  g_autofree char *count = assay_derive_count (worst->count);
  g_autofree char *ulps = g_strdup_printf ("numerics/ulp/%s/%s", worst->workload, worst->output);
  assay_derive_evidence (finding, "metric", "repeat", worst->how);
  assay_derive_evidence (finding, "plot", ulps, "how far one of the runs is from gold");
  finding->detail = g_strdup_printf (
      "Compared bit for bit: %s. The largest difference of two values is %.3g. %s", worst->how,
      worst->max_difference,
      promised ? "The specification promises reproducible results."
               : "The specification does not say whether results must be reproducible.");
  assay_derive_finish (
      deriving, finding,
      g_strdup_printf ("%s of %s values of %s differ between two runs of %s, by up to "
                       "%.2g%s",
                       different, count, worst->output, worst->workload, worst->max_difference,
                       promised ? "; the task promises the same bits" : ""),
      worst->output);
}

void
assay_derive_numbers (AssayDeriving *deriving)
{
  const GPtrArray *outputs = deriving->facts->task->outputs;
  add_bad_reference (deriving);
  for (guint i = 0; i < outputs->len; i++)
    {
      const char *name = ((AssayTaskArray *) g_ptr_array_index (outputs, i))->name;
      add_wrong (deriving, name);
      add_special (deriving, name);
      add_shape_of_error (deriving, name);
      add_reference (deriving, name);
      add_contradiction (deriving, name);
    }
  if (assay_task_promise (deriving->facts->task->numerics.deterministic) != 0)
    add_repeats (deriving);
}
