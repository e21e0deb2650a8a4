/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* GLib keeps its first table of quarks for readers without locks and forgets it when the table grows
 * beyond 2048 names, as GTK makes it do. Told here, LeakSanitizer lets that one block be. Called first
 * thing in main; does nothing in a plain build. */
void assay_ui_keep_glib_quarks (void);
