/* SPDX-License-Identifier: Apache-2.0 */
/* Times on a real device: candidate and baseline in turn, each in a worker of its own. The design, and what the
 * numbers allow to be said, is engine/perf/speed.h. */
#include "engine/run/timed-side.h"

#include "engine/perf/speed.h"
#include "engine/run/devices.h"

#include <math.h>
#include <string.h>

#define ROUNDS 12
#define FEWEST_SAMPLES 10   /* fewer do not show whether neighbours hang together */
#define CASE_SECONDS 60.0   /* a workload may take for its rounds */
#define STAGE_SECONDS 180.0 /* before the next workload is left out */
#define TURN_ALLOWANCE 5.0  /* a turn may take more than what one launch may: it warms up */

typedef struct
{
  AssayPipeline *p;
  AssayProgram baseline; /* candidate NULL: the candidate against itself */
  AssayCandidate made;   /* of a baseline that is no candidate of its own */
  gboolean blind;        /* NVML does not answer */
  char *timeless;        /* why nothing can be timed on this device at all */
} Bench;

/* ---- the other side ---- */

static gboolean
can_launch (const AssayCandidate *candidate)
{
  return candidate->sources && candidate->entry.symbol
         && (candidate->entry.kind == ASSAY_ENTRY_KERNEL
             || candidate->entry.kind == ASSAY_ENTRY_HOST);
}

/* The starting point of the task, else its first baseline in CUDA, which is entered as the candidate is. */
static void
choose_baseline (Bench *bench)
{
  const AssayTask *task = bench->p->task;
  if (task->starting_point && can_launch (task->starting_point))
    bench->baseline.candidate = task->starting_point;
  for (guint i = 0;
       !bench->baseline.candidate && task->benchmark && i < task->benchmark->baselines->len; i++)
    {
      const AssayBaseline *one = g_ptr_array_index (task->benchmark->baselines, i);
      if (!one->sources || !one->sources[0] || !g_str_has_suffix (one->sources[0], ".cu"))
        continue;
      bench->made = *bench->p->candidate;
      bench->made.name = one->name;
      bench->made.sources = one->sources;
      bench->made.options = NULL;
      bench->baseline.candidate = &bench->made;
    }
}

static const char *
baseline_name (const Bench *bench)
{
  if (!bench->baseline.candidate)
    return bench->p->candidate->name;
  return bench->baseline.candidate->name ? bench->baseline.candidate->name : "starting point";
}

static gboolean
compile_baseline (Bench *bench, char **reason)
{
  AssayPipeline *p = bench->p;
  AssayMemory *ptx = NULL, *host = NULL;
  AssayCompile *record = NULL;
  char *entry = NULL;
  if (!bench->baseline.candidate)
    return TRUE;
  p->beside = baseline_name (bench);
  assay_program_exchange (&bench->baseline, p);
  AssayStatus status = assay_compile_target (p, p->target, &ptx, &host, &entry, &record);
  assay_program_exchange (&bench->baseline, p);
  p->beside = NULL;
  bench->baseline.ptx = ptx;
  bench->baseline.host = host;
  bench->baseline.entry = entry;
  if (status != ASSAY_STATUS_PASSED)
    *reason = g_strdup_printf ("the baseline %s does not compile for %s: see %s",
                               baseline_name (bench), p->target, record->log);
  assay_json_table_free (&ASSAY_COMPILE_TABLE, record);
  return status == ASSAY_STATUS_PASSED;
}

/* ---- rounds ---- */

static gboolean
start (Bench *bench, AssayCase *c, AssaySide *sides, GError **error)
{
  AssayPipeline *p = bench->p;
  double limit = p->seconds + TURN_ALLOWANCE, seconds = 2 * limit + 3 * CASE_SECONDS;
  if (!assay_side_start (&sides[0], p, c, seconds, limit, error))
    return FALSE;
  if (bench->baseline.candidate)
    assay_program_exchange (&bench->baseline, p);
  gboolean started = assay_side_start (&sides[1], p, c, seconds, limit, error);
  if (bench->baseline.candidate)
    assay_program_exchange (&bench->baseline, p);
  return started;
}

