/* SPDX-License-Identifier: Apache-2.0 */
/* docs/vgpu.md lists what the operation table holds. ASSAY_WRITE_DOCS=1 writes the list anew. */
#include "engine/vgpu/ptx/operation.h"

#include <glib.h>
#include <string.h>

#define BEGIN "<!-- operations: written from the operation table by tests/vgpu/docs-test -->\n"
#define END "<!-- end of operations -->\n"

/* "add.?rn|rz.?ftz.f32" as the PTX ISA would write it: "add{.rn,.rz}{.ftz}.f32". */
static char *
readable (const char *pattern)
{
  GString *text = g_string_new (NULL);
  g_auto (GStrv) parts = g_strsplit (pattern, ".", -1);
  for (int i = 0; parts[i] != NULL; i++)
    {
      bool optional = parts[i][0] == '?';
      g_auto (GStrv) choices = g_strsplit (parts[i] + optional, "|", -1);
      bool braces = optional || g_strv_length (choices) > 1;
      g_autofree char *joined = g_strjoinv (i > 0 ? ",." : ",", choices);
      g_string_append_printf (text, "%s%s%s%s", braces ? "{" : "", i > 0 ? "." : "", joined,
                              braces ? "}" : "");
    }
  return g_string_free (text, FALSE);
}

static char *
stem_of (const char *pattern)
{
  return g_strndup (pattern, strcspn (pattern, "."));
}

static char *
list_operations (void)
{
  GString *text = g_string_new (BEGIN "\n");
  const char *forms[128];
  g_autoptr (GHashTable) done = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (int op = 0; op < VGPU_OP_COUNT; op++)
    {
      const VgpuOperation *first = &vgpu_operations[op];
      if (first->pattern[0] == '\0' || first->kind == VGPU_KIND_COMPARE)
        continue;
      char *stem = stem_of (first->pattern);
      if (!g_hash_table_add (done, stem))
        continue;
      g_string_append_printf (text, "* `%s`:", stem);
      for (int other = op; other < VGPU_OP_COUNT; other++)
        {
          const VgpuOperation *operation = &vgpu_operations[other];
          g_autofree char *own = stem_of (operation->pattern);
          g_autofree char *form = readable (operation->pattern);
          if (operation->kind != VGPU_KIND_COMPARE && strcmp (own, stem) == 0)
            g_string_append_printf (text, " `%s`", form);
        }
      g_string_append_c (text, '\n');
    }
  g_string_append (text, "\nDecoded by families:\n\n");
  size_t count = vgpu_family_forms (forms, G_N_ELEMENTS (forms));
  for (size_t i = 0; i < count; i++)
    g_string_append_printf (text, "* %s\n", forms[i]);
  g_string_append (text, "\n" END);
  return g_string_free (text, FALSE);
}

static void
test_list (void)
{
  g_autofree char *path = g_build_filename (g_getenv ("ASSAY_SOURCE_DIR"), "docs", "vgpu.md", NULL);
  g_autofree char *want = list_operations ();
  g_autofree char *text = NULL;
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  const char *begin = strstr (text, BEGIN);
  const char *end = strstr (text, END);
  g_assert_nonnull (begin);
  g_assert_nonnull (end);
  g_autofree char *have = g_strndup (begin, (gsize) (end - begin) + strlen (END));
  if (g_getenv ("ASSAY_WRITE_DOCS") != NULL)
    {
      g_autofree char *before = g_strndup (text, (gsize) (begin - text));
      g_autofree char *whole = g_strconcat (before, want, end + strlen (END), NULL);
      g_assert_true (g_file_set_contents (path, whole, -1, NULL));
      return;
    }
  g_assert_cmpstr (have, ==, want);
}

/* Every pattern is matched by an opcode made from it, with all that is optional and with none. */
static void
test_patterns (void)
{
  for (int op = 0; op < VGPU_OP_COUNT; op++)
    for (int with = 0; with < 2; with++)
      {
        const VgpuOperation *operation = &vgpu_operations[op];
        GString *opcode = g_string_new (NULL);
        uint32_t flags;
        g_auto (GStrv) parts = g_strsplit (operation->pattern, ".", -1);
        for (int i = 0; parts[i] != NULL; i++)
          {
            bool optional = parts[i][0] == '?';
            g_auto (GStrv) choices = g_strsplit (parts[i] + optional, "|", -1);
            if (!optional || with)
              g_string_append_printf (opcode, "%s%s", opcode->len > 0 ? "." : "",
                                      choices[g_strv_length (choices) - 1]);
          }
        if (operation->pattern[0] != '\0')
          {
            bool compare = operation->kind == VGPU_KIND_COMPARE;
            g_assert_true (vgpu_pattern_match (operation->pattern, opcode->str, &flags));
            /* No earlier row takes it away. */
            g_assert_cmpint (vgpu_operation_find (opcode->str, compare, &flags), ==, op);
          }
        g_string_free (opcode, TRUE);
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/vgpu/docs/list", test_list);
  g_test_add_func ("/vgpu/docs/patterns", test_patterns);
  return g_test_run ();
}
