/* SPDX-License-Identifier: Apache-2.0 */
/* Tables in the two shapes that Nsight Compute's manual describes, with the traps that its users meet. */
#include "engine/base/error.h"
#include "engine/import/counters.h"

#include <math.h>
#include <string.h>

#define HEAD                                                                                       \
  "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\","   \
  "\"Block Size\",\"Grid Size\",\"Device\",\"CC\""
#define LAUNCH(id, kernel)                                                                         \
  "\"" id "\",\"71\",\"bench\",\"127.0.0.1\",\"" kernel "\",\"1\",\"7\",\"(128, 1, 1)\","          \
  "\"(64, 2, 1)\",\"0\",\"9.0\""

static AssayCounters *
read_text (const char *text)
{
  g_autoptr (GError) error = NULL;
  AssayCounters *counters = assay_counters_read (text, strlen (text), &error);
  g_assert_no_error (error);
  return counters;
}

static const AssayKernelCounters *
kernel_of (const AssayCounters *counters, guint index)
{
  g_assert_cmpuint (index, <, counters->kernels->len);
  return g_ptr_array_index (counters->kernels, index);
}

static const AssayMetric *
metric_of (const AssayKernelCounters *kernel, const char *section, const char *name)
{
  for (guint i = 0; i < kernel->metrics->len; i++)
    {
      const AssayMetric *metric = g_ptr_array_index (kernel->metrics, i);
      if (g_str_equal (metric->name, name) && g_strcmp0 (metric->section, section) == 0)
        return metric;
    }
  g_error ("no metric %s", name);
}

static void
test_raw_page (void)
{
  g_autoptr (AssayCounters) counters =
      read_text ("==PROF== Connected to process 71\n==WARNING== Clocks are not locked\n" HEAD
                 ",\"dram__bytes.sum\",\"gpu__time_duration.sum\",\"sm__x.ratio\",\"tensor\"\n"
                 "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"Mbyte\",\"us\",\"\","
                 "\"inst\"\n" LAUNCH (
                     "0", "void k<(int)4, \"\"a, b\"\">(float *)") ",\"1,234.50\",\"12.5\","
                                                                   "\"n/a\",\"\"\n" LAUNCH (
                                                                       "1", "plain") ",\"2\",\"1,"
                                                                                     "000.25\","
                                                                                     "\"0.125\","
                                                                                     "\"7\"\n=="
                                                                                     "PROF== "
                                                                                     "Disconnected"
                                                                                     "\n");
  g_assert_cmpstr (counters->page, ==, "raw");
  g_assert_cmpuint (counters->kernels->len, ==, 2);
  g_assert_cmpstr (counters->notes[0], ==, "==WARNING== Clocks are not locked");
  const AssayKernelCounters *first = kernel_of (counters, 0), *second = kernel_of (counters, 1);
  g_assert_cmpstr (first->kernel, ==, "void k<(int)4, \"a, b\">(float *)");
  static const gint64 grid[] = {64, 2, 1}, block[] = {128, 1, 1};
  g_assert_cmpmem (first->grid->data, first->grid->len * 8, grid, sizeof grid);
  g_assert_cmpmem (first->block->data, first->block->len * 8, block, sizeof block);
  g_assert_cmpfloat (metric_of (first, NULL, "dram__bytes.sum")->value, ==, 1234.5e6);
  g_assert_cmpstr (metric_of (first, NULL, "dram__bytes.sum")->unit, ==, "byte");
  g_assert_cmpfloat_with_epsilon (metric_of (first, NULL, "gpu__time_duration.sum")->value, 12.5e-6,
                                  1e-18);
  g_assert_true (isnan (metric_of (first, NULL, "sm__x.ratio")->value));
  g_assert_cmpstr (metric_of (first, NULL, "sm__x.ratio")->text, ==, "n/a");
  g_assert_true (isnan (metric_of (first, NULL, "tensor")->value));
  g_assert_cmpfloat_with_epsilon (metric_of (second, NULL, "gpu__time_duration.sum")->value,
                                  1000.25e-6, 1e-16);
  g_assert_cmpfloat (metric_of (second, NULL, "sm__x.ratio")->value, ==, 0.125);
}

/* Units differ by kernel, the same metric stands in two sections, rules have no metric; old files have neither Device
 * nor CC. */
