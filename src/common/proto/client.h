/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* client.h - messages between clients (lttctl, libltt-ctl) and the session daemon: structs,
 * encoders and decoders of client.def. */
#ifndef PROTO_CLIENT_H
#define PROTO_CLIENT_H

#include "gen/proto_client.h"
#include "ltt_kmod.h" /* the device of kernel_open */

#endif
