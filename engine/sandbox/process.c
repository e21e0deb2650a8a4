/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sandbox/process.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/sandbox/capture.h"
#include "engine/sandbox/filter.h"
#include "engine/sandbox/launcher.h"
#include "engine/sandbox/orphans.h"
#include "engine/sandbox/preflight.h"
#include "engine/sandbox/spec-private.h"
#include "engine/sandbox/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE_LIMIT (1024 * 1024)
#define PROCESS_LIMIT 256
#define WATCH_MILLISECONDS 50
#define DEATH_MILLISECONDS 10000
#define CHUNK 65536

enum
{
  CHANNEL,
  OUT,
  ERR,
  STATUS,
  N_STREAMS,
};

struct _AssaySandboxProcess
{
  AssaySandboxTier tier;
  gboolean drop; /* started by root, runs as nobody */
  AssaySandboxLimits limits;
  pid_t pid;
  int pidfd;              /* of the process we started */
  int tree_pidfd;         /* of the first process of its namespace: dead last; -1 until known */
  int streams[N_STREAMS]; /* ours; -1 once closed */
  AssayCapture *out, *err;
  GString *line;     /* the channel's unfinished line */
  GString *status;   /* what bwrap says about its child */
  GByteArray *queue; /* to be sent */
  guint64 channel_bytes;
  AssayGroup *group;
  gint64 started;
  guint64 peak_bytes;
  gboolean reaped;
  siginfo_t exit;
};

static void
close_fd (int *fd)
{
  if (*fd >= 0)
    close (*fd);
  *fd = -1;
}

void
assay_sandbox_end_free (AssaySandboxEnd *end)
{
  g_free (end->out);
  g_free (end->err);
  g_free (end);
}

char *
assay_sandbox_end_describe (const AssaySandboxEnd *end)
{
  switch (end->kind)
    {
    case ASSAY_END_EXITED:
      return g_strdup_printf ("exit status %d", end->code);
    case ASSAY_END_SIGNAL:
      return g_strdup_printf ("killed by signal %d (%s)", end->code, g_strsignal (end->code));
    case ASSAY_END_TIMEOUT:
      return g_strdup_printf ("no answer within %.0f s", end->seconds);
    case ASSAY_END_MEMORY:
      return g_strdup_printf ("used more memory than allowed (%.0f MiB seen)",
                              (double) end->peak_bytes / (1024 * 1024));
    case ASSAY_END_PROCESSES:
      return g_strdup_printf ("started more than %d processes", PROCESS_LIMIT);
    case ASSAY_END_FLOOD:
      return g_strdup ("sent more than a worker may send");
    case ASSAY_END_STOPPED:
      return g_strdup ("done");
    case ASSAY_END_CANCELLED:
    default:
      return g_strdup ("cancelled");
    }
}

/* The far ends of our streams, given to the child and closed here. */
static gboolean
open_streams (AssaySandboxProcess *process, int far[N_STREAMS], GError **error)
{
  int pair[2];
  for (int i = 0; i < N_STREAMS; i++)
    {
      int rc = i == CHANNEL ? socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)
                            : pipe2 (pair, O_CLOEXEC);
      if (rc != 0)
        {
          g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_FAILED, "no descriptor for a worker: %s",
                       g_strerror (errno));
          return FALSE;
        }
      process->streams[i] = pair[0];
      far[i] = pair[1];
      fcntl (pair[0], F_SETFL, O_NONBLOCK);
    }
  return TRUE;
}

static void
add_descriptor (GArray *descriptors, int source, int target)
{
  AssayDescriptor descriptor = {source, target};
  g_array_append_val (descriptors, descriptor);
}

/* What a program finds without bwrap: the same variables, its own descriptors, and this system. */
static char **
plain_environment (const AssaySandboxSpec *spec)
{
  char **environment = NULL;
  environment = g_environ_setenv (environment, "PATH", "/usr/local/cuda/bin:/usr/bin:/bin", TRUE);
  environment = g_environ_setenv (environment, "HOME", g_get_tmp_dir (), TRUE);
  environment = g_environ_setenv (environment, "LANG", "C.UTF-8", TRUE);
  for (guint i = 0; i + 1 < spec->environment->len; i += 2)
    environment = g_environ_setenv (environment, g_ptr_array_index (spec->environment, i),
                                    g_ptr_array_index (spec->environment, i + 1), TRUE);
  return environment;
}

