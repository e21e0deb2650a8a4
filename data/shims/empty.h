/* SPDX-License-Identifier: Apache-2.0 */
/* What this header declares is built into the device compiler. */
#pragma once
