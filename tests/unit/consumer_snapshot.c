// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots of rings that are overwritten, and of rings that are consumed: their files have the
 * last records, and the counters of each ring agree with them. A snapshot that can't be written
 * leaves no file, and the output goes on. A repeated request has the same answer.
 */
#include "lib/consumer_client.h"

enum { EVENTS = 20000 };

struct parts {
	uint64_t records, before, bytes;
	unsigned int nr;
};

static struct parts parts;
static int ctl_rw; /* of the rings that are overwritten */

static void add_part(struct decoder *dec, void *data)
{
	struct msg_con_snapshot_ring ring;

	(void)data;
	CHECK_IS(msg_con_snapshot_ring_decode(dec, &ring), ==, 0);
	CHECK(ring.begin <= ring.end && ring.lost == 0 && !ring.records == !ring.bytes);
	parts.records += ring.records;
	parts.before += ring.before;
	parts.bytes += ring.bytes;
	parts.nr++;
}

static uint32_t snapshot(struct daemon *d, uint64_t output, const char *name)
{
	struct reply r;

	memset(&parts, 0, sizeof(parts));
	SEND(d, con_snapshot, .output = output, .name = name, .dir = -1);
	daemon_await(d, d->serial, &r, add_part, NULL);
	if (r.code)
		printf("%s: %s\n", name, r.text);
	return r.code;
}

static struct rings open_overwritten(struct daemon *d, uint64_t trace, uint64_t id)
{
	struct rings rings = { .id = id, .nr = nr_cpus() };
	struct rep_con_ring rep;
	struct reply r;

	ASK(d, &r, con_ring, .data = -1, .ctl_rw = -1, .module = -1, .trace = trace, .ring = id,
	    .channel = "chan", .nr_rings = rings.nr, .num_subbuf = 4, .subbuf_size = 16384,
	    .clock = TEST_RING_CLOCK, .mode = LTT_RING_OVERWRITE);
	CHECK(r.code == 0 && rep_con_ring_decode(&r.dec, &rep) == 0);
	rings.data_fd = rep.data;
	rings.ctl_fd = rep.ctl;
	rings.doorbell_fd = rep.doorbell;
	ctl_rw = rep.ctl_rw;
	return rings;
}

static void write_events(const struct rings *rings, unsigned int nr)
{
	struct producer p;

	producer_init(&p, rings, 0);
	while (nr--)
		produce(&p);
}

static void check_files(const char *path)
{
	long lines = babeltrace(path, COMPLAINT_NONE);

	CHECK(lines < 0 || (uint64_t)lines == parts.records);
}

/* The worker sleeps, and wants to be woken by no record: each would cost a system call. */
static void check_unawaited(const struct rings *rings)
{
	const struct ltt_ring_cons *cons;
	const uint8_t *ctl = mmap(NULL, LTT_RING_CONS_OFFSET + rings->nr * sizeof(*cons), PROT_READ,
				  MAP_SHARED, rings->ctl_fd, 0);

	CHECK(ctl != MAP_FAILED);
	cons = (const struct ltt_ring_cons *)(const void *)(ctl + LTT_RING_CONS_OFFSET);
	for (int i = 0; i < 20; i++, sleep_ms(2))
		for (uint32_t cpu = 0; cpu < rings->nr; cpu++)
			CHECK(cons[cpu].state == LTT_RING_ON && !cons[cpu].waiting);
}

static unsigned int count_entries(const char *path)
{
	DIR *dir = opendir(path);
	unsigned int nr = 0;

	CHECK(dir);
	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr - 2;
}

/* As if the consumer had been killed when the directory had its name, and its successor got
 * the request. */
static void forget_saved(const struct rings *rings)
{
	size_t bytes = LTT_RING_CONS_OFFSET + rings->nr * sizeof(struct ltt_ring_cons);
	uint8_t *ctl = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ctl_rw, 0);
	struct ltt_ring_cons *cons;

	CHECK(ctl != MAP_FAILED);
	cons = (struct ltt_ring_cons *)(void *)(ctl + LTT_RING_CONS_OFFSET);
	for (uint32_t cpu = 0; cpu < rings->nr; cpu++) {
		cons[cpu].saved_end = cons[cpu].saved_records = 0;
		cons[cpu].saved_bytes = cons[cpu].saved_packets = 0;
	}
	munmap(ctl, bytes);
}

