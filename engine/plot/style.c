/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plot/style.h"

#include <math.h>

/* Blue, orange, purple and vermilion stand near the Okabe–Ito set, darkened or lightened until each
 * mark has 3:1 and each text 4.5:1 against its ground (WCAG 2 relative luminance). */
static const struct
{
  guint32 light, dark;
} COLOURS[ASSAY_N_ROLES] = {
    [ASSAY_ROLE_CANDIDATE] = {0x0072b2, 0x56b1f0},
    [ASSAY_ROLE_REFERENCE] = {0xcf8400, 0xf0b030},
    [ASSAY_ROLE_GOLD] = {0x85898b, 0x9ba0a2},
    [ASSAY_ROLE_ACCEPTED] = {0x00795a, 0x40c79b},
    [ASSAY_ROLE_REJECTED] = {0xb54600, 0xff8a57},
    [ASSAY_ROLE_WRONG] = {0x97397a, 0xe58fc6},
    [ASSAY_ROLE_HONEST] = {0x4a8fb5, 0x8fc1de},
    [ASSAY_ROLE_TEXT] = {0x2e3436, 0xeeeeec},
    [ASSAY_ROLE_DIM] = {0x5e6365, 0xb5b6b3},
    [ASSAY_ROLE_BASE] = {0xffffff, 0x2d2d2d},
    [ASSAY_ROLE_GRID] = {0xebe8e5, 0x3b3b3b},
    [ASSAY_ROLE_AXIS] = {0x8b8f91, 0x8d8e8c},
    [ASSAY_ROLE_ACCEPTED_GROUND] = {0xe3f2ec, 0x26382f},
    [ASSAY_ROLE_REJECTED_GROUND] = {0xfbeae0, 0x45302a},
    [ASSAY_ROLE_REFERENCE_TEXT] = {0x8f5f00, 0xf0b030},
};

static const guint32 HEAT_LIGHT[] = {0xf4f7fa, 0xbcd8ea, 0x6fadd4, 0x1f77b0, 0x06345a};
static const guint32 HEAT_DARK[] = {0x24282c, 0x1f4564, 0x2b77aa, 0x5fb4ee, 0xe6f4ff};

static AssayColour
unpack (guint32 value)
{
  return (AssayColour) {((value >> 16) & 255) / 255.0, ((value >> 8) & 255) / 255.0,
                        (value & 255) / 255.0};
}

AssayPlotStyle
assay_plot_style (AssayTheme theme)
{
  return (AssayPlotStyle) {theme, "Sans", 1.0, 0.0, FALSE};
}

AssayColour
assay_colour (AssayTheme theme, AssayRole role)
{
  return unpack (theme == ASSAY_THEME_DARK ? COLOURS[role].dark : COLOURS[role].light);
}

AssayColour
assay_heat_colour (AssayTheme theme, double position)
{
  const guint32 *ramp = theme == ASSAY_THEME_DARK ? HEAT_DARK : HEAT_LIGHT;
  double at = CLAMP (position, 0.0, 1.0) * (G_N_ELEMENTS (HEAT_LIGHT) - 1);
  int below = MIN ((int) at, (int) G_N_ELEMENTS (HEAT_LIGHT) - 2);
  double t = at - below;
  AssayColour a = unpack (ramp[below]), b = unpack (ramp[below + 1]);
  return (AssayColour) {a.red + t * (b.red - a.red), a.green + t * (b.green - a.green),
                        a.blue + t * (b.blue - a.blue)};
}
