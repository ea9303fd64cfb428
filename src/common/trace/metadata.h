/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * metadata.h - the text (TSDL, CTF 1.8) that describes a trace. Pure: facts in,
 * allocated text out (NULL: no memory). ltt-sessiond writes it part by part
 * while the trace runs; each part consists of complete top-level declarations.
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
	const uint8_t *uuid; /* 16 bytes */
	const char *session;
	const char *hostname;
	uint64_t created_ns;			/* CLOCK_REALTIME */
	uint32_t uid;				/* whose buffers; unless */
	const struct metadata_process *process; /* not NULL: a process's */
	const struct metadata_kernel *kernel;	/* not NULL: the kernel's */
	const struct clock_facts *clock;
	bool hides; /* form 2 */
};

struct metadata_event {
	const char *name;
	int loglevel;	    /* negative: it has none */
	const char *format; /* of a marker; else NULL or empty */
	const struct layout *layout;
};

/**
 * metadata_hides() - whether the text of a whole metadata begins as one of form 2. Readers then
 * do not print the packet fields of ltt (trace/packet.h).
 */
bool metadata_hides(const char *text, size_t len) MUST_CHECK;
/**
 * metadata_show() - convert the text that begins a metadata of form 2 to form 1, of the same
 * length: for relays that store packets as they come. Other text stays as it is.
 */
void metadata_show(char *text, size_t len);
#define METADATA_FORM_BYTES 64u /* the text that says it is within so many */
#define METADATA_PAD_MAX 64u	/* behind so many empty lines at most */

/** The beginning: everything up to the first stream. */
char *metadata_head(const struct metadata_trace *trace) MUST_CHECK;
/** A stream class: a channel. @contexts: the contexts of each event, before its payload; NULL or
 *  empty: none. */
char *metadata_stream(uint32_t stream_class, const struct layout *contexts) MUST_CHECK;
/** All of an event class but its numbers: two classes are the same if and only
 *  if these texts are equal. */
char *metadata_event_body(const struct metadata_event *event) MUST_CHECK;
/** A remark, which readers skip: the memory of a buffer is lost, with events that no
 *  packet counts; or it was found again. @id: of the buffer in its session. */
#define METADATA_BUFFER_LOST "/* buffer lost: "
#define METADATA_BUFFER_FOUND "/* buffer found: "
char *metadata_buffer(const char *what, uint64_t id, const char *name) MUST_CHECK;
/** Another one: a marker is not recorded, as its format is not the one that @armed says. Bytes of
 *  the texts that a remark can't have are written as \xHH. */
#define METADATA_MARKER_REFUSED "/* marker refused: "
char *metadata_marker(const char *name, const char *refused, const char *armed,
		      uint32_t pid) MUST_CHECK;
/** The event class, declared. */
char *metadata_event(uint32_t stream_class, uint32_t id, const char *body) MUST_CHECK;

/** A field's name as it stands in the trace: `_` before, no odd character. */
void metadata_identifier(const char *name, char *buf, size_t len);

/** 20261121T051015+0000, as LTTng writes instants; @buf holds 21 bytes or more. */
void metadata_datetime(uint64_t real_ns, char *buf, size_t len);

#endif