static gboolean
launch (AssaySandboxProcess *process, const AssaySandboxSpec *spec, const int far[N_STREAMS],
        AssayBubblewrap *command, int filter, GError **error)
{
  gboolean wrapped = process->tier == ASSAY_TIER_BUBBLEWRAP;
  g_autoptr (GArray) descriptors = g_array_new (FALSE, FALSE, sizeof (AssayDescriptor));
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();
  g_auto (GStrv) environment = wrapped ? g_new0 (char *, 1) : plain_environment (spec);
  add_descriptor (descriptors, far[OUT], 1);
  add_descriptor (descriptors, far[ERR], 2);
  add_descriptor (descriptors, far[CHANNEL], 3);
  for (guint i = 0; i < spec->shares->len; i++)
    {
      const AssaySandboxShare *share = g_ptr_array_index (spec->shares, i);
      add_descriptor (descriptors, assay_memory_fd (share->memory), share->number);
    }
  if (wrapped)
    {
      add_descriptor (descriptors, filter, ASSAY_FILTER_FD);
      add_descriptor (descriptors, far[STATUS], ASSAY_STATUS_FD);
      for (guint i = 0; i < command->opened->len; i++)
        add_descriptor (descriptors, g_array_index (command->opened, int, i),
                        ASSAY_FIRST_DATA_FD + (int) i);
    }
  for (guint i = 0; !wrapped && i < spec->argv->len; i++)
    {
      const char *word = g_ptr_array_index (spec->argv, i);
      const char *own = i ? word : assay_sandbox_spec_path (spec, ASSAY_TIER_NONE, word);
      g_ptr_array_add (argv, (gpointer) own);
    }
  g_ptr_array_add (argv, NULL);
  /* What a vendor's driver reserves on a device's behalf is not known beforehand. */
  gboolean free_data = ASSAY_SANITIZED || spec->gpu;
  const AssayResourceLimit limits[] = {
      {RLIMIT_DATA, free_data ? RLIM_INFINITY : spec->limits.memory_bytes},
      {RLIMIT_CPU, spec->limits.cpu_seconds},
      {RLIMIT_FSIZE, spec->limits.file_bytes},
      {RLIMIT_CORE, 0},
      {RLIMIT_NOFILE, spec->limits.open_files},
  };
  AssayLaunchPlan plan = {
      .argv = (const char *const *) (wrapped ? command->argv->pdata : argv->pdata),
      .environment = (const char *const *) environment,
      .descriptors = (const AssayDescriptor *) (void *) descriptors->data,
      .descriptor_count = descriptors->len,
      .limits = limits,
      .limit_count = G_N_ELEMENTS (limits),
      .group_fd = process->group ? assay_group_fd (process->group) : -1,
      .drop_privileges = process->drop,
      .new_session = !wrapped,
  };
  return assay_launcher_start (&plan, &process->pid, &process->pidfd, error);
}

AssaySandboxProcess *
assay_sandbox_process_start (const AssaySandboxSpec *spec, AssaySandboxTier tier, GError **error)
{
  g_autoptr (AssaySandboxProcess) process = g_new0 (AssaySandboxProcess, 1);
  g_autoptr (AssayBubblewrap) command = NULL;
  int far[N_STREAMS] = {-1, -1, -1, -1};
  int filter = -1;
  gboolean wrapped = tier == ASSAY_TIER_BUBBLEWRAP;
  process->tier = tier;
  process->limits = spec->limits;
  process->pidfd = process->tree_pidfd = -1;
  for (int i = 0; i < N_STREAMS; i++)
    process->streams[i] = -1;
  process->out = assay_capture_new (spec->limits.log_bytes);
  process->err = assay_capture_new (spec->limits.log_bytes);
  process->line = g_string_new (NULL);
  process->status = g_string_new (NULL);
  process->queue = g_byte_array_new ();
  process->group = assay_group_new (spec->limits.memory_bytes);
  process->started = g_get_monotonic_time ();
  process->drop = wrapped && geteuid () == 0 && assay_bubblewrap_can_drop (spec);
  if (wrapped)
    command = assay_bubblewrap_new (spec, assay_sandbox_bwrap_path (), process->drop, error);
  if (wrapped && command)
    filter = assay_filter_open (error);
  gboolean started = (!wrapped || filter >= 0) && open_streams (process, far, error)
                     && launch (process, spec, far, command, filter, error);
  for (int i = 0; i < N_STREAMS; i++)
    close_fd (&far[i]);
  close_fd (&filter);
  return started ? g_steal_pointer (&process) : NULL;
}

