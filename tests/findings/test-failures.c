/* SPDX-License-Identifier: Apache-2.0 */
/* The failure classifier on messages as the tools print them: quoted ones (failure-messages.json), and
 * ones that compilers and Python print here and now. */
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/device/toolkit.h"
#include "engine/findings/failure.h"

#include <glib/gstdio.h>
#include <string.h>

static const char *
blame_of (const AssayFailureClass *is)
{
  return is->undecided ? "undecided" : ASSAY_BLAMES[is->blame];
}

static gint64
line_of (const char *text, gsize start)
{
  gint64 line = 1;
  for (gsize i = 0; i < start; i++)
    line += text[i] == '\n';
  return line;
}

static JsonArray *
messages (JsonNode **node)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "findings", "failure-messages.json", NULL);
  *node = assay_json_load (path, &ASSAY_JSON_LIMITS_TASK, &error);
  g_assert_no_error (error);
  return json_node_get_array (*node);
}

static void
test_quoted_messages_have_class_blame_and_line (void)
{
  g_autoptr (JsonNode) node = NULL;
  JsonArray *all = messages (&node);
  for (guint i = 0; i < json_array_get_length (all); i++)
    {
      JsonObject *one = json_array_get_object_element (all, i);
      const char *text = assay_json_string (one, "text");
      gsize start, end;
      const AssayFailureClass *is =
          assay_failure_explain (assay_json_string (one, "name"), text, &start, &end);
      g_test_message ("%s", text);
      g_assert_cmpstr (is->failure_class, ==, assay_json_string (one, "class"));
      g_assert_cmpstr (blame_of (is), ==, assay_json_string (one, "blame"));
      if (json_object_has_member (one, "line"))
        g_assert_cmpint (line_of (text, start), ==, assay_json_int (one, "line", 0));
    }
}

/* The closed list of docs/findings.md, each with a message. */
static void
test_every_class_has_a_message (void)
{
  static const char *const CLASSES[] = {
      "NO_DEVICE",   "DRIVER_MISMATCH",  "ARCH_MISMATCH",  "TOOLCHAIN", "IMPORT",
      "API_VERSION", "COMPILE",          "LOWERING",       "PTXAS",     "OOM_DEVICE",
      "OOM_ONCHIP",  "OOM_HOST",         "LAUNCH_CONFIG",  "DTYPE",     "SHAPE_STRIDE",
      "MISALIGNED",  "DEVICE_PLACEMENT", "ILLEGAL_ACCESS", "RACE",      "DEVICE_ASSERT",
      "NUMERIC",     "AUTOTUNE",         "TIMEOUT",        "CRASH",     "HW_FAULT",
      "INTERP_GAP",  "COLLECTIVE",       "HARNESS",        "UNKNOWN",
  };
  g_autoptr (JsonNode) node = NULL;
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  JsonArray *all = messages (&node);
  for (guint i = 0; i < json_array_get_length (all); i++)
    g_hash_table_add (
        seen, (gpointer) assay_json_string (json_array_get_object_element (all, i), "class"));
  for (gsize i = 0; i < G_N_ELEMENTS (CLASSES); i++)
    if (!g_hash_table_contains (seen, CLASSES[i]))
      g_error ("no message for %s", CLASSES[i]);
  g_assert_cmpuint (g_hash_table_size (seen), ==, G_N_ELEMENTS (CLASSES));
}

/* What a fault drags behind it is not the fault. */
static void
test_the_first_error_in_the_text_wins (void)
{
  gsize start, end;
  const char *text = "step 1\nCUDA error: misaligned address\n"
                     "CUDA error: out of memory\nSegmentation fault\n";
  g_assert_cmpstr (assay_failure_explain (NULL, text, &start, &end)->failure_class, ==,
                   "MISALIGNED");
  g_assert_cmpint (line_of (text, start), ==, 2);
}

