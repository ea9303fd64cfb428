/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * view_make.h - for tests of the viewer: traces that are made byte by byte. Written from the
 * format's description, not with the product's own writer, so that an error in the writer
 * can't hide the same error in the viewer.
 */
#ifndef TESTS_VIEW_MAKE_H
#define TESTS_VIEW_MAKE_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../check.h"
#include "read/view.h"

/* --- bytes ---------------------------------------------------------------- */

struct bytes {
	uint8_t *at;
	size_t len, size;
	bool big; /* byte order of put() */
};

void put_raw(struct bytes *b, const void *data, size_t len);
/** Overwrite @len bytes at offset @at with the number @v. */
void poke(struct bytes *b, size_t at, uint64_t v, unsigned len);
/** Append the number @v in @len bytes, at most 8. */
void put(struct bytes *b, uint64_t v, unsigned len);
void put_str(struct bytes *b, const char *s);
/** Append @d as a float of 4 or 8 bytes. */
void put_float(struct bytes *b, double d, unsigned len);
void bytes_fini(struct bytes *b);

/* --- files ---------------------------------------------------------------- */

/** The directory of make_tmp(). */
extern char make_root[64];

int rm_rf_at(int at, const char *name);

/** Make a directory, in memory where that is possible; it is removed when the test exits. */
const char *make_tmp(void);

void make_path(char *ret, size_t size, const char *dir, const char *name);

void make_file(const char *dir, const char *name, const void *data, size_t len);

/* --- metadata ------------------------------------------------------------- */

#define MAKE_UUID "\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff"
#define MAKE_UUID_TEXT "00112233-4455-6677-8899-aabbccddeeff"

/* The start of our traces; a clock of 1 GHz whose zero is 1000000000 s. */
#define MAKE_HEAD                                                                             \
	"/* CTF 1.8 */\n"                                                                     \
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"            \
	"typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"          \
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"          \
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"          \
	"typealias integer { size = 5; align = 1; signed = false; } := uint5_t;\n"            \
	"typealias integer { size = 16; align = 1; signed = false; } := uint16_bits_t;\n"     \
	"trace { major = 1; minor = 8; uuid = \"" MAKE_UUID_TEXT "\"; byte_order = le;\n"     \
	"  packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id;\n" \
	"    uint64_t stream_instance_id; };\n};\n"                                           \
	"env { domain = \"ust\"; hostname = \"box\"; tracer_major = 0; };\n"                  \
	"clock { name = \"c\"; freq = 1000000000; offset_s = 1000000000; offset = 0; };\n"    \
	"typealias integer { size = 27; align = 1; signed = false; map = clock.c.value; } "   \
	":= uint27_clock_t;\n"                                                                \
	"typealias integer { size = 64; align = 8; signed = false; map = clock.c.value; } "   \
	":= uint64_clock_t;\n"                                                                \
	"struct packet_context { uint64_clock_t timestamp_begin; uint64_clock_t "             \
	"timestamp_end;\n"                                                                    \
	"  uint64_t content_size; uint64_t packet_size; uint64_t packet_seq_num;\n"           \
	"  uint64_t events_discarded; uint32_t cpu_id; uint64_t stream_pos;\n"                \
	"  uint64_t events_recorded; uint64_t lost_full; uint64_t lost_size;\n"               \
	"  uint64_t lost_busy; uint64_t lost_output; };\n"                                    \
	"struct event_header {\n"                                                             \
	"  enum : uint5_t { compact = 0 ... 29, wide = 30, extended = 31 } id;\n"             \
	"  variant <id> {\n"                                                                  \
	"    struct { uint27_clock_t timestamp; } compact;\n"                                 \
	"    struct { uint27_clock_t timestamp; uint16_bits_t id; } wide;\n"                  \
	"    struct { uint32_t id; uint64_clock_t timestamp; } extended;\n"                   \
	"  } v;\n} align(8);\n"                                                               \
	"stream { id = 0; event.header := struct event_header;\n"                             \
	"  packet.context := struct packet_context; };\n"

/* One 32-bit number, in the three forms of header. */
#define MAKE_NUMBER(name, id)                                                       \
	"event { id = " #id "; stream_id = 0; name = \"" name "\"; loglevel = 6;\n" \
	"  fields := struct { uint32_t _n; }; };\n"

/* --- our packets ---------------------------------------------------------- */

/* Counters of a stream; where the open packet and its fields are. */
struct maker {
	struct bytes out;
	size_t packet;
	uint64_t seq, recorded, pos;
	uint64_t lost[4];
	uint64_t epoch;
	uint32_t cpu;
	bool crc; /* with a checksum, as MAKE_CRC declares */
};

#define HEAD_BEGIN 32u /* offsets in the packet of fields that packet_close() fills in */
#define HEAD_END 40u
#define HEAD_SIZES 48u
#define HEAD_DISCARDED 72u
#define HEAD_BYTES 132u
#define CRC_BYTES 4u

/** The CRC-32C of @len bytes, computed bit by bit. */
uint32_t make_crc(const uint8_t *p, size_t len);
void packet_open(struct maker *m, uint64_t begin);
void packet_close(struct maker *m, uint64_t end);

/** Append the header of an event in its shortest form. Return: where its fields go. */
struct bytes *event(struct maker *m, uint32_t id, uint64_t ts);

/* --- index files ---------------------------------------------------------- */

void index_begin(struct bytes *b);
void index_add(struct bytes *b, uint64_t offset, uint64_t bytes, uint64_t begin, uint64_t end);

/* --- viewing -------------------------------------------------------------- */

/** Messages and output of a view. */
struct seen {
	char *text;
	size_t len;
	unsigned problems;
	char said[4096];
	const struct view_summary *sum;
	struct view *view;
};

/** A view reports a problem; @priv: struct seen. */
void note_problem(void *priv, const char *sentence);

void seen_fini(struct seen *seen);

int see_style(struct seen *seen, const char *dir, const struct view_select *select,
	      const struct view_style *style);
/** View the trace in @dir with the defaults. Return: as view_open(). */
int see(struct seen *seen, const char *dir);

size_t count_text(const char *text, const char *what);

/** Both texts must be equal: the test ends with the first line that differs. */
void check_same(const char *what, const char *got, const char *want);

#endif
