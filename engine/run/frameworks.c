/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/frameworks.h"

#include "engine/base/json.h"

#include <stdlib.h>
#include <string.h>

#define MOST_PYTHONS 16

static const char VERSIONS[] =
    "import sys, importlib.metadata as m\n"
    "print('python', sys.version.split()[0])\n"
    "for n in ('numpy','torch','triton','jax','jaxlib','cupy-cuda12x','cupy-cuda13x',"
    "'neuronx-cc','nki'):\n"
    "    try: print(n, m.version(n))\n"
    "    except m.PackageNotFoundError: pass\n";

/* ---- asking ---- */

static AssayPython *
ask_python (const char *path)
{
  g_autofree char *text = NULL;
  const char *argv[] = {path, "-c", VERSIONS, NULL};
  if (!g_spawn_sync ("/", (char **) argv, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &text, NULL,
                     NULL, NULL))
    return NULL;
  g_auto (GStrv) lines = g_strsplit (g_strchomp (text), "\n", -1);
  AssayPython *python = assay_json_table_new (&ASSAY_PYTHON_TABLE);
  python->path = g_strdup (path);
  for (guint i = 0; lines[i]; i++)
    {
      g_auto (GStrv) words = g_strsplit (lines[i], " ", 2);
      if (!words[0] || !words[1])
        continue;
      if (g_str_equal (words[0], "python"))
        {
          g_free (python->version);
          python->version = g_strdup (words[1]);
          continue;
        }
      AssayPackage *package = g_new0 (AssayPackage, 1);
      package->name = g_strdup (words[0]);
      package->version = g_strdup (words[1]);
      g_ptr_array_add (python->packages, package);
    }
  if (python->version)
    return python;
  assay_json_table_free (&ASSAY_PYTHON_TABLE, python);
  return NULL;
}

static void
python_free (gpointer python)
{
  assay_json_table_free (&ASSAY_PYTHON_TABLE, python);
}

/* Environments link to one interpreter and differ by where the link stands: the folder decides. */
static void
add_python (GPtrArray *pythons, const char *path)
{
  for (guint i = 0; i < pythons->len; i++)
    if (g_str_equal (((AssayPython *) g_ptr_array_index (pythons, i))->path, path))
      return;
  AssayPython *python = pythons->len < MOST_PYTHONS ? ask_python (path) : NULL;
  if (python)
    g_ptr_array_add (pythons, python);
}

GPtrArray *
assay_frameworks_list (void)
{
  GPtrArray *pythons = g_ptr_array_new_with_free_func (python_free);
  g_autofree char *usual = g_find_program_in_path ("python3");
  const char *environment = g_getenv ("VIRTUAL_ENV"), *named = g_getenv ("ASSAY_PYTHONS");
  g_auto (GStrv) paths = g_strsplit (named ? named : "", ":", -1);
  if (usual)
    add_python (pythons, usual);
  if (environment)
    {
      g_autofree char *own = g_build_filename (environment, "bin", "python3", NULL);
      add_python (pythons, own);
    }
  for (guint i = 0; paths[i]; i++)
    if (paths[i][0])
      add_python (pythons, paths[i]);
  return pythons;
}

/* ---- versions ---- */

/* Compares the release numbers; missing ones are 0. Letters end a number: "3.0rc1" is 3.0 here. */
static int
compare_releases (const char *left, const char *right)
{
  while (g_ascii_isdigit (*left) || g_ascii_isdigit (*right))
    {
      char *left_end = (char *) left, *right_end = (char *) right;
      guint64 a = g_ascii_isdigit (*left) ? g_ascii_strtoull (left, &left_end, 10) : 0;
      guint64 b = g_ascii_isdigit (*right) ? g_ascii_strtoull (right, &right_end, 10) : 0;
      if (a != b)
        return a < b ? -1 : 1;
      left = *left_end == '.' ? left_end + 1 : "";
      right = *right_end == '.' ? right_end + 1 : "";
    }
  return 0;
}

/* "3.4" holds 3.4.1 but not 3.40. */
static gboolean
begins_with_release (const char *version, const char *prefix)
{
  gsize length = strlen (prefix);
  return g_str_has_prefix (version, prefix)
         && (version[length] == '\0' || !g_ascii_isdigit (version[length]));
}

