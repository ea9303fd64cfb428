/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* consumer.h - structs, encoders and decoders of consumer.def (see expand.h). */
#ifndef PROTO_CONSUMER_H
#define PROTO_CONSUMER_H

#define PROTO_TABLE "consumer.def"
#include "expand.h"
#undef PROTO_TABLE

/** Exit status of a consumer if its predecessor still runs: EX_TEMPFAIL. */
#define CON_EXIT_BUSY 75

#endif
