/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* relay.h - structs, encoders and decoders of relay.def. */
#ifndef PROTO_RELAY_H
#define PROTO_RELAY_H

#include "gen/proto_relay.h"

#define RELAY_PORT 5342u /* LTTng's control port; one connection carries control and data */
#define RELAY_ID_BYTES 16u
#define RELAY_PROTOCOL 1u /* version of the table: a sender refuses a relay with an earlier one */

/* A relay's addresses, separated by commas. */
#define RELAY_ADDRS_MAX 8u
#define RELAY_ADDRS_BYTES (RELAY_ADDRS_MAX * 64u)
#define RELAY_ADDRS_UNKNOWN "-" /* its name can't be resolved now */

/* Largest packet that may be sent in parts. */
#define RELAY_PARTS_MAX (16u << 20)
#define RELAY_DURABLE_MAX 40u /* streams in one rel_durable */
#define RELAY_SUM_BYTES 4u /* checksum after a body */

#endif
