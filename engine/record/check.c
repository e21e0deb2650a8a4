/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/check.h"

const char *const ASSAY_CHECK_STATES[] = {"works", "warns", "absent", "fails", NULL};

#define F(member, KIND, ...) ASSAY_JSON_FIELD (AssayCheck, member, #member, KIND, __VA_ARGS__)
static const AssayJsonField CHECK_FIELDS[] = {
    F (area, STRING), F (name, STRING),   F (state, ENUM, .words = ASSAY_CHECK_STATES),
    F (text, STRING), F (advice, STRING), ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_CHECK_TABLE = {"check", sizeof (AssayCheck), CHECK_FIELDS, NULL};
