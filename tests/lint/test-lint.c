/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of Python sources without running them. Each fault has a twin that differs in nothing
 * else and of which nothing is told. */
#include "engine/base/error.h"
#include "engine/lint/lint.h"
#include "engine/run/read-python.h"
#include "engine/sandbox/preflight.h"

#include <glib/gstdio.h>
#include <string.h>

typedef struct
{
  const char *name, *source;
  const char *rule; /* the one finding; NULL: none */
  gint64 line;
} Case;

#define HOST "import time\nimport torch\n"
#define TIMED                                                                                      \
  "def bench(f, make):\n  for _ in range(3):\n    f(make())\n  torch.cuda.synchronize()\n  times " \
  "= []\n"                                                                                         \
  "  for i in range(50):\n    x = make()\n    flush_l2()\n    torch.cuda.synchronize()\n"

/* clang-format off */
static const Case CASES[] = {
  {"host clock, waits", HOST TIMED "    t = time.perf_counter()\n    f(x)\n    torch.cuda.synchronize()\n    times.append(time.perf_counter() - t)\n  return times\n", NULL, 0},
  {"host clock, does not wait", HOST TIMED "    t = time.perf_counter()\n    f(x)\n    times.append(time.perf_counter() - t)\n  return times\n", "bench.not-synchronised", 14},
  {"waits before the work only", HOST TIMED "    t = time.time()\n    torch.cuda.synchronize()\n    f(x)\n    e = time.time()\n    times.append(e - t)\n  return times\n", "bench.not-synchronised", 15},
  {"imported under another name", "from time import perf_counter as now\nimport torch\n" TIMED "    t = now()\n    f(x)\n    times.append(now() - t)\n  return times\n", "bench.not-synchronised", 14},
  {"no device, no hint", "import time\ndef bench(f):\n  t = time.time()\n  f()\n  return time.time() - t\n", NULL, 0},
  {"events, waits", HOST "def bench(f, make):\n  f(make())\n  s = torch.cuda.Event(enable_timing=True)\n  e = torch.cuda.Event(enable_timing=True)\n  x = make()\n  s.record()\n  f(x)\n  e.record()\n  torch.cuda.synchronize()\n  return s.elapsed_time(e)\n", NULL, 0},
  {"events, does not wait", HOST "def bench(f, make):\n  f(make())\n  s = torch.cuda.Event(enable_timing=True)\n  e = torch.cuda.Event(enable_timing=True)\n  x = make()\n  s.record()\n  f(x)\n  e.record()\n  return s.elapsed_time(e)\n", "bench.not-synchronised", 11},
  {"from the first call on", HOST "def bench(f, make):\n  x = make()\n  torch.cuda.synchronize()\n  t = time.time()\n  f(x)\n  torch.cuda.synchronize()\n  return time.time() - t\n", "bench.no-warmup", 6},
  {"compiles in the region", HOST "def bench(g, x):\n  warm(g)\n  t = time.time()\n  f = torch.compile(g)\n  f(x)\n  torch.cuda.synchronize()\n  return time.time() - t\n", "bench.compile-timed", 6},
  {"five repetitions", HOST "def bench(f, make):\n  f(make())\n  times = []\n  for i in range(5):\n    x = make()\n    t = time.time()\n    f(x)\n    torch.cuda.synchronize()\n    times.append(time.time() - t)\n  return times\n", "bench.few-samples", 6},
  {"the same inputs, flushed", HOST "def bench(f, x):\n  f(x)\n  times = []\n  for i in range(50):\n    flush_l2()\n    torch.cuda.synchronize()\n    t = time.time()\n    f(x)\n    torch.cuda.synchronize()\n    times.append(time.time() - t)\n  return times\n", "bench.same-inputs", 10},
  {"a helper waits", HOST "def drain():\n  for d in range(torch.cuda.device_count()):\n    torch.cuda.synchronize(d)\n" TIMED "    t = time.perf_counter()\n    f(x)\n    drain()\n    times.append(time.perf_counter() - t)\n  return times\n", NULL, 0},
  {"how long the script took", HOST "def main():\n  t = time.time()\n  xs = tuple(torch.randn(3) for _ in range(2))\n  torch.mm(*xs)\n  print(time.time() - t)\n", NULL, 0},
  {"a time budget is no timing", HOST TIMED "    t = time.perf_counter()\n    s = torch.cuda.Event()\n    s.record()\n    f(x)\n    torch.cuda.synchronize()\n    log(x)\n    if time.perf_counter() - t > 3:\n      break\n", NULL, 0},
  {"mean of ratios", "import statistics\ndef report(times):\n  return statistics.mean(a / b for a, b in times)\n", "bench.metric-wrong", 3},
  {"geometric mean of ratios", "import statistics\ndef report(times):\n  return statistics.geometric_mean(a / b for a, b in times)\n", NULL, 0},
  {"p99 is the median", "import numpy as np\ndef report(times):\n  return {'p50': np.percentile(times, 50), 'p99': np.percentile(times, 50)}\n", "bench.metric-wrong", 3},
  {"p99 is p99", "import numpy as np\ndef report(times):\n  return {'p50': np.percentile(times, 50), 'p99': np.quantile(times, 0.99)}\n", NULL, 0},
  {"least is the most", "def report(times):\n  min_ms = max(times)\n  return min_ms\n", "bench.metric-wrong", 2},
  {"operands right", "import torch\ndef check(out, ref):\n  assert out.shape == ref.shape\n  assert torch.allclose(out, ref, rtol=1e-4, atol=1e-5)\n", NULL, 0},
  {"operands swapped", "import torch\ndef check(out, ref):\n  assert out.shape == ref.shape\n  assert torch.allclose(ref.float(), out.float(), rtol=1e-4)\n", "num.tolerance-operands", 4},
  {"tolerance of a half", "import numpy as np\ndef check(out, ref):\n  np.testing.assert_allclose(out, ref, rtol=0.5)\n", "num.tolerance-too-loose", 3},
  {"tolerance never used", "import torch\ndef allclose(a, b, atol, rtol):\n  torch.testing.assert_close(a, b, atol=1e-2, rtol=rtol)\n", "num.tolerance-operands", 2},
  {"answer thrown away", "import torch\ndef check(out, ref):\n  torch.allclose(out, ref)\n  return out.shape == ref.shape\n", "task.checker-vacuous", 3},
  {"assertion of a tuple", "def check(out, ref):\n  assert (out == ref, 'they differ')\n", "task.checker-vacuous", 2},
  {"assertion with a message", "def check(out, ref):\n  assert out == ref, 'they differ'\n", NULL, 0},
  {"can only say yes", "def verify(out, ref):\n  if out is None:\n    return True, 'nothing'\n  return True, ''\n", "task.checker-vacuous", 1},
  {"can say no", "def verify(out, ref):\n  if out is None:\n    return False, 'nothing'\n  return True, ''\n", NULL, 0},
  {"failure forgotten", "import torch\ndef check(out, ref):\n  try:\n    torch.testing.assert_close(out, ref)\n  except AssertionError:\n    pass\n", "task.checker-vacuous", 5},
  {"failure told", "import torch\ndef check(out, ref):\n  try:\n    torch.testing.assert_close(out, ref)\n  except AssertionError as e:\n    raise ValueError('wrong') from e\n", NULL, 0},
  {"shorter list", "import torch\ndef check(outs, refs):\n  for o, r in zip(outs, refs):\n    torch.testing.assert_close(o, r)\n", "task.checker-vacuous", 3},
  {"lists of one length", "import torch\ndef check(outs, refs):\n  assert len(outs) == len(refs)\n  for o, r in zip(outs, refs):\n    torch.testing.assert_close(o, r)\n", NULL, 0},
  {"broadcast", "def check(out, ref):\n  return (out - ref).abs().max() < 1e-3\n", "task.checker-vacuous", 2},
  {"shapes first", "def check(out, ref):\n  return out.shape == ref.shape and (out - ref).abs().max() < 1e-3\n", NULL, 0},
  {"positive inputs", "import torch\ndef get_inputs():\n  return [torch.rand(16, 16)]\n", "task.input-coverage", 3},
  {"signed inputs", "import torch\ndef get_inputs():\n  return [torch.rand(16, 16) * 2 - 1]\n", NULL, 0},
  {"normal inputs", "import torch as t\ndef get_inputs():\n  return [t.randn(16, 16), t.rand(16)]\n", NULL, 0},
  {"uniform with signs", "import jax\ndef create_inputs(key):\n  return jax.random.uniform(key, (4,), minval=-1.0)\n", NULL, 0},
  {"constants", "import torch\ndef get_inputs():\n  return [torch.ones(16), torch.full((4,), 2.0)]\n", "task.input-coverage", 3},
  {"seed never used", "import torch\ndef generate_input(size, seed):\n  return torch.randn(size)\n", "task.input-coverage", 2},
  {"seed used", "import torch\ndef generate_input(size, seed):\n  g = torch.Generator()\n  g.manual_seed(seed)\n  return torch.randn(size, generator=g)\n", NULL, 0},
  {"clock replaced", "import torch\ntorch.cuda.Event.elapsed_time = lambda a, b: 0.01\n", "hack.timer-patched", 2},
  {"judge replaced", "import torch as t\nt.allclose = lambda *a, **k: True\n", "hack.reads-reference", 2},
  {"looks at its caller", "import sys\ndef custom_kernel(x):\n  return sys._getframe(1).f_locals['expected']\n", "hack.reads-reference", 3},
  {"kept by address", "cache = {}\ndef custom_kernel(x):\n  key = (x.data_ptr(), x.shape)\n  if key not in cache:\n    cache[key] = compute(x)\n  return cache[key]\n", "hack.replayed-output", 5},
  {"kept by shape", "cache = {}\ndef custom_kernel(x):\n  key = x.shape\n  if key not in cache:\n    cache[key] = plan(x)\n  return cache[key](x)\n", NULL, 0},
  {"kernel never used", "import torch, triton\n@triton.jit\ndef k(x):\n  pass\nclass ModelNew:\n  def forward(self, x):\n    return torch.relu(x)\n", "hack.decoy-kernel", 3},
  {"kernel used", "import torch, triton\n@triton.jit\ndef k(x):\n  pass\nclass ModelNew:\n  def forward(self, x):\n    k[(1,)](x)\n    return x\n", NULL, 0},
  {"its own stream", "import torch\ndef custom_kernel(x):\n  with torch.cuda.stream(torch.cuda.Stream()):\n    return x + 1\n", "bench.other-stream", 3},
  {"words in a string", "import torch\nDOC = 'torch.allclose = None; time.time() - t'\n# cache[x.data_ptr()] = y\n", NULL, 0},
};
/* clang-format on */

