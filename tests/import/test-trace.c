/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of torch.profiler: what is counted is counted by hand, and what is broken is told where. */
#include "engine/base/error.h"
#include "engine/import/json-stream.h"
#include "engine/import/trace.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define KERNEL(name, stream, ts, dur)                                                              \
  "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"" name                                         \
  "\", \"pid\": 0, \"tid\": 7, \"ts\": " ts ", \"dur\": " dur                                      \
  ", \"args\": {\"device\": 0, \"stream\": " stream                                                \
  ", \"grid\": [8, 2, 1], \"block\": [128, 1, 1], \"registers per thread\": 40, "                  \
  "\"shared memory\": 1024, \"correlation\": 5}}"

static const char SMALL[] =
    "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"traceEvents\"}],\n"
    "\"traceEvents\": [\n"
    "{\"ph\": \"M\", \"name\": \"process_name\", \"args\": {\"name\": \"a ] } \\\" "
    "b\"}},\n" KERNEL ("gemm", "7", "100.0", "30.0") ",\n" KERNEL (
        "gemm", "7", "140.0",
        "10.5") ",\n" KERNEL ("void f<int>(\\\"x\\\")", "9", "145.0",
                              "20.0") ",\n"
                                      "{\"ph\": \"X\", \"cat\": \"Kernel\", \"name\": \"old\", "
                                      "\"ts\": \"200\", \"dur\": \"4\", \"tid\": 3},\n"
                                      "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": "
                                      "\"\\\"cat\\\": \\\"kernel\\\"\", \"ts\": 1, \"dur\": 999},\n"
                                      "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"no "
                                      "duration\", \"ts\": 300},\n"
                                      "{\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy "
                                      "HtoD\", \"ts\": 90, \"dur\": 2, "
                                      "\"args\": {\"bytes\": 4096}},\n"
                                      "{\"ph\": \"X\", \"cat\": \"gpu_memset\", \"name\": "
                                      "\"Memset\", \"ts\": 95, \"dur\": 2, "
                                      "\"args\": {\"bytes\": 1000000}}\n"
                                      "], \"traceName\": \"x\"}\n";

typedef struct
{
  char *folder, *path;
} Fixture;

static void
fixture_set_up (Fixture *self, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  self->folder = g_dir_make_tmp ("assay-trace-XXXXXX", &error);
  g_assert_no_error (error);
  self->path = g_build_filename (self->folder, "trace.json", NULL);
}

static void
fixture_tear_down (Fixture *self, G_GNUC_UNUSED gconstpointer data)
{
  g_unlink (self->path);
  g_rmdir (self->folder);
  g_free (self->path);
  g_free (self->folder);
}

static AssayTrace *
read_text (Fixture *self, const char *text, gssize length, GError **error)
{
  g_assert_true (g_file_set_contents (self->path, text, length, NULL));
  return assay_trace_read (self->path, NULL, NULL, NULL, error);
}

static void
check_small (const AssayTrace *trace)
{
  g_assert_cmpuint (trace->events, ==, 9);
  g_assert_cmpuint (trace->launches, ==, 4);
  g_assert_cmpuint (trace->refused, ==, 1);
  g_assert_cmpuint (trace->copies, ==, 1);
  g_assert_cmpfloat (trace->copied, ==, 4096);
  g_assert_cmpuint (trace->fills, ==, 1);
  g_assert_cmpfloat (trace->largest_fill, ==, 1e6);
  g_assert_cmpuint (trace->streams, ==, 3);
  g_assert_cmpfloat (trace->span, ==, 104); /* 100 … 204 */
  g_assert_cmpfloat (trace->busy, ==, 59);  /* 30 + (140 … 165) + 4 */
  g_assert_cmpuint (trace->kernels->len, ==, 3);
  const AssayTraceKernel *gemm = g_ptr_array_index (trace->kernels, 0);
  g_assert_cmpstr (gemm->name, ==, "gemm");
  g_assert_cmpuint (gemm->count, ==, 2);
  g_assert_cmpfloat (gemm->total, ==, 40.5);
  g_assert_cmpfloat (gemm->first, ==, 30);
  g_assert_cmpfloat (gemm->median, ==, 20.25);
  g_assert_cmpfloat (gemm->least, ==, 10.5);
  g_assert_true (isnan (gemm->early));
  g_assert_cmpint (gemm->grid[0], ==, 8);
  g_assert_cmpint (gemm->grid[1], ==, 2);
  g_assert_cmpint (gemm->block[0], ==, 128);
  g_assert_cmpint (gemm->registers, ==, 40);
  g_assert_cmpint (gemm->shared_bytes, ==, 1024);
  g_assert_false (gemm->varies);
  g_assert_cmpint (strncmp (SMALL + gemm->offset, "{\"ph\": \"X\", \"cat\": \"kernel\"", 20), ==,
                   0);
  const AssayTraceKernel *quoted = g_ptr_array_index (trace->kernels, 1);
  g_assert_cmpstr (quoted->name, ==, "void f<int>(\"x\")");
  const AssayTraceKernel *old = g_ptr_array_index (trace->kernels, 2);
  g_assert_cmpfloat (old->total, ==, 4);
  g_assert_cmpint (old->registers, ==, -1);
}

