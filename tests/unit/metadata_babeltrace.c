/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace with every kind of field and every form of record header, described by
 * metadata.c, its bytes written here by hand from the documents; babeltrace2 prints the events that
 * it reads.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "ltt_ring.h"
#include "trace/metadata.h"
#include "trace/packet.h"

#define FREQ 2299998000ull

static char dir[] = "/tmp/ltt-metadata.XXXXXX";
static uint8_t uuid[16] = {
	0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0, 1, 2, 3, 4, 5, 6, 7, 8
};
static struct clock_facts facts = { .kind = LTT_CLOCK_CYCLES,
				    .freq_hz = FREQ,
				    .precision = 40,
				    .offset_s = 1700000000,
				    .offset = 2299997999,
				    .source = "made up \"here\"",
				    .uuid = "5aa3bd5f-a9b4-4f9e-8a3b-111213141516" };

static FILE *open_file(const char *name)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	CHECK(f);
	return f;
}

static void put_text(FILE *f, char *text)
{
	CHECK(text && fputs(text, f) >= 0);
	free(text);
}

static void field(struct layout *l, const char *name, enum ltt_field_kind kind, uint8_t bits,
		  uint32_t flags, uint8_t base, uint32_t count)
{
	struct layout_field f = { .name = name,
				  .kind = kind,
				  .size_bits = bits,
				  .length_bits = 16,
				  .base = base,
				  .flags = flags,
				  .count = count };

	CHECK(layout_add_field(l, &f));
}

static struct layout *all_kinds(void)
{
	struct layout *l = layout_new(32, 16, 1024);

	field(l, "i8", LTT_KIND_INT, 8, LTT_FIELD_SIGNED, 10, 0);
	field(l, "u16", LTT_KIND_INT, 16, 0, 16, 0);
	field(l, "net", LTT_KIND_INT, 32, LTT_FIELD_BIG_ENDIAN, 10, 0);
	field(l, "i64", LTT_KIND_INT, 64, LTT_FIELD_SIGNED, 0, 0);
	field(l, "oct", LTT_KIND_INT, 32, 0, 8, 0);
	field(l, "hidden", LTT_KIND_INT, 32, LTT_FIELD_NOWRITE, 10, 0);
	field(l, "f", LTT_KIND_FLOAT, 32, 0, 0, 0);
	field(l, "d", LTT_KIND_FLOAT, 64, 0, 0, 0);
	field(l, "s", LTT_KIND_STRING, 0, 0, 0, 0);
	field(l, "odd name-1;}", LTT_KIND_ARRAY, 16, 0, 16, 3);
	field(l, "text", LTT_KIND_ARRAY, 8, LTT_FIELD_TEXT, 10, 4);
	field(l, "seq", LTT_KIND_SEQUENCE, 32, LTT_FIELD_SIGNED, 10, 0);
	field(l, "seqtext", LTT_KIND_SEQUENCE, 8, LTT_FIELD_TEXT, 10, 0);
	field(l, "seqf", LTT_KIND_SEQUENCE, 64, LTT_FIELD_FLOAT_ELEM, 10, 0);
	field(l, "none", LTT_KIND_ARRAY, 8, 0, 10, 0);
	field(l, "e", LTT_KIND_ENUM, 8, LTT_FIELD_SIGNED, 10, 0);
	CHECK(layout_add_label(l, "a \"quoted\" \\ one", -1, -1));
	CHECK(layout_add_label(l, "range", 1, 5));
	field(l, "eu", LTT_KIND_ENUM, 64, 0, 10, 0);
	CHECK(layout_add_label(l, "huge", -2, -1)); /* the bits of 2^64-2 and 2^64-1 */
	field(l, "bare", LTT_KIND_ENUM, 16, 0, 10, 0);
	for (uint32_t i = 0; i < 2; i++) {
		field(l, i ? "more flags" : "flags", LTT_KIND_ENUM, 32, 0, 16, 0);
		l->fields[l->nr_fields - 1].is_set = true;
		l->fields[l->nr_fields - 1].mask = 3;
		CHECK(layout_add_label(l, "RDWR", 2, 2));
		CHECK(layout_add_label(l, "CLOEXEC", 0x80000, 0x80000));
		CHECK(layout_add_label(l, "RDWR|CLOEXEC", 0x80002, 0x80002));
	}
	CHECK(!layout_check(l));
	return l;
}

static void put_head(FILE *f)
{
	struct metadata_process process = { 4711, "a \"name\"", 1700000000000000000ull };
	struct metadata_trace trace = { METADATA_CTF_1_8, uuid, "a session", "host", 1700000000000000000ull,
					1000, &process,	   NULL,   &facts };
	char *text = metadata_head(&trace);

	CHECK(text && metadata_hides(text, strlen(text)));
	put_text(f, text);
}

