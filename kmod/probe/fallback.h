/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fallback.h - tracepoints without a compiled probe: the kernel's own code
 * fills in a record for perf, which is copied into the ring. That costs some times more,
 * but is there for every tracepoint with a format in tracefs. Events are made when the
 * module is loaded, and as modules come. Tasks only.
 */
#ifndef KMOD_FALLBACK_H
#define KMOD_FALLBACK_H

#include "event.h"

/** struct fallback_place - where a field is in the kernel's record. */
struct fallback_place {
	u16 at;
	u16 bytes;
	bool is_relative; /* of varying length: its position is stored at this offset */
};

/**
 * struct fallback - one event. @type: its number in tracefs. @fixed: bytes of the payload that
 * have a fixed size. @places: of each field.
 */
struct fallback {
	struct event event;
	struct fallback *made_before;
	u32 type;
	u32 fixed;
	struct fallback_place *places;
	struct field fields[];
};

int fallback_init(void);
void fallback_fini(void);

#endif
