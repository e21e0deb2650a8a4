/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/task/reference.h"

#include "engine/base/error.h"

static void
free_argument (gpointer data)
{
  AssayReferenceArgument *argument = data;
  g_free (argument->name);
  g_free (argument);
}

static gboolean
index_of (const GPtrArray *list, gconstpointer item, guint *index)
{
  return item && g_ptr_array_find ((GPtrArray *) list, item, index);
}

static AssayReferenceArgument *
resolve (const AssayTask *task, const char *name, GError **error)
{
  g_autofree AssayReferenceArgument *argument = g_new0 (AssayReferenceArgument, 1);
  const AssayTaskArray *input = assay_task_input (task, name);
  const AssayTaskArray *output = assay_task_output (task, name);
  if (index_of (task->inputs, input, &argument->index))
    {
      argument->kind = input->shape ? ASSAY_ARGUMENT_INPUT : ASSAY_ARGUMENT_SCALAR;
      argument->writable = input->shape && input->role != ASSAY_ROLE_IN;
      argument->integer = !assay_dtype_is_float (input->dtype);
    }
  else if (index_of (task->outputs, output, &argument->index))
    {
      argument->kind = ASSAY_ARGUMENT_OUTPUT;
      argument->writable = TRUE;
      argument->integer = !assay_dtype_is_float (output->dtype);
    }
  else if (assay_task_axis (task, name))
    {
      argument->kind = ASSAY_ARGUMENT_AXIS;
      argument->integer = TRUE;
    }
  else
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                   "reference.arguments: expected an input, output or axis, found \"%s\"", name);
      return NULL;
    }
  argument->name = g_strdup (name);
  return g_steal_pointer (&argument);
}

static char **
default_arguments (const AssayTask *task)
{
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  for (guint i = 0; i < task->inputs->len; i++)
    {
      const AssayTaskArray *input = g_ptr_array_index (task->inputs, i);
      if (input->role != ASSAY_ROLE_WORKSPACE)
        g_strv_builder_add (names, input->name);
    }
  for (guint i = 0; i < task->outputs->len; i++)
    g_strv_builder_add (names, *(char **) g_ptr_array_index (task->outputs, i));
  for (guint i = 0; i < task->axes->len; i++)
    g_strv_builder_add (names, *(char **) g_ptr_array_index (task->axes, i));
  return g_strv_builder_end (names);
}

GPtrArray *
assay_reference_arguments (const AssayTask *task, const AssayReference *reference, GError **error)
{
  g_autoptr (GPtrArray) arguments = g_ptr_array_new_with_free_func (free_argument);
  g_auto (GStrv) names =
      reference->arguments ? g_strdupv (reference->arguments) : default_arguments (task);
  for (char **name = names; *name; name++)
    {
      AssayReferenceArgument *argument = resolve (task, *name, error);
      if (!argument)
        return NULL;
      g_ptr_array_add (arguments, argument);
    }
  return g_steal_pointer (&arguments);
}

static void
append_prototype (GString *out, const AssayReferenceArgument *argument)
{
  const char *type = argument->integer ? "int64_t" : "REAL";
  gboolean array =
      argument->kind == ASSAY_ARGUMENT_INPUT || argument->kind == ASSAY_ARGUMENT_OUTPUT;
  g_string_append_printf (out, "%s%s%s", array && !argument->writable ? "const " : "", type,
                          array ? " *" : "");
}

static void
append_value (GString *out, const AssayReferenceArgument *argument, guint i)
{
  const char *type = argument->integer ? "int64_t" : "REAL";
  gboolean array =
      argument->kind == ASSAY_ARGUMENT_INPUT || argument->kind == ASSAY_ARGUMENT_OUTPUT;
  if (array)
    g_string_append_printf (out, "(%s *) arguments[%u]", type, i);
  else
    g_string_append_printf (out, "*(%s *) arguments[%u]", type, i);
}

static gboolean
is_c_name (const char *name)
{
  return name && g_regex_match_simple ("^[A-Za-z_][A-Za-z0-9_]*$", name, 0, 0);
}

char *
assay_reference_wrapper (const AssayTask *task, const AssayReference *reference, GError **error)
{
  if (!is_c_name (reference->entry))
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                   "reference.entry: expected the name of a C function, found \"%s\"",
                   reference->entry);
      return NULL;
    }
  g_autoptr (GPtrArray) arguments = assay_reference_arguments (task, reference, error);
  if (!arguments)
    return NULL;
  g_autoptr (GString) out = g_string_new ("#include \"assay_reference.h\"\n");
  for (char **source = reference->sources; source && *source; source++)
    g_string_append_printf (out, "#include \"%s\"\n", *source);
  /* Declared again after its definition: another signature is a compile error that says so. */
  g_string_append_printf (out, "\nvoid %s (", reference->entry);
  for (guint i = 0; i < arguments->len; i++)
    {
      g_string_append (out, i ? ", " : "");
      append_prototype (out, g_ptr_array_index (arguments, i));
    }
  g_string_append (out, arguments->len ? ");\n" : "void);\n");
  g_string_append (out, "\nvoid assay_reference_call (void **arguments);\n"
                        "void\nassay_reference_call (void **arguments)\n{\n");
  g_string_append_printf (out, "  (void) arguments;\n  %s (", reference->entry);
  for (guint i = 0; i < arguments->len; i++)
    {
      g_string_append (out, i ? ",\n    " : "");
      append_value (out, g_ptr_array_index (arguments, i), i);
    }
  g_string_append (out, ");\n}\n");
  return g_string_free (g_steal_pointer (&out), FALSE);
}

AssayReal
assay_reference_task_rung (const AssayTask *task)
{
  AssayDtype compute = assay_dtype_from_name (task->numerics.compute);
  gboolean wide = compute == ASSAY_DTYPE_FLOAT64;
  for (guint i = 0; compute == ASSAY_DTYPE_UNKNOWN && i < task->outputs->len; i++)
    {
      const AssayTaskArray *output = g_ptr_array_index (task->outputs, i);
      wide |= assay_dtype_component (output->dtype) == ASSAY_DTYPE_FLOAT64;
    }
  return wide ? ASSAY_REAL_DOUBLE : ASSAY_REAL_FLOAT;
}
