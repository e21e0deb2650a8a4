/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/pipeline.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/findings/failure.h"
#include "engine/run/cache.h"
#include "engine/run/resources.h"
#include "engine/run/toolkit-show.h"

#include <string.h>

#define PTX_FD 10
#define LIBRARY_FD 11

/* "cuda:sm_90a" → "sm_90a"; NULL for what NVRTC does not compile for. */
static const char *
cuda_target (const char *target)
{
  if (g_str_has_prefix (target, "cuda:"))
    return target + strlen ("cuda:");
  return g_str_has_prefix (target, "sm_") ? target : NULL;
}

gboolean
assay_candidate_is_host (const AssayCandidate *candidate)
{
  return candidate->entry.kind == ASSAY_ENTRY_HOST;
}

static AssayCacheKey *
compile_key (AssayPipeline *p, const char *kind, const char *target)
{
  AssayCacheKey *key = assay_cache_key_new (kind);
  assay_cache_key_add (key, assay_candidate_is_host (p->candidate) ? "host" : "kernel");
  assay_cache_key_add_program (key, p->toolkit->nvrtc);
  assay_cache_key_add_program (key, p->toolkit->nvcc);
  assay_cache_key_add (key, target);
  assay_cache_key_add (key, p->candidate->entry.symbol);
  for (guint i = 0; p->candidate->options && p->candidate->options[i]; i++)
    assay_cache_key_add (key, p->candidate->options[i]);
  for (guint i = 0; p->candidate->sources && p->candidate->sources[i]; i++)
    {
      g_autofree char *path = assay_task_path (p->task, p->candidate->sources[i], NULL);
      assay_cache_key_add (key, p->candidate->sources[i]);
      assay_cache_key_add_file (key, path ? path : "");
    }
  return key;
}

static void
add_sources (AssayPipeline *p, const AssaySandboxSpec *spec, AssayWorkerRequest *request)
{
  for (guint i = 0; p->candidate->sources && p->candidate->sources[i]; i++)
    {
      AssayWorkerSource *source = assay_worker_source_new ();
      g_autofree char *inside = g_build_filename ("/src", p->candidate->sources[i], NULL);
      source->path = g_strdup (assay_sandbox_spec_path (spec, p->tier, inside));
      source->name = g_strdup (p->candidate->sources[i]);
      g_ptr_array_add (request->sources, source);
    }
}

static AssayWorkerReply *
ask_compiler (AssayPipeline *p, const char *target, AssayMemory *ptx, AssayMemory *host,
              GError **error)
{
  g_autoptr (AssayWorkerRequest) request = assay_worker_request_new ();
  g_autoptr (AssaySandboxSpec) spec = assay_pipeline_worker (p, p->candidate->sources, error);
  if (!spec)
    return NULL;
  assay_toolkit_show (p->toolkit, spec);
  add_sources (p, spec, request);
  request->request = ASSAY_REQUEST_COMPILE;
  request->nvrtc = g_strdup (p->toolkit->nvrtc);
  request->nvcc = g_strdup (p->toolkit->nvcc);
  request->includes = g_strdupv (p->toolkit->includes);
  request->target = g_strdup (target);
  request->options = g_strdupv (p->candidate->options);
  request->symbol = g_strdup (p->candidate->entry.symbol);
  request->resources = TRUE;
  request->output_fd = PTX_FD;
  assay_sandbox_spec_pass (spec, ptx, PTX_FD);
  if (host)
    {
      request->host = TRUE;
      request->library_fd = LIBRARY_FD;
      assay_sandbox_spec_pass (spec, host, LIBRARY_FD);
    }
  return assay_worker_call (spec, p->tier, request, p->cancellable, error);
}

static char *
log_name (const AssayPipeline *p, const AssayCompile *record)
{
  return p->beside ? g_strdup_printf ("compile-%s-%s.log", p->beside, record->target)
                   : g_strdup_printf ("compile-%s.log", record->target);
}

static void
take_note (AssayPipeline *p, JsonObject *note, AssayCompile *record, char **entry)
{
  const char *log = assay_json_string (note, "log");
  const char *name = assay_json_string (note, "entry");
  g_autofree char *file = log_name (p, record);
  record->status = ASSAY_STATUS_PASSED;
  if (entry && !p->beside)
    {
      g_free (p->compiler);
      p->compiler = g_strdup (assay_json_string (note, "compiler"));
    }
  if (log && name)
    assay_resources_parse (log, assay_candidate_is_host (p->candidate) ? NULL : name, record);
  record->log = assay_pipeline_write (p, "logs", file, log ? log : "", -1);
  if (entry)
    *entry = g_strdup (name);
}

