/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "widgets/color-scheme.h"

#define PORTAL "org.freedesktop.portal.Desktop"
#define PORTAL_PATH "/org/freedesktop/portal/desktop"
#define PORTAL_SETTINGS "org.freedesktop.portal.Settings"
#define APPEARANCE "org.freedesktop.appearance"

/* The palette of a display is process-wide state by nature. */
static struct
{
  GdkDisplay *display;
  GtkCssProvider *style, *palette;
  GDBusProxy *portal;
  AssayColorScheme chosen;
  gboolean system_dark;
} state;

/* The toolkit's widgets are dark whatever we prefer where the theme itself is: GTK_THEME=Adwaita:dark,
 * or a theme named Adwaita-dark. Ours must then be dark too, or nobody can read them. */
gboolean
assay_color_scheme_is_dark (void)
{
  const char *forced = g_getenv ("GTK_THEME");
  g_autofree char *theme = NULL;
  gboolean dark = FALSE;

  if (forced != NULL && *forced != '\0')
    return g_str_has_suffix (forced, "dark");
  g_object_get (gtk_settings_get_default (), "gtk-application-prefer-dark-theme", &dark,
                "gtk-theme-name", &theme, NULL);
  return dark || (theme != NULL && g_str_has_suffix (theme, "-dark"));
}

AssayColorScheme
assay_color_scheme_get (void)
{
  return state.chosen;
}

static void
load_palette (void)
{
  gtk_css_provider_load_from_resource (
      state.palette, assay_color_scheme_is_dark () ? "/org/assay/Assay/css/palette-dark.css"
                                                   : "/org/assay/Assay/css/palette-light.css");
}

static void
apply (void)
{
  gboolean dark = state.chosen == ASSAY_COLOR_SCHEME_DARK
                  || (state.chosen == ASSAY_COLOR_SCHEME_SYSTEM && state.system_dark);
  gboolean preferred = FALSE;

  g_object_get (gtk_settings_get_default (), "gtk-application-prefer-dark-theme", &preferred, NULL);
  if (preferred != dark)
    g_object_set (gtk_settings_get_default (), "gtk-application-prefer-dark-theme", dark, NULL);
}

void
assay_color_scheme_set (AssayColorScheme scheme)
{
  state.chosen = scheme;
  apply ();
}

/* Values of the portal: 0 no preference, 1 dark, 2 light. */
static void
take_portal_value (GVariant *value)
{
  g_autoptr (GVariant) inner = g_variant_ref (value);

  while (g_variant_is_of_type (inner, G_VARIANT_TYPE_VARIANT))
    {
      GVariant *next = g_variant_get_variant (inner);

      g_variant_unref (inner);
      inner = next;
    }
  if (!g_variant_is_of_type (inner, G_VARIANT_TYPE_UINT32))
    return;
  state.system_dark = g_variant_get_uint32 (inner) == 1;
  apply ();
}

static void
portal_signal (GDBusProxy *proxy, const char *sender, const char *signal, GVariant *parameters,
               gpointer data)
{
  const char *name_space, *key;
  g_autoptr (GVariant) value = NULL;

  if (g_strcmp0 (signal, "SettingChanged") != 0
      || !g_variant_is_of_type (parameters, G_VARIANT_TYPE ("(ssv)")))
    return;
  g_variant_get (parameters, "(&s&sv)", &name_space, &key, &value);
  if (g_strcmp0 (name_space, APPEARANCE) == 0 && g_strcmp0 (key, "color-scheme") == 0)
    take_portal_value (value);
}

static void
portal_read (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply = g_dbus_proxy_call_finish (G_DBUS_PROXY (source), result, &error);
  g_autoptr (GVariant) value = NULL;

  if (reply == NULL)
    {
      g_debug ("no colour scheme from the portal: %s", error->message);
      return;
    }
  value = g_variant_get_child_value (reply, 0);
  take_portal_value (value);
}

static void
portal_ready (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;

  state.portal = g_dbus_proxy_new_for_bus_finish (result, &error);
  if (state.portal == NULL)
    {
      g_debug ("no desktop portal: %s", error->message);
      return;
    }
  g_signal_connect (state.portal, "g-signal", G_CALLBACK (portal_signal), NULL);
  g_dbus_proxy_call (state.portal, "Read", g_variant_new ("(ss)", APPEARANCE, "color-scheme"),
                     G_DBUS_CALL_FLAGS_NO_AUTO_START, 2000, NULL, portal_read, NULL);
}

void
assay_color_scheme_install (GdkDisplay *display)
{
  if (state.display == display)
    return;
  state.display = display;
  state.style = gtk_css_provider_new ();
  state.palette = gtk_css_provider_new ();
  load_palette ();
  gtk_css_provider_load_from_resource (state.style, "/org/assay/Assay/css/style.css");
  gtk_style_context_add_provider_for_display (display, GTK_STYLE_PROVIDER (state.palette),
                                              GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
  gtk_style_context_add_provider_for_display (display, GTK_STYLE_PROVIDER (state.style),
                                              GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
  gtk_icon_theme_add_resource_path (gtk_icon_theme_get_for_display (display),
                                    "/org/assay/Assay/icons");
  g_signal_connect (gtk_settings_get_for_display (display),
                    "notify::gtk-application-prefer-dark-theme", G_CALLBACK (load_palette), NULL);
  g_signal_connect (gtk_settings_get_for_display (display), "notify::gtk-theme-name",
                    G_CALLBACK (load_palette), NULL);
  if (g_getenv ("DBUS_SESSION_BUS_ADDRESS") != NULL || g_getenv ("XDG_RUNTIME_DIR") != NULL)
    g_dbus_proxy_new_for_bus (G_BUS_TYPE_SESSION,
                              G_DBUS_PROXY_FLAGS_DO_NOT_LOAD_PROPERTIES
                                  | G_DBUS_PROXY_FLAGS_DO_NOT_AUTO_START,
                              NULL, PORTAL, PORTAL_PATH, PORTAL_SETTINGS, NULL, portal_ready, NULL);
}