static gboolean
fits_one (const char *version, const char *wanted)
{
  static const char *const operators[] = {"===", "==", ">=", "<=", "~=", "!=", ">", "<"};
  g_autofree char *own = g_strdup (version);
  const char *operator= "==";
  for (gsize i = 0; i < G_N_ELEMENTS (operators); i++)
    if (g_str_has_prefix (wanted, operators[i]))
      {
        operator= operators[i];
        wanted += strlen (operator);
        break;
      }
  g_autofree char *number = g_strstrip (g_strdup (wanted));
  if (g_str_has_suffix (number, ".*"))
    number[strlen (number) - 2] = '\0';
  if (!strchr (number, '+'))
    own[strcspn (own, "+")] = '\0';
  int order = compare_releases (own, number);
  if (g_str_equal (operator, ">="))
    return order >= 0;
  if (g_str_equal (operator, "<="))
    return order <= 0;
  if (g_str_equal (operator, ">"))
    return order > 0;
  if (g_str_equal (operator, "<"))
    return order < 0;
  if (g_str_equal (operator, "~="))
    {
      g_autofree char *series = g_strdup (number);
      char *dot = strrchr (series, '.');
      if (dot)
        *dot = '\0';
      return order >= 0 && begins_with_release (own, series);
    }
  return begins_with_release (own, number) == !g_str_equal (operator, "!=");
}

gboolean
assay_version_fits (const char *version, const char *wanted)
{
  g_auto (GStrv) parts = g_strsplit (wanted, ",", -1);
  for (guint i = 0; parts[i]; i++)
    if (!fits_one (version, g_strstrip (parts[i])))
      return FALSE;
  return TRUE;
}

/* ---- pins ---- */

static void
add_found (GString *found, AssayPin *pin, const char *version, const char *where)
{
  g_string_append_printf (found, "%s%s (%s)", found->len > 0 ? ", " : "", version, where);
  pin->met = pin->met || assay_version_fits (version, pin->wanted);
}

static gboolean
is_compiler (const char *name)
{
  static const char *const names[] = {"cuda", "cuda-toolkit", "cudatoolkit", "nvcc", "nvrtc", NULL};
  return g_strv_contains (names, name);
}

static AssayPin *
check_pin (const char *name, const char *wanted, GPtrArray *pythons, char **compilers)
{
  AssayPin *pin = assay_pin_new ();
  g_autoptr (GString) found = g_string_new (NULL);
  pin->name = g_strdup (name);
  pin->wanted = g_strdup (wanted);
  for (guint i = 0; is_compiler (name) && compilers && compilers[i]; i++)
    add_found (found, pin, compilers[i] + strcspn (compilers[i], "0123456789"), compilers[i]);
  for (guint i = 0; i < pythons->len; i++)
    {
      const AssayPython *python = g_ptr_array_index (pythons, i);
      if (g_str_equal (name, "python"))
        add_found (found, pin, python->version, python->path);
      for (guint k = 0; k < python->packages->len; k++)
        {
          const AssayPackage *package = g_ptr_array_index (python->packages, k);
          if (g_str_equal (package->name, name))
            add_found (found, pin, package->version, python->path);
        }
    }
  if (found->len > 0)
    pin->found = g_strdup (found->str);
  return pin;
}

GPtrArray *
assay_pins_check (const AssayTask *task, GPtrArray *pythons, char **compilers)
{
  GPtrArray *pins = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_pin_free);
  JsonObject *environment = task && task->environment && JSON_NODE_HOLDS_OBJECT (task->environment)
                                ? json_node_get_object (task->environment)
                                : NULL;
  JsonObject *wanted = environment ? assay_json_object (environment, "pins") : NULL;
  g_autoptr (GList) names = wanted ? json_object_get_members (wanted) : NULL;
  for (GList *l = names; l; l = l->next)
    {
      const char *version = assay_json_string (wanted, l->data);
      if (version)
        g_ptr_array_add (pins, check_pin (l->data, version, pythons, compilers));
    }
  return pins;
}

/* (transfer full): what the cells say compiled them, each once. */
static char **
compilers_of (const AssayMatrix *matrix)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_autoptr (GHashTable) known = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; i < matrix->cells->len; i++)
    {
      const AssayMatrixCell *cell = g_ptr_array_index (matrix->cells, i);
      if (cell->compiler && g_hash_table_add (known, cell->compiler))
        g_strv_builder_add (builder, cell->compiler);
    }
  return g_strv_builder_end (builder);
}

static void
move (GPtrArray *from, GPtrArray *to)
{
  while (from->len > 0)
    g_ptr_array_add (to, g_ptr_array_steal_index (from, 0));
}

void
assay_frameworks_fill (AssayMatrix *matrix, const AssayTask *task)
{
  g_auto (GStrv) compilers = compilers_of (matrix);
  g_autoptr (GPtrArray) pythons = assay_frameworks_list ();
  g_autoptr (GPtrArray) pins = assay_pins_check (task, pythons, compilers);
  move (pythons, matrix->pythons);
  move (pins, matrix->pins);
}
