/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* archive.h - structs, encoders and decoders of archive.def. */
#ifndef PROTO_ARCHIVE_H
#define PROTO_ARCHIVE_H

#include "gen/proto_archive.h"

#endif
