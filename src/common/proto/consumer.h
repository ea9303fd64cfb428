/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* consumer.h - structs, encoders and decoders of consumer.def. */
#ifndef PROTO_CONSUMER_H
#define PROTO_CONSUMER_H

#include "gen/proto_consumer.h"

/** Exit status of a consumer if its predecessor still runs: EX_TEMPFAIL. */
#define CON_EXIT_BUSY 75

#endif
