/* SPDX-License-Identifier: Apache-2.0 */
/* How a source takes times. Each function is read as the sequence of what it does: clocks read, events
 * recorded, synchronisation, caches flushed, other calls; a timed region lies between two clock reads
 * whose difference is taken, or between two events whose elapsed time is. */
#include "engine/lint/lint-private.h"

#include <string.h>

#define CLOCK "^(time\\.(time|perf_counter|monotonic|process_time)(_ns)?|timeit\\.default_timer)$"
#define SYNC                                                                                       \
  "(^|\\.)(synchronize|block_until_ready|wait|item|cpu|numpy|tolist|barrier|deviceSynchronize|"    \
  "elapsed_time|asnumpy)$"
#define FLUSH                                                                                      \
  "flush|clear_?(l2|cache)|l2_?(cache|clear|flush)|cache_(clear|flush|evict)|thrash|evict"
#define FLUSHED "l2|cache|flush|evict|scratch|thrash|dummy"
#define COMPILES                                                                                   \
  "^(torch\\.compile|jax\\.jit|triton\\.compile|torch\\.utils\\.cpp_extension\\.(load|load_"       \
  "inline)|"                                                                                       \
  "numba\\.cuda\\.jit|torch\\.jit\\.(script|trace)|cupy\\.RawKernel)$|(^|\\.)load_inline$"
#define PLAIN                                                                                      \
  "^(range|len|print|min|max|sum|abs|float|int|str|list|dict|tuple|set|sorted|enumerate|zip|"      \
  "round|"                                                                                         \
  "isinstance|getattr|next|iter|any|all|time\\..*|math\\..*|statistics\\..*|os\\..*|logging\\..*|" \
  "np\\.(mean|median|std)|numpy\\.(mean|median|std|percentile)|torch\\.cuda\\.(Event|Stream|"      \
  "current_stream|device|stream|nvtx.*|memory.*|max_memory.*|reset.*|empty_cache)|"                \
  "torch\\.no_grad|torch\\.inference_mode|gc\\..*|tqdm.*|contextlib\\..*|.*\\.(append|extend|"     \
  "format|"                                                                                        \
  "join|items|keys|values|record|info|debug|write|update|set_description))$"

#define TIMING "bench|time|timing|timer|measur|perf|latenc|profil|speed"
#define ELSEWHERE                                                                                  \
  "^(subprocess|multiprocessing|requests|asyncio|socket|urllib|pandas|concurrent|threading|"       \
  "aiohttp|"                                                                                       \
  "httpx|openai|ray)\\.|server|request|download|query|queue|process$|apply_async|pool\\."

typedef enum
{
  READS_CLOCK,
  RECORDS,
  SYNCS,
  FLUSHES,
  CALLS,
  TAKES_DIFFERENCE, /* `b - a`: a and b in `of` and `name` */
  TAKES_ELAPSED,    /* `a.elapsed_time(b)` */
} Does;

typedef struct
{
  Does does;
  AssaySyntax *node;
  char *name; /* who is called; the event; the variable that a clock is stored in */
  char *of;
  AssaySyntax *loop; /* the innermost For, While or comprehension around it */
} Step;

typedef struct
{
  AssayLint *lint;
  GArray *steps;
  GHashTable *waits; /* functions of the source that wait for the device */
  AssaySyntax *loop;
  const char *stored; /* the variable of the assignment that is being read */
} Reading;

static void
clear_step (gpointer data)
{
  Step *self = data;
  g_free (self->name);
  g_free (self->of);
}

static void
add_step (Reading *self, Does does, AssaySyntax *node, char *name, char *of)
{
  Step step = {does, node, name, of, self->loop};
  g_array_append_val (self->steps, step);
}

/* The name of the thing itself: an element of a list is its list. */
static char *
thing (Reading *self, AssaySyntax *node)
{
  while (assay_syntax_is (node, "Subscript"))
    node = assay_syntax_get (node, "value");
  return assay_python_name (self->lint->python, node);
}

