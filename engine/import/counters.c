/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/import/counters.h"

#include "engine/base/error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_BYTES ((gsize) 256 << 20)
#define MOST_COLUMNS 20000
#define MOST_NOTES 100

#define F(member, kind, ...) ASSAY_JSON_FIELD (T, member, #member, kind, __VA_ARGS__)

#define T AssayMetric
static const AssayJsonField METRIC_FIELDS[] = {
    F (section, STRING), F (name, STRING),  F (unit, STRING),
    F (text, STRING),    F (value, DOUBLE), ASSAY_JSON_END,
};
#undef T
static const AssayJsonTable METRIC_TABLE = {"metric", sizeof (AssayMetric), METRIC_FIELDS, NULL};

#define T AssayKernelCounters
static const AssayJsonField KERNEL_FIELDS[] = {
    F (id, STRING),         F (process, STRING),
    F (kernel, STRING),     F (device, STRING),
    F (capability, STRING), F (grid, INTS),
    F (block, INTS),        F (metrics, LIST, .table = &METRIC_TABLE),
    ASSAY_JSON_END,
};
#undef T
static const AssayJsonTable KERNEL_TABLE = {"kernel", sizeof (AssayKernelCounters), KERNEL_FIELDS,
                                            NULL};

#define T AssayCounters
static const AssayJsonField COUNTERS_FIELDS[] = {
    F (page, STRING), F (decimal, STRING), F (kernels, LIST, .table = &KERNEL_TABLE),
    F (notes, STRV),  ASSAY_JSON_END,
};
#undef T
const AssayJsonTable ASSAY_COUNTERS_TABLE = {"counters", sizeof (AssayCounters), COUNTERS_FIELDS,
                                             NULL};

/* ---- rows (RFC 4180) ---- */

typedef struct
{
  const char *at, *end;
  guint line;
} Cursor;

/* (transfer full): one cell, unquoted; `last` when the row ends with it. NULL: a quote that is never closed. */
static char *
read_cell (Cursor *cursor, gboolean *last)
{
  g_autoptr (GString) cell = g_string_new (NULL);
  gboolean quoted = cursor->at < cursor->end && *cursor->at == '"';
  cursor->at += quoted;
  while (cursor->at < cursor->end)
    {
      char c = *cursor->at++;
      if (quoted && c == '"')
        {
          quoted = cursor->at < cursor->end && *cursor->at == '"';
          if (!quoted)
            continue;
          cursor->at++;
        }
      else if (!quoted && (c == ',' || c == '\n'))
        {
          cursor->line += c == '\n';
          *last = c == '\n';
          if (*last && cell->len > 0 && cell->str[cell->len - 1] == '\r')
            g_string_truncate (cell, cell->len - 1);
          return g_string_free (g_steal_pointer (&cell), FALSE);
        }
      cursor->line += c == '\n';
      g_string_append_c (cell, c);
    }
  *last = TRUE;
  return quoted ? NULL : g_string_free (g_steal_pointer (&cell), FALSE);
}

static GPtrArray *
read_row (Cursor *cursor, GError **error)
{
  g_autoptr (GPtrArray) row = g_ptr_array_new_with_free_func (g_free);
  guint first = cursor->line;
  for (gboolean last = FALSE; !last;)
    {
      char *cell = read_cell (cursor, &last);
      if (cell)
        g_ptr_array_add (row, cell);
      if (cell && row->len <= MOST_COLUMNS)
        continue;
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID, "line %u: %s", first,
                   cell ? "more than 20000 columns" : "a quote that is never closed");
      return NULL;
    }
  return g_steal_pointer (&row);
}

static const char *
cell_of (const GPtrArray *row, int column)
{
  return column >= 0 && column < (int) row->len ? g_ptr_array_index (row, (guint) column) : "";
}

static int
find_column (const GPtrArray *header, const char *name)
{
  for (guint i = 0; i < header->len; i++)
    if (g_str_equal (g_ptr_array_index (header, i), name))
      return (int) i;
  return -1;
}

/* ---- numbers ---- */

static gboolean
is_numeric (const char *text)
{
  gsize length = strlen (text);
  return length > 0 && strspn (text, "0123456789.,-+eE") == length
         && strcspn (text, "0123456789") < length;
}

/* Which sign is the decimal one: +1 the point, -1 the comma, 0 it cannot say ("1,234"). */
static int
tell_decimal (const char *text)
{
  const char *point = strrchr (text, '.'), *comma = strrchr (text, ',');
  if (point && comma)
    return point > comma ? 1 : -1;
  const char *sign = point ? point : comma;
  if (!sign)
    return 0;
  int one_way = point ? 1 : -1;
  if (strchr (text, *sign) != sign)
    return -one_way; /* several: it groups thousands */
  gboolean groups =
      strspn (sign + 1, "0123456789") == 3 && sign[4] == '\0' && sign - text <= 3 && text[0] != '0';
  return groups ? 0 : one_way;
}