static void write_metadata(void)
{
	struct layout *all = all_kinds(), *none = layout_new(0, 0, 0);
	struct metadata_event ev = { "test:all", 6, NULL, all };
	struct metadata_event marker = { "sub_event", 13, "count %d \"x\" 100%%", none };
	FILE *f = open_file("metadata");
	char *body;

	put_head(f);
	put_text(f, metadata_stream(METADATA_CTF_1_8, 3, NULL));
	body = metadata_event_body(METADATA_CTF_1_8, &ev);
	put_text(f, metadata_event(METADATA_CTF_1_8, 3, 29, body));
	free(body);
	body = metadata_event_body(METADATA_CTF_1_8, &marker);
	put_text(f, metadata_event(METADATA_CTF_1_8, 3, 30, body));
	put_text(f, metadata_event(METADATA_CTF_1_8, 3, 31, body));
	put_text(f, metadata_event(METADATA_CTF_1_8, 3, 65536, body));
	/* metadata grows while the trace runs: a second channel behind the events */
	put_text(f, metadata_stream(METADATA_CTF_1_8, 4, NULL));
	put_text(f, metadata_event(METADATA_CTF_1_8, 4, 0, body));
	free(body);
	fclose(f);
	layout_free(all);
	layout_free(none);
}

/* --- bytes ------------------------------------------------------------------------- */

struct bytes {
	uint8_t data[4096];
	size_t len;
};