static void
read_call (Reading *self, AssaySyntax *call)
{
  g_autofree char *name = assay_python_callee (self->lint->python, call);
  AssaySyntax *func = assay_syntax_get (call, "func");
  const char *method = assay_syntax_text (func, "attr");
  if (assay_lint_is_like (name, CLOCK))
    add_step (self, READS_CLOCK, call, g_strdup (self->stored), NULL);
  else if (g_strcmp0 (method, "record") == 0)
    add_step (self, RECORDS, call, thing (self, assay_syntax_get (func, "value")), NULL);
  else if (g_strcmp0 (method, "elapsed_time") == 0)
    add_step (self, TAKES_ELAPSED, call, thing (self, assay_syntax_argument (call, 0)),
              thing (self, assay_syntax_get (func, "value")));
  else if (assay_lint_is_like (name, FLUSH)
           || (assay_lint_is_like (method, "^(zero_|fill_|copy_|random_|normal_)$")
               && assay_lint_is_like (name, FLUSHED)))
    add_step (self, FLUSHES, call, g_steal_pointer (&name), NULL);
  else if (assay_lint_is_like (name, SYNC) || g_hash_table_contains (self->waits, name))
    add_step (self, SYNCS, call, g_steal_pointer (&name), NULL);
  else if (!assay_lint_is_like (name, PLAIN))
    add_step (self, CALLS, call, g_steal_pointer (&name), NULL);
}

static void read_node (Reading *self, AssaySyntax *node);

static gboolean
read_child (AssaySyntax *node, gpointer user_data)
{
  read_node (user_data, node);
  return FALSE;
}

static void
read_children (Reading *self, AssaySyntax *node)
{
  static const char *const FIELDS[] = {
      "iter",      "test",        "items",  "value",        "func", "args",       "keywords",
      "left",      "right",       "values", "operand",      "elts", "generators", "elt",
      "key",       "comparators", "slice",  "context_expr", "body", "handlers",   "orelse",
      "finalbody", "targets",     "exc",    "msg",
  };
  for (gsize i = 0; i < G_N_ELEMENTS (FIELDS); i++)
    assay_syntax_walk_field (node, FIELDS[i], read_child, self);
}

static gboolean
is_loop (AssaySyntax *node)
{
  return assay_syntax_is (node, "For") || assay_syntax_is (node, "While");
}

/* Children before the node: arguments are there before the call. */
static void
read_node (Reading *self, AssaySyntax *node)
{
  if (assay_syntax_is (node, "FunctionDef") || assay_syntax_is (node, "AsyncFunctionDef")
      || assay_syntax_is (node, "ClassDef") || assay_syntax_is (node, "Lambda"))
    return;
  AssaySyntax *outer = self->loop;
  const char *stored = self->stored;
  if (is_loop (node))
    self->loop = node;
  if (assay_syntax_is (node, "Assign"))
    self->stored = assay_syntax_text (assay_syntax_at (node, "targets", 0), "id");
  read_children (self, node);
  if (assay_syntax_is (node, "Call"))
    read_call (self, node);
  if (assay_syntax_is (node, "BinOp") && assay_syntax_is (assay_syntax_get (node, "op"), "Sub"))
    add_step (self, TAKES_DIFFERENCE, node, thing (self, assay_syntax_get (node, "left")),
              thing (self, assay_syntax_get (node, "right")));
  self->loop = outer;
  self->stored = stored;
}

static const Step *
step (const Reading *self, guint i)
{
  return &g_array_index (self->steps, Step, i);
}

/* ---- regions ---- */

typedef struct
{
  const Reading *reading;
  guint from, to, taken; /* steps: the first clock, the second, where the difference is taken */
  gboolean events;
} Region;

/* The last step before `before` that stores a clock in, or records, this name; G_MAXUINT: none. */
static guint
last_of (const Reading *self, Does does, const char *name, guint before)
{
  for (guint i = before; i-- > 0;)
    if (step (self, i)->does == does && g_strcmp0 (step (self, i)->name, name) == 0)
      return i;
  return G_MAXUINT;
}

static gboolean
region_at (const Reading *self, guint taken, Region *region)
{
  const Step *is = step (self, taken);
  *region = (Region) {self, G_MAXUINT, G_MAXUINT, taken, is->does == TAKES_ELAPSED};
  if (is->does == TAKES_ELAPSED)
    {
      region->to = last_of (self, RECORDS, is->name, taken);
      region->from = last_of (self, RECORDS, is->of, MIN (region->to, taken));
    }
  else if (is->does == TAKES_DIFFERENCE)
    {
      gboolean now =
          taken > 0 && step (self, taken - 1)->does == READS_CLOCK && g_str_equal (is->name, "()");
      AssaySyntax *left = assay_syntax_get (is->node, "left");
      now = now || (taken > 0 && step (self, taken - 1)->node == left);
      region->to = now ? taken - 1 : last_of (self, READS_CLOCK, is->name, taken);
      region->from = last_of (self, READS_CLOCK, is->of, MIN (region->to, taken));
    }
  return region->to != G_MAXUINT && region->from != G_MAXUINT && region->from < region->to;
}

