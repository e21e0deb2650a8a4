/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/report/report.h"

G_BEGIN_DECLS

/* The sections of a review document, in reading order: judgement first, then what it rests on. */
void assay_document_add_head (AssayDocument *report, const AssayDocumentInput *input);
void assay_document_add_verdicts (AssayDocument *report, const AssayDocumentInput *input);
void assay_document_add_criteria (AssayDocument *report, const AssayDocumentInput *input);
void assay_document_add_findings (AssayDocument *report, const AssayDocumentInput *input);
void assay_document_add_measurement (AssayDocument *report, const AssayDocumentInput *input);
/* (transfer full): the JSON document: review, findings, rubric, what was measured. */
JsonNode *assay_document_record (const AssayDocumentInput *input);

G_END_DECLS
