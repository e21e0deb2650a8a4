/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/finding.h"

const char *const ASSAY_SEVERITIES[] = {"blocker", "major", "minor", "info", NULL};

/* The others are adjectives. */
char *
assay_severity_count (int severity, guint count)
{
  return g_strdup_printf ("%u %s%s", count, ASSAY_SEVERITIES[severity],
                          severity == ASSAY_SEVERITY_BLOCKER && count != 1 ? "s" : "");
}

const char *const ASSAY_BLAMES[] = {"candidate",   "task",     "environment",
                                    "interpreter", "hardware", NULL};
const char *const ASSAY_DISPOSITIONS[] = {
    "open", "confirmed", "false_positive", "duplicate", "fixed", "regressed", NULL};

#define FIELD(Type, member, kind, ...) ASSAY_JSON_FIELD (Type, member, #member, kind, __VA_ARGS__)

static void
initialise_where (gpointer self)
{
  ((AssayWhere *) self)->index = -1;
}

#define F(member, kind, ...) FIELD (AssayWhere, member, kind, __VA_ARGS__)
static const AssayJsonField WHERE_FIELDS[] = {
    F (file, STRING), F (line, INT),        F (column, INT),    F (kernel, STRING), F (block, INTS),
    F (thread, INTS), F (workload, STRING), F (output, STRING), F (index, INT),     ASSAY_JSON_END,
};
#undef F
static const AssayJsonTable WHERE_TABLE = {"where", sizeof (AssayWhere), WHERE_FIELDS,
                                           initialise_where};

#define F(member, kind, ...) FIELD (AssayEvidence, member, kind, __VA_ARGS__)
static const AssayJsonField EVIDENCE_FIELDS[] = {
    F (kind, STRING, .flags = ASSAY_JSON_REQUIRED),
    F (ref, STRING),
    F (first_line, INT),
    F (last_line, INT),
    F (sha256, STRING),
    F (quote, STRING),
    F (title, STRING),
    ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_EVIDENCE_TABLE = {"evidence", sizeof (AssayEvidence), EVIDENCE_FIELDS,
                                             NULL};

static void
initialise_finding (gpointer self)
{
  AssayFinding *finding = self;
  finding->confidence = 1.0;
  finding->rule_version = 1;
  finding->count = 1;
}

#define F(member, kind, ...) FIELD (AssayFinding, member, kind, __VA_ARGS__)
static const AssayJsonField FINDING_FIELDS[] = {
    F (id, STRING),
    F (rule, STRING, .flags = ASSAY_JSON_REQUIRED),
    F (rule_version, INT),
    F (axis, STRING),
    F (severity, ENUM, .words = ASSAY_SEVERITIES),
    F (blame, ENUM, .words = ASSAY_BLAMES),
    F (component, STRING),
    F (candidate, STRING),
    F (target, STRING),
    F (confidence, DOUBLE),
    F (title, STRING),
    F (detail, STRING),
    F (where, STRUCT, .table = &WHERE_TABLE),
    F (evidence, LIST, .table = &ASSAY_EVIDENCE_TABLE),
    F (reproduce, STRING),
    F (suggestion, STRING),
    F (count, UINT),
    F (disposition, ENUM, .words = ASSAY_DISPOSITIONS),
    F (reason, STRING),
    ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_FINDING_TABLE = {"finding", sizeof (AssayFinding), FINDING_FIELDS,
                                            initialise_finding};

void
assay_finding_fingerprint (AssayFinding *finding, const char *anchor)
{
  const char *parts[] = {finding->rule,       finding->candidate,    finding->where.kernel,
                         finding->where.file, finding->where.output, anchor};
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  for (gsize i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      const char *part = parts[i] ? parts[i] : "";
      g_checksum_update (sum, (const guchar *) part, -1);
      g_checksum_update (sum, (const guchar *) "\n", 1);
    }
  g_free (finding->id);
  finding->id = g_strndup (g_checksum_get_string (sum), 16);
}
