/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fallback.h - tracepoints without a compiled probe: the kernel's own code
 * fills in a record for perf, which is copied into the ring. This costs several times more,
 * but works for every tracepoint with a format in tracefs. Events are made when this
 * module and further ones are loaded. Process context only.
 */
#ifndef KMOD_FALLBACK_H
#define KMOD_FALLBACK_H

#include "event.h"

/** struct fallback_place - position of a field in the kernel's record. */
struct fallback_place {
	u16 at;
	u16 bytes;
	bool is_relative; /* of variable length: its position is stored relative to @at */
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
