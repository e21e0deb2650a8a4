/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gio/gio.h>
#include <json-glib/json-glib.h>

G_BEGIN_DECLS

#define ASSAY_TYPE_DEVICE_ITEM (assay_device_item_get_type ())
G_DECLARE_FINAL_TYPE (AssayDeviceItem, assay_device_item, ASSAY, DEVICE_ITEM, GObject)

/* A device as the engine lists it (GET /v1/devices). */
AssayDeviceItem *assay_device_item_new_from_json (JsonObject *object);
const char *assay_device_item_get_id (AssayDeviceItem *self);
const char *assay_device_item_get_name (AssayDeviceItem *self);
const char *assay_device_item_get_target (AssayDeviceItem *self);
gboolean assay_device_item_get_available (AssayDeviceItem *self);
/* Why it cannot be used; NULL where it can. */
const char *assay_device_item_get_reason (AssayDeviceItem *self);

G_END_DECLS
