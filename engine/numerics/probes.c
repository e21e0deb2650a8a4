/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/numerics/frontier.h"
#include "engine/numerics/plant.h"

#include <math.h>
#include <string.h>

AssayAudit *
assay_audit_new (void)
{
  return assay_json_table_new (&ASSAY_AUDIT_TABLE);
}

void
assay_audit_free (AssayAudit *audit)
{
  assay_json_table_free (&ASSAY_AUDIT_TABLE, audit);
}

static gboolean
judge (const AssayPlanting *planting, const AssayArray *candidate, const AssayArray *reference,
       AssayProbeKind kind, const char *name, const char *family, AssayAudit *audit,
       GCancellable *cancellable, GError **error)
{
  const AssayProbesInput *input = planting->input;
  AssayCompareInput compare = {
      .candidate = candidate,
      .reference = reference,
      .gold = input->gold,
      .gold_low = input->gold_low,
      .tolerance = input->tolerance,
      .threads = input->threads,
  };
  AssayGate gate;
  if (input->seen && kind != ASSAY_PROBE_REFERENCE)
    input->seen (kind, name, family, candidate, input->seen_data);
  if (!assay_gate (&compare, &gate, cancellable, error))
    return FALSE;
  AssayProbe *probe = assay_probe_new ();
  probe->kind = kind;
  probe->name = g_strdup (name);
  probe->family = g_strdup (family);
  probe->workload = g_strdup (input->workload);
  probe->output = g_strdup (input->output);
  probe->accepted = gate.accepted;
  probe->max_abs = gate.max_abs_gold;
  probe->rms = gate.rms_gold;
  probe->mismatch_share = gate.mismatch_share;
  probe->needed_atol = gate.needed_atol;
  probe->margin = gate.margin;
  g_ptr_array_add (audit->probes, probe);
  return !planting->plane
         || assay_plane_add (planting->plane, kind, name, &compare, cancellable, error);
}

static void
begin (AssayPlanting *planting, const AssayProbesInput *input)
{
  const AssayArray *reference = input->reference;
  gsize parts = (gsize) assay_dtype_format (reference->dtype)->components;
  planting->input = input;
  planting->reference = reference;
  planting->components = assay_array_components (reference);
  gint64 last = reference->ndim ? reference->shape[reference->ndim - 1] : 1;
  planting->columns = MAX (last * (gint64) parts, 1);
  planting->rows = (gint64) planting->components / planting->columns;
  planting->values = g_new (double, planting->components);
  planting->is_float = assay_dtype_is_float (reference->dtype);
  planting->largest = 0;
  assay_dtype_decode_array (reference->dtype, reference->data, 0, planting->components,
                            planting->values);
  double largest = -1;
  for (gsize i = 0; i < planting->components; i++)
    if (isfinite (planting->values[i]) && fabs (planting->values[i]) > largest)
      {
        largest = fabs (planting->values[i]);
        planting->largest = i;
      }
}

static gboolean
equals_reference (const AssayPlanting *planting, const AssayArray *out)
{
  return memcmp (out->data, planting->reference->data, out->bytes) == 0;
}

/* The reference in the task's precision, against gold rounded once: what the gate must leave room for. */
static gboolean
probe_reference (const AssayPlanting *planting, AssayArray *out, AssayAudit *audit,
                 GCancellable *cancellable, GError **error)
{
  if (!planting->input->gold)
    return TRUE;
  ASSAY_PLANTS[0].make (planting, out);
  return judge (planting, planting->reference, out, ASSAY_PROBE_REFERENCE,
                "reference in the task's precision", "reference", audit, cancellable, error);
}

