/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/report/report.h"

G_BEGIN_DECLS

/* The sections of a review document, in reading order: judgement first, then what it rests on. */
void assay_report_add_head (AssayReport *report, const AssayReportInput *input);
void assay_report_add_verdicts (AssayReport *report, const AssayReportInput *input);
void assay_report_add_criteria (AssayReport *report, const AssayReportInput *input);
void assay_report_add_findings (AssayReport *report, const AssayReportInput *input);
void assay_report_add_measurement (AssayReport *report, const AssayReportInput *input);
/* (transfer full): the JSON document: review, findings, rubric, what was measured. */
JsonNode *assay_report_record (const AssayReportInput *input);

G_END_DECLS