pid_t
assay_sandbox_process_pid (AssaySandboxProcess *process)
{
  return process->pid;
}

void
assay_sandbox_process_send (AssaySandboxProcess *process, const char *data, gsize bytes)
{
  g_byte_array_append (process->queue, (const guint8 *) data, (guint) bytes);
}

static gboolean
wait_readable (int fd, int milliseconds)
{
  struct pollfd poll_fd = {fd, POLLIN, 0};
  int rc;
  do
    rc = poll (&poll_fd, 1, milliseconds);
  while (rc < 0 && errno == EINTR);
  return rc > 0;
}

/* The namespace's first process, by the number bwrap gave. Its parent must be our bwrap: a number of
 * a process that ended may already belong to another. */
static void
find_tree (AssaySandboxProcess *process)
{
  char *end = strchr (process->status->str, '\n');
  if (process->tree_pidfd >= 0 || !end)
    return;
  g_autoptr (JsonNode) node = assay_json_parse (process->status->str, end - process->status->str,
                                                &ASSAY_JSON_LIMITS_MESSAGE, "bwrap", NULL);
  if (!node || !JSON_NODE_HOLDS_OBJECT (node))
    return;
  pid_t child = (pid_t) assay_json_int (json_node_get_object (node), "child-pid", 0);
  int fd = child > 0 ? (int) syscall (SYS_pidfd_open, child, 0) : -1;
  g_autofree char *path = g_strdup_printf ("/proc/%d/stat", child);
  g_autofree char *text = NULL;
  int parent = 0;
  const char *after = NULL;
  if (fd >= 0 && g_file_get_contents (path, &text, NULL, NULL) && (after = strrchr (text, ')')))
    sscanf (after + 1, " %*c %d", &parent);
  if (parent == process->pid)
    process->tree_pidfd = fd;
  else
    close_fd (&fd);
}

static void
take_status (AssaySandboxProcess *process, const char *text, gssize bytes)
{
  if (process->status->len < 4096)
    g_string_append_len (process->status, text, bytes);
  find_tree (process);
}

static void
read_status (AssaySandboxProcess *process)
{
  char chunk[4096];
  ssize_t n = read (process->streams[STATUS], chunk, sizeof chunk);
  if (n > 0)
    take_status (process, chunk, n);
}

static void
kill_tree (AssaySandboxProcess *process)
{
  if (process->pid <= 0)
    return;
  if (process->tree_pidfd >= 0)
    syscall (SYS_pidfd_send_signal, process->tree_pidfd, SIGKILL, NULL, 0);
  if (process->reaped)
    return;
  if (process->tier == ASSAY_TIER_NONE)
    kill (-process->pid, SIGKILL);
  else if (process->tree_pidfd < 0)
    assay_orphans_kill_children (process->pid);
  syscall (SYS_pidfd_send_signal, process->pidfd, SIGKILL, NULL, 0);
}

/* TRUE when nothing of the tree lives any more. The wait has its own bound: a driver can keep a
 * killed process for long. */
static gboolean
bury (AssaySandboxProcess *process)
{
  if (process->pid <= 0)
    return TRUE;
  /* A quick worker may be done before we have read who is the first of its tree. */
  if (process->tree_pidfd < 0 && process->streams[STATUS] >= 0
      && wait_readable (process->streams[STATUS], 0))
    read_status (process);
  kill_tree (process);
  if (!process->reaped && wait_readable (process->pidfd, DEATH_MILLISECONDS))
    process->reaped = waitid (P_PIDFD, (id_t) process->pidfd, &process->exit, WEXITED) == 0;
  gboolean tree =
      process->tree_pidfd < 0 || wait_readable (process->tree_pidfd, DEATH_MILLISECONDS);
  return process->reaped && tree;
}

void
assay_sandbox_process_free (AssaySandboxProcess *process)
{
  bury (process);
  for (int i = 0; i < N_STREAMS; i++)
    close_fd (&process->streams[i]);
  close_fd (&process->pidfd);
  close_fd (&process->tree_pidfd);
  g_clear_pointer (&process->group, assay_group_free);
  assay_capture_free (process->out);
  assay_capture_free (process->err);
  g_string_free (process->line, TRUE);
  g_string_free (process->status, TRUE);
  g_byte_array_unref (process->queue);
  g_free (process);
}