/* The first call in the region that is work. */
static const Step *
work_of (const Region *region)
{
  for (guint i = region->from + 1; i < region->to; i++)
    if (step (region->reading, i)->does == CALLS)
      return step (region->reading, i);
  return NULL;
}

static gboolean
any (const Reading *self, guint from, guint to, Does does, const char *like)
{
  for (guint i = from; i < to; i++)
    if (step (self, i)->does == does && (!like || assay_lint_is_like (step (self, i)->name, like)))
      return TRUE;
  return FALSE;
}

static void
check_synchronised (AssayLint *lint, const Region *region)
{
  const Reading *self = region->reading;
  guint last = region->from;
  for (guint i = region->from + 1; i < region->to; i++)
    if (step (self, i)->does == CALLS)
      last = i;
  if (region->events ? any (self, region->to, region->taken, SYNCS, NULL)
                     : any (self, last, region->to, SYNCS, NULL))
    return;
  assay_lint_add (
      lint, "bench.not-synchronised",
      step (self, region->events ? region->taken : region->to)->node, 0.85,
      g_strdup (region->events
                    ? "the elapsed time of two events is asked for before they are reached"
                    : "the clock is read while the device may still be working"),
      "Launches return at once: without waiting for the device the time of the launch is measured, "
      "not the time of the work.");
}

static gboolean
is_warm (const Reading *self, const Region *region, const Step *work, AssaySyntax *function)
{
  if (assay_lint_mentions_like (function, "warm") || assay_lint_is_like (work->name, "\\.replay$"))
    return TRUE;
  for (guint i = 0; i < region->from; i++)
    if (step (self, i)->does == CALLS && g_str_equal (step (self, i)->name, work->name))
      return TRUE;
  return FALSE;
}

/* How often the innermost loop around the region, or around the work in it, runs; 0: not written down. */
static double
repetitions (AssaySyntax *loop)
{
  AssaySyntax *over = assay_syntax_get (loop, "iter");
  double n = 0;
  if (assay_syntax_is (over, "Call")
      && g_strcmp0 (assay_syntax_text (assay_syntax_get (over, "func"), "id"), "range") == 0
      && assay_syntax_length (over, "args") == 1)
    assay_syntax_number (assay_syntax_argument (over, 0), &n);
  return n;
}

static gboolean
is_stored_in (AssaySyntax *node, gpointer user_data)
{
  gpointer *search = user_data; /* the identifier; the answer */
  if (assay_syntax_is (node, "Assign") || assay_syntax_is (node, "AugAssign")
      || assay_syntax_is (node, "For") || assay_syntax_is (node, "comprehension"))
    for (guint i = 0; i <= assay_syntax_length (node, "targets"); i++)
      {
        AssaySyntax *target =
            i ? assay_syntax_at (node, "targets", i - 1) : assay_syntax_get (node, "target");
        if (target && assay_syntax_mentions (target, search[0]))
          search[1] = node;
      }
  return search[1] == NULL;
}

static gboolean
changes_in (AssaySyntax *loop, const char *identifier)
{
  gpointer search[2] = {(gpointer) identifier, NULL};
  assay_syntax_walk (loop, is_stored_in, search);
  return search[1] != NULL;
}

typedef struct
{
  AssaySyntax *loop;
  guint names, changing;
} Arguments;

static gboolean
count_names (AssaySyntax *node, gpointer user_data)
{
  Arguments *self = user_data;
  if (assay_syntax_is (node, "Call"))
    self->changing++; /* made anew */
  if (!assay_syntax_is (node, "Name"))
    return TRUE;
  self->names++;
  self->changing += changes_in (self->loop, assay_syntax_text (node, "id")) ? 1 : 0;
  return TRUE;
}

static void
check_repetition (AssayLint *lint, const Region *region, const Step *work)
{
  const Reading *self = region->reading;
  AssaySyntax *loop = work->loop;
  double n = loop ? repetitions (loop) : 0;
  if (!loop)
    return;
  if (n > 0 && n < 10)
    assay_lint_add (lint, "bench.few-samples", loop, 0.7,
                    g_strdup_printf ("%.0f timed repetition%s", n, n > 1 ? "s" : ""),
                    "So few samples give no interval worth the name.");
  Arguments arguments = {.loop = loop};
  assay_syntax_walk_field (work->node, "args", count_names, &arguments);
  assay_syntax_walk_field (work->node, "keywords", count_names, &arguments);
  gboolean same = arguments.names > 0 && arguments.changing == 0;
  if (same)
    assay_lint_add (
        lint, "bench.same-inputs", work->node, 0.6,
        g_strdup_printf ("%s gets the same inputs in every timed repetition", work->name),
        "A result may be replayed, and the data lie in the cache.");
  if (same && !any (self, 0, self->steps->len, FLUSHES, NULL))
    assay_lint_add (lint, "bench.warm-cache", loop, 0.6,
                    g_strdup ("nothing evicts the cache between timed repetitions"),
                    "Working sets below the size of L2 are then read from it.");
}

