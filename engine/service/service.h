/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/run/job.h"

#include <libsoup/soup.h>

G_BEGIN_DECLS

/* The HTTP front: routes over jobs and the index of runs. Lives in one main context. */
#define ASSAY_TYPE_SERVICE (assay_service_get_type ())
G_DECLARE_FINAL_TYPE (AssayService, assay_service, ASSAY, SERVICE, GObject)

/* `token`: what every request must carry. NULL with an error when the workspace cannot be used. */
AssayService *assay_service_new (const char *workspace, const char *token, GError **error);

/* Listens on a socket that only this user can reach. A file that is left from an engine which died is
 * replaced; one that answers is an error. */
gboolean assay_service_listen (AssayService *service, const char *socket_path, GError **error);

/* Cancels every job and waits until no worker lives. */
void assay_service_stop (AssayService *service);

/* Bounds, so that a test can meet them. */
#define ASSAY_SERVICE_MAX_BODY 65536
#define ASSAY_SERVICE_MAX_STREAMS 64
#define ASSAY_SERVICE_KEPT_JOBS 64

/* Method and pattern of every route, "*" for one path element and "**" for the rest; ends with a NULL
 * method. For tests. */
typedef struct
{
  const char *method, *pattern;
} AssayRoutePattern;
const AssayRoutePattern *assay_service_routes (void);

G_END_DECLS