static void
send_queued (AssaySandboxProcess *process)
{
  while (process->queue->len > 0)
    {
      ssize_t n = send (process->streams[CHANNEL], process->queue->data,
                        MIN (process->queue->len, CHUNK), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0 && errno != EAGAIN)
        g_byte_array_set_size (process->queue, 0);
      if (n <= 0)
        return;
      g_byte_array_remove_range (process->queue, 0, (guint) n);
    }
}

typedef struct
{
  AssaySandboxLine on_line;
  gpointer user_data;
} Listener;

typedef enum
{
  FEED_MORE,
  FEED_ENOUGH,
  FEED_FLOOD,
} Feed;

static Feed
feed_channel (AssaySandboxProcess *process, const char *data, gsize bytes, const Listener *listener)
{
  process->channel_bytes += bytes;
  if (process->channel_bytes > process->limits.channel_bytes)
    return FEED_FLOOD;
  while (bytes > 0)
    {
      const char *end = memchr (data, '\n', bytes);
      gsize part = end ? (gsize) (end - data) : bytes;
      if (process->line->len + part > LINE_LIMIT)
        return FEED_FLOOD;
      g_string_append_len (process->line, data, (gssize) part);
      data += part;
      bytes -= part;
      if (!end)
        return FEED_MORE;
      data++;
      bytes--;
      gboolean more =
          !listener->on_line
          || listener->on_line (process->line->str, process->line->len, listener->user_data);
      g_string_truncate (process->line, 0);
      if (!more)
        return FEED_ENOUGH;
    }
  return FEED_MORE;
}

/* At most one chunk a turn from each stream, so that a flood on one starves no other. */
static Feed
read_stream (AssaySandboxProcess *process, int stream, const Listener *listener)
{
  char chunk[CHUNK];
  ssize_t n = read (process->streams[stream], chunk, sizeof chunk);
  if (n < 0 && (errno == EINTR || errno == EAGAIN))
    return FEED_MORE;
  if (n <= 0)
    {
      close_fd (&process->streams[stream]);
      return FEED_MORE;
    }
  switch (stream)
    {
    case CHANNEL:
      return feed_channel (process, chunk, (gsize) n, listener);
    case OUT:
      assay_capture_feed (process->out, chunk, (gsize) n);
      return FEED_MORE;
    case ERR:
      assay_capture_feed (process->err, chunk, (gsize) n);
      return FEED_MORE;
    default:
      take_status (process, chunk, n);
      return FEED_MORE;
    }
}

/* Reads what is still in the pipes after the end, without waiting for more. */
static Feed
drain (AssaySandboxProcess *process, const Listener *listener)
{
  Feed feed = FEED_MORE;
  for (int i = 0; i < N_STREAMS; i++)
    while (feed == FEED_MORE && process->streams[i] >= 0 && wait_readable (process->streams[i], 0))
      feed = read_stream (process, i, listener);
  return feed;
}

static gboolean
watch_limits (AssaySandboxProcess *process, AssaySandboxEndKind *kind)
{
  AssayTreeUse use = assay_tree_use (process->pid);
  process->peak_bytes = MAX (process->peak_bytes, use.resident_bytes);
  if (use.resident_bytes > process->limits.memory_bytes)
    *kind = ASSAY_END_MEMORY;
  else if (use.processes > PROCESS_LIMIT)
    *kind = ASSAY_END_PROCESSES;
  else
    return TRUE;
  return FALSE;
}

