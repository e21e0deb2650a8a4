/* SPDX-License-Identifier: Apache-2.0 */
/* The desktop's colour scheme, as a settings portal on a real session bus tells it. */
#include "config.h"

#include "tests/ui/fixture.h"
#include "widgets/color-scheme.h"

#define APPEARANCE "org.freedesktop.appearance"
#define PATH "/org/freedesktop/portal/desktop"

static const char INTERFACE[] =
    "<node><interface name='org.freedesktop.portal.Settings'>"
    "<method name='Read'><arg type='s' direction='in'/><arg type='s' direction='in'/>"
    "<arg type='v' direction='out'/></method>"
    "<signal name='SettingChanged'><arg type='s'/><arg type='s'/><arg type='v'/></signal>"
    "</interface></node>";

typedef struct
{
  GDBusConnection *connection;
  guint32 scheme; /* 0 no preference, 1 dark, 2 light */
  guint reads;
  gboolean owned;
} Portal;

/* Read () wraps its value twice, as the portal does. */
static void
answer (GDBusConnection *connection, const char *sender, const char *path, const char *interface,
        const char *method, GVariant *parameters, GDBusMethodInvocation *invocation, gpointer data)
{
  Portal *portal = data;
  const char *name_space, *key;

  g_variant_get (parameters, "(&s&s)", &name_space, &key);
  g_assert_cmpstr (name_space, ==, APPEARANCE);
  g_assert_cmpstr (key, ==, "color-scheme");
  portal->reads++;
  g_dbus_method_invocation_return_value (
      invocation,
      g_variant_new ("(v)", g_variant_new_variant (g_variant_new_uint32 (portal->scheme))));
}

static void
name_acquired (GDBusConnection *connection, const char *name, gpointer data)
{
  ((Portal *) data)->owned = TRUE;
}

static gboolean
is_owned (gpointer data)
{
  return ((Portal *) data)->owned;
}

static gboolean
is_dark (gpointer data)
{
  return assay_color_scheme_is_dark ();
}

static gboolean
is_light (gpointer data)
{
  return !assay_color_scheme_is_dark ();
}

static void
portal_start (Portal *portal, const char *address)
{
  static const GDBusInterfaceVTable vtable = {.method_call = answer};
  g_autoptr (GDBusNodeInfo) info = g_dbus_node_info_new_for_xml (INTERFACE, NULL);
  g_autoptr (GError) error = NULL;

  portal->connection =
      g_dbus_connection_new_for_address_sync (address,
                                              G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT
                                                  | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
                                              NULL, NULL, &error);
  g_assert_no_error (error);
  g_dbus_connection_register_object (portal->connection, PATH, info->interfaces[0], &vtable, portal,
                                     NULL, &error);
  g_assert_no_error (error);
  g_bus_own_name_on_connection (portal->connection, "org.freedesktop.portal.Desktop", 0,
                                name_acquired, NULL, portal, NULL);
  assay_ui_wait (is_owned, portal, "the portal's name");
}

static void
portal_tell (Portal *portal, const char *name_space, guint32 scheme)
{
  g_autoptr (GError) error = NULL;

  portal->scheme = scheme;
  g_dbus_connection_emit_signal (
      portal->connection, NULL, PATH, "org.freedesktop.portal.Settings", "SettingChanged",
      g_variant_new ("(ssv)", name_space, "color-scheme", g_variant_new_uint32 (scheme)), &error);
  g_assert_no_error (error);
}

static void
test_portal (void)
{
  /* Its own watcher ends it with this program; the scheme listens on the bus as long. */
  static GTestDBus *bus;
  Portal portal = {.scheme = 1};

  bus = g_test_dbus_new (G_TEST_DBUS_NONE);
  g_test_dbus_up (bus);
  portal_start (&portal, g_test_dbus_get_bus_address (bus));
  g_assert_false (assay_color_scheme_is_dark ());
  assay_color_scheme_install (gdk_display_get_default ());
  assay_ui_wait (is_dark, NULL, "what the portal says at the start");
  g_assert_cmpuint (portal.reads, ==, 1);
  portal_tell (&portal, APPEARANCE, 2);
  assay_ui_wait (is_light, NULL, "the change to light");
  /* Another setting of that name is nothing to us; the next one that is arrives after it. */
  portal_tell (&portal, "org.example.other", 1);
  portal_tell (&portal, APPEARANCE, 0);
  portal_tell (&portal, APPEARANCE, 1);
  assay_ui_wait (is_dark, NULL, "the change to dark");
  /* The reader's own choice is stronger than the desktop's. */
  assay_color_scheme_set (ASSAY_COLOR_SCHEME_LIGHT);
  g_assert_false (assay_color_scheme_is_dark ());
  assay_color_scheme_set (ASSAY_COLOR_SCHEME_SYSTEM);
  g_assert_true (assay_color_scheme_is_dark ());
  g_dbus_connection_close_sync (portal.connection, NULL, NULL);
  g_object_unref (portal.connection);
}

int
main (int argc, char **argv)
{
  assay_ui_init (&argc, &argv);
  g_test_add_func ("/portal/color-scheme", test_portal);
  return g_test_run ();
}
