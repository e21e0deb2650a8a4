/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sandbox/launcher.h"

#include "engine/base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534
#define MAX_DESCRIPTORS 256

typedef struct
{
  const AssayLaunchPlan *plan;
  pid_t pid;
  int pidfd;
  int failure; /* errno of exec or of what comes before it */
  gboolean done;
  GMutex lock;
  GCond finished;
} Request;

/* Between fork and exec only calls that a signal handler could make: other threads may have held
 * any lock at the moment of the fork. */
static gboolean
place_descriptors (const AssayLaunchPlan *plan, int *report)
{
  int high = 3;
  int moved[MAX_DESCRIPTORS];
  for (gsize i = 0; i < plan->descriptor_count; i++)
    high = MAX (high, plan->descriptors[i].target + 1);
  int moved_report = fcntl (*report, F_DUPFD_CLOEXEC, high);
  if (moved_report < 0)
    return FALSE;
  *report = moved_report;
  for (gsize i = 0; i < plan->descriptor_count; i++)
    if ((moved[i] = fcntl (plan->descriptors[i].source, F_DUPFD_CLOEXEC, high)) < 0)
      return FALSE;
  int null = open ("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0)
    return FALSE;
  for (int fd = 0; fd < 3; fd++)
    dup2 (null, fd);
  for (gsize i = 0; i < plan->descriptor_count; i++)
    if (dup2 (moved[i], plan->descriptors[i].target) < 0)
      return FALSE;
  /* Whatever else is open, here or by an unlucky race in another thread, ends at the exec; what was
   * placed by dup2 has its close-on-exec flag cleared again. */
  syscall (SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
  for (gsize i = 0; i < plan->descriptor_count; i++)
    fcntl (plan->descriptors[i].target, F_SETFD, 0);
  return TRUE;
}

static gboolean
restrict_child (const AssayLaunchPlan *plan)
{
  for (gsize i = 0; i < plan->limit_count; i++)
    {
      struct rlimit limit = {plan->limits[i].value, plan->limits[i].value};
      struct rlimit now;
      if (getrlimit ((unsigned) plan->limits[i].resource, &now) == 0)
        limit.rlim_max = limit.rlim_cur = MIN (limit.rlim_cur, now.rlim_max);
      if (setrlimit ((unsigned) plan->limits[i].resource, &limit) != 0)
        return FALSE;
    }
  if (plan->drop_privileges
      && (syscall (SYS_setgroups, 0, NULL) != 0
          || syscall (SYS_setresgid, NOBODY, NOBODY, NOBODY) != 0
          || syscall (SYS_setresuid, NOBODY, NOBODY, NOBODY) != 0))
    return FALSE;
  return TRUE;
}

static void
run_child (const AssayLaunchPlan *plan, int report, pid_t parent)
{
  sigset_t none;
  sigemptyset (&none);
  for (int number = 1; number < NSIG; number++)
    signal (number, SIG_DFL);
  sigprocmask (SIG_SETMASK, &none, NULL);
  umask (077);
  gboolean joined = plan->group_fd < 0 || write (plan->group_fd, "0", 1) == 1;
  if (joined && place_descriptors (plan, &report) && restrict_child (plan))
    {
      if (plan->new_session)
        setsid ();
      prctl (PR_SET_PDEATHSIG, SIGKILL);
      if (getppid () != parent)
        _exit (127);
      execve (plan->argv[0], (char *const *) plan->argv, (char *const *) plan->environment);
    }
  int failure = errno;
  if (write (report, &failure, sizeof failure) < 0)
    _exit (126);
  _exit (127);
}

static void
start_child (Request *request)
{
  int report[2];
  int failure = 0;
  pid_t parent = getpid ();
  if (pipe2 (report, O_CLOEXEC) != 0)
    {
      request->failure = errno;
      return;
    }
  pid_t pid = fork ();
  if (pid == 0)
    run_child (request->plan, report[1], parent);
  close (report[1]);
  if (pid < 0)
    {
      request->failure = errno;
      close (report[0]);
      return;
    }
  request->pid = pid;
  request->pidfd = (int) syscall (SYS_pidfd_open, pid, 0);
  ssize_t n;
  do
    n = read (report[0], &failure, sizeof failure);
  while (n < 0 && errno == EINTR);
  close (report[0]);
  if (n == 0 && request->pidfd >= 0)
    return;
  request->failure = n > 0 ? failure : errno;
  if (n <= 0)
    kill (pid, SIGKILL);
  waitpid (pid, NULL, 0);
  if (request->pidfd >= 0)
    close (request->pidfd);
}

static gpointer
launcher_thread (gpointer data)
{
  GAsyncQueue *queue = data;
  for (;;)
    {
      Request *request = g_async_queue_pop (queue);
      start_child (request);
      g_mutex_lock (&request->lock);
      request->done = TRUE;
      g_cond_signal (&request->finished);
      g_mutex_unlock (&request->lock);
    }
  return NULL;
}

static GAsyncQueue *
launcher_queue (void)
{
  static gsize once;
  static GAsyncQueue *queue;
  if (g_once_init_enter (&once))
    {
      queue = g_async_queue_new ();
      g_thread_unref (g_thread_new ("launcher", launcher_thread, queue));
      g_once_init_leave (&once, 1);
    }
  return queue;
}

gboolean
assay_launcher_start (const AssayLaunchPlan *plan, pid_t *pid, int *pidfd, GError **error)
{
  g_return_val_if_fail (plan->descriptor_count <= MAX_DESCRIPTORS, FALSE);
  Request request = {.plan = plan, .pidfd = -1};
  g_mutex_init (&request.lock);
  g_cond_init (&request.finished);
  g_async_queue_push (launcher_queue (), &request);
  g_mutex_lock (&request.lock);
  while (!request.done)
    g_cond_wait (&request.finished, &request.lock);
  g_mutex_unlock (&request.lock);
  g_mutex_clear (&request.lock);
  g_cond_clear (&request.finished);
  if (request.failure)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_FAILED, "%s cannot be started: %s",
                   plan->argv[0], g_strerror (request.failure));
      return FALSE;
    }
  *pid = request.pid;
  *pidfd = request.pidfd;
  return TRUE;
}
