/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "widgets/card.h"

struct _AssayCard
{
  GtkBox parent;
  GtkWidget *header;
  GtkLabel *title, *subtitle;
};

enum
{
  PROP_0,
  PROP_TITLE,
  PROP_SUBTITLE,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];
static GtkBuildableIface *parent_buildable;

static void buildable_init (GtkBuildableIface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (AssayCard, assay_card, GTK_TYPE_BOX,
                               G_IMPLEMENT_INTERFACE (GTK_TYPE_BUILDABLE, buildable_init))

void
assay_card_set_subtitle (AssayCard *self, const char *subtitle)
{
  g_return_if_fail (ASSAY_IS_CARD (self));
  gtk_label_set_text (self->subtitle, subtitle != NULL ? subtitle : "");
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->subtitle), subtitle);
}

void
assay_clear_children (GtkWidget *parent)
{
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (parent)) != NULL)
    if (GTK_IS_BOX (parent))
      gtk_box_remove (GTK_BOX (parent), child);
    else if (GTK_IS_GRID (parent))
      gtk_grid_remove (GTK_GRID (parent), child);
    else if (GTK_IS_FLOW_BOX (parent))
      gtk_flow_box_remove (GTK_FLOW_BOX (parent), child);
    else
      gtk_widget_unparent (child);
}

GtkWidget *
assay_cell_new (const char *text, const char *css)
{
  GtkWidget *label = gtk_label_new (text != NULL ? text : "");

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_widget_set_tooltip_text (label, text);
  if (css != NULL)
    gtk_widget_add_css_class (label, css);
  return label;
}

GtkWidget *
assay_words_new (const char *text, const char *css)
{
  GtkWidget *label = gtk_label_new (text != NULL ? text : "");

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_yalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  if (css != NULL)
    gtk_widget_add_css_class (label, css);
  return label;
}

static void
add_child (GtkBuildable *buildable, GtkBuilder *builder, GObject *child, const char *type)
{
  AssayCard *self = ASSAY_CARD (buildable);

  if (GTK_IS_WIDGET (child) && g_strcmp0 (type, "header") == 0)
    gtk_box_append (GTK_BOX (self->header), GTK_WIDGET (child));
  else
    parent_buildable->add_child (buildable, builder, child, type);
}

static void
buildable_init (GtkBuildableIface *iface)
{
  parent_buildable = g_type_interface_peek_parent (iface);
  iface->add_child = add_child;
}

static void
assay_card_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  AssayCard *self = ASSAY_CARD (object);

  if (id == PROP_TITLE)
    gtk_label_set_text (self->title, g_value_get_string (value));
  else if (id == PROP_SUBTITLE)
    assay_card_set_subtitle (self, g_value_get_string (value));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
assay_card_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  AssayCard *self = ASSAY_CARD (object);

  if (id == PROP_TITLE)
    g_value_set_string (value, gtk_label_get_text (self->title));
  else if (id == PROP_SUBTITLE)
    g_value_set_string (value, gtk_label_get_text (self->subtitle));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
assay_card_class_init (AssayCardClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  object_class->set_property = assay_card_set_property;
  object_class->get_property = assay_card_get_property;
  properties[PROP_TITLE] =
      g_param_spec_string ("title", NULL, NULL, "", G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
  properties[PROP_SUBTITLE] =
      g_param_spec_string ("subtitle", NULL, NULL, "", G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
assay_card_init (AssayCard *self)
{
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_widget_add_css_class (GTK_WIDGET (self), "card");
  self->header = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);
  gtk_widget_add_css_class (self->header, "card-header");
  self->title = GTK_LABEL (gtk_label_new (NULL));
  gtk_widget_add_css_class (GTK_WIDGET (self->title), "card-title");
  self->subtitle = GTK_LABEL (gtk_label_new (NULL));
  gtk_label_set_xalign (self->subtitle, 0);
  gtk_label_set_ellipsize (self->subtitle, PANGO_ELLIPSIZE_END);
  gtk_widget_set_hexpand (GTK_WIDGET (self->subtitle), TRUE);
  gtk_widget_add_css_class (GTK_WIDGET (self->subtitle), "dim");
  gtk_widget_add_css_class (GTK_WIDGET (self->subtitle), "small");
  gtk_box_append (GTK_BOX (self->header), GTK_WIDGET (self->title));
  gtk_box_append (GTK_BOX (self->header), GTK_WIDGET (self->subtitle));
  gtk_box_append (GTK_BOX (self), self->header);
}
