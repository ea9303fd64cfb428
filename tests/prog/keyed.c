/* SPDX-License-Identifier: GPL-2.0-only */
/* keyed N TEXT... - N events for each text, with numbers and labels to count them by. */
#include <stdint.h>
#include <stdlib.h>

#include <ltt/tracepoint.h>

LTT_ENUM(keyed, method, ltt_value("GET", 0), ltt_range("PUT", 1, 2), ltt_value("ODD", -1))

LTT_TRACEPOINT(keyed, request, (const char *path, int number, uint16_t size), LTT_INFO,
	       ltt_int(int, number, number), ltt_enum(int8_t, keyed, method, method, number),
	       ltt_net(uint16_t, size, size), ltt_string(path, path),
	       ltt_sequence_text(behind, path, uint8_t, 3), ltt_int(int64_t, last, -number))
LTT_TRACEPOINT(keyed, number, (uint64_t value), LTT_INFO, ltt_int(uint64_t, value, value),
	       ltt_float(double, real, 1.5))

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;

	for (int i = 0; i < n; i++) {
		for (int j = 2; j < argc; j++)
			ltt_trace(keyed, request, argv[j], j - 3, 0x0100);
		ltt_trace(keyed, number, (uint64_t)i);
	}
	return 0;
}
