/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A disk that needs seconds for the packet of a large buffer is slow, and does not hang: events
 * that do not fit have one cause, the full buffer, with the time that the disk took; no problem is
 * reported, and the buffers of a program that begins meanwhile are made at once.
 */
#include "lib/consumer_client.h"

#define SUBBUF_BYTES (2u << 20)
#define MS_PER_MIB "400"

static void produce_for(struct producer *p, uint64_t ms)
{
	for (uint64_t end = mono_ns() + ms * 1000000; mono_ns() < end; sleep_ms(5))
		for (int i = 0; i < 20000; i++)
			produce(p);
}

int main(void)
{
	struct producer p;
	struct rings rings;
	struct sums sums;
	struct daemon d;
	uint64_t begin;

	need_preload();
	need_rseq();
	enter_test_dir();
	daemon_preload("dso/fault.so");
	setenv("LTT_FAULT_SLOW", MS_PER_MIB, 1);
	d = daemon_start();
	open_output(&d, 1, fresh_dir("out"), 5000);
	open_trace(&d, 1, 1, "t");
	rings = open_rings(&d, 1, 1, 4, SUBBUF_BYTES);
	enable_rings(&d, 1, 1, true);
	producer_init(&p, &rings, 0);
	produce_for(&p, 1500);
	SEND(&d, con_output_flush, .output = 1);
	sleep_ms(20);
	begin = mono_ns();
	open_rings(&d, 1, 2, 4, 16384);
	CHECK_IS((mono_ns() - begin) / 1000000, <, 1500);
	produce_for(&p, 2500);
	sums = get_stats(&d, 1);
	printf("%llu lost, %llu of them as if nothing could be written; %llu ms for %llu bytes\n",
	       (unsigned long long)sums.lost_full, (unsigned long long)sums.lost_stalled,
	       (unsigned long long)sums.slow_ns / 1000000, (unsigned long long)sums.slow_bytes);
	CHECK(sums.lost_full && !sums.lost_stalled && !sums.lost_output && !d.errors);
	CHECK(sums.slow_ns > 500000000 && sums.slow_bytes > SUBBUF_BYTES / 2);
	kill(d.pid, SIGKILL);
	daemon_wait(&d);
	return 0;
}
