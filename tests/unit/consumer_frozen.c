/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A disk that hangs (a frozen file system): its session's counters are answered
 * and its rings can be switched at once, another session does not notice, and
 * when the disk comes back nothing is missing. Needs root and a loop device.
 */
#include <linux/fs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>

#include "lib/consumer_client.h"

static void mount_disk(void)
{
	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		SKIP("a mount namespace needs root");
	CHECK_IS(mkdir("disk", 0755), ==, 0);
	if (system("truncate -s 16M image && mkfs.ext4 -q image >/dev/null 2>&1 &&"
		   " mount -o loop image disk 2>/dev/null") != 0)
		SKIP("can't mount an image");
}

static void check_while_frozen(struct daemon *d, struct producer *p, struct producer *other)
{
	uint64_t begin = mono_ns(), took;
	struct sums sums;

	for (int i = 0; i < 100; i++) {
		sums = get_stats(d, 1);
		CHECK_IS(sums.recorded + lost_in_rings(&sums), ==, p->payload.seq);
		produce(p); /* counted, also while the worker hangs */
		enable_rings(d, 1, 1, true);
	}
	for (int i = 0; i < 20; i++) {
		for (int k = 0; k < 100; k++)
			produce(other);
		MUST(d, con_output_flush, .output = 2);
	}
	took = mono_ns() - begin;
	printf("100 x counters and switching, 20 flushes beside it: %.1f ms\n", (double)took / 1e6);
	sums = get_stats(d, 2);
	CHECK(sums.written == other->payload.seq && took < 3000000000u);
}

int main(void)
{
	struct producer p, other;
	struct rings rings;
	struct daemon d;
	struct sums sums;
	int dir;

	need_rseq();
	enter_test_dir();
	mount_disk();
	d = daemon_start();
	dir = open("disk", O_RDONLY | O_DIRECTORY);
	open_output(&d, 1, dir, 5000);
	open_trace(&d, 1, 1, "t");
	rings = open_rings(&d, 1, 1, 4, 16384);
	enable_rings(&d, 1, 1, true);
	producer_init(&p, &rings, 0);
	open_output(&d, 2, fresh_dir("other"), 0);
	open_trace(&d, 2, 2, "t");
	rings = open_rings(&d, 2, 2, 4, 65536);
	enable_rings(&d, 2, 2, true);
	producer_init(&other, &rings, 1);
	for (int i = 0; i < 1000; i++)
		produce(&p);
	MUST(&d, con_output_flush, .output = 1);
	CHECK_IS(ioctl(dir, FIFREEZE, 0), ==, 0);
	for (int i = 0; i < 100000; i++)
		produce(&p);
	sleep_ms(50);
	check_while_frozen(&d, &p, &other);
	CHECK_IS(ioctl(dir, FITHAW, 0), ==, 0);
	MUST(&d, con_output_flush, .output = 1);
	sums = get_stats(&d, 1);
	CHECK(sums.lost_full && sums.recorded == sums.written);
	CHECK_IS(sums.recorded + lost_in_rings(&sums), ==, p.payload.seq);
	MUST(&d, con_output_close, .output = 1);
	CHECK_IS(walk_trace(openat(dir, "t", O_RDONLY), "chan", rings.nr).records, ==,
		 sums.written);
	daemon_end(&d);
	close(dir);
	return 0;
}