/* Not every clock times a kernel: a budget has other clocks within, and how long a server took is asked
 * in functions that are called otherwise. */
static gboolean
times_a_kernel (const Region *region, AssaySyntax *function)
{
  if (region->events)
    return TRUE;
  const char *name = assay_syntax_text (function, "name");
  return !any (region->reading, region->from + 1, region->to, READS_CLOCK, NULL)
         && !any (region->reading, region->from + 1, region->to, RECORDS, NULL)
         && !assay_lint_is_like (name, "cpu|host") && (!name || assay_lint_is_like (name, TIMING))
         && !any (region->reading, region->from + 1, region->to, CALLS, ELSEWHERE);
}

static void
check_region (AssayLint *lint, const Region *region, AssaySyntax *function)
{
  const Reading *self = region->reading;
  const Step *work = work_of (region);
  if (!work || !times_a_kernel (region, function))
    return;
  for (guint i = region->from + 1; i < region->to; i++)
    if (step (self, i)->does == CALLS && assay_lint_is_like (step (self, i)->name, COMPILES))
      {
        assay_lint_add (lint, "bench.compile-timed", step (self, i)->node, 0.85,
                        g_strdup_printf ("%s within the timed region", step (self, i)->name),
                        "Compilation happens once, and is not the kernel's time.");
        return;
      }
  check_synchronised (lint, region);
  if (!is_warm (self, region, work, function))
    assay_lint_add (lint, "bench.no-warmup", step (self, region->from)->node, 0.7,
                    g_strdup_printf ("%s is timed from its first call on", work->name),
                    "The first call pays for loading, compilation and tuning.");
  check_repetition (lint, region, work);
}

typedef struct
{
  AssayLint *lint;
  GHashTable *waits;
  const char *function;
} Waits;

static gboolean
find_waits (AssaySyntax *node, gpointer user_data)
{
  Waits *self = user_data;
  if (assay_syntax_is (node, "FunctionDef"))
    self->function = assay_syntax_text (node, "name");
  if (!self->function || !assay_syntax_is (node, "Call"))
    return TRUE;
  g_autofree char *name = assay_python_callee (self->lint->python, node);
  if (assay_lint_is_like (name, "(^|\\.)(synchronize|block_until_ready)$"))
    g_hash_table_add (self->waits, (gpointer) self->function);
  return TRUE;
}

static void
check_function (AssayLint *lint, AssaySyntax *function)
{
  g_autoptr (GHashTable) waits = g_hash_table_new (g_str_hash, g_str_equal);
  Waits all = {lint, waits, NULL};
  assay_syntax_walk (assay_python_module (lint->python), find_waits, &all);
  /* One that measures waits as well, and is not what a timed region calls in order to wait. */
  g_hash_table_remove (
      waits, assay_syntax_text (function, "name") ? assay_syntax_text (function, "name") : "");
  Reading reading = {
      .lint = lint, .steps = g_array_new (FALSE, FALSE, sizeof (Step)), .waits = waits};
  g_array_set_clear_func (reading.steps, clear_step);
  assay_syntax_walk_field (function, "body", read_child, &reading);
  for (guint i = 0; i < reading.steps->len; i++)
    {
      Region region;
      if (region_at (&reading, i, &region))
        check_region (lint, &region, function);
    }
  g_array_unref (reading.steps);
}

void
assay_lint_timing (AssayLint *lint)
{
  static const char *const DEVICES[] = {"torch", "triton", "cupy",   "jax",
                                        "numba", "cuda",   "pycuda", "torch_neuronx"};
  gboolean device = FALSE;
  for (gsize i = 0; i < G_N_ELEMENTS (DEVICES); i++)
    device = device || assay_lint_imports (lint->python, DEVICES[i]);
  if (!device)
    return;
  check_function (lint, assay_python_module (lint->python));
  assay_lint_functions (lint, check_function);
}
