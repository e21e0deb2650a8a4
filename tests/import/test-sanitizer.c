/* SPDX-License-Identifier: Apache-2.0 */
/* Logs in the shapes that compute-sanitizer 11.0 to 13.3 and cuda-memcheck print, by the manual's examples and by
 * logs in public issues; names and numbers are our own. */
#include "engine/base/error.h"
#include "engine/import/sanitizer.h"

#include <string.h>

static AssaySanitizerLog *
read_text (const char *text)
{
  g_autoptr (GError) error = NULL;
  AssaySanitizerLog *log = assay_sanitizer_read (text, strlen (text), &error);
  g_assert_no_error (error);
  return log;
}

static const struct
{
  const char *text;
  const char *rule, *kernel, *file;
  gint64 line;
  int severity;
} ONE[] = {
    /* place behind the offset */
    {"========= Invalid __global__ write of size 4 bytes\n"
     "=========     at scale(float *, int)+0xd0 in scale.cu:9\n"
     "=========     by thread (7,0,0) in block (2,1,0)\n"
     "=========     Access at 0x7f241b0001e0 is out of bounds\n"
     "=========     and is 33 bytes after the nearest allocation at 0x7f241b000000 of size 448 "
     "bytes\n"
     "=========         Host Frame: main in scale.cu:25 [0x8a81] in scale\n",
     "mem.out-of-bounds", "scale(float *, int)", "scale.cu", 9, ASSAY_SEVERITY_BLOCKER},
    /* place before the function, in older ones */
    {"========= Invalid __shared__ read of size 8 bytes\n"
     "=========     at 0x2570 in /src/tile.cu:41:void tile<int=4>(double const *)\n"
     "=========     by thread (31,0,0) in block (0,0,0)\n"
     "=========     Address 0x7 is misaligned\n",
     "mem.misaligned", "void tile<int=4>(double const *)", "/src/tile.cu", 41,
     ASSAY_SEVERITY_BLOCKER},
    /* without line information */
    {"========= Invalid __local__ write of size 4 bytes\n"
     "=========     at 0x3b0 in void deep<std::pair<int, long>>(int)\n"
     "=========     by thread (0,0,0) in block (0,0,0)\n",
     "mem.out-of-bounds", "void deep<std::pair<int, long>>(int)", NULL, 0, ASSAY_SEVERITY_BLOCKER},
    {"========= Invalid __global__ read of size 4 bytes\n"
     "=========     at columns(const unsigned int *, int)+0x490\n"
     "=========     Address 0x400 is out of bounds, and was freed\n",
     "mem.use-after-free", "columns(const unsigned int *, int)", NULL, 0, ASSAY_SEVERITY_BLOCKER},
    /* a function without its arguments, and the blanks of a CI's log before the signs */
    {"  ========= Invalid __shared__ ? of size 16 bytes\n"
     "  =========     at copy_mask in copy.h:236\n"
     "  =========     by thread (128,0,0) in block (0,0,0)\n",
     "mem.out-of-bounds", "copy_mask", "copy.h", 236, ASSAY_SEVERITY_BLOCKER},
    {"========= Uninitialized __global__ memory read of size 4 bytes\n"
     "=========     at sum(float *)+0x10 in /src/sum.cu:3\n",
     "mem.uninitialised", "sum(float *)", "/src/sum.cu", 3, ASSAY_SEVERITY_BLOCKER},
    {"========= Host API memory access error at host access to 0x7fb of size 16,000 bytes\n"
     "=========     Uninitialized access at 0x7fb on access by cudaMemcpy source\n",
     "mem.uninitialised", NULL, NULL, 0, ASSAY_SEVERITY_BLOCKER},
    {"========= Error: Race reported between Write access at ns::put(int, const T<(unsigned "
     "int)32> "
     "&)+0xd790 in put.cuh:324\n"
     "=========     and Read access at ns::put(int)+0xd5c0 in put.cuh:312 [16 hazards]\n",
     "race.shared", "ns::put(int, const T<(unsigned int)32> &)", "put.cuh", 324,
     ASSAY_SEVERITY_BLOCKER},
    {"========= Warning: Race reported between Read access at 0x1f20 in /src/r.cu:249:k(int)\n"
     "=========     and Write access at 0x14b0 in /src/r.cu:349:k(int) [4 hazards]\n",
     "race.shared", "k(int)", "/src/r.cu", 249, ASSAY_SEVERITY_MINOR},
    {"========= WARN:(Warp Level Programming) Potential RAW hazard detected at __shared__ 0xf4 in "
     "block (0, 0, 0) :\n"
     "=========     Write Thread (24, 0, 0) at 0x00001ab0 in /src/scan.cuh:146:scan\n"
     "=========     Read Thread (25, 0, 0) at 0x00001b00 in /src/scan.cuh:151:scan\n",
     "race.shared", "scan", "/src/scan.cuh", 146, ASSAY_SEVERITY_MINOR},
    {"========= Barrier error detected. Divergent thread(s) in warp\n"
     "=========     at 0x46b8 in /src/sync.cu:12:k\n"
     "=========     by thread (2,0,0) in block (0,0,0)\n",
     "sync.divergent-barrier", "k", "/src/sync.cu", 12, ASSAY_SEVERITY_BLOCKER},
    {"========= Leaked 1,024 bytes at 0x7f2\n"
     "=========     Saved host backtrace up to driver entry point at allocation time\n",
     "mem.leak", NULL, NULL, 0, ASSAY_SEVERITY_MINOR},
};

