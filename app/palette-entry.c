/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/palette-entry.h"

#include "app/shortcuts.h"

struct _AssayPaletteEntry
{
  GObject parent;
  char *kind, *title, *keys, *action, *folded;
  GVariant *target;
};

G_DEFINE_FINAL_TYPE (AssayPaletteEntry, assay_palette_entry, G_TYPE_OBJECT)

const char *
assay_palette_entry_get_kind (AssayPaletteEntry *self)
{
  return self->kind;
}

const char *
assay_palette_entry_get_title (AssayPaletteEntry *self)
{
  return self->title;
}

const char *
assay_palette_entry_get_keys (AssayPaletteEntry *self)
{
  return self->keys;
}

const char *
assay_palette_entry_get_action (AssayPaletteEntry *self)
{
  return self->action;
}

GVariant *
assay_palette_entry_get_target (AssayPaletteEntry *self)
{
  return self->target;
}

gboolean
assay_palette_entry_matches (AssayPaletteEntry *self, const char *const *words)
{
  for (int i = 0; words[i] != NULL; i++)
    {
      g_autofree char *word = g_utf8_casefold (words[i], -1);

      if (strstr (self->folded, word) == NULL)
        return FALSE;
    }
  return TRUE;
}

/* Takes `title`; `target` may be floating. */
static void
add (GPtrArray *entries, const char *kind, char *title, const char *keys, const char *action,
     GVariant *target)
{
  AssayPaletteEntry *self = g_object_new (ASSAY_TYPE_PALETTE_ENTRY, NULL);
  g_autofree char *both = g_strdup_printf ("%s %s", kind, title);

  self->kind = g_strdup (kind);
  self->title = title;
  self->keys = g_strdup (keys);
  self->action = g_strdup (action);
  self->target = target != NULL ? g_variant_ref_sink (target) : NULL;
  self->folded = g_utf8_casefold (both, -1);
  g_ptr_array_add (entries, self);
}

static void
add_commands (GPtrArray *entries)
{
  for (guint i = 0; i < ASSAY_N_SHORTCUTS; i++)
    {
      const AssayShortcut *shortcut = &ASSAY_SHORTCUTS[i];
      g_autofree char *name = NULL, *first = NULL;
      GVariant *target = NULL;

      if (!shortcut->in_palette
          || !g_action_parse_detailed_name (shortcut->action, &name, &target, NULL))
        continue;
      if (shortcut->keys != NULL)
        first = g_strndup (shortcut->keys, strcspn (shortcut->keys, " "));
      add (entries, "command", g_strdup (shortcut->title), first, name, target);
      g_clear_pointer (&target, g_variant_unref);
    }
}

static void
add_tasks (GPtrArray *entries, GListModel *tasks)
{
  for (guint i = 0; i < g_list_model_get_n_items (tasks); i++)
    {
      g_autoptr (AssayTaskItem) item = g_list_model_get_item (tasks, i);
      const AssayTask *task = assay_task_item_get_task (item);

      add (entries, "task",
           g_strdup_printf ("%s%s%s", assay_task_item_get_id (item), task != NULL ? " — " : "",
                            task != NULL && task->title != NULL ? task->title : ""),
           NULL, "win.open-path", g_variant_new_string (assay_task_item_get_folder (item)));
    }
}

static void
add_findings (GPtrArray *entries, AssayContext *context)
{
  AssayRunModel *run = assay_context_get_run (context);
  GListModel *findings = run != NULL ? assay_run_model_get_findings (run) : NULL;

  for (guint i = 0; findings != NULL && i < g_list_model_get_n_items (findings); i++)
    {
      g_autoptr (AssayFindingItem) item = g_list_model_get_item (findings, i);
      const AssayFinding *finding = assay_finding_item_get (item);

      if (finding->id != NULL)
        add (entries, "finding", g_strdup_printf ("%s  %s", finding->rule, finding->title), NULL,
             "win.show-finding", g_variant_new_string (finding->id));
    }
}

static void
add_criteria (GPtrArray *entries, AssayContext *context)
{
  AssayDraft *draft = assay_context_get_draft (context);
  const AssayReview *review = draft != NULL ? assay_draft_get_review (draft) : NULL;

  for (guint i = 0; review != NULL && i < review->scores->len; i++)
    {
      const AssayScore *score = g_ptr_array_index (review->scores, i);
      const AssayCriterion *criterion =
          assay_rubric_criterion (assay_draft_get_rubric (draft), score->criterion);

      if (criterion != NULL)
        add (entries, "criterion", g_strdup (criterion->title), NULL, "win.show-criterion",
             g_variant_new_string (criterion->id));
    }
}

static void
add_sources (GPtrArray *entries, AssayContext *context)
{
  const AssayTask *task = assay_context_get_task (context);

  for (int i = 0; task != NULL && task->reference != NULL && task->reference->sources != NULL
                  && task->reference->sources[i] != NULL;
       i++)
    add (entries, "source", g_strdup (task->reference->sources[i]), NULL, "win.open-source",
         g_variant_new ("(si)", task->reference->sources[i], 0));
  for (guint c = 0; task != NULL && c < task->candidates->len; c++)
    {
      const AssayCandidate *candidate = g_ptr_array_index (task->candidates, c);

      for (int i = 0; candidate->sources != NULL && candidate->sources[i] != NULL; i++)
        add (entries, "source", g_strdup (candidate->sources[i]), NULL, "win.open-source",
             g_variant_new ("(si)", candidate->sources[i], 0));
    }
}

GPtrArray *
assay_palette_entries (AssayContext *context, GListModel *tasks)
{
  GPtrArray *entries = g_ptr_array_new_with_free_func (g_object_unref);

  add_commands (entries);
  add_tasks (entries, tasks);
  add_findings (entries, context);
  add_criteria (entries, context);
  add_sources (entries, context);
  return entries;
}

static void
assay_palette_entry_finalize (GObject *object)
{
  AssayPaletteEntry *self = ASSAY_PALETTE_ENTRY (object);

  g_free (self->kind);
  g_free (self->title);
  g_free (self->keys);
  g_free (self->action);
  g_free (self->folded);
  g_clear_pointer (&self->target, g_variant_unref);
  G_OBJECT_CLASS (assay_palette_entry_parent_class)->finalize (object);
}

static void
assay_palette_entry_class_init (AssayPaletteEntryClass *class)
{
  G_OBJECT_CLASS (class)->finalize = assay_palette_entry_finalize;
}

static void
assay_palette_entry_init (AssayPaletteEntry *self)
{
}