/* The second answer is that of the first one, and nothing counts twice. */
static void check_repeated(struct daemon *d, const struct rings *rings, const char *name)
{
	const struct parts before = parts;
	struct sums sums;

	for (int i = 0; i < 3; i++) {
		if (i == 1)
			forget_saved(rings);
		CHECK_IS(snapshot(d, 1, name), ==, 0);
		CHECK(memcmp(&before, &parts, sizeof(parts)) == 0);
		sums = get_stats(d, 1);
		CHECK(sums.recorded == EVENTS && sums.written == parts.records);
		CHECK_IS(sums.bytes, ==, parts.bytes);
	}
}

static void check_parts_of_others(struct daemon *d)
{
	CHECK_IS(mkdir("over/other", 0700), ==, 0);
	CHECK_IS(close(open("over/other/.parts", O_CREAT | O_WRONLY | O_CLOEXEC, 0600)), ==, 0);
	CHECK_IS(snapshot(d, 1, "other"), ==, ERR_OUTPUT);
	CHECK_IS(truncate("over/other/.parts", 16), ==, 0);
	CHECK_IS(snapshot(d, 1, "other"), ==, ERR_OUTPUT);
	CHECK_IS(unlink("over/other/.parts"), ==, 0);
	CHECK_IS(symlink("../first/.parts", "over/other/.parts"), ==, 0);
	CHECK_IS(snapshot(d, 1, "other"), ==, ERR_OUTPUT);
	CHECK(unlink("over/other/.parts") == 0 && rmdir("over/other") == 0);
}

static void check_overwritten(struct daemon *d)
{
	int dir = fresh_dir("over");
	struct rings rings;
	struct sums sums;

	CHECK(mkdir("over/.snapshot-1", 0700) == 0 && mkdir("over/.snapshot-1/ust", 0700) == 0);
	MUST(d, con_output_open, .doorbell = -1, .output = 1, .dir = dir, .uid = geteuid(),
	     .gid = getegid(), .snapshots = 1, .flush_us = 1000);
	open_trace(d, 1, 10, "ust");
	rings = open_overwritten(d, 10, 20);
	MUST(d, con_adopted);
	enable_rings(d, 1, 20, true);
	CHECK_IS(snapshot(d, 1, "none"), ==, 0);
	CHECK_IS(parts.records, ==, 0);
	write_events(&rings, EVENTS);
	check_unawaited(&rings);
	CHECK_IS(count_entries("over"), ==, 1);
	CHECK_IS(snapshot(d, 1, "first"), ==, 0);
	CHECK(parts.nr == nr_cpus() && parts.records && parts.before);
	CHECK_IS(parts.records + parts.before, ==, EVENTS);
	check_files("over/first/ust");
	sums = get_stats(d, 1);
	CHECK(sums.recorded == EVENTS && sums.written == parts.records);
	check_repeated(d, &rings, "first");
	check_parts_of_others(d);
	CHECK_IS(count_entries("over"), ==, 2);
	CHECK_IS(snapshot(d, 1, "a/b"), ==, ERR_INVALID);
	CHECK_IS(chmod("over", 0500), ==, 0);
	CHECK(geteuid() == 0 || snapshot(d, 1, "denied") == ERR_OUTPUT);
	CHECK_IS(chmod("over", 0700), ==, 0);
	CHECK_IS(snapshot(d, 1, "second"), ==, 0);
	check_files("over/second/ust");
	MUST(d, con_output_close, .output = 1);
	CHECK_IS(count_entries("over"), ==, 3);
	CHECK_IS(snapshot(d, 1, "closed"), ==, ERR_INVALID);
}

static void check_consumed(struct daemon *d)
{
	struct rings rings;
	struct sums sums;

	open_output(d, 2, fresh_dir("all"), 1000);
	open_trace(d, 2, 11, "ust");
	rings = open_rings(d, 11, 21, 4, 16384);
	enable_rings(d, 2, 21, true);
	write_events(&rings, 1000);
	MUST(d, con_output_flush, .output = 2);
	CHECK_IS(snapshot(d, 2, "some"), ==, 0);
	sums = get_stats(d, 2);
	CHECK(sums.written == 1000 && parts.records && parts.records <= 1000);
	check_files("all/some/ust");
	MUST(d, con_output_close, .output = 2);
}

int main(void)
{
	struct daemon d;

	need_rseq();
	enter_test_dir();
	d = daemon_start();
	check_overwritten(&d);
	check_consumed(&d);
	daemon_end(&d);
	return 0;
}