/* "Error building extension" stands above its cause, a crash below it. */
static void
test_a_general_pattern_yields_to_a_specific_one (void)
{
  gsize start, end;
  const char *text = "RuntimeError: Error building extension 'x'\n"
                     "fatal error: cuda_runtime.h: No such file or directory\n";
  g_assert_cmpstr (assay_failure_explain ("build", text, &start, &end)->failure_class, ==,
                   "TOOLCHAIN");
}

static void
test_a_code_proves_more_than_words (void)
{
  gsize start, end;
  const AssayFailureClass *is = assay_failure_explain (
      "CUDA_ERROR_OUT_OF_MEMORY", "an illegal memory access was encountered", &start, &end);
  g_assert_cmpstr (is->failure_class, ==, "OOM_DEVICE");
  g_assert_cmpuint (end, ==, 0);
}

/* As "[700] Call to cuCtxSynchronize results in CUDA_ERROR_…", and before what follows from it. */
static void
test_a_code_within_the_text_counts (void)
{
  gsize start, end;
  const char *text =
      "launch results in CUDA_ERROR_ILLEGAL_INSTRUCTION\nCUDA error: out of memory\n";
  const AssayFailureClass *is = assay_failure_explain (NULL, text, &start, &end);
  g_assert_cmpstr (is->failure_class, ==, "CRASH");
  g_assert_false (is->undecided);
  g_assert_cmpint (strncmp (text + start, "CUDA_ERROR_ILLEGAL_INSTRUCTION", end - start), ==, 0);
}

/* CUDA's own header: every error it names has a class, and its number means what its name means. */
static void
test_every_cuda_error_is_known_by_name_and_number (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayToolkit) toolkit = assay_toolkit_find (NULL);
  g_autofree char *header = NULL;
  for (guint i = 0; toolkit && !header && toolkit->includes[i]; i++)
    {
      g_autofree char *path = g_build_filename (toolkit->includes[i], "driver_types.h", NULL);
      g_file_get_contents (path, &header, NULL, NULL);
    }
  g_assert_nonnull (header);
  g_autoptr (GRegex) regex =
      g_regex_new ("^\\s+(cudaError\\w+)\\s*=\\s*(\\d+)", G_REGEX_MULTILINE, 0, &error);
  g_autoptr (GMatchInfo) match = NULL;
  guint seen = 0, numbers = 0;
  for (g_regex_match (regex, header, 0, &match); g_match_info_matches (match);
       g_match_info_next (match, NULL), seen++)
    {
      gsize start, end;
      g_autofree char *name = g_match_info_fetch (match, 1);
      g_autofree char *number = g_match_info_fetch (match, 2);
      g_autofree char *numbered = g_strdup_printf ("CUDA error %s at k.cu:1", number);
      const AssayFailureClass *by_name = assay_failure_explain (NULL, name, &start, &end);
      const AssayFailureClass *by_number = assay_failure_explain (NULL, numbered, &start, &end);
      g_test_message ("%s %s %s", name, number, by_name->failure_class);
      g_assert_cmpstr (by_name->failure_class, !=, "UNKNOWN");
      if (strlen (number) < 3 || g_str_equal (number, "999") || strlen (number) > 3)
        continue; /* small ones mean other things in old versions */
      g_assert_cmpstr (by_name->failure_class, ==, by_number->failure_class);
      numbers++;
    }
  g_assert_cmpuint (seen, >, 90);
  g_assert_cmpuint (numbers, >, 60);
}

/* Words name a class; whom they blame is another matter. */
static void
test_words_alone_excuse_nobody (void)
{
  gsize start, end;
  const AssayFailureClass *is =
      assay_failure_explain (NULL, "could not read my own checkpoint file", &start, &end);
  g_assert_cmpstr (is->failure_class, ==, "HARNESS");
  g_assert_true (is->undecided);
  g_assert_cmpint (is->blame, ==, ASSAY_BLAME_CANDIDATE);
  g_assert_cmpstr (is->rule, ==, "run.failed");
}