static void
add_once (GPtrArray *names, const char *name)
{
  if (!g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL))
    g_ptr_array_add (names, g_strdup (name));
}

/* Clock, power and heat after a round. A library that does not answer is not asked again. */
static void
read_state (Bench *bench, AssayTiming *timing, GPtrArray *throttled)
{
  g_autoptr (AssayNvmlReading) reading =
      bench->blind || !bench->p->device->uuid ? NULL : assay_devices_reading (NULL);
  const AssayGpuState *state = NULL;
  for (guint i = 0; reading && i < reading->devices->len && !state; i++)
    {
      const AssayGpuState *one = g_ptr_array_index (reading->devices, i);
      state = g_strcmp0 (one->uuid, bench->p->device->uuid) == 0 ? one : NULL;
    }
  bench->blind = state == NULL;
  if (!state)
    return;
  double clock = (double) MAX (state->sm_clock_mhz, 0);
  g_array_append_val (timing->clocks, clock);
  g_array_append_val (timing->power, state->power_watts);
  g_array_append_val (timing->heat, state->temperature_celsius);
  for (guint i = 0; state->throttle && state->throttle[i]; i++)
    add_once (throttled, state->throttle[i]);
}

/* As many samples a round as the more restless side needs, and as there is time for. */
static gint
count_samples (const AssaySide *sides, double seconds)
{
  gint wanted = MAX (sides[0].turns->wanted, sides[1].turns->wanted);
  gint taken = MAX (1, sides[0].turns->wanted + sides[0].turns->warmed + sides[1].turns->wanted
                           + sides[1].turns->warmed);
  double room = CASE_SECONDS / (2 * ROUNDS * seconds / taken);
  wanted = CLAMP (wanted, FEWEST_SAMPLES, ASSAY_TURNS_MOST_SAMPLES);
  return room < wanted ? (gint) room : wanted;
}

static gboolean
take_rounds (Bench *bench, AssaySide *sides, AssayTiming *timing, GPtrArray *throttled)
{
  for (gint round = 0; round < ROUNDS; round++)
    {
      gint first = round % 2; /* who begins changes, so that neither always follows the other */
      assay_pipeline_progress (bench->p, (double) round / ROUNDS, "%s: round %d of %d",
                               timing->workload, round + 1, ROUNDS);
      if (!assay_side_turn (&sides[first], round + 2, (gint) timing->samples)
          || !assay_side_turn (&sides[1 - first], round + 2, (gint) timing->samples))
        return FALSE;
      read_state (bench, timing, throttled);
      timing->rounds++;
    }
  return TRUE;
}

static gboolean
measure (Bench *bench, AssaySide *sides, AssayTiming *timing, GPtrArray *throttled, char **reason)
{
  gint64 started = g_get_monotonic_time ();
  assay_pipeline_progress (bench->p, 0, "%s: warming up", timing->workload);
  if (!assay_side_turn (&sides[0], 1, 0) || !assay_side_turn (&sides[1], 1, 0))
    return FALSE;
  double seconds = (double) (g_get_monotonic_time () - started) / G_TIME_SPAN_SECOND;
  timing->samples = count_samples (sides, seconds);
  if (timing->samples >= FEWEST_SAMPLES)
    return take_rounds (bench, sides, timing, throttled);
  *reason = g_strdup_printf ("%s: one launch takes too long for %d rounds of %d on both sides "
                             "within %.0f s",
                             timing->workload, ROUNDS, FEWEST_SAMPLES, CASE_SECONDS);
  return FALSE;
}

/* ---- what was measured ---- */

static const double *
values (const GArray *array)
{
  return (const double *) (const void *) array->data;
}

