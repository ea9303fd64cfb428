/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stream files. The first byte selects the metadata that describes the rest: ours, a
 * big-endian one with every type, or one that comes with the input.
 */
#include "lib/view_dir.h"

#define U(n) "typealias integer { size = " #n "; align = 8; } := uint" #n "_t;\n"
#define INTS U(8) U(16) U(32) U(64)

static const char ours[] = INTS
	"typealias integer { size = 5; align = 1; } := uint5_t;\n"
	"typealias integer { size = 16; align = 1; } := bits16_t;\n"
	"trace { major = 1; minor = 8; byte_order = le;\n"
	"  packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id;\n"
	"    uint64_t stream_instance_id; }; };\n"
	"clock { name = c; freq = 2400000000; offset_s = 5; };\n"
	"typealias integer { size = 27; align = 1; map = clock.c.value; } := uint27_clock_t;\n"
	"typealias integer { size = 64; align = 8; map = clock.c.value; } := uint64_clock_t;\n"
	"stream { id = 0; packet.context := struct { uint64_clock_t timestamp_begin;\n"
	"    uint64_clock_t timestamp_end; uint64_t content_size; uint64_t packet_size;\n"
	"    uint64_t packet_seq_num; uint64_t events_discarded; uint32_t cpu_id;\n"
	"    uint64_t stream_pos; uint64_t events_recorded; uint64_t lost_full;\n"
	"    uint64_t lost_size; uint64_t lost_busy; uint64_t lost_output; };\n"
	"  event.header := struct {\n"
	"    enum : uint5_t { compact = 0 ... 29, wide = 30, extended = 31 } id;\n"
	"    variant <id> { struct { uint27_clock_t timestamp; } compact;\n"
	"      struct { uint27_clock_t timestamp; bits16_t id; } wide;\n"
	"      struct { uint32_t id; uint64_clock_t timestamp; } extended; } v; } align(8); };\n"
	"event { id = 0; name = \"n\"; fields := struct { uint32_t _n; }; };\n"
	"event { id = 1; name = \"s\"; fields := struct { string _s; uint16_t __l; uint32_t _q[ __l ];"
	" }; };\n"
	"event { id = 70000; name = \"f\"; fields := struct {\n"
	"  floating_point { exp_dig = 11; mant_dig = 53; } _d; }; };\n";

static const char big[] = INTS
	"trace { major = 1; minor = 8; byte_order = be; packet.header := struct { uint32_t magic; }; };\n"
	"stream { packet.context := struct { uint32_t content_size; uint32_t packet_size; uint8_t n;\n"
	"    uint8_t a[n]; string host; };\n"
	"  event.header := struct { uint8_t id; }; event.context := struct { uint8_t k; }; };\n"
	"event { id = 0; name = \"v\"; fields := struct { enum : uint8_t { a, b, c = 5 ... 9 } t;\n"
	"  variant <t> { uint8_t a; string b; struct { uint16_t n; struct { uint8_t m;\n"
	"    integer { size = 3; align = 1; signed = true; } x[m]; } y[n]; } c; } v; }; };\n"
	"event { id = 1; name = \"e\"; context := struct { uint8_t q; };\n"
	"  fields := struct { uint8_t x[stream.event.context.k];\n"
	"  integer { size = 8; encoding = UTF8; } t[event.context.q]; struct { } none[2][3];\n"
	"  floating_point { exp_dig = 8; mant_dig = 24; } f[2]; }; };\n"
	"event { id = 2; name = \"nothing\"; };\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t which = size ? data[0] : 0;

	if (size < 3)
		return 0;
	fuzz_dir_make();
	if (which % 3 == 0) {
		fuzz_file("metadata", ours, sizeof(ours) - 1);
	} else if (which % 3 == 1) {
		fuzz_file("metadata", big, sizeof(big) - 1);
	} else { /* two bytes of length, metadata, stream */
		size_t len = data[1] | data[2] << 8;

		len = len < size - 3 ? len : size - 3;
		fuzz_file("metadata", data + 3, len);
		data += 2 + len;
		size -= 2 + len;
	}
	fuzz_file("s_0", data + 1, size - 1);
	fuzz_view(NULL, which & 0x80 ? VIEW_JSON : VIEW_TEXT);
	return 0;
}
