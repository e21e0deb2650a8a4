/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/service/service-private.h"

#include "engine/base/error.h"
#include "engine/base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct
{
  const char *code;
  guint status;
} PROBLEMS[] = {
    [ASSAY_ERROR_FAILED] = {"failed", 500},           [ASSAY_ERROR_INVALID] = {"invalid", 400},
    [ASSAY_ERROR_UNSUPPORTED] = {"unsupported", 422}, [ASSAY_ERROR_LIMIT] = {"limit", 413},
    [ASSAY_ERROR_NOT_FOUND] = {"not_found", 404},     [ASSAY_ERROR_DENIED] = {"denied", 403},
    [ASSAY_ERROR_CANCELLED] = {"cancelled", 409},     [ASSAY_ERROR_LOST] = {"lost", 500},
};

void
assay_respond_json (SoupServerMessage *message, guint status, JsonObject *object)
{
  g_autoptr (JsonNode) node = json_node_new (JSON_NODE_OBJECT);
  json_node_take_object (node, object);
  char *text = assay_json_write (node);
  soup_server_message_set_status (message, status, NULL);
  soup_server_message_set_response (message, "application/json", SOUP_MEMORY_TAKE, text,
                                    strlen (text));
}

void
assay_respond_problem (SoupServerMessage *message, guint status, const char *code, const char *text,
                       const char *hint)
{
  JsonObject *object = json_object_new ();
  json_object_set_string_member (object, "code", code);
  json_object_set_string_member (object, "message", text);
  if (hint)
    json_object_set_string_member (object, "hint", hint);
  else
    json_object_set_null_member (object, "hint");
  json_object_set_null_member (object, "details");
  assay_respond_json (message, status, object);
}

void
assay_respond_error (SoupServerMessage *message, const GError *error)
{
  gboolean ours = error->domain == ASSAY_ERROR && error->code >= 0
                  && error->code < (int) G_N_ELEMENTS (PROBLEMS);
  int index = ours ? error->code : ASSAY_ERROR_FAILED;
  assay_respond_problem (message, PROBLEMS[index].status, PROBLEMS[index].code, error->message,
                         NULL);
}

/* ---- files ---- */

static const struct
{
  const char *ending, *type;
} TYPES[] = {
    {".json", "application/json"}, {".log", "text/plain; charset=utf-8"}, {".ptx", "text/plain"},
    {".c", "text/plain"},          {".npy", "application/octet-stream"},
};

static const char *
content_type (const char *path)
{
  for (gsize i = 0; i < G_N_ELEMENTS (TYPES); i++)
    if (g_str_has_suffix (path, TYPES[i].ending))
      return TYPES[i].type;
  return "application/octet-stream";
}

/* No links, nothing above the folder, no waiting for a pipe. -1 with errno. */
static int
open_beneath (const char *folder, const char *path)
{
  int base = open (folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  struct open_how how = {
      .flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC,
      .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
  };
  int fd = base < 0 ? -1 : (int) syscall (SYS_openat2, base, path, &how, sizeof how);
  int failure = errno;
  if (base >= 0)
    close (base);
  errno = failure;
  return fd;
}

void
assay_send_file (SoupServerMessage *message, const char *folder, const char *path)
{
  struct stat status;
  g_autoptr (GError) error = NULL;
  int fd = open_beneath (folder, path);
  if (fd < 0 || fstat (fd, &status) != 0 || !S_ISREG (status.st_mode))
    {
      if (fd >= 0)
        close (fd);
      assay_respond_problem (message, 404, "not_found", "the run folder has no such file", NULL);
      return;
    }
  GMappedFile *file = g_mapped_file_new_from_fd (fd, FALSE, &error);
  close (fd);
  if (!file)
    {
      assay_respond_error (message, error);
      return;
    }
  g_autoptr (GBytes) bytes = g_mapped_file_get_bytes (file);
  g_mapped_file_unref (file);
  SoupMessageHeaders *headers = soup_server_message_get_response_headers (message);
  soup_server_message_set_status (message, 200, NULL);
  soup_message_headers_set_content_type (headers, content_type (path), NULL);
  soup_message_body_append_bytes (soup_server_message_get_response_body (message), bytes);
}
