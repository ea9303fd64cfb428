/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A full disk is reported at once, written data stays readable, events that do not fit into the
 * rings are counted, another session is not affected, and all writing continues when there is room
 * again. Needs root, for a small tmpfs.
 */
#include <sched.h>
#include <sys/mount.h>

#include "lib/consumer_client.h"

static void mount_small(const char *where)
{
	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		SKIP("a mount namespace needs root");
	CHECK_IS(mkdir(where, 0755), ==, 0);
	if (mount("small", where, "tmpfs", 0, "size=1m") < 0)
		SKIP("can't mount a tmpfs");
}

static void fill(const char *path)
{
	static char block[4096];
	int fd = open(path, O_CREAT | O_WRONLY, 0644);

	while (write(fd, block, sizeof(block)) > 0)
		;
	close(fd);
}

static void produce_many(struct producer *p, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		produce(p);
}

static void check_other_session(struct daemon *d, struct producer *other)
{
	uint64_t begin = mono_ns();
	struct sums sums;

	produce_many(other, 1000);
	MUST(d, con_output_flush, .output = 2);
	sums = get_stats(d, 2);
	CHECK(sums.written == other->payload.seq && !lost_in_rings(&sums));
	printf("another session's flush meanwhile: %.2f ms\n", (double)(mono_ns() - begin) / 1e6);
}

static void check_full(struct daemon *d, struct producer *p, struct producer *other)
{
	struct sums sums;
	struct reply r;

	for (int i = 0; i < 60 && !d->errors; i++) {
		produce_many(p, 2000);
		daemon_listen(d, 10);
	}
	CHECK(d->errors == 1 && d->last_error == ENOSPC);
	check_other_session(d, other);
	/* readable, whole packets only, while it is full */
	sums = get_stats(d, 1);
	CHECK_IS(walk_trace(open("small/t", O_RDONLY), "chan", nr_cpus()).records, ==,
		 sums.written);
	long lines = babeltrace("small/t", COMPLAINT_NONE);
	CHECK(lines < 0 || (uint64_t)lines == sums.written);
	/* the rings fill up; rejected records are counted */
	produce_many(p, 100000);
	sums = get_stats(d, 1);
	CHECK(sums.lost_full && sums.recorded + lost_in_rings(&sums) == p->payload.seq);
	CHECK_IS(sums.used, >, sums.size / 4);
	ASK(d, &r, con_output_flush, .output = 1);
	CHECK(r.code == ERR_OUTPUT && r.text[0]);
	CHECK(d->errors == 1 && d->recoveries == 0); /* reported once */
}

static void check_resume(struct daemon *d, struct producer *p)
{
	uint64_t begin = mono_ns();
	struct sums sums;

	CHECK_IS(unlink("small/ballast"), ==, 0);
	while (!d->recoveries) {
		CHECK_IS(mono_ns() - begin, <, 10000000000u);
		daemon_listen(d, 10);
	}
	printf("writing again %.0f ms after there was room\n", (double)(mono_ns() - begin) / 1e6);
	produce_many(p, 100);
	MUST(d, con_output_flush, .output = 1);
	sums = get_stats(d, 1);
	CHECK(sums.recorded == sums.written && !sums.lost_output);
	CHECK_IS(sums.recorded + lost_in_rings(&sums), ==, p->payload.seq);
}

/* Descriptions have room of their own; where even that is used up they wait,
 * and come first when they can. */
static void check_metadata(struct daemon *d)
{
	static char text[60000];
	struct reply r;
	uint32_t serial;

	fill("small/ballast");
	memset(text, ' ', sizeof(text) - 1);
	MUST(d, con_metadata_append, .trace = 1, .text = text_blob(text));
	SEND(d, con_metadata_append, .trace = 1, .text = text_blob(text));
	serial = d->serial;
	daemon_listen(d, 200);
	CHECK(d->errors == 2 && d->last_error == ENOSPC);
	CHECK_IS(unlink("small/ballast"), ==, 0);
	daemon_await(d, serial, &r, NULL, NULL);
	CHECK_IS(r.code, ==, 0);
	daemon_listen(d, 100);
	CHECK_IS(d->recoveries, ==, 2);
}

/* Events that can't be written when a session is closed are counted as lost to its output. */
static void check_close(struct daemon *d, struct producer *p)
{
	struct sums before, after;
	struct reply r;

	fill("small/ballast");
	before = get_stats(d, 1);
	/* up to the last free byte of the last page */
	while (d->errors < 3) {
		produce_many(p, 500);
		daemon_listen(d, 20);
	}
	ASK(d, &r, con_ring_close, .ring = 1);
	CHECK_IS(r.code, ==, 0);
	after = get_stats(d, 1);
	CHECK(after.lost_output > 0 && after.written + after.lost_output == after.recorded);
	CHECK(after.recorded >= before.recorded && after.used == 0);
	CHECK_IS(after.recorded + lost_in_rings(&after), ==, p->payload.seq);
	ASK(d, &r, con_output_close, .output = 1);
	CHECK_IS(walk_trace(open("small/t", O_RDONLY), "chan", nr_cpus()).records, ==,
		 after.written);
}

/* The list of traces has the mark of the end where all was written, the last packets included. */
static void check_cut_short(struct daemon *d)
{
	struct producer p;
	struct rings rings;
	struct reply r;
	uint8_t *list;
	size_t len;

	CHECK_IS(unlink("small/ballast"), ==, 0);
	open_output(d, 3, open("small", O_RDONLY | O_DIRECTORY), 10000000);
	open_trace(d, 3, 3, "late");
	rings = open_rings(d, 3, 3, 4, 16384);
	enable_rings(d, 3, 3, true);
	producer_init(&p, &rings, 0);
	produce_many(&p, 1);
	MUST(d, con_output_flush, .output = 3);
	fill("small/ballast");
	produce_many(&p, 600);
	ASK(d, &r, con_output_close, .output = 3);
	CHECK_IS(r.code, ==, ERR_OUTPUT);
	list = slurp(AT_FDCWD, "small/.traces", &len);
	CHECK(len > 6 && memcmp(list + len - 6, "late//", 6) == 0);
	free(list);
}

int main(void)
{
	struct producer p, other;
	struct rings rings;
	struct daemon d;

	need_rseq();
	enter_test_dir();
	mount_small("small");
	d = daemon_start();
	open_output(&d, 1, open("small", O_RDONLY | O_DIRECTORY), 10000);
	open_trace(&d, 1, 1, "t");
	fill("small/ballast");
	CHECK_IS(truncate("small/ballast", 700 << 10), ==, 0);
	rings = open_rings(&d, 1, 1, 4, 16384);
	enable_rings(&d, 1, 1, true);
	producer_init(&p, &rings, 0);
	open_output(&d, 2, fresh_dir("other"), 10000);
	open_trace(&d, 2, 2, "t");
	rings = open_rings(&d, 2, 2, 4, 16384);
	enable_rings(&d, 2, 2, true);
	producer_init(&other, &rings, 1);
	check_full(&d, &p, &other);
	check_resume(&d, &p);
	check_metadata(&d);
	check_close(&d, &p);
	check_cut_short(&d);
	daemon_end(&d);
	return 0;
}