static double
parse_number (const char *text, char decimal)
{
  g_autoptr (GString) plain = g_string_new (NULL);
  char *end = NULL;
  if (!is_numeric (text))
    return NAN;
  for (const char *c = text; *c; c++)
    if (*c == decimal)
      g_string_append_c (plain, '.');
    else if (*c != '.' && *c != ',')
      g_string_append_c (plain, *c);
  double value = g_ascii_strtod (plain->str, &end);
  return *end ? NAN : value;
}

/* ncu scales units to please the eye, kernel by kernel, unless --print-units base is given. */
static const struct
{
  const char *unit, *base;
  double factor;
} UNITS[] = {
    {"nsecond", "s", 1e-9},
    {"ns", "s", 1e-9},
    {"usecond", "s", 1e-6},
    {"us", "s", 1e-6},
    {"msecond", "s", 1e-3},
    {"ms", "s", 1e-3},
    {"second", "s", 1},
    {"s", "s", 1},
    {"hz", "Hz", 1},
    {"Khz", "Hz", 1e3},
    {"Mhz", "Hz", 1e6},
    {"Ghz", "Hz", 1e9},
    {"cycle/nsecond", "Hz", 1e9},
    {"cycle/usecond", "Hz", 1e6},
    {"cycle/second", "Hz", 1},
    {"Kbyte", "byte", 1e3},
    {"Mbyte", "byte", 1e6},
    {"Gbyte", "byte", 1e9},
    {"Tbyte", "byte", 1e12},
    {"byte/second", "byte/s", 1},
    {"Kbyte/second", "byte/s", 1e3},
    {"Mbyte/second", "byte/s", 1e6},
    {"Gbyte/second", "byte/s", 1e9},
    {"Tbyte/second", "byte/s", 1e12},
    {"byte/s", "byte/s", 1},
    {"Kbyte/s", "byte/s", 1e3},
    {"Mbyte/s", "byte/s", 1e6},
    {"Gbyte/s", "byte/s", 1e9},
    {"Tbyte/s", "byte/s", 1e12},
    {"Kbyte/block", "byte/block", 1e3},
    {"Kinst", "inst", 1e3},
    {"Minst", "inst", 1e6},
    {"Ginst", "inst", 1e9},
};

static void
add_metric (AssayKernelCounters *kernel, const char *section, const char *name, const char *unit,
            const char *text, char decimal)
{
  AssayMetric *metric = assay_json_table_new (&METRIC_TABLE);
  metric->section = section && *section ? g_strdup (section) : NULL;
  metric->name = g_strdup (name);
  metric->unit = g_strdup (unit);
  metric->value = parse_number (text, decimal);
  if (isnan (metric->value))
    metric->text = g_strdup (text);
  for (gsize i = 0; i < G_N_ELEMENTS (UNITS); i++)
    if (g_str_equal (unit, UNITS[i].unit))
      {
        g_free (metric->unit);
        metric->unit = g_strdup (UNITS[i].base);
        metric->value *= UNITS[i].factor;
      }
  g_ptr_array_add (kernel->metrics, metric);
}

/* ---- the two pages ---- */

/* Columns that name a launch rather than measure it. */
typedef struct
{
  int id, process, kernel, device, capability, block, grid;
  int section, metric, unit, value; /* details */
  int first_metric;                 /* raw */
} Columns;

static const char *const LAUNCH_COLUMNS[] = {
    "ID",
    "Process ID",
    "Process Name",
    "Host Name",
    "Kernel Name",
    "Context",
    "Stream",
    "Block Size",
    "Grid Size",
    "Device",
    "CC",
    "Kernel Time",
    "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
    "Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg"};

static gboolean
names_launch (const char *column)
{
  for (gsize i = 0; i < G_N_ELEMENTS (LAUNCH_COLUMNS); i++)
    if (g_str_equal (column, LAUNCH_COLUMNS[i]))
      return TRUE;
  return FALSE;
}

static Columns
find_columns (const GPtrArray *header)
{
  return (Columns) {
      .id = find_column (header, "ID"),
      .process = find_column (header, "Process Name"),
      .kernel = find_column (header, "Kernel Name"),
      .device = find_column (header, "Device"),
      .capability = find_column (header, "CC"),
      .block = find_column (header, "Block Size"),
      .grid = find_column (header, "Grid Size"),
      .section = find_column (header, "Section Name"),
      .metric = find_column (header, "Metric Name"),
      .unit = find_column (header, "Metric Unit"),
      .value = find_column (header, "Metric Value"),
  };
}