static AssaySandboxTier
tier (void)
{
  return assay_sandbox_preflight ()->works ? ASSAY_TIER_BUBBLEWRAP : ASSAY_TIER_NONE;
}

typedef struct
{
  char *folder;
  GPtrArray *paths, *unread;
} Fixture;

static void
fixture_set_up (Fixture *self, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  self->folder = g_dir_make_tmp ("assay-lint-XXXXXX", &error);
  g_assert_no_error (error);
  self->paths = g_ptr_array_new_with_free_func (g_free);
  self->unread = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_unread_free);
}

static void
fixture_tear_down (Fixture *self, G_GNUC_UNUSED gconstpointer data)
{
  for (guint i = 0; i < self->paths->len; i++)
    g_unlink (g_ptr_array_index (self->paths, i));
  g_rmdir (self->folder);
  g_free (self->folder);
  g_ptr_array_unref (self->paths);
  g_ptr_array_unref (self->unread);
}

static void
add_source (Fixture *self, const char *name, const char *text, gssize length)
{
  g_autoptr (GError) error = NULL;
  char *path = g_build_filename (self->folder, name, NULL);
  g_assert_true (g_file_set_contents (path, text, length, &error));
  g_ptr_array_add (self->paths, path);
}

static GPtrArray *
read_all (Fixture *self)
{
  g_autoptr (GError) error = NULL;
  GPtrArray *sources = assay_read_python (self->paths, tier (), self->unread, NULL, &error);
  g_assert_no_error (error);
  return sources;
}

