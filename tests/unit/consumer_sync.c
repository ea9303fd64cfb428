/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sessions that have to survive a loss of power by themselves: each packet is on the disk before it
 * counts as written, or a period later; so are all packets when a flush (stop) or a close (destroy)
 * has been answered. None of them is missing on any disk that may be found afterwards.
 */
#include "lib/consumer_client.h"
#include "lib/power.h"
#include "proto/enums.h"

#define ROUNDS 4u
#define IMAGES 4u /* for each call */
#define PERIOD_US 20000u

static void await_written(struct daemon *d, const struct producer *p)
{
	uint64_t end = mono_ns() + 20000000000u;

	while (get_stats(d, 1).written != p->payload.seq) {
		CHECK_IS(mono_ns(), <, end);
		sleep_ms(1);
	}
}

static void await_synced(void)
{
	uint64_t end = mono_ns() + 20000000000u;

	while (!power_is_all_synced()) {
		CHECK_IS(mono_ns(), <, end);
		sleep_ms(5);
	}
}

static void produce_many(struct producer *p, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		produce(p);
}

/* Files are limited, so that new ones get names on the way. */
static void open_all(struct daemon *d, enum sync_mode sync, struct producer *ret)
{
	struct rings rings = { .id = 1, .nr = nr_cpus() };
	struct reply r;

	MUST(d, con_output_open, .doorbell = -1, .output = 1, .dir = fresh_dir("out"),
	     .uid = geteuid(), .gid = getegid(), .flush_us = 5000, .sync = sync,
	     .sync_us = PERIOD_US);
	open_trace(d, 1, 1, "t");
	ASK(d, &r, con_ring, .data = -1, .ctl_rw = -1, .module = -1, .trace = 1, .ring = 1,
	    .channel = "chan", .nr_rings = rings.nr, .num_subbuf = 4, .subbuf_size = 8192,
	    .clock = TEST_RING_CLOCK, .tracefile_size = 8192);
	CHECK_IS(r.code, ==, 0);
	rings_from(&r, &rings);
	enable_rings(d, 1, 1, true);
	producer_init(ret, &rings, 0);
}

static void record_all(enum sync_mode sync)
{
	struct producer p;
	struct daemon d;

	d = daemon_start();
	open_all(&d, sync, &p);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		produce_many(&p, 100 + 200 * (round % 2));
		await_written(&d, &p);
		if (sync == SYNC_PERIOD)
			await_synced();
		power_mark(p.payload.seq);
		MUST(&d, con_metadata_append, .trace = 1, .text = text_blob("/* more */\n"));
	}
	produce_many(&p, 150);
	MUST(&d, con_output_flush, .output = 1);
	power_mark(p.payload.seq);
	produce_many(&p, 50);
	MUST(&d, con_output_close, .output = 1);
	power_mark(p.payload.seq);
	daemon_end(&d);
}

static void check(const char *name, enum sync_mode sync)
{
	struct power_sum sum;

	close(fresh_dir(name));
	CHECK_IS(chdir(name), ==, 0);
	power_begin();
	record_all(sync);
	sum = power_check(IMAGES);
	printf("%s: %llu calls, %llu disks, %llu events\n", name, (unsigned long long)sum.calls,
	       (unsigned long long)sum.disks, (unsigned long long)sum.most);
	CHECK(sum.most == 1000 && sum.synced == sum.most);
	CHECK_IS(chdir(".."), ==, 0);
}

int main(void)
{
	need_preload();
	need_rseq();
	enter_test_dir();
	check("packet", SYNC_PACKET);
	check("period", SYNC_PERIOD);
	return 0;
}
