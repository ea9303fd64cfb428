/* SPDX-License-Identifier: GPL-2.0-only */
/* The events of a packet are read from where its check has found them: also those whose types
 * depend on their headers, and those of packets that have more events than are kept at once. */
#include "lib/view_make.h"

/* The sequence's length is in the header of the event. */
static const char referring[] =
	"/* CTF 1.8 */\n"
	"typealias integer { size = 8; align = 8; } := uint8_t;\n"
	"typealias integer { size = 32; align = 8; } := uint32_t;\n"
	"clock { name = \"c\"; freq = 1000000000; };\n"
	"typealias integer { size = 64; align = 8; map = clock.c.value; } := uint64_clock_t;\n"
	"trace { major = 1; minor = 8; byte_order = le;\n"
	"  packet.header := struct { uint32_t magic; }; };\n"
	"stream { event.header := struct { uint8_t len; uint64_clock_t timestamp; }; };\n"
	"event { name = \"e\"; fields := struct { uint8_t s[stream.event.header.len]; }; };\n";

static void check_referring(void)
{
	struct bytes b = { 0 };
	struct seen seen;
	char dir[128];

	make_path(dir, sizeof(dir), make_tmp(), "referring");
	make_file(dir, "metadata", referring, sizeof(referring) - 1);
	put(&b, 0xc1fc1fc1, 4);
	for (unsigned len = 0; len < 4; len++) {
		put(&b, len, 1);
		put(&b, 1000 + len, 8);
		for (unsigned i = 0; i < len; i++)
			put(&b, 10 * len + i, 1);
	}
	make_file(dir, "s", b.at, b.len);
	CHECK_IS(see(&seen, dir), ==, 0);
	CHECK_IS(seen.problems, ==, 0);
	CHECK_IS(count_text(seen.text, "\n"), ==, 4);
	CHECK_IS(count_text(seen.text, "{ s = [ ] }\n"), ==, 1);
	CHECK_IS(count_text(seen.text, "{ s = [ [0] = 10 ] }\n"), ==, 1);
	CHECK_IS(count_text(seen.text, "{ s = [ [0] = 20, [1] = 21 ] }\n"), ==, 1);
	CHECK_IS(count_text(seen.text, "{ s = [ [0] = 30, [1] = 31, [2] = 32 ] }\n"), ==, 1);
	seen_fini(&seen);
	bytes_fini(&b);
}

#define EVENTS 300000u

/* More events in a packet than are marked at once, and more bytes than are read at once; each
 * event's time goes over the 27 bits of its header now and then. */
static void check_long(void)
{
	const char *metadata = MAKE_HEAD MAKE_NUMBER("num", 0);
	struct maker m = { 0 };
	struct seen seen;
	char dir[128];
	char *at, *end;

	make_path(dir, sizeof(dir), make_root, "long");
	make_file(dir, "metadata", metadata, strlen(metadata));
	packet_open(&m, 0);
	for (uint32_t i = 0; i < EVENTS; i++)
		put(event(&m, 0, 1000ull * i), i, 4);
	packet_close(&m, 1000ull * EVENTS);
	make_file(dir, "s_0", m.out.at, m.out.len);
	CHECK_IS(see(&seen, dir), ==, 0);
	CHECK_IS(seen.problems, ==, 0);
	at = seen.text;
	for (uint32_t i = 0; i < EVENTS; i++) {
		char time[32], fields[32];

		snprintf(time, sizeof(time), ".%09u]", (unsigned)(1000ull * i % 1000000000));
		snprintf(fields, sizeof(fields), "{ n = %u }", i);
		end = memchr(at, '\n', 200);
		CHECK(end);
		*end = '\0'; /* a sanitizer finds the end of a text in each call */
		CHECK(strstr(at, time) && strstr(at, fields));
		at = end + 1;
	}
	CHECK(!*at);
	seen_fini(&seen);
	bytes_fini(&m.out);
}

int main(void)
{
	check_referring();
	check_long();
	return 0;
}
