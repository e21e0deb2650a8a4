/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The command `serve`: listens on a private Unix socket until the program that started it closes
 * stdin, whose first line is the token. docs/protocol.md tells the protocol. */
int assay_command_serve (int argc, char **argv);

G_END_DECLS
