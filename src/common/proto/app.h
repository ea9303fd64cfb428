/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* app.h - structs, encoders and decoders of app.def (see expand.h). */
#ifndef PROTO_APP_H
#define PROTO_APP_H

#define PROTO_TABLE "app.def"
#include "expand.h"
#undef PROTO_TABLE

/** app_hello.features, app_welcome.features: bits, wire format. */
enum app_feature {
	/* app_buffer_want and app_buffer_offer; app_buffer of a set that is known
	 * may bring another doorbell, which is used from then on */
	APP_FEATURE_OFFER = 1,
	/* app_counts and the messages about it */
	APP_FEATURE_COUNT = 2,
};

#endif