static void put(struct bytes *b, const void *data, size_t len)
{
	CHECK_IS(b->len + len, <=, sizeof(b->data));
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

#define PUT(b, type, value)              \
	do {                             \
		type v_ = (value);       \
		put(b, &v_, sizeof(v_)); \
	} while (0)

static void compact(struct bytes *b, uint32_t id, uint64_t ts)
{
	PUT(b, uint32_t, id | (uint32_t)(ts << 5));
}

static void wide(struct bytes *b, uint16_t id, uint64_t ts)
{
	compact(b, LTT_ID_WIDE, ts);
	PUT(b, uint16_t, id);
}

static void extended(struct bytes *b, uint32_t id, uint64_t ts)
{
	PUT(b, uint8_t, LTT_ID_EXTENDED);
	PUT(b, uint32_t, id);
	PUT(b, uint64_t, ts);
}

static void all_payload(struct bytes *b)
{
	PUT(b, int8_t, -5);
	PUT(b, uint16_t, 0xbeef);
	PUT(b, uint32_t, __builtin_bswap32(123456789));
	PUT(b, int64_t, INT64_MIN);
	PUT(b, uint32_t, 0755);
	PUT(b, float, 1.5f);
	PUT(b, double, -0.25);
	put(b, "it\"s", 5);
	PUT(b, uint16_t, 1);
	PUT(b, uint16_t, 2);
	PUT(b, uint16_t, 0xff);
	put(b, "abcd", 4);
	PUT(b, uint16_t, 2);
	PUT(b, int32_t, -1);
	PUT(b, int32_t, 7);
	PUT(b, uint16_t, 3);
	put(b, "xyz", 3);
	PUT(b, uint16_t, 1);
	PUT(b, double, 2.5);
	PUT(b, int8_t, -1);
	PUT(b, uint64_t, UINT64_MAX);
	PUT(b, uint16_t, 9);
	PUT(b, uint32_t, 0x80002);
	PUT(b, uint32_t, 0x80003);
}

static void write_stream(const char *name, uint32_t class, const struct bytes *records,
			 uint64_t begin, uint64_t end, uint64_t nr)
{
	const struct packet_stream stream = { uuid, class, 1, 1 };
	struct packet_header header = packet_make(&stream);
	FILE *f = open_file(name);

	packet_set_body(&header, records->len);
	header.timestamp_begin = begin;
	header.timestamp_end = end;
	header.events_recorded = nr;
	CHECK_IS(fwrite(&header, sizeof(header), 1, f), ==, 1);
	CHECK_IS(fwrite(records->data, 1, records->len, f), ==, records->len);
	fclose(f);
}

static void run(const char *options, char *out, size_t len)
{
	char command[256];
	FILE *f;
	size_t n;

	snprintf(command, sizeof(command), "babeltrace2 %s %s 2>&1", options, dir);
	f = popen(command, "r");
	CHECK(f);
	n = fread(out, 1, len - 1, f);
	out[n] = '\0';
	CHECK_IS(pclose(f), ==, 0);
}

static void expect(const char *out, const char *what)
{
	if (!strstr(out, what)) {
		fprintf(stderr, "not in babeltrace2's output: %s\n%s\n", what, out);
		exit(1);
	}
}

static void fields_and_headers(void)
{
	const uint64_t t0 = (7ull << 27) + (1ull << 27) - 3; /* before the 27 bits turn over */
	static char out[65536];
	struct bytes b = { .len = 0 };
	char stamp[64];
	const uint64_t at[] = { t0,
				t0 + 1,
				t0 + 2,
				t0 + (1ull << 27) + 1,
				t0 + (9ull << 27),
				t0 + (9ull << 27) + 1,
				t0 + (9ull << 27) + 2 };

	compact(&b, 29, at[0]);
	all_payload(&b);
	wide(&b, 30, at[1]);
	wide(&b, 31, at[2]);
	extended(&b, 30, at[3]); /* another epoch */
	extended(&b, 65536, at[4]);
	wide(&b, 30, at[5]);
	extended(&b, 30, at[6]);
	write_stream("c_1", 3, &b, t0, at[6], 7);
	b.len = 0;
	compact(&b, 0, t0);
	write_stream("d_1", 4, &b, t0, t0, 1);
	write_metadata();

	run("--clock-cycles", out, sizeof(out));
	for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
		snprintf(stamp, sizeof(stamp), "[%020" PRIu64 "]", at[i]);
		expect(out, stamp);
	}
	expect(out,
	       "i8 = -5, u16 = 0xBEEF, net = 123456789, i64 = -9223372036854775808, oct = 0755");
	expect(out, "f = 1.5, d = -0.25, s = \"it\\\"s\"");
	expect(out, "odd_name_1__ = [ [0] = 0x1, [1] = 0x2, [2] = 0xFF ], text = \"abcd\"");
	expect(out, "_seq_length = 2, seq = [ [0] = -1, [1] = 7 ]");
	expect(out, "seqtext = \"xyz\"");
	expect(out, "seqf = [ [0] = 2.5 ]");
	expect(out, "none = [ ]");
	expect(out, "e = ( \"a \\\"quoted\\\" \\\\ one\" : container = -1 )");
	expect(out, "eu = ( \"huge\" : container = 18446744073709551615 ), bare = 9");
	expect(out, "flags = ( \"RDWR|CLOEXEC\" : container = 0x80002 ), "
		    "more_flags = ( <unknown> : container = 0x80003 )");
	CHECK(!strstr(out, "hidden"));
	expect(out, "{ cpu_id = 1 }, ");
	run("--clock-seconds --fields=loglevel,emf,trace:procname,trace:vpid", out, sizeof(out));
	expect(out, "\"name\":(4711):TRACE_INFO (6) test:all:");
	expect(out, "ltt:marker?format=count%20%25d%20%22x%22%20100%25%25");
	/* zero of the clock: 1700000000 s and 2299997999 cycles of 2299998000 Hz; t0 is
	 * 1073741821 cycles behind that: 0.466844934 s and a bit */
	expect(out, "[1700000001.466844");
}

/* A trace without any event is a trace. */
static void empty(void)
{
	static char out[4096];
	char path[256];

	snprintf(path, sizeof(path), "%s/c_1", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/d_1", dir);
	unlink(path);
	run("", out, sizeof(out));
	CHECK_IS(out[0], ==, '\0');
	snprintf(path, sizeof(path), "%s/metadata", dir);
	unlink(path);
	rmdir(dir);
}

/* Same layout, same text: equal text makes two classes one. */
static void identity(void)
{
	struct layout *a = all_kinds(), *b = all_kinds();
	struct metadata_event ea = { "x", 1, NULL, a }, eb = { "x", 1, NULL, b };
	char *ta = metadata_event_body(METADATA_CTF_1_8, &ea);
	char *tb = metadata_event_body(METADATA_CTF_1_8, &eb), *tc;

	CHECK(ta && tb && strcmp(ta, tb) == 0);
	eb.loglevel = 2;
	tc = metadata_event_body(METADATA_CTF_1_8, &eb);
	CHECK_IS(strcmp(ta, tc), !=, 0);
	free(ta);
	free(tb);
	free(tc);
	layout_free(a);
	layout_free(b);
}

int main(void)
{
	identity();
	if (system("babeltrace2 --version >/dev/null 2>&1") != 0)
		SKIP("babeltrace2 is not there");
	CHECK(mkdtemp(dir));
	setenv("TZ", "UTC", 1);
	fields_and_headers();
	empty();
	return 0;
}