static void
take_side (const AssaySide *side, const char *name, gsize count, AssayTimedSide *record)
{
  record->name = g_strdup (name);
  g_array_unref (record->events);
  g_array_unref (record->hosts);
  g_array_unref (record->walls);
  record->events = assay_side_events (side, count);
  record->hosts = assay_side_hosts (side, count);
  record->walls = g_array_ref (side->walls);
  record->warmup = side->turns->warmed;
  record->steady = side->turns->steady;
  record->median = assay_median (values (record->events), record->events->len);
}

static void
take_judgement (const AssaySpeed *speed, AssayTiming *timing)
{
  AssayTimedSide *sides[] = {&timing->candidate, &timing->baseline};
  timing->verdict = g_strdup (ASSAY_SPEED_VERDICTS[speed->verdict]);
  timing->reason = g_strdup (speed->reason);
  timing->ratio = speed->ratio;
  timing->low = speed->low;
  timing->high = speed->high;
  timing->probability = speed->probability;
  timing->effective = speed->effective;
  for (int i = 0; i < 2; i++)
    {
      sides[i]->lag = speed->lag[i];
      sides[i]->drift = speed->drift[i];
      sides[i]->bimodal = speed->modes[i].bimodal;
      if (!speed->modes[i].bimodal)
        continue;
      sides[i]->mode_low = speed->modes[i].low;
      sides[i]->mode_high = speed->modes[i].high;
    }
}

/* A power cap is how a busy device lives, and its clock tells whether it mattered; heat and brakes of the
 * hardware come and go. */
static char **
grave_reasons (char **throttled)
{
  GPtrArray *grave = g_ptr_array_new ();
  for (guint i = 0; throttled && throttled[i]; i++)
    if (strstr (throttled[i], "thermal") || strstr (throttled[i], "hardware"))
      g_ptr_array_add (grave, g_strdup (throttled[i]));
  g_ptr_array_add (grave, NULL);
  return (char **) g_ptr_array_free (grave, FALSE);
}

/* What the device's events add up to cannot be more than the whole round took by our clock. */
static void
check_clocks (AssayPipeline *p, AssayTiming *timing)
{
  AssayTimedSide *sides[] = {&timing->candidate, &timing->baseline};
  for (int i = 0; i < 2; i++)
    for (gint64 round = 0; round < timing->rounds; round++)
      {
        double sum = 0, wall = values (sides[i]->walls)[round];
        for (gint64 k = 0; k < timing->samples; k++)
          sum += values (sides[i]->events)[round * timing->samples + k];
        if (sum <= wall)
          continue;
        g_free (timing->verdict);
        g_free (timing->reason);
        timing->verdict = g_strdup (ASSAY_SPEED_VERDICTS[ASSAY_SPEED_NOT_INTERPRETABLE]);
        timing->reason = g_strdup_printf (
            "round %d of %s: the device's events add up to %.4g s, the whole round took %.4g s",
            (int) round + 1, sides[i]->name, sum, wall);
        assay_pipeline_log (p, timing->reason);
        return;
      }
}

static void
judge (Bench *bench, AssayTiming *timing)
{
  AssaySpeed speed;
  g_auto (GStrv) grave = grave_reasons (timing->throttled);
  gboolean clocked = timing->clocks->len == timing->rounds;
  AssayTimings timings = {
      .candidate = values (timing->candidate.events),
      .baseline = values (timing->baseline.events),
      .rounds = (gsize) timing->rounds,
      .samples = (gsize) timing->samples,
      .clocks = clocked ? values (timing->clocks) : NULL,
      .reasons = (const char *const *) grave,
  };
  assay_speed_judge (&timings, &speed);
  take_judgement (&speed, timing);
  assay_speed_clear (&speed);
  check_clocks (bench->p, timing);
}

static void
take_design (const AssaySide *side, AssayTiming *timing)
{
  timing->cache_bytes = assay_json_int (side->reply->done, "cache_bytes", 0);
  timing->flush_bytes = assay_json_int (side->reply->done, "flush_bytes", 0);
  timing->input_sets = assay_json_int (side->reply->done, "sets", 0);
}

/* ---- one workload ---- */