static void
take_failure (AssayPipeline *p, const AssayWorkerReply *reply, const char *message,
              AssayCompile *record)
{
  const AssayWorkerError *told = reply ? reply->error : NULL;
  const char *log = told && told->log ? told->log : message;
  g_autofree char *file = log_name (p, record);
  AssayFailure failure = {
      .role = (char *) "compile",
      .phase = (char *) (reply && reply->phase ? reply->phase : "compile"),
      .name = told ? told->kind : (char *) "environment",
      .message = (char *) message,
  };
  record->status = ASSAY_STATUS_FAILED;
  record->failure = g_strdup (assay_failure_classify (&failure)->failure_class);
  record->log = assay_pipeline_write (p, "logs", file, log, -1);
}

/* NVRTC and nvcc name a place as "file(line): error: …". */
static void
set_place (AssayPipeline *p, AssayFailure *failure)
{
  const char *open = failure->message ? strchr (failure->message, '(') : NULL;
  gint64 line = open ? g_ascii_strtoll (open + 1, NULL, 10) : 0;
  for (guint i = 0; line > 0 && p->candidate->sources && p->candidate->sources[i]; i++)
    {
      g_autofree char *file = g_strndup (failure->message, (gsize) (open - failure->message));
      if (!failure->file && g_str_has_suffix (file, p->candidate->sources[i]))
        {
          failure->file = g_strdup (p->candidate->sources[i]);
          failure->line = line;
        }
    }
}

static void
tell_compile (AssayPipeline *p, const AssayCompile *record)
{
  assay_events_add_record (p->events, "compile",
                           assay_json_table_write (&ASSAY_COMPILE_TABLE, record));
}

/* PTX, for a host entry the library that launches as well, and what the compiler said of them. */
typedef struct
{
  AssayMemory *ptx, *host;
  JsonNode *note;
} Product;

static void
product_clear (Product *product)
{
  g_clear_pointer (&product->ptx, assay_memory_unref);
  g_clear_pointer (&product->host, assay_memory_unref);
  g_clear_pointer (&product->note, json_node_unref);
}

static gboolean
load_product (AssayPipeline *p, const char *target, Product *product)
{
  gboolean is_host = assay_candidate_is_host (p->candidate);
  g_autoptr (AssayCacheKey) ptx = compile_key (p, "ptx", target);
  g_autoptr (AssayCacheKey) host = compile_key (p, "host", target);
  product->ptx = assay_cache_load (ptx, &product->note);
  if (product->ptx && is_host)
    product->host = assay_cache_load (host, NULL);
  if (product->ptx && (product->host || !is_host))
    return TRUE;
  product_clear (product);
  return FALSE;
}

static gboolean
make_product (AssayPipeline *p, const char *target, Product *product, AssayWorkerReply **reply,
              GError **error)
{
  gboolean is_host = assay_candidate_is_host (p->candidate);
  product->ptx = assay_memory_new_growing ("ptx", error);
  if (product->ptx && is_host)
    product->host = assay_memory_new_growing ("host", error);
  if (!product->ptx || (is_host && !product->host))
    return FALSE;
  *reply = ask_compiler (p, target, product->ptx, product->host, error);
  if (!*reply || (*reply)->outcome != ASSAY_OUTCOME_DONE
      || !assay_memory_finish (product->ptx, error)
      || (is_host && !assay_memory_finish (product->host, error)))
    return FALSE;
  g_autoptr (AssayCacheKey) ptx = compile_key (p, "ptx", target);
  g_autoptr (AssayCacheKey) host = compile_key (p, "host", target);
  product->note = json_node_new (JSON_NODE_OBJECT);
  json_node_set_object (product->note, (*reply)->done);
  if (is_host)
    assay_cache_store (host, product->host, product->note);
  assay_cache_store (ptx, product->ptx, product->note);
  return TRUE;
}