static void
test_events_are_counted_as_by_hand (Fixture *self, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayTrace) trace = read_text (self, SMALL, -1, &error);
  g_assert_no_error (error);
  check_small (trace);
}

static GBytes *
packed (const char *text)
{
  g_autoptr (GZlibCompressor) pack = g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP, 9);
  g_autoptr (GOutputStream) memory = g_memory_output_stream_new_resizable ();
  g_autoptr (GOutputStream) out = g_converter_output_stream_new (memory, G_CONVERTER (pack));
  g_assert_true (g_output_stream_write_all (out, text, strlen (text), NULL, NULL, NULL));
  g_assert_true (g_output_stream_close (out, NULL, NULL));
  return g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (memory));
}

static void
test_packed_traces_and_bare_arrays_are_read (Fixture *self, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = packed (SMALL);
  g_autoptr (AssayTrace) trace =
      read_text (self, g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes), &error);
  g_assert_no_error (error);
  check_small (trace);
  g_autoptr (AssayTrace) bare = read_text (self, "[" KERNEL ("k", "1", "5", "2") "]", -1, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (bare->launches, ==, 1);
  g_autoptr (AssayTrace) half = read_text (self, g_bytes_get_data (bytes, NULL),
                                           (gssize) g_bytes_get_size (bytes) / 2, &error);
  g_assert_null (half);
  g_assert_nonnull (error);
}

static void
test_warm_up_shows_in_early_launches (Fixture *self, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) text = g_string_new ("{\"traceEvents\": [");
  for (int i = 0; i < 40; i++)
    g_string_append_printf (
        text, "%s{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":%d,\"dur\":%d}",
        i ? "," : "", 100 * i, i < 8 ? 50 : 20);
  g_string_append (text, "]}");
  g_autoptr (AssayTrace) trace = read_text (self, text->str, -1, &error);
  g_assert_no_error (error);
  const AssayTraceKernel *k = g_ptr_array_index (trace->kernels, 0);
  g_assert_cmpfloat (k->early, ==, 50);
  g_assert_cmpfloat (k->late, ==, 20);
}

static void
test_broken_traces_say_where (Fixture *self, G_GNUC_UNUSED gconstpointer data)
{
  static const struct
  {
    const char *text, *says;
  } BROKEN[] = {
      {"", "empty"},
      {"hello", "byte 0: this is not a JSON object"},
      {"{\"traceEvents\": [{\"ph\": \"X\"}", "the text ends in the middle"},
      {"{\"traceEvents\": [{\"ph\": \"X\"]]", "byte 27: a bracket closes what was not opened"},
      {"{\"traceEvents\": []} x", "byte 20: text after the end"},
      {"{\"other\": [{\"cat\": \"kernel\"}]}", "no traceEvents in it"},
      {"{\"traceEvents\": [{\"cat\": \"kernel\", \"ts\" 5}]}",
       "the event at byte 17 is no JSON object"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (BROKEN); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (AssayTrace) trace = read_text (self, BROKEN[i].text, -1, &error);
      g_assert_null (trace);
      g_test_message ("%s", error->message);
      g_assert_nonnull (strstr (error->message, BROKEN[i].says));
      g_assert_nonnull (strstr (error->message, "trace.json"));
    }
}

/* Whatever is done to the bytes, an answer or an error comes back. */
static void
test_mutated_traces_do_no_harm (Fixture *self, G_GNUC_UNUSED gconstpointer data)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (20261201);
  gsize length = strlen (SMALL);
  guint read = 0;
  for (int i = 0; i < 4000; i++)
    {
      g_autofree char *text = g_memdup2 (SMALL, length);
      g_autoptr (GError) error = NULL;
      for (int k = g_rand_int_range (rand, 1, 6); k > 0; k--)
        text[g_rand_int_range (rand, 0, (gint32) length)] =
            "{}[]\",:\\0e-x \xff"[g_rand_int_range (rand, 0, 14)];
      g_autoptr (AssayTrace) trace = read_text (
          self, text,
          i % 2 ? (gssize) length : (gssize) g_rand_int_range (rand, 1, (gint32) length + 1),
          &error);
      g_assert_true ((trace != NULL) == (error == NULL));
      read += trace != NULL;
    }
  g_assert_cmpuint (read, >, 100); /* a changed letter in a name is no fault */
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(path, test) g_test_add (path, Fixture, NULL, fixture_set_up, test, fixture_tear_down)
  ADD ("/trace/by-hand", test_events_are_counted_as_by_hand);
  ADD ("/trace/packed", test_packed_traces_and_bare_arrays_are_read);
  ADD ("/trace/warm-up", test_warm_up_shows_in_early_launches);
  ADD ("/trace/broken", test_broken_traces_say_where);
  ADD ("/trace/mutated", test_mutated_traces_do_no_harm);
  return g_test_run ();
}
