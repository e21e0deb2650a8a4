/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/disassemble.h"

#include "engine/device/tools.h"
#include "engine/run/toolkit-show.h"
#include "engine/sandbox/process.h"

#define PTX_FD 10
#define OUT_FD 11
#define SECONDS 60
#define MOST_BYTES ((gsize) 16 << 20) /* longer ones are for other tools */

/* $1 ptxas, $2 the architecture, $3 nvdisasm */
static const char SCRIPT[] = "d=$(mktemp -d) || exit 1\n"
                             "\"$1\" -arch=\"$2\" -lineinfo -o \"$d/cubin\" /proc/self/fd/10 && "
                             "\"$3\" -g -c \"$d/cubin\" >/proc/self/fd/11\n"
                             "s=$?\nrm -rf \"$d\"\nexit $s\n";

/* The name under which a program is seen inside. */
static const char *
show (AssayPipeline *p, AssaySandboxSpec *spec, const char *path, const char *inside)
{
  assay_sandbox_spec_show (spec, path, inside);
  return assay_sandbox_spec_path (spec, p->tier, inside);
}

static AssaySandboxSpec *
make_spec (AssayPipeline *p, const char *ptxas, const char *nvdisasm, AssayMemory *out)
{
  AssaySandboxSpec *spec = assay_sandbox_spec_new ("/bin/sh");
  const char *const words[] = {"-c", SCRIPT, "disassemble"};
  assay_toolkit_show (p->toolkit, spec);
  for (gsize i = 0; i < G_N_ELEMENTS (words); i++)
    assay_sandbox_spec_add_argument (spec, words[i]);
  assay_sandbox_spec_add_argument (spec, show (p, spec, ptxas, "/assay/tools/ptxas"));
  assay_sandbox_spec_add_argument (spec, p->target);
  assay_sandbox_spec_add_argument (spec, show (p, spec, nvdisasm, "/assay/tools/nvdisasm"));
  assay_sandbox_spec_pass (spec, p->ptx, PTX_FD);
  assay_sandbox_spec_pass (spec, out, OUT_FD);
  assay_sandbox_spec_limits (spec)->wall_seconds = SECONDS;
  return spec;
}

static void
keep (AssayPipeline *p, AssayMemory *out)
{
  gsize bytes = 0;
  g_autofree char *name = g_strconcat (p->target, ".sass", NULL);
  const char *text = assay_memory_finish (out, NULL) ? assay_memory_data (out, &bytes, NULL) : NULL;
  if (text && bytes > 0 && bytes <= MOST_BYTES && g_utf8_validate (text, (gssize) bytes, NULL))
    g_free (assay_pipeline_write (p, "artifacts", name, text, (gssize) bytes));
}

void
assay_disassemble (AssayPipeline *p)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *ptxas = p->toolkit ? assay_tool_find (p->toolkit, "ptxas") : NULL;
  g_autofree char *nvdisasm = p->toolkit ? assay_tool_find (p->toolkit, "nvdisasm") : NULL;
  g_autoptr (AssayMemory) out = assay_memory_new_growing ("machine code", NULL);
  if (!p->ptx || !ptxas || !nvdisasm || !out || assay_pipeline_cancelled (p))
    return;
  g_autoptr (AssaySandboxSpec) spec = make_spec (p, ptxas, nvdisasm, out);
  g_autoptr (AssaySandboxProcess) process = assay_sandbox_process_start (spec, p->tier, &error);
  g_autoptr (AssaySandboxEnd) end =
      process ? assay_sandbox_process_pump (process, NULL, NULL, p->cancellable, &error) : NULL;
  if (end && end->kind == ASSAY_END_EXITED && end->code == 0)
    {
      keep (p, out);
      return;
    }
  g_autofree char *how = end ? assay_sandbox_end_describe (end) : NULL;
  g_autofree char *text =
      g_strdup_printf ("no machine code beside the source: %s %s%s", nvdisasm,
                       error ? error->message : how, end && end->err[0] ? ":\n" : "");
  g_autofree char *whole = g_strconcat (text, end ? end->err : "", NULL);
  assay_pipeline_log (p, whole);
}