static void
test_every_kind_of_report (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (ONE); i++)
    {
      g_autofree char *text = g_strconcat (ONE[i].text, "========= ERROR SUMMARY: 1 error\n", NULL);
      g_autoptr (AssaySanitizerLog) log = read_text (text);
      g_test_message ("%s", ONE[i].text);
      g_assert_cmpuint (log->findings->len, ==, 1);
      g_assert_cmpuint (log->reports, ==, 1);
      g_assert_cmpuint (g_strv_length (log->notes), ==, 0);
      const AssayFinding *finding = g_ptr_array_index (log->findings, 0);
      g_assert_cmpstr (finding->rule, ==, ONE[i].rule);
      g_assert_cmpstr (finding->where.kernel, ==, ONE[i].kernel);
      g_assert_cmpstr (finding->where.file, ==, ONE[i].file);
      g_assert_cmpint (finding->where.line, ==, ONE[i].line);
      g_assert_cmpint (finding->severity, ==, ONE[i].severity);
      g_assert_nonnull (finding->id);
    }
}

static void
test_thread_and_block (void)
{
  g_autoptr (AssaySanitizerLog) log = read_text (ONE[0].text);
  const AssayWhere *where = &((AssayFinding *) g_ptr_array_index (log->findings, 0))->where;
  static const gint64 thread[] = {7, 0, 0}, block[] = {2, 1, 0};
  g_assert_cmpmem (where->thread->data, where->thread->len * 8, thread, sizeof thread);
  g_assert_cmpmem (where->block->data, where->block->len * 8, block, sizeof block);
}

/* Thousands of threads do the same wrong thing: one finding. What is no finding is a note, what the program prints
 * in between is neither. */
static void
test_a_whole_log (void)
{
  g_autoptr (GString) text = g_string_new ("========= COMPUTE-SANITIZER\nhello\n");
  for (int i = 0; i < 1024; i++)
    g_string_append_printf (text,
                            "========= Invalid __global__ write of size 4 bytes\n"
                            "=========     at scale(float *)+0xd0 in scale.cu:9\n"
                            "=========     by thread (%d,0,0) in block (0,0,0)\n"
                            "=========     Address 0x%x is out of bounds\n=========\n",
                            i, 4 * i);
  g_string_append (text, "progress 50 %\n========= Program hit cudaErrorLaunchFailure (error 719) "
                         "due to \"unspecified "
                         "launch failure\" on CUDA API call to cudaDeviceSynchronize.\n"
                         "=========     Saved host backtrace up to driver entry point at error\n"
                         "=========\n========= ERROR SUMMARY: 1,025 errors\n"
                         "========= ERROR SUMMARY: 4 errors were not printed. Use --print-limit "
                         "option to adjust the number of printed errors\n");
  g_autoptr (AssaySanitizerLog) log = read_text (text->str);
  g_assert_cmpuint (log->findings->len, ==, 1);
  g_assert_cmpuint (((AssayFinding *) g_ptr_array_index (log->findings, 0))->count, ==, 1024);
  g_assert_cmpuint (log->reports, ==, 1024);
  g_assert_cmpuint (log->told, ==, 1029);
  g_assert_cmpuint (g_strv_length (log->notes), ==, 2);
  g_assert_nonnull (strstr (log->notes[0], "cudaErrorLaunchFailure"));
  g_assert_nonnull (strstr (log->notes[1], "its summary tells of 1029, the log holds 1025"));
}

