/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

/* Simulated times around 1, with noise of 0.5 %. */

typedef enum
{
  SERIES_NORMAL,
  SERIES_OUTLIERS, /* 3 % of them longer by an exponential share of mean 0.3 */
  SERIES_CHAIN,    /* autoregressive, 0.9, over the whole series */
  SERIES_BIMODAL,  /* half of them 3 % longer */
  SERIES_OFFSET,   /* the whole series off by a factor exp (N (0, 1 %)) */
} SeriesKind;

/* splitmix64, its upper 53 bits; then the cosine half of Box and Muller. */
double series_uniform (guint64 *state);
double series_normal (guint64 *state);
void series_fill (guint64 *state, SeriesKind kind, double *times, gsize count);