static void
test_long_logs_and_broken_text_are_read (void)
{
  gsize start, end;
  g_autoptr (GString) log = g_string_new ("\xff\xfe\n");
  for (int i = 0; i < 200000; i++)
    g_string_append (log, "compiling one more file\n");
  g_string_append (log, "CUDA error: misaligned address\n");
  const AssayFailureClass *is = assay_failure_explain (NULL, log->str, &start, &end);
  g_assert_cmpstr (is->failure_class, ==, "MISALIGNED");
  g_assert_cmpint (line_of (log->str, start), ==, 200002);
}

/* Logs on which a pattern could go back and forth for minutes: the test's limit would end it. */
static void
test_long_lines_and_blank_stretches_end (void)
{
  static const char *const PIECES[] = {
      "a",
      " ",
      "\n",
      "{\"a\": \"x - y / b -c /d\"}",
      "W0108 19:01:00 foo bar\n",
      "[[]])>>: ",
      "File \"x\", line 3\n",
      "  12 | code\n",
      "nvcc -I/usr/x -DX=1 /foo ",
      "E   ",
      "error: ",
      "=========     at ",
      "x.h(1): ",
      "ValueError",
  };
  gsize start, end;
  for (gsize i = 0; i < G_N_ELEMENTS (PIECES); i++)
    {
      g_autoptr (GString) log = g_string_new (NULL);
      while (log->len < 600 * 1024)
        g_string_append (log, PIECES[i]);
      g_string_append (log, "\nCUDA error: misaligned address\n");
      g_test_message ("%s", PIECES[i]);
      g_assert_cmpstr (assay_failure_explain (NULL, log->str, &start, &end)->failure_class, !=,
                       NULL);
    }
}

typedef struct
{
  const char *name, *file, *source, *tool, *arguments, *failure_class;
  int blame;
} Live;

/* clang-format off */
static const Live LIVE[] = {
  {"nvcc unknown architecture", "k.cu", "__global__ void k () {}", "nvcc", "-arch=sm_35 -ptx", "ARCH_MISMATCH", ASSAY_BLAME_ENVIRONMENT},
  {"nvcc syntax", "k.cu", "__global__ void k () { int i = ; }", "nvcc", "-arch=sm_80 -ptx", "COMPILE", ASSAY_BLAME_CANDIDATE},
  {"nvcc undefined name", "k.cu", "__global__ void k (float *x) { x[tid] = 0; }", "nvcc", "-arch=sm_80 -ptx", "COMPILE", ASSAY_BLAME_CANDIDATE},
  {"nvcc missing header", "k.cu", "#include <cub/no_such_file.cuh>\n__global__ void k () {}", "nvcc", "-arch=sm_80 -ptx", "TOOLCHAIN", ASSAY_BLAME_ENVIRONMENT},
  {"ptxas shared memory", "k.cu", "__global__ void k (int *x) { __shared__ int s[20000]; s[threadIdx.x] = x[0]; __syncthreads (); x[0] = s[x[1]]; }", "nvcc", "-arch=sm_80 -cubin", "OOM_ONCHIP", ASSAY_BLAME_CANDIDATE},
  {"ptxas bad inline assembly", "k.cu", "__global__ void k (int *x) { asm (\"frobnicate.b32 %0, 1;\" : \"=r\"(x[0])); }", "nvcc", "-arch=sm_80 -cubin", "PTXAS", ASSAY_BLAME_CANDIDATE},
  {"ptxas other architecture", "k.cu", "__global__ void k () { asm volatile (\"wgmma.fence.sync.aligned;\"); }", "nvcc", "-arch=sm_90 -cubin", "ARCH_MISMATCH", ASSAY_BLAME_CANDIDATE},
  {"python missing module", "t.py", "import a_module_that_is_not_there", "python3", "", "IMPORT", ASSAY_BLAME_ENVIRONMENT},
  {"python syntax", "t.py", "def f(:\n", "python3", "", "COMPILE", ASSAY_BLAME_CANDIDATE},
  {"python memory", "t.py", "x = bytearray (1 << 62)", "python3", "", "OOM_HOST", ASSAY_BLAME_ENVIRONMENT},
  {"numpy shapes", "t.py", "import numpy as n\nn.ones ((3, 4)) + n.ones ((4, 3))", "python3", "", "SHAPE_STRIDE", ASSAY_BLAME_CANDIDATE},
  {"gcc undefined reference", "t.c", "int f (void); int main (void) { return f (); }", "gcc", "", "COMPILE", ASSAY_BLAME_CANDIDATE},
};
/* clang-format on */

