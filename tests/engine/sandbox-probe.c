/* SPDX-License-Identifier: Apache-2.0 */
/* Does one hostile or revealing thing inside a sandbox; sandbox-test.c looks at what becomes of it. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static void
print_status_line (const char *key)
{
  char line[256];
  FILE *status = fopen ("/proc/self/status", "r");
  while (status && fgets (line, sizeof line, status))
    if (strncmp (line, key, strlen (key)) == 0)
      fputs (line, stdout);
  if (status)
    fclose (status);
}

static void
print_open_descriptors (void)
{
  for (int fd = 3; fd < 1024; fd++)
    if (fcntl (fd, F_GETFD) >= 0)
      printf ("fd %d\n", fd);
}

static int
facts (void)
{
  struct stat status;
  print_status_line ("Seccomp:");
  print_status_line ("NoNewPrivs:");
  print_status_line ("CapEff:");
  printf ("ptrace %s\n", ptrace (PTRACE_TRACEME, 0, 0, 0) == 0 ? "allowed" : strerror (errno));
  printf ("inet %s\n", socket (AF_INET, SOCK_STREAM, 0) >= 0 ? "allowed" : strerror (errno));
  printf ("unix %s\n", socket (AF_UNIX, SOCK_STREAM, 0) >= 0 ? "allowed" : strerror (errno));
  printf ("home %s\n", stat ("/home", &status) == 0 ? "visible" : "absent");
  printf ("root %s\n", stat ("/root", &status) == 0 ? "visible" : "absent");
  printf ("passwd %s\n", stat ("/etc/passwd", &status) == 0 ? "visible" : "absent");
  printf ("usr %s\n",
          open ("/usr/x", O_CREAT | O_WRONLY, 0600) >= 0 ? "written" : strerror (errno));
  printf ("scratch %s\n",
          open ("/scratch/x", O_CREAT | O_WRONLY, 0600) >= 0 ? "written" : strerror (errno));
  printf ("uid %d\n", getuid ());
  print_open_descriptors ();
  return 7;
}

/* Ten descendants that leave the session, lose their parent and ignore what can be ignored. */
static int
fork_away (void)
{
  signal (SIGCHLD, SIG_IGN);
  for (int i = 0; i < 10; i++)
    if (fork () == 0)
      {
        setsid ();
        signal (SIGTERM, SIG_IGN);
        signal (SIGHUP, SIG_IGN);
        if (fork () != 0)
          _exit (0);
        for (;;)
          pause ();
      }
  if (write (3, "forked\n", 7) != 7)
    return 1;
  while (pause () < 0)
    continue;
  return 0;
}

static int
eat_memory (void)
{
  for (size_t i = 0; i < 4096; i++)
    {
      char *block = mmap (NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
      if (block == MAP_FAILED)
        return 3;
      memset (block, 1, 1 << 20);
      usleep (300);
    }
  return 0;
}

static int
flood_log (void)
{
  char block[65536];
  memset (block, 'x', sizeof block);
  for (int i = 0; i < 1600; i++)
    if (fwrite (block, 1, sizeof block, stdout) != sizeof block)
      return 1;
  fputs ("the end\n", stdout);
  return 0;
}

static int
flood_channel (void)
{
  char block[65536];
  memset (block, 'y', sizeof block);
  for (;;)
    if (write (3, block, sizeof block) < 0)
      return 1;
}

static int
raise_signal (void)
{
  abort ();
}

/* Tries to shrink, then to keep writing into, the array it was given as descriptor 4. */
static int
resize_array (void)
{
  printf ("shrink %s\n", ftruncate (4, 0) == 0 ? "done" : strerror (errno));
  printf ("grow %s\n", ftruncate (4, 1 << 20) == 0 ? "done" : strerror (errno));
  char *data = mmap (NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 4, 0);
  if (data == MAP_FAILED)
    return 1;
  strcpy (data, "written by the worker");
  if (fork () == 0)
    for (;;)
      data[100]++;
  return 0;
}

static int
write_input (void)
{
  printf ("write %s\n", pwrite (4, "x", 1, 0) == 1 ? "done" : strerror (errno));
  printf ("map %s\n",
          mmap (NULL, 1, PROT_WRITE, MAP_SHARED, 4, 0) != MAP_FAILED ? "done" : strerror (errno));
  int again = open ("/proc/self/fd/4", O_RDWR);
  printf ("reopen %s\n", again >= 0 && pwrite (again, "x", 1, 0) == 1 ? "done" : strerror (errno));
  return 0;
}

static int
sleep_long (void)
{
  while (pause () < 0)
    continue;
  return 0;
}

static const struct
{
  const char *name;
  int (*run) (void);
} MODES[] = {
    {"facts", facts},         {"fork-away", fork_away},         {"eat-memory", eat_memory},
    {"flood-log", flood_log}, {"flood-channel", flood_channel}, {"abort", raise_signal},
    {"resize", resize_array}, {"write-input", write_input},     {"sleep", sleep_long},
};

int
main (int argc, char **argv)
{
  setvbuf (stdout, NULL, _IOFBF, 65536);
  for (size_t i = 0; argc > 1 && i < sizeof MODES / sizeof *MODES; i++)
    if (strcmp (argv[1], MODES[i].name) == 0)
      {
        int rc = MODES[i].run ();
        fflush (stdout);
        return rc;
      }
  return 99;
}
