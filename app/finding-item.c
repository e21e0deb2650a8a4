/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/finding-item.h"

struct _AssayFindingItem
{
  GObject parent;
  AssayFinding *finding;
};

enum
{
  PROP_0,
  PROP_DISPOSITION,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (AssayFindingItem, assay_finding_item, G_TYPE_OBJECT)

/* Families of rules (before the dot) and where their facts are seen best. */
static const struct
{
  const char *family, *page;
} pages[] = {
    {"num", "numerics"},    {"mem", "source"},     {"race", "source"},  {"sync", "source"},
    {"launch", "validity"}, {"build", "validity"}, {"index", "source"}, {"port", "source"},
    {"env", "validity"},    {"hack", "source"},
};

AssayFindingItem *
assay_finding_item_new (const AssayFinding *finding)
{
  AssayFindingItem *self = g_object_new (ASSAY_TYPE_FINDING_ITEM, NULL);

  self->finding = assay_finding_copy (finding);
  return self;
}

const AssayFinding *
assay_finding_item_get (AssayFindingItem *self)
{
  g_return_val_if_fail (ASSAY_IS_FINDING_ITEM (self), NULL);
  return self->finding;
}

int
assay_finding_compare (gconstpointer a, gconstpointer b)
{
  const AssayFinding *left = *(const AssayFinding *const *) a;
  const AssayFinding *right = *(const AssayFinding *const *) b;
  int order;

  if (left->severity != right->severity)
    return left->severity < right->severity ? -1 : 1;
  order = g_strcmp0 (left->rule, right->rule);
  if (order == 0)
    order = g_strcmp0 (left->where.file, right->where.file);
  if (order == 0 && left->where.line != right->where.line)
    order = left->where.line < right->where.line ? -1 : 1;
  return order != 0 ? order : g_strcmp0 (left->title, right->title);
}

const char *
assay_finding_page (const AssayFinding *finding)
{
  const char *dot = finding->rule != NULL ? strchr (finding->rule, '.') : NULL;
  gsize length = dot != NULL ? (gsize) (dot - finding->rule) : 0;
  const char *page = "overview";

  for (gsize i = 0; i < G_N_ELEMENTS (pages); i++)
    if (length == strlen (pages[i].family) && strncmp (finding->rule, pages[i].family, length) == 0)
      page = pages[i].page;
  if (g_str_equal (page, "source") && finding->where.line <= 0)
    return "validity";
  return page;
}

static gboolean
is_said_above_the_plots (const AssayFinding *finding)
{
  static const char *const faults[] = {"mem.", "race.", "sync.", "run."};
  static const char *const answers[] = {"task.spec-mismatch", "task.dead-input",
                                        "layout.assumes-contiguous"};
  gboolean said = FALSE;

  for (gsize i = 0; i < G_N_ELEMENTS (answers); i++)
    said = said || g_str_equal (finding->rule, answers[i]);
  for (gsize i = 0; i < G_N_ELEMENTS (faults); i++)
    said =
        said
        || (g_str_has_prefix (finding->rule, faults[i]) && finding->severity <= ASSAY_SEVERITY_MAJOR
            && finding->blame == ASSAY_BLAME_CANDIDATE);
  return said;
}

gboolean
assay_finding_concerns (const AssayFinding *finding, const char *page)
{
  static const char *const checks[] = {"mem.",   "race.",  "sync.", "launch.",
                                       "build.", "index.", "env.",  NULL};

  /* And what colours one of the four answers above its plots. */
  if (g_str_equal (page, "numerics"))
    return g_str_has_prefix (finding->rule, "num.") || is_said_above_the_plots (finding);
  if (g_str_equal (page, "source"))
    return finding->where.line > 0;
  if (!g_str_equal (page, "validity"))
    return TRUE;
  for (int i = 0; checks[i] != NULL; i++)
    if (g_str_has_prefix (finding->rule, checks[i]))
      return TRUE;
  return FALSE;
}

char *
assay_finding_place (const AssayFinding *finding)
{
  const AssayWhere *where = &finding->where;
  g_autoptr (GString) text = g_string_new (NULL);

  if (where->file != NULL)
    {
      g_autofree char *name = g_path_get_basename (where->file);

      g_string_append (text, name);
    }
  if (where->file != NULL && where->line > 0)
    g_string_append_printf (text, " %" G_GINT64_FORMAT, where->line);
  if (where->kernel != NULL)
    g_string_append_printf (text, "%s%s", text->len > 0 ? " · " : "", where->kernel);
  if (where->workload != NULL)
    g_string_append_printf (text, "%s%s", text->len > 0 ? " · " : "", where->workload);
  if (where->output != NULL)
    g_string_append_printf (text, "%s%s", text->len > 0 ? " · " : "", where->output);
  if (where->index >= 0 && where->output != NULL)
    g_string_append_printf (text, "[%" G_GINT64_FORMAT "]", where->index);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

void
assay_finding_item_set_disposition (AssayFindingItem *self, int disposition)
{
  g_return_if_fail (ASSAY_IS_FINDING_ITEM (self));
  if (self->finding->disposition == disposition)
    return;
  self->finding->disposition = disposition;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_DISPOSITION]);
}

static void
assay_finding_item_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  if (id == PROP_DISPOSITION)
    g_value_set_int (value, ASSAY_FINDING_ITEM (object)->finding->disposition);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
assay_finding_item_finalize (GObject *object)
{
  assay_finding_free (ASSAY_FINDING_ITEM (object)->finding);
  G_OBJECT_CLASS (assay_finding_item_parent_class)->finalize (object);
}

static void
assay_finding_item_class_init (AssayFindingItemClass *class)
{
  G_OBJECT_CLASS (class)->finalize = assay_finding_item_finalize;
  G_OBJECT_CLASS (class)->get_property = assay_finding_item_get_property;
  properties[PROP_DISPOSITION] =
      g_param_spec_int ("disposition", NULL, NULL, 0, ASSAY_DISPOSITION_REGRESSED, 0,
                        G_PARAM_READABLE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (G_OBJECT_CLASS (class), N_PROPS, properties);
}

static void
assay_finding_item_init (AssayFindingItem *self)
{
}
