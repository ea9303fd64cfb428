/* SPDX-License-Identifier: GPL-2.0-only */
/* hello_fields - one event of each kind of field; tests compare the values read back. */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>

#include <ltt/log.h>
#include <ltt/marker.h>
#include <ltt/tracepoint.h>

LTT_ENUM(hello, state, ltt_value("IDLE", 0), ltt_range("BUSY", 1, 9), ltt_auto("DONE"),
	 ltt_value("FAILED", -1))

LTT_TRACEPOINT(hello, integers, (int x), LTT_INFO,
	       ltt_int(int8_t, i8, -x), ltt_int(uint8_t, u8, 255), ltt_int(int16_t, i16, INT16_MIN),
	       ltt_int(uint16_t, u16, UINT16_MAX), ltt_int(int32_t, i32, INT32_MIN),
	       ltt_int(uint32_t, u32, UINT32_MAX), ltt_int(int64_t, i64, INT64_MIN),
	       ltt_int(uint64_t, u64, UINT64_MAX), ltt_int(bool, yes, true))
LTT_TRACEPOINT(hello, bases, (unsigned int x), LTT_INFO,
	       ltt_hex(unsigned int, hex, x), ltt_oct(unsigned int, oct, x),
	       ltt_bin(uint8_t, bin, x), ltt_ptr(ptr, (uintptr_t)0x1234),
	       ltt_net(uint16_t, port, htons(8080)), ltt_net_hex(uint32_t, host, htonl(0x7f000001)))
LTT_TRACEPOINT(hello, floats, (double x), LTT_INFO,
	       ltt_float(float, f, 1.5f), ltt_float(double, d, x))
LTT_TRACEPOINT(hello, strings, (const char *text, const char *null), LTT_INFO,
	       ltt_string(text, text), ltt_string(null, null), ltt_string(empty, ""),
	       ltt_array_text(four, "abcdef", 4), ltt_sequence_text(six, text, uint16_t, 6))
LTT_TRACEPOINT(hello, lists, (const int16_t *n, const float *f, int nr), LTT_INFO,
	       ltt_array(int16_t, n, n, 3), ltt_sequence(int16_t, some, n, uint8_t, nr),
	       ltt_sequence_hex(int16_t, none, n, uint32_t, 0), ltt_array(float, f, f, 2),
	       ltt_int(int, behind, 42))
LTT_TRACEPOINT(hello, enums, (int a, int b), LTT_INFO,
	       ltt_enum(int8_t, hello, state, a, a), ltt_enum(uint32_t, hello, state, b, b))
LTT_TRACEPOINT(hello, hidden, (int x), LTT_INFO,
	       ltt_nowrite(ltt_string(unseen, "secret")), ltt_int(int, seen, x))
LTT_TRACEPOINT(hello, nothing, (), LTT_INFO)
LTT_TRACEPOINT(hello, words, (int x), LTT_INFO,
	       ltt_int(int, struct, x), ltt_int(int, event, x + 1), ltt_int(int, _a, x + 2))

int main(void)
{
	static const int16_t numbers[] = { 1, -2, 3 };
	static const float floats[] = { 0.5f, -0.25f };

	ltt_trace(hello, integers, 128);
	ltt_trace(hello, bases, 42);
	ltt_trace(hello, floats, -0.125);
	ltt_trace(hello, strings, "several words", NULL);
	ltt_trace(hello, lists, numbers, floats, 2);
	ltt_trace(hello, enums, -1, 10);
	ltt_trace(hello, enums, 5, 0);
	ltt_trace(hello, hidden, 1);
	ltt_trace(hello, nothing);
	ltt_trace(hello, words, 1);
	trace_mark(hello_mark, "small %hhd hex 0x%lx text %s f %g", (signed char)-3, 0xabcUL, "t", 0.5);
	ltt_tracef("%d and %s", 1, "two");
	return 0;
}
