/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A loss of power at any moment. The consumer's writes and syncs are logged; then disks are
 * made as they may be found afterwards: after each call, with any of the sectors that were
 * not synced. Synced packets are there, whole; of the rest there is nothing but whole packets.
 */
#include "lib/consumer_client.h"
#include "ctl/trace/durable.h"
#include "lib/power.h"

#define ROUNDS 4u /* syncs */
#define IMAGES 6u /* for each call */

/* In place of libc's, for durable_make(), which runs here. */
int fsync(int fd)
{
	power_synced(fd);
	return 0;
}

/* Metadata grows too; the last events are never synced. */
static void record_all(void)
{
	struct durable done;
	struct producer p;
	struct rings rings;
	struct err err = { 0 };
	struct daemon d;

	d = daemon_start();
	open_output(&d, 1, fresh_dir("out"), 1000000);
	open_trace(&d, 1, 1, "t");
	rings = open_rings(&d, 1, 1, 4, 8192);
	enable_rings(&d, 1, 1, true);
	producer_init(&p, &rings, 0);
	for (unsigned int round = 0; round <= ROUNDS; round++) {
		for (unsigned int i = 0; i < 100 + 200 * (round % 2); i++)
			produce(&p);
		MUST(&d, con_output_flush, .output = 1);
		MUST(&d, con_metadata_append, .trace = 1, .text = text_blob("/* more */\n"));
		if (round == ROUNDS)
			break;
		CHECK(durable_make("out", &done, &err) == 0 && done.files >= 3);
		power_mark(power_events("out"));
		CHECK_IS(power_events("out"), ==, p.payload.seq);
	}
	MUST(&d, con_output_close, .output = 1);
	daemon_end(&d);
}

int main(void)
{
	struct power_sum sum;

	need_preload();
	need_rseq();
	enter_test_dir();
	power_begin();
	record_all();
	sum = power_check(IMAGES);
	printf("%llu calls, %llu disks, %llu events of which %llu were synced\n",
	       (unsigned long long)sum.calls, (unsigned long long)sum.disks,
	       (unsigned long long)sum.most, (unsigned long long)sum.synced);
	CHECK(sum.synced > 500 && sum.most > sum.synced);
	return 0;
}
