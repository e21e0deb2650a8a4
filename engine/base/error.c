/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/error.h"

G_DEFINE_QUARK (assay - error - quark, assay_error)