AssayStatus
assay_compile_target (AssayPipeline *p, const char *target, AssayMemory **ptx, AssayMemory **host,
                      char **entry, AssayCompile **out)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayWorkerReply) reply = NULL;
  Product product = {NULL, NULL, NULL};
  gint64 started = g_get_monotonic_time ();
  AssayCompile *record = assay_json_table_new (&ASSAY_COMPILE_TABLE);
  record->target = g_strdup (target);
  record->registers = record->shared_bytes = record->spill_store_bytes = -1;
  record->spill_load_bytes = record->stack_bytes = -1;
  if (load_product (p, target, &product) || make_product (p, target, &product, &reply, &error))
    {
      take_note (p, json_node_get_object (product.note), record, entry);
      if (ptx)
        *ptx = g_steal_pointer (&product.ptx);
      if (host)
        *host = g_steal_pointer (&product.host);
    }
  else if (assay_pipeline_cancelled (p))
    record->status = ASSAY_STATUS_CANCELLED;
  else
    {
      const char *message = error ? error->message : reply->message;
      take_failure (p, reply, message, record);
      /* What fails everywhere is one failure. */
      if (!p->beside && (p->ptx || g_str_equal (target, p->target)))
        set_place (p, assay_pipeline_fail (p, NULL, "compile", reply, message));
    }
  product_clear (&product);
  record->seconds = (double) (g_get_monotonic_time () - started) / G_TIME_SPAN_SECOND;
  *out = record;
  if (!p->beside)
    tell_compile (p, record);
  return record->status;
}

static gpointer
build_reference (gpointer data)
{
  gboolean built = assay_reference_build (data);
  assay_cross_check_build (data);
  return GINT_TO_POINTER (built);
}

static void
write_ptx (AssayPipeline *p)
{
  gsize bytes = 0;
  const char *text = assay_memory_data (p->ptx, &bytes, NULL);
  g_autofree char *name = g_strdup_printf ("%s.ptx", p->target);
  if (text)
    g_free (assay_pipeline_write (p, "artifacts", name, text, (gssize) bytes));
}

/* In the compiler's own words. */
static char *
why_not (const AssayPipeline *p)
{
  for (guint i = 0; i < p->facts.failures->len; i++)
    {
      const AssayFailure *failure = g_ptr_array_index (p->facts.failures, i);
      if (g_str_equal (failure->role, "compile"))
        return g_strdup_printf ("%s does not compile for %s: %s", p->candidate->name, p->target,
                                failure->message);
    }
  return g_strdup_printf ("%s does not compile for %s", p->candidate->name, p->target);
}

void
assay_compile_others (AssayPipeline *p)
{
  AssayStage *stage = g_ptr_array_index (p->run->stages, ASSAY_STAGE_COMPILE);
  int at_work = p->stage;
  p->stage = ASSAY_STAGE_COMPILE;
  for (guint i = 0; p->toolkit && p->task->targets && p->task->targets[i]; i++)
    {
      const char *target = cuda_target (p->task->targets[i]);
      AssayCompile *record = NULL;
      if (!target || g_str_equal (target, p->target) || assay_pipeline_cancelled (p))
        continue;
      if (assay_compile_target (p, target, NULL, NULL, NULL, &record) != ASSAY_STATUS_PASSED
          && stage->status == ASSAY_STATUS_PASSED)
        {
          stage->status = ASSAY_STATUS_FAILED;
          stage->reason = g_strdup ("does not compile for every target of the task");
        }
      g_ptr_array_add (p->run->compile, record);
    }
  p->stage = at_work;
}

AssayStatus
assay_stage_compile (AssayPipeline *p, char **reason)
{
  AssayCompile *record = NULL;
  AssayStatus status = ASSAY_STATUS_SKIPPED;
  GThread *reference = g_thread_new ("reference", build_reference, p);
  if (p->toolkit)
    {
      assay_pipeline_progress (p, 0.1, "%s for %s", p->candidate->name, p->target);
      status = assay_compile_target (p, p->target, &p->ptx, &p->host, &p->entry, &record);
      g_ptr_array_add (p->run->compile, record);
    }
  else
    assay_pipeline_fail (p, NULL, "compile", NULL, p->toolkit_reason);
  g_thread_join (reference);
  if (p->ptx)
    write_ptx (p);
  if (status == ASSAY_STATUS_FAILED)
    *reason = why_not (p);
  if (status == ASSAY_STATUS_SKIPPED)
    *reason = g_strdup (p->toolkit_reason);
  return status;
}
