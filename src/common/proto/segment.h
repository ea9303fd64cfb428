/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* segment.h - structs, encoders and decoders of segment.def. */
#ifndef PROTO_SEGMENT_H
#define PROTO_SEGMENT_H

#include "gen/proto_segment.h"

#endif
