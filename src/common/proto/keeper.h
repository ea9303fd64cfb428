/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* keeper.h - structs, encoders and decoders of keeper.def (see expand.h). */
#ifndef PROTO_KEEPER_H
#define PROTO_KEEPER_H

#define PROTO_TABLE "keeper.def"
#include "expand.h"
#undef PROTO_TABLE

#endif