static void
test_each_fault_is_told_and_its_twin_is_not (Fixture *self, G_GNUC_UNUSED gconstpointer data)
{
  for (gsize i = 0; i < G_N_ELEMENTS (CASES); i++)
    {
      g_autofree char *name = g_strdup_printf ("%03" G_GSIZE_FORMAT ".py", i);
      add_source (self, name, CASES[i].source, -1);
    }
  g_autoptr (GPtrArray) sources = read_all (self);
  g_assert_cmpuint (self->unread->len, ==, 0);
  g_assert_cmpuint (sources->len, ==, G_N_ELEMENTS (CASES));
  for (gsize i = 0; i < G_N_ELEMENTS (CASES); i++)
    {
      g_autoptr (GPtrArray) found = assay_lint_python (g_ptr_array_index (sources, i));
      for (guint k = 0; k < found->len; k++)
        {
          const AssayFinding *one = g_ptr_array_index (found, k);
          g_test_message ("%s: %s line %d: %s", CASES[i].name, one->rule, (int) one->where.line,
                          one->title);
        }
      g_test_message ("%s", CASES[i].name);
      g_assert_cmpuint (found->len, ==, CASES[i].rule ? 1 : 0);
      if (!CASES[i].rule)
        continue;
      const AssayFinding *one = g_ptr_array_index (found, 0);
      g_assert_cmpstr (one->rule, ==, CASES[i].rule);
      g_assert_cmpint (one->where.line, ==, CASES[i].line);
      g_assert_true (!g_str_has_prefix (one->rule, "hack.")
                     || one->severity == ASSAY_SEVERITY_INFO);
    }
}

