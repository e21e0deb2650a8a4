/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/vgpu/exec/machine.h"

/* At most this many different reports a process. */
void vgpu_reports_limit (uint64_t most);

/* Forgets what has been reported: a new stream begins with number 1. */
void vgpu_reports_forget (void);

/* Writes how often each report has been made since it was last said. */
void vgpu_reports_count (void);

/* Writes a report that no instruction made: a launch that was never begun, memory never freed.
 * kernel may be NULL. */
void vgpu_report_launch (const char *rule, const char *message, const char *kernel);

/* Writes the record of a finished launch: what was executed and moved, also line by line. */
void vgpu_record_launch (const VgpuLaunch *launch);

/* What device printf writes, to the report stream or the program's standard output; at most cap bytes are kept, and a last line says how many were not. */
VgpuPrinter *vgpu_printer_new (uint64_t cap, bool to_stdout);
void vgpu_printer_add (VgpuPrinter *printer, const char *text, size_t length);
void vgpu_printer_free (VgpuPrinter *printer);
