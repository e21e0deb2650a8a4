/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/limit-bars.h"

#include "engine/target/limits.h"
#include "widgets/card.h"

#define NEAR 0.9 /* of a limit: worth a look */

static guint32
cut (gint64 value)
{
  return (guint32) CLAMP (value, 0, (gint64) G_MAXUINT32);
}

static void
add_row (GtkGrid *grid, int row, const char *name, gint64 asks, gint64 limit)
{
  g_autofree char *asked = g_strdup_printf ("%" G_GINT64_FORMAT, asks);
  g_autofree char *most = g_strdup_printf ("%" G_GINT64_FORMAT, limit);
  double share = limit > 0 ? (double) asks / (double) limit : 0;
  g_autofree char *words =
      g_strdup_printf ("%s: %s of %s, %.3g %%", name, asked, most, 100 * share);
  GtkWidget *bar = gtk_level_bar_new_for_interval (0, 1);

  gtk_level_bar_remove_offset_value (GTK_LEVEL_BAR (bar), GTK_LEVEL_BAR_OFFSET_LOW);
  gtk_level_bar_remove_offset_value (GTK_LEVEL_BAR (bar), GTK_LEVEL_BAR_OFFSET_HIGH);
  gtk_level_bar_remove_offset_value (GTK_LEVEL_BAR (bar), GTK_LEVEL_BAR_OFFSET_FULL);
  gtk_level_bar_set_value (GTK_LEVEL_BAR (bar), CLAMP (share, 0, 1));
  gtk_widget_add_css_class (bar, "limit");
  gtk_widget_add_css_class (bar, share > 1 ? "failed" : share >= NEAR ? "warned" : "fits");
  gtk_widget_set_hexpand (bar, TRUE);
  gtk_widget_set_valign (bar, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (bar, words);
  gtk_accessible_update_property (GTK_ACCESSIBLE (bar), GTK_ACCESSIBLE_PROPERTY_LABEL, words, -1);
  gtk_grid_attach (grid, assay_cell_new (name, "name"), 0, row, 1, 1);
  gtk_grid_attach (grid, assay_cell_new (asked, "mono"), 1, row, 1, 1);
  gtk_grid_attach (grid, bar, 2, row, 1, 1);
  gtk_grid_attach (grid, assay_cell_new (most, "mono"), 3, row, 1, 1);
}

static char *
describe (const AssayTargetLimits *limits, const AssayLaunch *launch)
{
  char problem[256] = "";
  AssayOccupancy fit;

  if (assay_launch_check (limits, launch, problem, sizeof problem) != ASSAY_LAUNCH_FITS)
    return g_strdup (problem);
  fit = assay_launch_occupancy (limits, launch);
  return g_strdup_printf ("%u %s of %u warps a multiprocessor: %u of %u warps, limited by %s",
                          fit.blocks, fit.blocks == 1 ? "block" : "blocks",
                          fit.blocks > 0 ? fit.warps / fit.blocks : 0, fit.warps,
                          limits->max_warps_per_sm, assay_occupancy_limits[fit.limited_by]);
}

gboolean
assay_limit_bars_fill (GtkGrid *grid, const char *target, const AssayLaunchAsks *asks, char **note)
{
  static const char *const axes[] = {"x", "y", "z"};
  const AssayTargetLimits *limits = target != NULL ? assay_target_limits (target) : NULL;
  gint64 threads = asks->block[0] * asks->block[1] * asks->block[2];
  AssayLaunch launch = {.dynamic_shared = cut (asks->shared),
                        .registers_per_thread = cut (asks->registers)};
  int row = 0;

  assay_clear_children (GTK_WIDGET (grid));
  *note = NULL;
  if (limits == NULL)
    return FALSE;
  launch.dynamic_shared_limit = limits->shared_per_block_optin;
  add_row (grid, row++, "threads a block", threads, limits->max_threads_per_block);
  if (asks->registers > 0)
    add_row (grid, row++, "registers a thread", asks->registers, limits->registers_per_thread);
  add_row (grid, row++, "shared memory a block, B", asks->shared, limits->shared_per_block_optin);
  for (int i = 0; i < 3; i++)
    {
      g_autofree char *blocks = g_strconcat ("grid ", axes[i], NULL);
      g_autofree char *extent = g_strconcat ("block ", axes[i], NULL);

      launch.grid[i] = cut (asks->grid[i]);
      launch.block[i] = cut (asks->block[i]);
      if (i == 0 || asks->grid[i] != 1)
        add_row (grid, row++, blocks, asks->grid[i], limits->max_grid_dim[i]);
      if (i > 0 && asks->block[i] != 1)
        add_row (grid, row++, extent, asks->block[i], limits->max_block_dim[i]);
    }
  *note = describe (limits, &launch);
  return TRUE;
}