/* Nothing of a source runs, and one that cannot be read does not keep others from it. */
static void
test_hostile_sources_are_contained (Fixture *self, G_GNUC_UNUSED gconstpointer data)
{
  g_autofree char *mark = g_build_filename (self->folder, "mark", NULL);
  g_autofree char *acts =
      g_strdup_printf ("open('%s', 'w').write('ran')\nimport os\nos._exit(9)\n", mark);
  g_autofree char *deep = g_strnfill (100000, '(');
  g_autofree char *chain = g_strnfill (60000, '-');
  g_autofree char *large = g_strnfill (1100000, '#');
  g_autofree char *chained = g_strconcat ("x = ", chain, "1\n", NULL);
  add_source (self, "acts.py", acts, -1);
  add_source (self, "chain.py", chained, -1);
  add_source (self, "deep.py", deep, -1);
  add_source (self, "large.py", large, -1);
  add_source (self, "latin.py", "# -*- coding: latin-1 -*-\nx = '\xe9'\n", -1);
  add_source (self, "nul.py", "x = 1\0y = 2\n", 12);
  add_source (self, "old.py", "print 'two'\n", -1);
  add_source (self, "surrogate.py", "x = '\\ud800'\n", -1);
  add_source (self, "utf8.py", "x = '\xff\xfe'\n", -1);
  g_autoptr (GPtrArray) sources = read_all (self);
  g_assert_false (g_file_test (mark, G_FILE_TEST_EXISTS));
  g_assert_cmpuint (sources->len + self->unread->len, ==, self->paths->len);
  for (guint i = 0; i < sources->len; i++)
    {
      const AssayPython *one = g_ptr_array_index (sources, i);
      g_autoptr (GPtrArray) found = assay_lint_python (one);
      g_test_message ("read %s", one->path);
    }
  gboolean old = FALSE, big = FALSE;
  for (guint i = 0; i < self->unread->len; i++)
    {
      const AssayUnread *one = g_ptr_array_index (self->unread, i);
      g_test_message ("not read: %s: %s", one->path, one->reason);
      old = old || (g_str_has_suffix (one->path, "old.py") && strstr (one->reason, "line 1"));
      big = big || (g_str_has_suffix (one->path, "large.py") && strstr (one->reason, "1 MiB"));
    }
  g_assert_true (old);
  g_assert_true (big);
}

static void
test_folders_are_gone_through (Fixture *self, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  add_source (self, "b.py", "x = 1\n", -1);
  add_source (self, "a.py", "x = 1\n", -1);
  add_source (self, "c.txt", "x = 1\n", -1);
  const char *const folder[] = {self->folder, NULL}, *const missing[] = {"/no/such/folder", NULL};
  g_autoptr (GPtrArray) files = assay_python_files (folder, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (files->len, ==, 2);
  g_assert_true (g_str_has_suffix (g_ptr_array_index (files, 0), "a.py"));
  g_assert_null (assay_python_files (missing, &error));
  g_assert_error (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(path, test) g_test_add (path, Fixture, NULL, fixture_set_up, test, fixture_tear_down)
  ADD ("/lint/faults-and-twins", test_each_fault_is_told_and_its_twin_is_not);
  ADD ("/lint/hostile", test_hostile_sources_are_contained);
  ADD ("/lint/folders", test_folders_are_gone_through);
  return g_test_run ();
}
