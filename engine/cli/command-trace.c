/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cli/command.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/import/trace.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* Early launches that take longer than late ones by more than this are a warm-up that was measured. */
#define WARM 1.02
#define SHORT_US 10.0

static void
tell (double share, G_GNUC_UNUSED gpointer user_data)
{
  fprintf (stderr, "\r%3.0f %%", share * 100);
  fflush (stderr);
}

static JsonArray *
extent (const gint64 *values)
{
  JsonArray *array = json_array_new ();
  for (int i = 0; i < 3 && values[0] > 0; i++)
    json_array_add_int_element (array, values[i]);
  return array;
}

static JsonObject *
kernel_to_json (const AssayTraceKernel *kernel)
{
  JsonObject *object = json_object_new ();
  const struct
  {
    const char *key;
    double value;
  } times[] = {{"total_us", kernel->total},   {"first_us", kernel->first},
               {"least_us", kernel->least},   {"most_us", kernel->most},
               {"median_us", kernel->median}, {"early_us", kernel->early},
               {"late_us", kernel->late}};
  json_object_set_string_member (object, "name", kernel->name);
  json_object_set_int_member (object, "count", (gint64) kernel->count);
  for (gsize i = 0; i < G_N_ELEMENTS (times); i++)
    if (isfinite (times[i].value))
      json_object_set_double_member (object, times[i].key, times[i].value);
  json_object_set_int_member (object, "streams", kernel->streams);
  json_object_set_int_member (object, "devices", kernel->devices);
  json_object_set_array_member (object, "grid", extent (kernel->grid));
  json_object_set_array_member (object, "block", extent (kernel->block));
  json_object_set_boolean_member (object, "varies", kernel->varies);
  if (kernel->registers >= 0)
    json_object_set_int_member (object, "registers", kernel->registers);
  if (kernel->shared_bytes >= 0)
    json_object_set_int_member (object, "shared_bytes", kernel->shared_bytes);
  json_object_set_int_member (object, "offset", (gint64) kernel->offset);
  return object;
}

static JsonNode *
to_json (const AssayTrace *trace)
{
  JsonObject *root = json_object_new ();
  JsonArray *kernels = json_array_new ();
  const struct
  {
    const char *key;
    guint64 value;
  } counts[] = {{"events", trace->events},   {"launches", trace->launches},
                {"refused", trace->refused}, {"streams", trace->streams},
                {"devices", trace->devices}, {"copies", trace->copies},
                {"fills", trace->fills},     {"in_graphs", trace->in_graphs}};
  json_object_set_string_member (root, "path", trace->path);
  for (gsize i = 0; i < G_N_ELEMENTS (counts); i++)
    json_object_set_int_member (root, counts[i].key, (gint64) counts[i].value);
  json_object_set_double_member (root, "span_us", trace->span);
  json_object_set_double_member (root, "busy_us", trace->busy);
  json_object_set_double_member (root, "copied_bytes", trace->copied);
  json_object_set_double_member (root, "largest_fill_bytes", trace->largest_fill);
  for (guint i = 0; i < trace->kernels->len; i++)
    json_array_add_object_element (kernels, kernel_to_json (trace->kernels->pdata[i]));
  json_object_set_array_member (root, "kernels", kernels);
  JsonNode *node = json_node_alloc ();
  json_node_init_object (node, root);
  json_object_unref (root);
  return node;
}

static char *
extent_text (const gint64 *values)
{
  return values[0] > 0
             ? g_strdup_printf ("%" G_GINT64_FORMAT "×%" G_GINT64_FORMAT "×%" G_GINT64_FORMAT,
                                values[0], values[1], values[2])
             : NULL;
}

static void
print_kernels (const AssayTrace *trace, guint most)
{
  g_autoptr (AssayTextTable) table =
      assay_text_table_new (">share", ">calls", ">median µs", ">least", ">most", ">first", "grid",
                            "block", ">registers", ">shared", "kernel", NULL);
  double all = 0;
  for (guint i = 0; i < trace->kernels->len; i++)
    all += ((AssayTraceKernel *) trace->kernels->pdata[i])->total;
  for (guint i = 0; i < trace->kernels->len && i < most; i++)
    {
      const AssayTraceKernel *one = trace->kernels->pdata[i];
      g_autofree char *share = g_strdup_printf ("%.1f %%", all > 0 ? 100 * one->total / all : 0);
      g_autofree char *calls = g_strdup_printf ("%" G_GUINT64_FORMAT, one->count);
      g_autofree char *middle = g_strdup_printf ("%.2f", one->median);
      g_autofree char *least = g_strdup_printf ("%.2f", one->least);
      g_autofree char *largest = g_strdup_printf ("%.2f", one->most);
      g_autofree char *first = g_strdup_printf ("%.2f", one->first);
      g_autofree char *grid = extent_text (one->grid), *block = extent_text (one->block);
      g_autofree char *registers =
          one->registers >= 0 ? g_strdup_printf ("%" G_GINT64_FORMAT, one->registers) : NULL;
      g_autofree char *shared =
          one->shared_bytes >= 0 ? g_strdup_printf ("%" G_GINT64_FORMAT, one->shared_bytes) : NULL;
      g_autofree char *name = g_utf8_strlen (one->name, -1) > 72
                                  ? g_utf8_substring (one->name, 0, 71)
                                  : g_strdup (one->name);
      assay_text_table_add (table, share, calls, middle, least, largest, first, grid, block,
                            registers, shared, name);
    }
  assay_text_table_print (table, "  ");
  if (trace->kernels->len > most)
    printf ("  and %u more; --all shows them\n", trace->kernels->len - most);
}

