/* SPDX-License-Identifier: GPL-2.0-only */
/* encode.h - percent-encoding as the signature of requests demands it. Pure. */
#ifndef S3_ENCODE_H
#define S3_ENCODE_H

#include "base/buf.h"

/** Append @text; all bytes but letters, digits and "-._~" are encoded. @also: one more; 0: none. */
void encode_append(struct buf *buf, const char *text, char also);
/** Decode %XX in place; an invalid one stays. */
void encode_undo(char *text);

#endif
