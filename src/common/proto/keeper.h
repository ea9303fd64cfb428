/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* keeper.h - structs, encoders and decoders of keeper.def. */
#ifndef PROTO_KEEPER_H
#define PROTO_KEEPER_H

#include "gen/proto_keeper.h"

#endif