/* "(128, 1, 1)" */
static void
read_extents (const char *text, GArray *out)
{
  gint64 extent[3];
  if (sscanf (text, " (%" G_GINT64_FORMAT " , %" G_GINT64_FORMAT " , %" G_GINT64_FORMAT, &extent[0],
              &extent[1], &extent[2])
      == 3)
    g_array_append_vals (out, extent, 3);
}

static char *
copy_or_null (const char *text)
{
  return *text ? g_strdup (text) : NULL;
}

static AssayKernelCounters *
new_kernel (AssayCounters *counters, const GPtrArray *row, const Columns *columns)
{
  AssayKernelCounters *kernel = assay_json_table_new (&KERNEL_TABLE);
  kernel->id = copy_or_null (cell_of (row, columns->id));
  kernel->process = copy_or_null (cell_of (row, columns->process));
  kernel->kernel = copy_or_null (cell_of (row, columns->kernel));
  kernel->device = copy_or_null (cell_of (row, columns->device));
  kernel->capability = copy_or_null (cell_of (row, columns->capability));
  read_extents (cell_of (row, columns->grid), kernel->grid);
  read_extents (cell_of (row, columns->block), kernel->block);
  g_ptr_array_add (counters->kernels, kernel);
  return kernel;
}

/* Rows of one launch stand together; ranges and replays repeat the identity. Rules have no metric. */
static void
read_details_row (AssayCounters *counters, const GPtrArray *row, const Columns *columns,
                  char decimal)
{
  AssayKernelCounters *kernel =
      counters->kernels->len > 0 ? g_ptr_array_index (counters->kernels, counters->kernels->len - 1)
                                 : NULL;
  const char *name = cell_of (row, columns->metric);
  if (!kernel || g_strcmp0 (kernel->id, cell_of (row, columns->id)) != 0
      || g_strcmp0 (kernel->process ? kernel->process : "", cell_of (row, columns->process)) != 0)
    kernel = new_kernel (counters, row, columns);
  if (*name)
    add_metric (kernel, cell_of (row, columns->section), name, cell_of (row, columns->unit),
                cell_of (row, columns->value), decimal);
}

static void
read_raw_row (AssayCounters *counters, const GPtrArray *row, const Columns *columns,
              const GPtrArray *header, const GPtrArray *units, char decimal)
{
  AssayKernelCounters *kernel = new_kernel (counters, row, columns);
  for (guint i = 0; i < header->len && i < row->len; i++)
    if (!names_launch (g_ptr_array_index (header, i)))
      add_metric (kernel, NULL, g_ptr_array_index (header, i), cell_of (units, (int) i),
                  g_ptr_array_index (row, i), decimal);
}

/* ---- the whole ---- */

static void
add_note (GPtrArray *notes, char *text)
{
  if (notes->len < MOST_NOTES)
    g_ptr_array_add (notes, text);
  else
    g_free (text);
}

/* Past what ncu and the program print before the table; its warnings are kept. */
static gboolean
skip_to_header (Cursor *cursor, GPtrArray *notes)
{
  while (cursor->at < cursor->end)
    {
      const char *stop = memchr (cursor->at, '\n', (gsize) (cursor->end - cursor->at));
      gsize length = (gsize) ((stop ? stop : cursor->end) - cursor->at);
      if (g_strstr_len (cursor->at, (gssize) length, "\"Kernel Name\"")
          || g_strstr_len (cursor->at, (gssize) MIN (length, 64), "ID,Process ID"))
        return TRUE;
      if (g_str_has_prefix (cursor->at, "==WARNING==")
          || g_str_has_prefix (cursor->at, "==ERROR=="))
        {
          g_autofree char *line = g_strndup (cursor->at, MIN (length, 1000));
          add_note (notes, g_utf8_make_valid (g_strchomp (line), -1));
        }
      cursor->at = stop ? stop + 1 : cursor->end;
      cursor->line++;
    }
  return FALSE;
}

static GPtrArray *
read_rows (Cursor *cursor, const GPtrArray *header, GError **error)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);
  while (cursor->at < cursor->end)
    {
      guint line = cursor->line;
      if (g_str_has_prefix (cursor->at, "=="))
        {
          const char *stop = memchr (cursor->at, '\n', (gsize) (cursor->end - cursor->at));
          cursor->at = stop ? stop + 1 : cursor->end;
          cursor->line++;
          continue;
        }
      GPtrArray *row = read_row (cursor, error);
      if (!row)
        return NULL;
      gboolean blank = row->len == 1 && *cell_of (row, 0) == '\0';
      guint found = row->len;
      if (found == header->len)
        g_ptr_array_add (rows, row);
      else
        g_ptr_array_unref (row);
      if (found == header->len || blank)
        continue;
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                   "line %u: expected %u columns as in the header, found %u", line, header->len,
                   found);
      return NULL;
    }
  return g_steal_pointer (&rows);
}