static void
test_clean_logs_and_reports_of_tomorrow (void)
{
  g_autoptr (AssaySanitizerLog) clean =
      read_text ("========= COMPUTE-SANITIZER\nfine\n"
                 "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n");
  g_assert_cmpuint (clean->findings->len, ==, 0);
  g_assert_true (clean->whole);
  g_assert_cmpuint (g_strv_length (clean->notes), ==, 0);
  g_autoptr (AssaySanitizerLog) novel =
      read_text ("========= Quantum fault of size 4 bytes\n=========     at k in k.cu:3\n"
                 "========= ERROR SUMMARY: 0 errors\n");
  g_assert_cmpuint (novel->findings->len, ==, 0);
  g_assert_cmpstr (novel->notes[0], ==, "Quantum fault of size 4 bytes");
}

/* What the driver's calls failed with is in the summary's count; a log without its summary, or of a tool
 * that failed, is no clean one. */
static void
test_summaries_count_calls_and_end_a_log (void)
{
  g_autoptr (AssaySanitizerLog) both = read_text (
      "========= Invalid __global__ read of size 16 bytes\n=========     at k(float "
      "*)+0xa0\n=========\n"
      "========= Program hit cudaErrorUnknown (error 999) on CUDA API call to cudaMemcpy.\n"
      "========= ERROR SUMMARY: 2 errors\n");
  g_assert_cmpuint (both->reports + both->api_errors, ==, 2);
  g_assert_cmpuint (g_strv_length (both->notes), ==, 1);
  g_autoptr (AssaySanitizerLog) cut = read_text ("========= COMPUTE-SANITIZER\n");
  g_assert_false (cut->whole);
  g_assert_nonnull (strstr (cut->notes[0], "no summary"));
  g_autoptr (AssaySanitizerLog) idle =
      read_text ("========= COMPUTE-SANITIZER\n========= Error: No kernels were launched\n"
                 "========= ERROR SUMMARY: 0 errors\n");
  g_assert_false (idle->whole);
}

static void
test_what_is_no_log_says_so (void)
{
  static const struct
  {
    const char *text, *words;
  } wrong[] = {
      {"", "found none"},
      {"hello\n====== short\n", "found none"},
      {"<?xml version=\"1.0\"?>\n<ComputeSanitizerOutput/>\n", "without --xml"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (GError) error = NULL;
      g_assert_null (assay_sanitizer_read (wrong[i].text, strlen (wrong[i].text), &error));
      g_assert_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID);
      g_assert_nonnull (strstr (error->message, wrong[i].words));
    }
  g_autoptr (GError) error = NULL;
  g_assert_null (assay_sanitizer_read ("", (gsize) 65 << 20, &error));
  g_assert_error (error, ASSAY_ERROR, ASSAY_ERROR_LIMIT);
}

/* Cut anywhere, with bytes turned over: something or an error, never a crash. */
static void
test_broken_logs (void)
{
  g_autoptr (GString) all = g_string_new (NULL);
  guint32 state = 12345;
  for (gsize i = 0; i < G_N_ELEMENTS (ONE); i++)
    g_string_append (all, ONE[i].text);
  for (gsize cut = 0; cut <= all->len; cut += 7)
    {
      g_autofree char *copy = g_memdup2 (all->str, all->len);
      for (int k = 0; k < 20; k++)
        {
          state = state * 1664525u + 1013904223u;
          copy[state % all->len] = (char) (state >> 24);
        }
      g_autoptr (AssaySanitizerLog) log = assay_sanitizer_read (copy, cut, NULL);
      g_assert_true (!log || log->findings->len <= 2 * G_N_ELEMENTS (ONE));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sanitizer/kinds", test_every_kind_of_report);
  g_test_add_func ("/sanitizer/thread", test_thread_and_block);
  g_test_add_func ("/sanitizer/whole", test_a_whole_log);
  g_test_add_func ("/sanitizer/clean", test_clean_logs_and_reports_of_tomorrow);
  g_test_add_func ("/sanitizer/summaries", test_summaries_count_calls_and_end_a_log);
  g_test_add_func ("/sanitizer/refused", test_what_is_no_log_says_so);
  g_test_add_func ("/sanitizer/broken", test_broken_logs);
  return g_test_run ();
}
