/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * viewproto.h - layout of the messages of the LTTng-live protocol, version 2.4 to 2.15, which
 * viewers use, for example babeltrace2. Requests have a header, answers have none; answers come in
 * the order of the requests.
 * All numbers are big-endian, texts are padded with NULs, nothing is aligned.
 * doc/relay-internals.md describes the sequence of messages. Pure: layouts only.
 */
#ifndef PROTO_VIEWPROTO_H
#define PROTO_VIEWPROTO_H

#include <stdint.h>

#define VIEW_PORT 5344u
#define VIEW_MAJOR 2u
#define VIEW_MINOR 15u
#define VIEW_MINOR_CTF_2 15u /* viewers of earlier versions see no sessions in CTF 2 */
#define VIEW_MINOR_LONG_NAMES 15u /* from this version, sessions are view_session_long */

enum view_command {
	VIEW_CONNECT = 1,
	VIEW_LIST_SESSIONS = 2,
	VIEW_ATTACH_SESSION = 3,
	VIEW_GET_NEXT_INDEX = 4,
	VIEW_GET_PACKET = 5,
	VIEW_GET_METADATA = 6,
	VIEW_GET_NEW_STREAMS = 7,
	VIEW_CREATE_SESSION = 8,
	VIEW_DETACH_SESSION = 9,
};

#define VIEW_UNKNOWN_COMMAND 11u /* the whole answer; then the connection is closed */

struct view_request {
	uint64_t bytes; /* size of the rest of the request */
	uint32_t command;
	uint32_t version;
} __attribute__((packed));

/* --- versions ----------------------------------------------------------------------- */

struct view_connect { /* request and answer */
	uint64_t viewer;
	uint32_t major, minor;
	uint32_t type; /* 1: commands; of the answer: 0 */
} __attribute__((packed));

enum { VIEW_CREATED = 1 };

/* --- list of sessions --------------------------------------------------------------- */

/* Set in the ids that a relay of ours assigns to sessions: a restarted relay assigns the same one
 * to the same session. Others have serial numbers. */
#define VIEW_LASTING_ID (1ull << 63)

struct view_session_entry { /* an array, preceded by its number of elements, a u32 */
	uint64_t id;
	uint32_t period_us, viewers, streams;
	char host[64];
	char name[255];
} __attribute__((packed));

struct view_session_long { /* the names follow */
	uint64_t id;
	uint32_t period_us, viewers, streams;
	uint32_t host_bytes, name_bytes;
	uint32_t format; /* 0: CTF 1.8; 1: CTF 2 */
} __attribute__((packed));

/* --- attaching to a session; its streams ---------------------------------------------- */

enum { VIEW_FROM_BEGIN = 1, VIEW_FROM_NOW = 2 };

struct view_attach {
	uint64_t session;
	uint64_t since; /* trace clock: packets that end before are not needed; 0: all are needed */
	uint32_t from;
} __attribute__((packed));

enum {
	VIEW_ATTACHED = 1,
	VIEW_ATTACHED_ALREADY = 2,
	VIEW_NO_SUCH_SESSION = 3,
	VIEW_NOT_LIVE = 4,
	VIEW_BAD_FROM = 5,
	VIEW_NOT_CREATED = 6,
};

enum {
	VIEW_STREAMS = 1,
	VIEW_NO_STREAMS = 2,
	VIEW_STREAMS_ERROR = 3,
	VIEW_STREAMS_END = 4,
};

struct view_streams { /* answer to ATTACH_SESSION and GET_NEW_STREAMS; streams follow */
	uint32_t status;
	uint32_t nr;
} __attribute__((packed));

struct view_stream_entry {
	uint64_t id;
	uint64_t trace;
	uint32_t is_metadata;
	char path[4096];
	char channel[255];
} __attribute__((packed));

enum { VIEW_DETACHED = 1, VIEW_NOT_ATTACHED = 2 };

/* --- data --------------------------------------------------------------------------- */

enum {
	VIEW_INDEX = 1,
	VIEW_INDEX_RETRY = 2,
	VIEW_INDEX_END = 3,
	VIEW_INDEX_ERROR = 4,
	VIEW_INDEX_INACTIVE = 5,
};

enum { VIEW_NEW_METADATA = 1, VIEW_NEW_STREAM = 2 };

struct view_index {
	uint64_t offset;		    /* bytes */
	uint64_t packet_size, content_size; /* bits */
	uint64_t timestamp_begin, timestamp_end;
	uint64_t events_discarded;
	uint64_t stream_class;
	uint32_t status;
	uint32_t flags;
} __attribute__((packed));

struct view_get_packet {
	uint64_t stream;
	uint64_t offset;
	uint32_t len;
} __attribute__((packed));

enum { VIEW_DATA = 1, VIEW_DATA_RETRY = 2, VIEW_DATA_ERROR = 3, VIEW_DATA_END = 4 };

struct view_packet { /* the data follows */
	uint32_t status;
	uint32_t len;
	uint32_t flags;
} __attribute__((packed));

struct view_metadata { /* the text follows */
	uint64_t len;
	uint32_t status;
} __attribute__((packed));

enum { VIEW_METADATA = 1, VIEW_NO_METADATA = 2, VIEW_METADATA_ERROR = 3 };

_Static_assert(sizeof(struct view_request) == 16, "as viewers have it");
_Static_assert(sizeof(struct view_connect) == 20, "as viewers have it");
_Static_assert(sizeof(struct view_session_entry) == 339, "as viewers have it");
_Static_assert(sizeof(struct view_session_long) == 32, "as viewers have it");
_Static_assert(sizeof(struct view_attach) == 20, "as viewers have it");
_Static_assert(sizeof(struct view_streams) == 8, "as viewers have it");
_Static_assert(sizeof(struct view_stream_entry) == 4371, "as viewers have it");
_Static_assert(sizeof(struct view_index) == 64, "as viewers have it");
_Static_assert(sizeof(struct view_get_packet) == 20, "as viewers have it");
_Static_assert(sizeof(struct view_packet) == 12, "as viewers have it");
_Static_assert(sizeof(struct view_metadata) == 12, "as viewers have it");

#endif
