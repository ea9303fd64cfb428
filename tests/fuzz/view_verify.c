/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Proving a trace of any bytes: each stream that is proven sound is sound for every reader,
 * with the same number of events, and its ledger adds up.
 *
 * An input: one byte (1: checksums of packets are mended, as far as their sizes
 * lead), two bytes of length, the index, the stream.
 */
#include <stdlib.h>
#include <string.h>

#include "trace/packet.h"
#include "lib/view_dir.h"

#define U(n) "typealias integer { size = " #n "; align = 8; } := uint" #n "_t;\n"

static const char metadata[] = U(8) U(16) U(32) U(
	64) "typealias integer { size = 5; align = 1; } := uint5_t;\n"
	    "typealias integer { size = 16; align = 1; } := bits16_t;\n"
	    "trace { major = 1; minor = 8; byte_order = le;\n"
	    "  packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id;\n"
	    "    uint64_t stream_instance_id; }; };\n"
	    "clock { name = c; freq = 1000000000; };\n"
	    "typealias integer { size = 27; align = 1; map = clock.c.value; } := uint27_clock_t;\n"
	    "typealias integer { size = 64; align = 8; map = clock.c.value; } := uint64_clock_t;\n"
	    "stream { id = 0; packet.context := struct { uint64_clock_t timestamp_begin;\n"
	    "    uint64_clock_t timestamp_end; uint64_t content_size; uint64_t packet_size;\n"
	    "    uint64_t packet_seq_num; uint64_t events_discarded; uint32_t cpu_id;\n"
	    "    uint64_t stream_pos; uint64_t events_recorded; uint64_t lost_full;\n"
	    "    uint64_t lost_size; uint64_t lost_busy; uint64_t lost_output; uint32_t crc32c; };\n"
	    "  event.header := struct {\n"
	    "    enum : uint5_t { compact = 0 ... 29, wide = 30, extended = 31 } id;\n"
	    "    variant <id> { struct { uint27_clock_t timestamp; } compact;\n"
	    "      struct { uint27_clock_t timestamp; bits16_t id; } wide;\n"
	    "      struct { uint32_t id; uint64_clock_t timestamp; } extended; } v; } align(8); };\n"
	    "event { id = 0; name = \"n\"; fields := struct { uint8_t _n; }; };\n"
	    "event { id = 1; name = \"s\"; fields := struct { string _s; }; };\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct view *open_view(void)
{
	struct view *view;

	return view_open(fuzz_dir, fuzz_report, NULL, &view) < 0 ? NULL : view;
}

/* So that a fuzzer's changes are parsed, and not only rejected by the checksum. */
static void repair(uint8_t *stream, size_t len)
{
	struct packet_header h;

	for (size_t at = 0, bytes; len - at >= sizeof(h); at += bytes) {
		memcpy(&h, stream + at, sizeof(h));
		bytes = h.packet_size / 8;
		if (bytes < sizeof(h) || bytes > len - at)
			return;
		h.crc32c = packet_checksum(&h, stream + at + sizeof(h), bytes - sizeof(h));
		memcpy(stream + at, &h, sizeof(h));
	}
}

struct verdict {
	uint64_t events, packets, problems;
};

static struct verdict judge(struct view *view)
{
	const struct view_summary *sum;
	struct verdict v;

	if (view_summary(view, &sum) < 0)
		abort();
	v = (struct verdict){ sum->events, sum->packets, sum->problems };
	for (size_t i = 0; i < sum->nr_streams && !v.problems; i++) {
		const struct view_stream *s = &sum->streams[i];

		if (s->damaged_packets || s->lost_packets)
			abort();
		if (s->has_ledger && s->recorded != s->events)
			abort();
	}
	return v;
}

static void see(const struct verdict *proven)
{
	struct view *view = open_view();
	struct verdict seen;

	if (!view || view_scan(view, NULL) < 0)
		abort();
	seen = judge(view);
	if (seen.problems || seen.events != proven->events || seen.packets != proven->packets)
		abort();
	view_free(view);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct verdict verdict;
	struct view *view;
	uint8_t *stream;
	size_t len;

	if (size < 3)
		return 0;
	if (!fuzz_dir[0]) {
		fuzz_dir_make();
		fuzz_file("metadata", metadata, sizeof(metadata) - 1);
	}
	len = data[1] | (size_t)data[2] << 8;
	len = len < size - 3 ? len : size - 3;
	fuzz_file("index/s_0.idx", data + 3, len);
	size -= 3 + len;
	stream = malloc(size + 1);
	if (!stream)
		abort();
	memcpy(stream, data + 3 + len, size);
	if (data[0] & 1)
		repair(stream, size);
	fuzz_file("s_0", stream, size);
	free(stream);
	view = open_view();
	if (!view)
		return 0;
	if (view_verify(view) < 0)
		abort();
	verdict = judge(view);
	view_free(view);
	if (!verdict.problems)
		see(&verdict);
	return 0;
}
