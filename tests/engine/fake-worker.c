/* SPDX-License-Identifier: Apache-2.0 */
/* A worker that breaks its contract in the way its argument names; contract-test.c is the engine. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char nonce[64];

static void
say (const char *text)
{
  if (write (3, text, strlen (text)) < 0)
    exit (90);
}

static void
reply (const char *fields)
{
  char line[4096];
  snprintf (line, sizeof line, "{\"nonce\":\"%s\",%s}\n", nonce, fields);
  say (line);
}

/* The request's nonce, without a JSON reader: a fake knows what it looks for. */
static void
read_request (void)
{
  static char request[1 << 20];
  size_t length = 0;
  while (length < sizeof request - 1 && read (3, request + length, 1) == 1
         && request[length] != '\n')
    length++;
  const char *at = strstr (request, "\"nonce\":\"");
  if (at)
    sscanf (at + 9, "%63[^\"]", nonce);
}

static void
flood (void)
{
  for (;;)
    reply ("\"reply\":\"caveat\",\"text\":\"more and more\"");
}

static void
long_line (void)
{
  char block[65536];
  memset (block, ' ', sizeof block);
  for (;;)
    if (write (3, block, sizeof block) < 0)
      exit (91);
}

static void
deep (void)
{
  for (int i = 0; i < 100000; i++)
    say ("[");
  say ("\n");
}

static void
well_behaved (void)
{
  reply ("\"reply\":\"phase\",\"phase\":\"open\"");
  reply ("\"reply\":\"phase\",\"phase\":\"launch\"");
  reply ("\"reply\":\"launch\",\"kernel\":\"k\",\"registers\":12");
  reply ("\"reply\":\"finding\",\"record\":{\"type\":\"x\"}");
  reply ("\"reply\":\"caveat\",\"text\":\"mind the gap\\u0007\"");
  reply ("\"reply\":\"done\",\"answer\":42");
  reply ("\"reply\":\"done\",\"answer\":43");
}

int
main (int argc, char **argv)
{
  const char *mode = argc > 1 ? argv[1] : "";
  static const struct
  {
    const char *mode, *fields;
  } wrong[] = {
      {"unknown-reply", "\"reply\":\"surprise\""},
      {"no-reply", "\"text\":1"},
      {"unknown-phase", "\"reply\":\"phase\",\"phase\":\"lunch\""},
      {"error-without-fields", "\"reply\":\"error\",\"error\":{\"kind\":1}"},
      {"finding-without-record", "\"reply\":\"finding\",\"record\":7"},
  };
  read_request ();
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    if (strcmp (mode, wrong[i].mode) == 0)
      reply (wrong[i].fields);
  if (strcmp (mode, "garbage") == 0)
    say ("this is no JSON\n");
  if (strcmp (mode, "number") == 0)
    say ("17\n");
  if (strcmp (mode, "deep") == 0)
    deep ();
  if (strcmp (mode, "wrong-nonce") == 0)
    say ("{\"nonce\":\"guessed\",\"reply\":\"done\"}\n");
  if (strcmp (mode, "phase-backwards") == 0)
    {
      reply ("\"reply\":\"phase\",\"phase\":\"launch\"");
      reply ("\"reply\":\"phase\",\"phase\":\"open\"");
    }
  if (strcmp (mode, "exit") == 0)
    {
      reply ("\"reply\":\"phase\",\"phase\":\"load\"");
      return 5;
    }
  if (strcmp (mode, "crash") == 0)
    raise (SIGSEGV);
  if (strcmp (mode, "flood") == 0)
    flood ();
  if (strcmp (mode, "long-line") == 0)
    long_line ();
  if (strcmp (mode, "well-behaved") == 0)
    well_behaved ();
  if (strcmp (mode, "error") == 0)
    reply ("\"reply\":\"error\",\"error\":{\"kind\":\"driver\",\"code\":700,\"name\":\"CUDA_ERROR_"
           "ILLEGAL_ADDRESS\",\"message\":\"an illegal memory access was encountered\"}");
  for (;;)
    pause ();
}
