/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/device-item.h"

#include "engine/base/json.h"

struct _AssayDeviceItem
{
  GObject parent;
  char *id, *name, *target, *reason;
  gboolean available;
};

G_DEFINE_FINAL_TYPE (AssayDeviceItem, assay_device_item, G_TYPE_OBJECT)

AssayDeviceItem *
assay_device_item_new_from_json (JsonObject *object)
{
  AssayDeviceItem *self = g_object_new (ASSAY_TYPE_DEVICE_ITEM, NULL);

  self->id = g_strdup (assay_json_string (object, "id"));
  self->name = g_strdup (assay_json_string (object, "name"));
  self->target = g_strdup (assay_json_string (object, "target"));
  self->reason = g_strdup (assay_json_string (object, "reason"));
  self->available = assay_json_bool (object, "available", FALSE);
  if (self->name == NULL)
    self->name = g_strdup (self->id);
  return self;
}

const char *
assay_device_item_get_id (AssayDeviceItem *self)
{
  return self->id;
}

const char *
assay_device_item_get_name (AssayDeviceItem *self)
{
  return self->name;
}

const char *
assay_device_item_get_target (AssayDeviceItem *self)
{
  return self->target;
}

gboolean
assay_device_item_get_available (AssayDeviceItem *self)
{
  return self->available;
}

const char *
assay_device_item_get_reason (AssayDeviceItem *self)
{
  return self->reason;
}

static void
assay_device_item_finalize (GObject *object)
{
  AssayDeviceItem *self = ASSAY_DEVICE_ITEM (object);

  g_free (self->id);
  g_free (self->name);
  g_free (self->target);
  g_free (self->reason);
  G_OBJECT_CLASS (assay_device_item_parent_class)->finalize (object);
}

static void
assay_device_item_class_init (AssayDeviceItemClass *class)
{
  G_OBJECT_CLASS (class)->finalize = assay_device_item_finalize;
}

static void
assay_device_item_init (AssayDeviceItem *self)
{
}
