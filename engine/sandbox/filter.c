/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sandbox/filter.h"

#include "engine/base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct
{
  const char *call;
  int error;
} Refusal;

/* ENOSYS where libc has a second way, EPERM where there is none. */
static const Refusal REFUSALS[] = {
    {"ptrace", EPERM},
    {"process_vm_readv", EPERM},
    {"process_vm_writev", EPERM},
    {"process_madvise", EPERM},
    {"kcmp", EPERM},
    {"pidfd_getfd", EPERM},
    {"mount", EPERM},
    {"umount2", EPERM},
    {"move_mount", EPERM},
    {"fsopen", EPERM},
    {"fsmount", EPERM},
    {"fsconfig", EPERM},
    {"fspick", EPERM},
    {"open_tree", EPERM},
    {"mount_setattr", EPERM},
    {"pivot_root", EPERM},
    {"chroot", EPERM},
    {"setns", EPERM},
    {"unshare", EPERM},
    {"keyctl", EPERM},
    {"add_key", EPERM},
    {"request_key", EPERM},
    {"bpf", EPERM},
    {"perf_event_open", EPERM},
    {"userfaultfd", EPERM},
    {"kexec_load", EPERM},
    {"kexec_file_load", EPERM},
    {"init_module", EPERM},
    {"finit_module", EPERM},
    {"delete_module", EPERM},
    {"reboot", EPERM},
    {"swapon", EPERM},
    {"swapoff", EPERM},
    {"acct", EPERM},
    {"quotactl", EPERM},
    {"iopl", EPERM},
    {"ioperm", EPERM},
    {"clock_settime", EPERM},
    {"settimeofday", EPERM},
    {"open_by_handle_at", EPERM},
    {"clone3", ENOSYS},
    {"io_uring_setup", ENOSYS},
    {"io_uring_enter", ENOSYS},
    {"io_uring_register", ENOSYS},
};

static const guint64 NAMESPACES[] = {
    CLONE_NEWNS,  CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET,
    CLONE_NEWIPC, CLONE_NEWUTS,  CLONE_NEWCGROUP,
};

/* An architecture of libseccomp may lack a call; that one cannot be made there either. */
static int
refuse (scmp_filter_ctx context, const char *call, int error, guint count,
        const struct scmp_arg_cmp *match)
{
  int number = seccomp_syscall_resolve_name (call);
  if (number == __NR_SCMP_ERROR)
    return 0;
  int rc = seccomp_rule_add_array (context, SCMP_ACT_ERRNO (error), number, count, match);
  return rc == -EDOM ? 0 : rc;
}

static int
add_rules (scmp_filter_ctx context)
{
  int rc = 0;
  for (gsize i = 0; i < G_N_ELEMENTS (REFUSALS) && rc == 0; i++)
    rc = refuse (context, REFUSALS[i].call, REFUSALS[i].error, 0, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (NAMESPACES) && rc == 0; i++)
    {
      struct scmp_arg_cmp flag = SCMP_A0 (SCMP_CMP_MASKED_EQ, NAMESPACES[i], NAMESPACES[i]);
      rc = refuse (context, "clone", EPERM, 1, &flag);
    }
  /* The kernel looks at the low 32 bits of an ioctl's number only. */
  static const guint64 terminal[] = {TIOCSTI, 0x541c /* TIOCLINUX */};
  for (gsize i = 0; i < G_N_ELEMENTS (terminal) && rc == 0; i++)
    {
      struct scmp_arg_cmp number = SCMP_A1 (SCMP_CMP_MASKED_EQ, 0xffffffffu, terminal[i]);
      rc = refuse (context, "ioctl", EPERM, 1, &number);
    }
  if (rc == 0)
    {
      struct scmp_arg_cmp family = SCMP_A0 (SCMP_CMP_NE, AF_UNIX);
      rc = refuse (context, "socket", EAFNOSUPPORT, 1, &family);
    }
  return rc;
}

int
assay_filter_open (GError **error)
{
  int fd = memfd_create ("assay-filter", MFD_CLOEXEC);
  scmp_filter_ctx context = seccomp_init (SCMP_ACT_ALLOW);
  int rc = fd < 0 ? -errno : context == NULL ? -ENOMEM : add_rules (context);
  if (rc == 0)
    rc = seccomp_export_bpf (context, fd);
  if (context)
    seccomp_release (context);
  if (rc == 0 && lseek (fd, 0, SEEK_SET) == 0)
    return fd;
  if (fd >= 0)
    close (fd);
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_FAILED,
               "the sandbox's system call filter cannot be built: %s", g_strerror (-rc));
  return -1;
}
