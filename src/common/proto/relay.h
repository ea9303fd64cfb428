/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* relay.h - structs, encoders and decoders of relay.def. */
#ifndef PROTO_RELAY_H
#define PROTO_RELAY_H

#include "gen/proto_relay.h"

#define RELAY_PORT 5342u /* LTTng's control port; one connection carries control and data */
#define RELAY_ID_BYTES 16u
#define RELAY_FEATURE_LIVE 1u
#define RELAY_FEATURE_SPOOL 2u
#define RELAY_FEATURE_CLOCK 4u
#define RELAY_FEATURE_SUM_BEHIND 8u
#define RELAY_FEATURE_PACKED 16u
#define RELAY_FEATURE_PARTS 32u
#define RELAY_FEATURE_SYNC 64u
#define RELAY_FEATURES                                                           \
	(RELAY_FEATURE_LIVE | RELAY_FEATURE_SPOOL | RELAY_FEATURE_CLOCK |        \
	 RELAY_FEATURE_SUM_BEHIND | RELAY_FEATURE_PACKED | RELAY_FEATURE_PARTS | \
	 RELAY_FEATURE_SYNC)

/* A relay's addresses, separated by commas. */
#define RELAY_ADDRS_MAX 8u
#define RELAY_ADDRS_BYTES (RELAY_ADDRS_MAX * 64u)
#define RELAY_ADDRS_UNKNOWN "-" /* its name can't be resolved now */

/* Largest packet that may be sent in parts. */
#define RELAY_PARTS_MAX (16u << 20)
#define RELAY_SUM_BYTES 4u /* checksum after a body */

#endif