static char *
tool_path (const char *tool)
{
  if (g_str_equal (tool, "python3"))
    return g_strdup ("/usr/bin/python3");
  if (!g_str_equal (tool, "nvcc"))
    return g_find_program_in_path (tool);
  g_autoptr (AssayToolkit) toolkit = assay_toolkit_find (NULL);
  return toolkit ? g_strdup (toolkit->nvcc) : NULL;
}

static void
test_real_tools_are_understood (gconstpointer data)
{
  const Live *live = data;
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("assay-failures-XXXXXX", &error);
  g_autofree char *path = g_build_filename (folder, live->file, NULL);
  g_autofree char *product = g_build_filename (folder, "product", NULL);
  g_autofree char *tool = tool_path (live->tool);
  g_autofree char *out = NULL, *err = NULL, *line = NULL;
  g_auto (GStrv) argv = NULL;
  gsize start, end;
  g_assert_nonnull (tool);
  g_assert_true (g_file_set_contents (path, live->source, -1, &error));
  line = g_str_equal (live->tool, "python3")
             ? g_strdup_printf ("%s %s", tool, path)
             : g_strdup_printf ("%s %s -o %s %s", tool, live->arguments, product, path);
  g_assert_true (g_shell_parse_argv (line, NULL, &argv, &error));
  int status = 0;
  g_assert_true (g_spawn_sync (NULL, argv, NULL, 0, NULL, NULL, &out, &err, &status, &error));
  g_assert_cmpint (status, !=, 0);
  g_autofree char *log = g_strconcat (out, err, NULL);
  const AssayFailureClass *is = assay_failure_explain (NULL, log, &start, &end);
  g_test_message ("%s", log);
  g_assert_cmpstr (is->failure_class, ==, live->failure_class);
  g_assert_cmpint (is->blame, ==, live->blame);
  g_unlink (path);
  g_unlink (product);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/failures/quoted", test_quoted_messages_have_class_blame_and_line);
  g_test_add_func ("/failures/every-class", test_every_class_has_a_message);
  g_test_add_func ("/failures/first-wins", test_the_first_error_in_the_text_wins);
  g_test_add_func ("/failures/general", test_a_general_pattern_yields_to_a_specific_one);
  g_test_add_func ("/failures/code", test_a_code_proves_more_than_words);
  g_test_add_func ("/failures/code-in-text", test_a_code_within_the_text_counts);
  g_test_add_func ("/failures/cuda-errors", test_every_cuda_error_is_known_by_name_and_number);
  g_test_add_func ("/failures/words", test_words_alone_excuse_nobody);
  g_test_add_func ("/failures/long", test_long_logs_and_broken_text_are_read);
  g_test_add_func ("/failures/hostile", test_long_lines_and_blank_stretches_end);
  for (gsize i = 0; i < G_N_ELEMENTS (LIVE); i++)
    {
      g_autofree char *path = g_strdup_printf ("/failures/live/%s", LIVE[i].name);
      g_strdelimit (path, " ", '-');
      g_test_add_data_func (path, &LIVE[i], test_real_tools_are_understood);
    }
  return g_test_run ();
}
