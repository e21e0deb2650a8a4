/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/json.h"
#include "engine/sandbox/preflight.h"
#include "engine/worker/session.h"

#include <signal.h>
#include <string.h>

static const char *fake_path;

static AssayWorkerReply *
call_fake (const char *mode, double seconds)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayWorkerRequest) request = assay_worker_request_new ();
  request->request = ASSAY_REQUEST_RUN;
  g_autoptr (AssaySandboxSpec) spec = assay_sandbox_spec_new ("/assay/fake");
  assay_sandbox_spec_show (spec, fake_path, "/assay/fake");
  assay_sandbox_spec_add_argument (spec, mode);
  assay_sandbox_spec_limits (spec)->wall_seconds = seconds;
  assay_sandbox_spec_limits (spec)->channel_bytes = 4 << 20;
  AssaySandboxTier tier =
      assay_sandbox_preflight ()->works ? ASSAY_TIER_BUBBLEWRAP : ASSAY_TIER_NONE;
  AssayWorkerReply *reply = assay_worker_call (spec, tier, request, NULL, &error);
  g_assert_no_error (error);
  return reply;
}

typedef struct
{
  const char *mode;
  AssayOutcome outcome;
  const char *message; /* part of it */
} Case;

static const Case CASES[] = {
    {"garbage", ASSAY_OUTCOME_VIOLATION, "broke its contract"},
    {"number", ASSAY_OUTCOME_VIOLATION, "no object"},
    {"deep", ASSAY_OUTCOME_VIOLATION, "nested deeper"},
    {"wrong-nonce", ASSAY_OUTCOME_VIOLATION, "nonce"},
    {"unknown-reply", ASSAY_OUTCOME_VIOLATION, "unknown reply surprise"},
    {"no-reply", ASSAY_OUTCOME_VIOLATION, "unknown reply"},
    {"unknown-phase", ASSAY_OUTCOME_VIOLATION, "unknown phase lunch"},
    {"phase-backwards", ASSAY_OUTCOME_VIOLATION, "phase open"},
    {"error-without-fields", ASSAY_OUTCOME_VIOLATION, "without its fields"},
    {"finding-without-record", ASSAY_OUTCOME_VIOLATION, "without a record"},
    {"exit", ASSAY_OUTCOME_EXITED, "exit status 5, in phase load"},
    {"crash", ASSAY_OUTCOME_CRASHED, "signal 11"},
    {"flood", ASSAY_OUTCOME_FLOOD, "more than a worker may send"},
    {"long-line", ASSAY_OUTCOME_FLOOD, "more than a worker may send"},
};

static void
test_case (gconstpointer data)
{
  const Case *expected = data;
  g_autoptr (AssayWorkerReply) reply = call_fake (expected->mode, 30);
  g_assert_cmpint (reply->outcome, ==, expected->outcome);
  if (!strstr (reply->message, expected->message))
    g_error ("\"%s\" does not say \"%s\"", reply->message, expected->message);
  g_assert_null (reply->done);
}

static void
test_hang (void)
{
  g_autoptr (AssayWorkerReply) reply = call_fake ("hang", 0.4);
  g_assert_cmpint (reply->outcome, ==, ASSAY_OUTCOME_TIMEOUT);
}

static void
test_error (void)
{
  g_autoptr (AssayWorkerReply) reply = call_fake ("error", 30);
  g_assert_cmpint (reply->outcome, ==, ASSAY_OUTCOME_ERROR);
  g_assert_cmpint (reply->error->code, ==, 700);
  g_assert_cmpstr (reply->error->name, ==, "CUDA_ERROR_ILLEGAL_ADDRESS");
}

static void
test_well_behaved (void)
{
  g_autoptr (AssayWorkerReply) reply = call_fake ("well-behaved", 30);
  g_assert_cmpint (reply->outcome, ==, ASSAY_OUTCOME_DONE);
  g_assert_cmpint (assay_json_int (reply->done, "answer", 0), ==, 42);
  g_assert_cmpuint (reply->launches->len, ==, 1);
  g_assert_cmpuint (reply->findings->len, ==, 1);
  g_assert_cmpstr (reply->phase, ==, "launch");
  g_assert_cmpstr (g_ptr_array_index (reply->caveats, 0), ==, "mind the gap\357\277\275");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  fake_path = g_test_build_filename (G_TEST_BUILT, "engine", "fake-worker", NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (CASES); i++)
    {
      g_autofree char *path = g_strconcat ("/contract/", CASES[i].mode, NULL);
      g_test_add_data_func (path, &CASES[i], test_case);
    }
  g_test_add_func ("/contract/hang", test_hang);
  g_test_add_func ("/contract/error", test_error);
  g_test_add_func ("/contract/well-behaved", test_well_behaved);
  return g_test_run ();
}
