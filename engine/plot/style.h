/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What a colour means. Every role also differs by shape, dash or fill, so that grey print and
 * colour-blind readers lose nothing. */
typedef enum
{
  ASSAY_ROLE_CANDIDATE,
  ASSAY_ROLE_REFERENCE,
  ASSAY_ROLE_GOLD,
  ASSAY_ROLE_ACCEPTED,
  ASSAY_ROLE_REJECTED,
  ASSAY_ROLE_WRONG, /* wrong on purpose */
  ASSAY_ROLE_HONEST,
  ASSAY_ROLE_TEXT,
  ASSAY_ROLE_DIM,
  ASSAY_ROLE_BASE,
  ASSAY_ROLE_GRID,
  ASSAY_ROLE_AXIS,
  ASSAY_ROLE_ACCEPTED_GROUND,
  ASSAY_ROLE_REJECTED_GROUND,
  ASSAY_ROLE_REFERENCE_TEXT,
  ASSAY_N_ROLES,
} AssayRole;

typedef enum
{
  ASSAY_THEME_LIGHT,
  ASSAY_THEME_DARK,
  ASSAY_THEME_PRINT, /* light, for paper */
} AssayTheme;

typedef struct
{
  double red, green, blue;
} AssayColour;

typedef struct
{
  AssayTheme theme;
  const char *family;    /* Pango font family, "Sans" by default; not owned */
  double scale;          /* 1.0: labels of 12 px */
  double header_reserve; /* px kept free at the right end of the title row, for buttons over it */
  gboolean hide_title;
} AssayPlotStyle;

/* The widget's style for `theme`. */
AssayPlotStyle assay_plot_style (AssayTheme theme);

AssayColour assay_colour (AssayTheme theme, AssayRole role);
/* The sequential ramp of heat maps, position 0 … 1. */
AssayColour assay_heat_colour (AssayTheme theme, double position);

G_END_DECLS
