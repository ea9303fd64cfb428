/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * metadata.h - the text that describes a trace: TSDL (CTF 1.8), or the fragments of CTF 2. Pure:
 * the functions return allocated text (NULL: no memory). ltt-sessiond appends parts to the metadata
 * while the session records; each part consists of complete top-level declarations.
 *
 * Bytes of packets: trace/packet.h. Bytes of records: abi/ltt_ring.h.
 */
#ifndef TRACE_METADATA_H
#define TRACE_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "clock.h"
#include "layout.h"

/** The form of a trace's metadata. Its streams have the same bytes in both. */
enum metadata_form { METADATA_CTF_1_8, METADATA_CTF_2 };

/** A process with a separate trace. */
struct metadata_process {
	uint32_t pid;
	const char *name;
	uint64_t start_ns; /* CLOCK_REALTIME */
};

/** The traced kernel, as in uname(2). */
struct metadata_kernel {
	const char *release;
	const char *version;
};

struct metadata_trace {
	enum metadata_form form;
	const uint8_t *uuid; /* 16 bytes */
	const char *session;
	const char *hostname;
	uint64_t created_ns;			/* CLOCK_REALTIME */
	uint32_t uid;				/* owner of the buffers, if they are a user's */
	const struct metadata_process *process; /* owner of the buffers, a process; or NULL */
	const struct metadata_kernel *kernel;	/* owner of the buffers, the kernel; or NULL */
	const struct clock_facts *clock;
};

struct metadata_event {
	const char *name;
	int loglevel;	    /* negative: none */
	const char *format; /* of a marker; else NULL or empty */
	const struct layout *layout;
};

/**
 * metadata_hides() - whether metadata, of which @text is the beginning, is of this project: packets
 * have fields in a gap that it does not declare (trace/packet.h).
 */
bool metadata_hides(const char *text, size_t len) MUST_CHECK;

/* Contexts that an application provides are called $app.PROVIDER:NAME; the field's enumeration has
 * PROVIDER:NAME as its label of this number. */
#define METADATA_PROVIDED "$app."
#define METADATA_PROVIDED_NAME 255u

/* An enumeration whose labels are bits is called METADATA_SET, its mask in hexadecimal, and
 * _NAME. */
#define METADATA_SET "ltt_set_"
/* An enumeration that no field has: names of the negative values of a system call's `ret`. (That
 * remains an integer: babeltrace2 prints <unknown> for values of an enumeration without a name.) */
#define METADATA_RESULTS "ltt_errno"

/** The beginning of metadata, up to the first stream class. */
char *metadata_head(const struct metadata_trace *trace) MUST_CHECK;
/** Declaration of a stream class, which is a channel. @contexts: the contexts of each event, before
 *  its payload; NULL or empty: none. */
char *metadata_stream(enum metadata_form form, uint32_t stream_class,
		      const struct layout *contexts) MUST_CHECK;
/** Declaration of an event class without its ids: two classes are the same if and only if these
 *  texts are equal. */
char *metadata_event_body(enum metadata_form form, const struct metadata_event *event) MUST_CHECK;
/** The end of the body of an event class with contexts; "" for an empty layout. Each record has
 *  their values in front of its payload. */
char *metadata_event_context(enum metadata_form form, const struct layout *contexts) MUST_CHECK;
/** The end of a body, behind its contexts: the events that are recorded, for example "1/64". */
char *metadata_event_note(enum metadata_form form, const char *recorded) MUST_CHECK;
/** Declaration of an event class. @body: from metadata_event_body(). */
char *metadata_event(enum metadata_form form, uint32_t stream_class, uint32_t id,
		     const char *body) MUST_CHECK;
/** Declaration of METADATA_RESULTS. @field: an enumeration. */
char *metadata_results(enum metadata_form form, const struct layout_field *field) MUST_CHECK;

/* Remarks are comments, which are the same in both forms; metadata_remark() makes a part of the
 * metadata of one. */

/** The memory of a buffer was lost, with events that no packet counts; or it was found again.
 *  @what: one of these macros. @id: of the buffer in its session. */
#define METADATA_BUFFER_LOST "/* buffer lost: "
#define METADATA_BUFFER_FOUND "/* buffer found: "
char *metadata_buffer(const char *what, uint64_t id, const char *name) MUST_CHECK;
/** A marker is not recorded, as its format, @refused, differs from the recorded one, @armed. Bytes
 *  of the texts that a comment can't contain are written as \xHH. */
#define METADATA_MARKER_REFUSED "/* marker refused: "
char *metadata_marker(const char *name, const char *refused, const char *armed,
		      uint32_t pid) MUST_CHECK;
/** The sampling of an event class. @how: for example "1/64 by FIELD, 100/s, first 10". */
#define METADATA_SAMPLED "/* sampled: "
char *metadata_sampled(uint32_t stream_class, uint32_t id, const char *how) MUST_CHECK;
/** The number of events of a buffer that sampling left out. The last comment about a buffer is
 *  valid. @id: of the buffer in its session. */
#define METADATA_NOT_SAMPLED "/* not sampled: "
char *metadata_not_sampled(uint64_t id, uint64_t nr) MUST_CHECK;
/** From a value of the clock on, times follow from it in another way. Its numbers are the segment's
 *  from, freq_hz, base_ns, first, last, jump_ns, old_hz, cause. */
#define METADATA_CLOCK "/* clock: "
char *metadata_clock(const struct clock_segment *segment) MUST_CHECK;
/** The time of day was set, and all times of the trace are later by this number of ns. The last one
 *  holds. */
#define METADATA_CLOCK_SET "/* clock set: "
char *metadata_clock_set(int64_t ns) MUST_CHECK;
/** Readings of the clock and of the cycle counter at one moment. Its numbers are the pair's value,
 *  counter, width. */
#define METADATA_CLOCK_PAIR "/* counter: "
char *metadata_clock_pair(const struct clock_pair *pair) MUST_CHECK;
/** The part of the metadata that has a remark. @remark: freed; may be NULL. */
char *metadata_remark(enum metadata_form form, char *remark) MUST_CHECK;

/** The identifier of a field in metadata: `_` is prepended, and invalid characters are replaced. */
void metadata_identifier(const char *name, char *buf, size_t len);

/** Format a time as 20261121T051015+0000, as LTTng does; @buf holds 21 bytes or more. */
void metadata_datetime(uint64_t real_ns, char *buf, size_t len);

/** The UUID of a trace, as its metadata has it: in hexadecimal; and in CTF 2 also as numbers, which
 *  have one width, so that a copy of the trace can have another one at the same place. */
#define METADATA_UUID_TEXT 36
#define METADATA_UUID_NUMBERS (16 * 3 + 15)
void metadata_uuid_text(const uint8_t uuid[16], char ret[METADATA_UUID_TEXT + 1]);
void metadata_uuid_numbers(const uint8_t uuid[16], char ret[METADATA_UUID_NUMBERS + 1]);

#endif