/* (transfer full): why there are no times of it; NULL when there are. */
static char *
finish_case (Bench *bench, AssayCase *c, AssaySide *sides, gboolean whole, AssayTiming *timing)
{
  AssayPipeline *p = bench->p;
  for (int i = 0; i < 2; i++)
    assay_side_stop (&sides[i]);
  for (int i = 0; i < 2; i++)
    {
      char *trouble = assay_side_trouble (&sides[i]);
      if (!trouble || assay_pipeline_cancelled (p))
        {
          g_free (trouble);
          continue;
        }
      if (sides[i].reply && sides[i].reply->error
          && g_strcmp0 (sides[i].reply->error->name, ASSAY_TURNS_NO_TIME) == 0)
        {
          g_free (bench->timeless);
          bench->timeless = trouble;
          return g_strdup (trouble);
        }
      if (i == 0 && sides[i].reply)
        assay_pipeline_fail (p, c->workload->name, "candidate", sides[i].reply, trouble);
      g_autofree char *said = trouble;
      g_autofree char *gone = assay_device_check_after (p->device, said);
      return g_strdup_printf ("%s, %s: %s%s%s", c->workload->name,
                              i == 0 ? p->candidate->name : baseline_name (bench), said,
                              gone ? ". The device is " : "", gone ? gone : "");
    }
  if (!whole)
    return g_strdup_printf ("%s: not measured to the end", c->workload->name);
  gsize count = (gsize) (timing->rounds * timing->samples);
  take_side (&sides[0], p->candidate->name, count, &timing->candidate);
  take_side (&sides[1], baseline_name (bench), count, &timing->baseline);
  take_design (&sides[0], timing);
  timing->same_results = assay_candidate_same_results (p, c, &sides[0].launch, NULL);
  judge (bench, timing);
  return NULL;
}

static char *
time_case (Bench *bench, AssayCase *c, AssayTiming **out)
{
  g_autoptr (GError) error = NULL;
  AssaySide sides[2] = {{0}};
  char *reason = NULL;
  AssayTiming *timing = assay_json_table_new (&ASSAY_TIMING_TABLE);
  GPtrArray *throttled = g_ptr_array_new ();
  timing->workload = g_strdup (c->workload->name);
  timing->cache = g_strdup ("flushed");
  timing->against_itself = bench->baseline.candidate == NULL;
  if (start (bench, c, sides, &error))
    {
      gboolean whole = measure (bench, sides, timing, throttled, &reason);
      g_ptr_array_add (throttled, NULL);
      timing->throttled = (char **) g_ptr_array_free (throttled, FALSE);
      char *trouble = finish_case (bench, c, sides, whole, timing);
      reason = reason ? (g_free (trouble), reason) : trouble;
    }
  else
    {
      reason = g_strdup (error->message);
      g_ptr_array_free (throttled, TRUE);
    }
  for (int i = 0; i < 2; i++)
    assay_side_clear (&sides[i]);
  if (reason)
    assay_json_table_free (&ASSAY_TIMING_TABLE, timing);
  else
    *out = timing;
  return reason;
}

/* ---- the stage ---- */

/* Workloads that came out right; where the task marks some for timing, those of them. */
static gboolean
is_timed (const AssayPipeline *p, const AssayCase *c)
{
  gboolean marked = FALSE;
  for (guint i = 0; i < p->task->workloads->len; i++)
    marked |= assay_workload_is_for (g_ptr_array_index (p->task->workloads, i), "bench");
  return c->record->status == ASSAY_WORKLOAD_PASSED
         && (!marked || assay_workload_is_for (c->workload, "bench"));
}