/* What a reader of the times should know of how they came about. */
static void
print_remarks (const AssayTrace *trace)
{
  for (guint i = 0; i < trace->kernels->len && i < 5; i++)
    {
      const AssayTraceKernel *one = trace->kernels->pdata[i];
      if (one->early > WARM * one->late)
        printf ("  warm-up: the first fifth of %.60s takes %.1f %% longer than the last half\n",
                one->name, 100 * (one->early / one->late - 1));
      if (one->median < SHORT_US && i == 0)
        printf ("  launch bound: %.60s takes %.2f µs, about as long as a launch\n", one->name,
                one->median);
    }
  if (trace->streams > 1)
    printf ("  streams: kernels ran on %u; a timer that waits for one does not see the others\n",
            trace->streams);
  if (trace->in_graphs > 0 && trace->in_graphs < trace->launches)
    printf ("  graphs: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
            " launches came from a CUDA graph, the others did not\n",
            trace->in_graphs, trace->launches);
  if (trace->refused > 0)
    printf ("  left out: %" G_GUINT64_FORMAT " kernels without a time or duration\n",
            trace->refused);
}

static void
print_text (const AssayTrace *trace, guint most)
{
  g_autofree char *path = assay_command_plain (trace->path, 4096);
  printf ("%s: %" G_GUINT64_FORMAT " events, %" G_GUINT64_FORMAT
          " launches of %u kernels on %u device%s\n",
          path, trace->events, trace->launches, trace->kernels->len, trace->devices,
          trace->devices == 1 ? "" : "s");
  if (trace->launches == 0)
    {
      printf ("  no kernel of an NVIDIA or AMD device is in it\n");
      return;
    }
  printf ("  %.3f ms from the first launch to the end, %.1f %% of them with a kernel running\n",
          trace->span / 1000, trace->span > 0 ? 100 * trace->busy / trace->span : 100);
  printf ("  %" G_GUINT64_FORMAT " copies (%.1f MB), %" G_GUINT64_FORMAT
          " fills (the largest %.1f MB)\n",
          trace->copies, trace->copied / 1e6, trace->fills, trace->largest_fill / 1e6);
  print_kernels (trace, most);
  print_remarks (trace);
}

int
assay_command_trace (int argc, char **argv)
{
  g_autofree char *json = NULL;
  gboolean all = FALSE;
  const GOptionEntry entries[] = {
      {"all", 0, 0, G_OPTION_ARG_NONE, &all, "show every kernel, not the first twenty", NULL},
      {"json", 0, 0, G_OPTION_ARG_FILENAME, &json, "write JSON to a file, - for stdout", "FILE"},
      {NULL},
  };
  g_autoptr (GOptionContext) context = g_option_context_new ("TRACE");
  g_autoptr (GError) error = NULL;
  g_option_context_set_summary (
      context,
      "Reads a trace of torch.profiler (.json or .json.gz, of any size): which kernels ran, "
      "how often and how long,\nand what a reader of the times should know.");
  g_option_context_add_main_entries (context, entries, NULL);
  if (!assay_command_parse (context, &argc, &argv))
    return ASSAY_EXIT_IMPOSSIBLE;
  if (argc != 2)
    {
      g_set_error (&error, ASSAY_ERROR, ASSAY_ERROR_INVALID, "name one trace");
      return assay_command_fail ("trace", error);
    }
  gboolean watched = isatty (STDERR_FILENO);
  g_autoptr (AssayTrace) trace = assay_trace_read (argv[1], watched ? tell : NULL, NULL,
                                                   assay_command_interruptible (), &error);
  if (watched)
    fprintf (stderr, "\r      \r");
  if (!trace)
    return assay_command_fail ("trace", error);
  if (g_strcmp0 (json, "-") != 0)
    print_text (trace, all ? G_MAXUINT : 20);
  if (json)
    {
      g_autoptr (JsonNode) node = to_json (trace);
      if (!assay_command_write_json (node, json, &error))
        return assay_command_fail ("trace", error);
    }
  return ASSAY_EXIT_FINE;
}
