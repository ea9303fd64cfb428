/* SPDX-License-Identifier: GPL-2.0-only */
/* An index file that lies, beside a good stream: it may cost events that were
 * requested only where it agrees with the packets, and never more than that. */
#include "lib/view_dir.h"

static const char metadata[] =
	"typealias integer { size = 8; } := uint8_t;\n"
	"typealias integer { size = 32; align = 8; } := uint32_t;\n"
	"clock { name = c; freq = 1000000000; };\n"
	"typealias integer { size = 32; align = 8; map = clock.c.value; } := time_t;\n"
	"trace { major = 1; minor = 8; byte_order = le; packet.header := struct { uint32_t magic; }; };\n"
	"stream { packet.context := struct { uint32_t content_size; uint32_t packet_size;\n"
	"    time_t timestamp_begin; time_t timestamp_end; };\n"
	"  event.header := struct { time_t t; }; };\n"
	"event { name = \"n\"; fields := struct { uint8_t n; }; };\n";

#define PACKETS 4

static void put32(uint8_t *at, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(v >> 8 * i);
}

/* Each packet: 20 bytes of head, one event of 5. */
static void make_stream(void)
{
	uint8_t bytes[PACKETS * 25];

	for (uint32_t p = 0; p < PACKETS; p++) {
		uint8_t *at = bytes + 25 * p;

		put32(at, 0xc1fc1fc1);
		put32(at + 4, 200);
		put32(at + 8, 200);
		put32(at + 12, 10 * p);
		put32(at + 16, 10 * p + 9);
		put32(at + 20, 10 * p + 5);
		at[24] = (uint8_t)p;
	}
	fuzz_file("metadata", metadata, sizeof(metadata) - 1);
	fuzz_file("s_0", bytes, sizeof(bytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct view_select select = { .has_begin = true };

	if (!fuzz_dir[0]) {
		fuzz_dir_make();
		make_stream();
	}
	if (!size)
		return 0;
	select.begin_ns = data[0] % 50;
	fuzz_file("index/s_0.idx", data + 1, size - 1);
	fuzz_view(&select, VIEW_TEXT);
	return 0;
}