static void
summarise (AssayTimingSummary *record)
{
  g_autofree AssaySpeed *shapes = g_new0 (AssaySpeed, record->timings->len);
  GPtrArray *losers = g_ptr_array_new ();
  AssaySpeedSummary summary;
  for (guint i = 0; i < record->timings->len; i++)
    {
      const AssayTiming *timing = g_ptr_array_index (record->timings, i);
      for (int k = 0; ASSAY_SPEED_VERDICTS[k]; k++)
        if (g_str_equal (timing->verdict, ASSAY_SPEED_VERDICTS[k]))
          shapes[i].verdict = k;
      shapes[i].ratio = timing->ratio;
      shapes[i].low = timing->low;
      shapes[i].high = timing->high;
    }
  assay_speed_summarise (shapes, record->timings->len, &summary);
  record->ratio = summary.ratio;
  record->low = summary.low;
  record->high = summary.high;
  record->counted = summary.counted;
  record->left_out = summary.left_out;
  for (guint i = 0; i < summary.losers->len; i++)
    {
      guint index = g_array_index (summary.losers, guint, i);
      const AssayTiming *timing = g_ptr_array_index (record->timings, index);
      g_ptr_array_add (losers, g_strdup (timing->workload));
    }
  g_array_unref (summary.losers);
  g_ptr_array_add (losers, NULL);
  record->losers = (char **) g_ptr_array_free (losers, FALSE);
}

static const char *
cannot_time (const AssayPipeline *p)
{
  if (g_str_equal (p->device->kind, "virtual"))
    return "the virtual GPU has no notion of time: no speed is measured";
  if (!p->ptx)
    return "nothing was compiled";
  for (guint i = 0; i < p->cases->len; i++)
    if (is_timed (p, g_ptr_array_index (p->cases, i)))
      return NULL;
  return "no workload to be timed came out right";
}

static AssayStatus
conclude (Bench *bench, GString *troubles, guint left_out, char **reason)
{
  AssayPipeline *p = bench->p;
  AssayTimingSummary *record = p->run->benchmark;
  if (record->timings->len == 0)
    g_clear_pointer (&p->run->benchmark, assay_timing_summary_free);
  else
    summarise (record);
  if (left_out > 0)
    g_string_append_printf (troubles, "%s%u workloads left out: timing took longer than %.0f s",
                            troubles->len > 0 ? "; " : "", left_out, STAGE_SECONDS);
  gboolean failed = !p->run->benchmark;
  g_autofree char *timeless = g_steal_pointer (&bench->timeless);
  if (timeless)
    {
      *reason = g_steal_pointer (&timeless);
      return ASSAY_STATUS_SKIPPED;
    }
  if (troubles->len > 0)
    *reason = g_strdup (troubles->str);
  return failed ? ASSAY_STATUS_FAILED : ASSAY_STATUS_PASSED;
}

AssayStatus
assay_stage_bench (AssayPipeline *p, char **reason)
{
  const char *cannot = cannot_time (p);
  Bench bench = {.p = p};
  g_autoptr (GString) troubles = g_string_new (NULL);
  gint64 started = g_get_monotonic_time ();
  guint left_out = 0;
  if (!cannot)
    choose_baseline (&bench);
  if (!cannot && !compile_baseline (&bench, reason))
    {
      assay_program_clear (&bench.baseline);
      return ASSAY_STATUS_SKIPPED;
    }
  if (cannot)
    {
      *reason = g_strdup (cannot);
      return ASSAY_STATUS_SKIPPED;
    }
  p->run->benchmark = assay_timing_summary_new ();
  for (guint i = 0; i < p->cases->len && !bench.timeless && !assay_pipeline_cancelled (p); i++)
    {
      AssayCase *c = g_ptr_array_index (p->cases, i);
      AssayTiming *timing = NULL;
      if (!is_timed (p, c))
        continue;
      if ((double) (g_get_monotonic_time () - started) / G_TIME_SPAN_SECOND > STAGE_SECONDS)
        {
          left_out++;
          continue;
        }
      g_autofree char *trouble = time_case (&bench, c, &timing);
      if (timing)
        {
          g_ptr_array_add (p->run->benchmark->timings, timing);
          assay_events_add_record (p->events, "timing",
                                   assay_json_table_write (&ASSAY_TIMING_TABLE, timing));
        }
      else if (trouble)
        g_string_append_printf (troubles, "%s%s", troubles->len > 0 ? "; " : "", trouble);
    }
  assay_program_clear (&bench.baseline);
  return conclude (&bench, troubles, left_out, reason);
}