/* One turn of the loop. TRUE: go on; FALSE: the end, of `kind`. */
static gboolean
turn (AssaySandboxProcess *process, const Listener *listener, int cancel_fd, gint64 deadline,
      AssaySandboxEndKind *kind)
{
  struct pollfd fds[N_STREAMS + 2];
  gint64 left = (deadline - g_get_monotonic_time ()) / 1000;
  if (left <= 0)
    {
      *kind = ASSAY_END_TIMEOUT;
      return FALSE;
    }
  for (int i = 0; i < N_STREAMS; i++)
    fds[i] = (struct pollfd) {process->streams[i], POLLIN, 0};
  if (process->queue->len > 0)
    fds[CHANNEL].events |= POLLOUT;
  fds[N_STREAMS] = (struct pollfd) {process->pidfd, POLLIN, 0};
  fds[N_STREAMS + 1] = (struct pollfd) {cancel_fd, POLLIN, 0};
  if (poll (fds, G_N_ELEMENTS (fds), (int) MIN (left, WATCH_MILLISECONDS)) < 0)
    return errno == EINTR;
  if (fds[N_STREAMS + 1].revents)
    {
      *kind = ASSAY_END_CANCELLED;
      return FALSE;
    }
  if (fds[CHANNEL].revents & POLLOUT)
    send_queued (process);
  for (int i = 0; i < N_STREAMS; i++)
    if (process->streams[i] >= 0 && fds[i].revents & (POLLIN | POLLHUP | POLLERR))
      {
        Feed feed = read_stream (process, i, listener);
        *kind = feed == FEED_FLOOD ? ASSAY_END_FLOOD : ASSAY_END_STOPPED;
        if (feed != FEED_MORE)
          return FALSE;
      }
  if (fds[N_STREAMS].revents)
    {
      *kind = ASSAY_END_EXITED;
      return FALSE;
    }
  return TRUE;
}

static gboolean
serve (AssaySandboxProcess *process, const Listener *listener, GCancellable *cancellable,
       AssaySandboxEndKind *kind)
{
  gint64 deadline = process->started + (gint64) (process->limits.wall_seconds * G_TIME_SPAN_SECOND);
  gint64 next_watch = 0;
  int cancel_fd = cancellable ? g_cancellable_get_fd (cancellable) : -1;
  gboolean going = TRUE;
  while (going)
    {
      going = turn (process, listener, cancel_fd, deadline, kind);
      gint64 now = g_get_monotonic_time ();
      if (going && now >= next_watch)
        {
          going = watch_limits (process, kind);
          next_watch = now + WATCH_MILLISECONDS * 1000;
        }
    }
  if (cancel_fd >= 0)
    g_cancellable_release_fd (cancellable);
  return *kind == ASSAY_END_EXITED;
}

/* bwrap says a signal of its child as 128 + signal; no worker of ours exits so by itself. */
static void
set_exit (AssaySandboxProcess *process, AssaySandboxEnd *end)
{
  gboolean signalled = process->exit.si_code != CLD_EXITED;
  end->code = process->exit.si_status;
  if (!signalled && process->tier == ASSAY_TIER_BUBBLEWRAP && end->code > 128 && end->code < 193)
    {
      signalled = TRUE;
      end->code -= 128;
    }
  end->kind = signalled ? ASSAY_END_SIGNAL : ASSAY_END_EXITED;
  if (process->group && assay_group_ran_out (process->group))
    end->kind = ASSAY_END_MEMORY;
}

AssaySandboxEnd *
assay_sandbox_process_pump (AssaySandboxProcess *process, AssaySandboxLine on_line,
                            gpointer user_data, GCancellable *cancellable, GError **error)
{
  Listener listener = {on_line, user_data};
  g_autoptr (AssaySandboxEnd) end = g_new0 (AssaySandboxEnd, 1);
  gboolean by_itself = serve (process, &listener, cancellable, &end->kind);
  end->seconds = (double) (g_get_monotonic_time () - process->started) / G_TIME_SPAN_SECOND;
  if (by_itself)
    process->reaped = waitid (P_PIDFD, (id_t) process->pidfd, &process->exit, WEXITED) == 0;
  gboolean dead = bury (process);
  Feed rest = by_itself ? drain (process, &listener) : FEED_ENOUGH;
  if (by_itself)
    set_exit (process, end);
  if (by_itself && rest == FEED_FLOOD)
    end->kind = ASSAY_END_FLOOD;
  if (!by_itself)
    drain (process, &(Listener) {NULL, NULL});
  end->peak_bytes = process->peak_bytes;
  end->out = assay_capture_text (process->out);
  end->err = assay_capture_text (process->err);
  end->out_bytes = assay_capture_total (process->out);
  end->err_bytes = assay_capture_total (process->err);
  if (dead)
    return g_steal_pointer (&end);
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_LOST,
               "a worker did not die within %d s of being killed; its results are not read",
               DEATH_MILLISECONDS / 1000);
  return NULL;
}