static gboolean
probe_plants (const AssayPlanting *planting, AssayArray *out, AssayAudit *audit,
              GCancellable *cancellable, GError **error)
{
  for (gsize i = 0; i < ASSAY_N_PLANTS; i++)
    {
      const AssayPlant *plant = &ASSAY_PLANTS[i];
      memcpy (out->data, planting->reference->data, out->bytes);
      if (!plant->make (planting, out))
        continue;
      if (plant->kind == ASSAY_PROBE_MUTANT && equals_reference (planting, out))
        continue;
      if (!judge (planting, out, planting->reference, plant->kind, plant->name, plant->family,
                  audit, cancellable, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
probe_copies (const AssayPlanting *planting, AssayArray *out, AssayAudit *audit,
              GCancellable *cancellable, GError **error)
{
  for (guint i = 0; i < planting->input->n_inputs; i++)
    {
      const AssayProbeInput *input = &planting->input->inputs[i];
      if (!assay_array_same_shape (input->array, planting->reference)
          || assay_array_components (input->array) != planting->components
          || planting->reference->ndim == 0)
        continue;
      g_autofree char *name = g_strdup_printf ("copy of input %s", input->name);
      assay_plant_copy (planting, input->array, out);
      if (!judge (planting, out, planting->reference, ASSAY_PROBE_TRIVIAL, name, "trivial", audit,
                  cancellable, error))
        return FALSE;
    }
  return TRUE;
}

guint
assay_probes_lower_types (AssayDtype dtype, const char *compute, gboolean tf32_allowed,
                          AssayDtype *types)
{
  static const AssayDtype LOWER[] = {ASSAY_DTYPE_FLOAT32,       ASSAY_DTYPE_TFLOAT32,
                                     ASSAY_DTYPE_FLOAT16,       ASSAY_DTYPE_BFLOAT16,
                                     ASSAY_DTYPE_FLOAT8_E4M3FN, ASSAY_DTYPE_FLOAT8_E5M2};
  AssayDtype promised = assay_dtype_from_name (compute);
  int limit = assay_dtype_format (dtype)->fraction_bits;
  guint n = 0;
  if (promised != ASSAY_DTYPE_UNKNOWN && assay_dtype_is_float (promised))
    limit = MIN (limit, assay_dtype_format (promised)->fraction_bits);
  for (gsize i = 0; assay_dtype_is_float (dtype) && i < G_N_ELEMENTS (LOWER); i++)
    {
      gboolean allowed = tf32_allowed && LOWER[i] == ASSAY_DTYPE_TFLOAT32;
      if (assay_dtype_format (LOWER[i])->fraction_bits < limit && !allowed)
        types[n++] = LOWER[i];
    }
  return n;
}

static gboolean
probe_downgrades (const AssayPlanting *planting, AssayArray *out, AssayAudit *audit,
                  GCancellable *cancellable, GError **error)
{
  AssayDtype types[ASSAY_N_DTYPES];
  guint n = assay_probes_lower_types (planting->reference->dtype, planting->input->compute,
                                      planting->input->tf32_allowed, types);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("output rounded to %s", assay_dtype_name (types[i]));
      assay_plant_downgrade (planting, types[i], out);
      if (equals_reference (planting, out))
        continue;
      if (!judge (planting, out, planting->reference, ASSAY_PROBE_DOWNGRADE, name, "precision",
                  audit, cancellable, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
probe_answers (const AssayPlanting *planting, AssayAudit *audit, GCancellable *cancellable,
               GError **error)
{
  for (guint i = 0; i < planting->input->n_answers; i++)
    {
      const AssayProbeAnswer *answer = &planting->input->answers[i];
      /* Another question's answer that is the same says everything; another precision's says nothing. */
      if (answer->kind == ASSAY_PROBE_DOWNGRADE && equals_reference (planting, answer->array))
        continue;
      if (!judge (planting, answer->array, planting->reference, answer->kind, answer->name,
                  answer->family, audit, cancellable, error))
        return FALSE;
    }
  return TRUE;
}

static AssayPlane *
begin_plane (const AssayProbesInput *input, AssayAudit *audit)
{
  if (assay_dtype_format (input->reference->dtype)->components != 1)
    return NULL;
  AssayPlane *plane = assay_plane_new (input->workload, input->output);
  assay_plane_set_gate (plane, input->tolerance->rtol);
  g_ptr_array_add (audit->planes, plane);
  return plane;
}

static gboolean
finish_plane (AssayPlane *plane, const AssayProbesInput *input, GCancellable *cancellable,
              GError **error)
{
  if (!plane)
    return TRUE;
  assay_plane_propose (plane);
  AssayCompareInput compare = {
      .candidate = input->candidate, .reference = input->reference, .threads = input->threads};
  return !input->candidate || assay_plane_set_candidate (plane, &compare, cancellable, error);
}

gboolean
assay_probes_run (const AssayProbesInput *input, AssayAudit *audit, GCancellable *cancellable,
                  GError **error)
{
  if (input->reference->count == 0)
    return TRUE;
  g_autoptr (AssayArray) out = assay_array_new (input->reference->dtype, input->reference->shape,
                                                input->reference->ndim, error);
  if (!out)
    return FALSE;
  AssayPlanting planting;
  begin (&planting, input);
  planting.plane = begin_plane (input, audit);
  gboolean done = probe_reference (&planting, out, audit, cancellable, error)
                  && probe_plants (&planting, out, audit, cancellable, error)
                  && probe_copies (&planting, out, audit, cancellable, error)
                  && probe_downgrades (&planting, out, audit, cancellable, error)
                  && probe_answers (&planting, audit, cancellable, error);
  g_free (planting.values);
  return done && finish_plane (planting.plane, input, cancellable, error);
}
