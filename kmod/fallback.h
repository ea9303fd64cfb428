/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fallback.h - tracepoints that there is no compiled probe of: the kernel's own code
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
	bool is_relative; /* of what varies in length: its place is told from here on */
};

/**
 * struct fallback - one event. @type: its number in tracefs. @fixed: bytes of the payload
 * that don't vary. @places: of each field.
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
