/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/record/run.h"

/* A run made by arithmetic alone: 96 rows of 4096, candidate and reference errors from a fixed
 * generator, probes on both sides of the gate. */
AssayRun *plot_fixture_run (void);