/* One sign for the whole file, since "1,234" alone tells nothing. */
static gboolean
choose_decimal (const GPtrArray *rows, const GPtrArray *header, const Columns *columns,
                GPtrArray *notes, char *decimal, GError **error)
{
  guint points = 0, commas = 0, open = 0;
  for (guint r = 0; r < rows->len; r++)
    {
      const GPtrArray *row = g_ptr_array_index (rows, r);
      for (guint i = 0; i < row->len; i++)
        {
          const char *text = g_ptr_array_index (row, i);
          if ((columns->value >= 0 && (int) i != columns->value)
              || names_launch (g_ptr_array_index (header, i)) || !is_numeric (text))
            continue;
          int told = tell_decimal (text);
          points += told > 0;
          commas += told < 0;
          open += told == 0 && strpbrk (text, ".,");
        }
    }
  *decimal = commas > points ? ',' : '.';
  if (MIN (points, commas) > 0)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                   "%u numbers have a decimal point and %u a decimal comma: the file is of two "
                   "locales; export it again with LC_ALL=C",
                   points, commas);
      return FALSE;
    }
  if (points + commas == 0 && open > 0)
    add_note (notes, g_strdup_printf (
                         "%u numbers such as 1,234 or 1.234 could be read either way: a comma was "
                         "taken to group thousands; export with LC_ALL=C to be sure",
                         open));
  return TRUE;
}

static gboolean
fill (AssayCounters *counters, Cursor *cursor, GPtrArray *notes, GError **error)
{
  g_autoptr (GPtrArray) header = read_row (cursor, error);
  if (!header)
    return FALSE;
  Columns columns = find_columns (header);
  gboolean details = columns.metric >= 0 && columns.value >= 0;
  char decimal = '.';
  if (columns.kernel < 0 || columns.id < 0)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                   "line %u: expected columns \"ID\" and \"Kernel Name\"; the first is \"%s\"",
                   cursor->line - 1, cell_of (header, 0));
      return FALSE;
    }
  g_autoptr (GPtrArray) rows = read_rows (cursor, header, error);
  if (!rows || !choose_decimal (rows, header, &columns, notes, &decimal, error))
    return FALSE;
  counters->page = g_strdup (details ? "details" : "raw");
  counters->decimal = g_strndup (&decimal, 1);
  /* The raw page's second line holds units, and no launch. */
  const GPtrArray *units = !details && rows->len > 0 ? g_ptr_array_index (rows, 0) : NULL;
  if (units && *cell_of (units, columns.id) != '\0')
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                   "the raw page has a row of units below its header, this file has none: export "
                   "it again with ncu --csv --page raw");
      return FALSE;
    }
  for (guint i = details ? 0 : 1; i < rows->len; i++)
    if (details)
      read_details_row (counters, g_ptr_array_index (rows, i), &columns, decimal);
    else
      read_raw_row (counters, g_ptr_array_index (rows, i), &columns, header, units, decimal);
  return TRUE;
}

AssayCounters *
assay_counters_read (const char *text, gsize bytes, GError **error)
{
  g_autoptr (AssayCounters) counters = assay_counters_new ();
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *valid = bytes <= MOST_BYTES ? g_utf8_make_valid (text, (gssize) bytes) : NULL;
  if (!valid)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_LIMIT,
                   "the file has %" G_GSIZE_FORMAT " bytes; at most %" G_GSIZE_FORMAT " are read",
                   bytes, MOST_BYTES);
      return NULL;
    }
  Cursor cursor = {valid, valid + strlen (valid), 1};
  if (!skip_to_header (&cursor, notes))
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                   "no table of Nsight Compute: expected a line of columns with \"Kernel Name\", "
                   "found none in %u lines; export with ncu --csv, or ncu --import FILE.ncu-rep "
                   "--csv --page raw",
                   cursor.line - 1);
      return NULL;
    }
  if (!fill (counters, &cursor, notes, error))
    return NULL;
  g_strfreev (counters->notes);
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  for (guint i = 0; i < notes->len; i++)
    g_strv_builder_add (builder, g_ptr_array_index (notes, i));
  counters->notes = g_strv_builder_end (builder);
  return g_steal_pointer (&counters);
}
