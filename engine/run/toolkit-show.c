/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/toolkit-show.h"

#include <stdlib.h>

void
assay_toolkit_show (const AssayToolkit *toolkit, AssaySandboxSpec *spec)
{
  g_autofree char *real = realpath (toolkit->root, NULL);
  g_autofree char *libraries = g_path_get_dirname (toolkit->nvrtc);
  if (!g_str_has_prefix (real ? real : toolkit->root, "/usr/"))
    assay_sandbox_spec_show (spec, toolkit->root, toolkit->root);
  assay_sandbox_spec_set_environment (spec, "LD_LIBRARY_PATH", libraries);
}