static void
test_details_page (void)
{
  g_autoptr (AssayCounters) counters = read_text (
      "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\","
      "\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Rule Name\"\n"
      "\"0\",\"71\",\"a\",\"h\",\"k\",\"1\",\"7\",\"Speed\",\"Duration\",\"usecond\",\"7.30\","
      "\"\"\n"
      "\"0\",\"71\",\"a\",\"h\",\"k\",\"1\",\"7\",\"Speed\",\"L2\",\"%\",\"65.77\",\"\"\n"
      "\"0\",\"71\",\"a\",\"h\",\"k\",\"1\",\"7\",\"Memory\",\"L2\",\"Gbyte/second\",\"1.5\",\"\"\n"
      "\"0\",\"71\",\"a\",\"h\",\"k\",\"1\",\"7\",\"Speed\",\"\",\"\",\"\",\"SOLBottleneck\"\n"
      "\"1\",\"71\",\"a\",\"h\",\"k\",\"1\",\"7\",\"Speed\",\"Duration\",\"msecond\",\"2.00\","
      "\"\"\n");
  g_assert_cmpstr (counters->page, ==, "details");
  g_assert_cmpuint (counters->kernels->len, ==, 2);
  const AssayKernelCounters *first = kernel_of (counters, 0);
  g_assert_cmpuint (first->metrics->len, ==, 3);
  g_assert_cmpuint (first->grid->len, ==, 0);
  g_assert_cmpfloat_with_epsilon (metric_of (first, "Speed", "Duration")->value, 7.3e-6, 1e-18);
  g_assert_cmpfloat (metric_of (first, "Speed", "L2")->value, ==, 65.77);
  g_assert_cmpfloat (metric_of (first, "Memory", "L2")->value, ==, 1.5e9);
  g_assert_cmpstr (metric_of (first, "Memory", "L2")->unit, ==, "byte/s");
  g_assert_cmpfloat (metric_of (kernel_of (counters, 1), "Speed", "Duration")->value, ==, 2e-3);
}

static void
test_numbers_of_other_countries (void)
{
  g_autoptr (AssayCounters) counters =
      read_text (HEAD ",\"a\",\"b\",\"c\"\n,,,,,,,,,,,\"byte\",\"%\",\"inst\"\n" LAUNCH (
          "0", "k") ",\"27.595.520\",\"65,77\",\"1.234\"\n");
  g_assert_cmpstr (counters->decimal, ==, ",");
  const AssayKernelCounters *kernel = kernel_of (counters, 0);
  g_assert_cmpfloat (metric_of (kernel, NULL, "a")->value, ==, 27595520);
  g_assert_cmpfloat (metric_of (kernel, NULL, "b")->value, ==, 65.77);
  g_assert_cmpfloat (metric_of (kernel, NULL, "c")->value, ==, 1234);
  /* Nothing in the file tells: said, and not guessed in silence. */
  g_autoptr (AssayCounters) open =
      read_text (HEAD ",\"a\"\n,,,,,,,,,,,\"byte\"\n" LAUNCH ("0", "k") ",\"1,234\"\n");
  g_assert_cmpfloat (metric_of (kernel_of (open, 0), NULL, "a")->value, ==, 1234);
  g_assert_nonnull (strstr (open->notes[0], "either way"));
}

static void
test_what_is_wrong_is_named (void)
{
  static const struct
  {
    const char *text, *words;
  } wrong[] = {
      {"", "no table of Nsight Compute"},
      {"==PROF== Connected\n==ERROR== no permission\n", "no table of Nsight Compute"},
      {"\"Kernel Name\",\"a\"\n\"k\",\"1\"\n", "\"ID\" and \"Kernel Name\""},
      {HEAD ",\"a\"\n" LAUNCH ("0", "k") ",\"1\"\n", "row of units"},
      {HEAD ",\"a\"\n,,,,,,,,,,,\"byte\"\n" LAUNCH ("0", "k") "\n",
       "line 3: expected 12 columns as in the header, found 11"},
      {HEAD ",\"a\"\n,,,,,,,,,,,\"byte\"\n" LAUNCH ("0", "k") ",\"1\n", "never closed"},
      {HEAD ",\"a\",\"b\"\n,,,,,,,,,,,,\n" LAUNCH ("0", "k") ",\"1.5\",\"2,5\"\n", "two locales"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (GError) error = NULL;
      g_assert_null (assay_counters_read (wrong[i].text, strlen (wrong[i].text), &error));
      g_assert_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID);
      g_test_message ("%s", error->message);
      g_assert_nonnull (strstr (error->message, wrong[i].words));
    }
  g_autoptr (GError) error = NULL;
  g_assert_null (assay_counters_read ("", (gsize) 257 << 20, &error));
  g_assert_error (error, ASSAY_ERROR, ASSAY_ERROR_LIMIT);
}

static void
test_broken_tables (void)
{
  static const char TEXT[] = HEAD ",\"a\",\"b\"\n,,,,,,,,,,,\"byte\",\"us\"\n" LAUNCH (
      "0", "k<a, b>") ",\"1,234.5\",\"2\"\n" LAUNCH ("1", "k") ",\"3\",\"4\"\n";
  guint32 state = 99;
  for (gsize cut = 0; cut < 4 * sizeof TEXT; cut++)
    {
      char copy[sizeof TEXT];
      memcpy (copy, TEXT, sizeof TEXT);
      for (int k = 0; k < 3; k++)
        {
          state = state * 1664525u + 1013904223u;
          copy[state % sizeof TEXT] = (char) (state >> 24);
        }
      g_autoptr (AssayCounters) counters = assay_counters_read (copy, cut % sizeof TEXT, NULL);
      g_assert_true (!counters || counters->kernels->len <= 8);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/counters/raw", test_raw_page);
  g_test_add_func ("/counters/details", test_details_page);
  g_test_add_func ("/counters/locales", test_numbers_of_other_countries);
  g_test_add_func ("/counters/wrong", test_what_is_wrong_is_named);
  g_test_add_func ("/counters/broken", test_broken_tables);
  return g_test_run ();
}
