// SPDX-License-Identifier: GPL-2.0-only
/*
 * The turn to the next chunk: traces move to an archive, with their lists and metadata, and each
 * stream goes on in a new file, by an empty packet. The archives and the rest have all events,
 * without a gap and without a repetition. A name that is taken is refused, and nothing changes. Two
 * outputs of one directory have one archive. A consumer that is killed at any call of a turn has a
 * successor, which finishes it. A clear removes the files, and counts the records. After a call
 * that fails, as on a full disk, the turn may be requested again, or the output closed: all counts
 * are exact, and no hidden directory is left.
 */
#include <poll.h>
#include <sys/wait.h>

#include "base/dir.h"
#include "lib/consumer_client.h"

enum { EVENTS = 3000 };

#define OUT "out"

static uint32_t turn(struct daemon *d, const char *name, struct rep_con_turn *rep)
{
	struct reply r;

	ASK(d, &r, con_turn, .output = 1, .name = name);
	if (r.code)
		printf("%s: %s\n", name, r.text);
	else
		CHECK_IS(rep_con_turn_decode(&r.dec, rep), ==, 0);
	return r.code;
}

static void must_turn(struct daemon *d, const char *name)
{
	struct rep_con_turn rep;

	CHECK_IS(turn(d, name, &rep), ==, 0);
	CHECK_IS(rep.bytes, >, 0);
}

static int open_at(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		printf("no %s\n", path);
	CHECK_IS(fd, >=, 0);
	return fd;
}

/* Walk the streams of one trace over several directories; @parts ends with NULL. */
static struct walked walk(const char *const *parts, const char *path)
{
	struct walked sum = { 0 };

	for (uint32_t cpu = 0; cpu < nr_cpus(); cpu++) {
		struct test_packet last = { 0 };
		char name[64];

		snprintf(name, sizeof(name), "chan_%u", cpu);
		for (size_t i = 0; parts[i]; i++) {
			char where[256];
			uint64_t packets = sum.packets;
			struct test_packet before = last;
			int dir;

			snprintf(where, sizeof(where), "%s/%s", parts[i], path);
			dir = open_at(where);
			if (faccessat(dir, name, F_OK, 0) == 0)
				walk_stream(dir, name, &last, &sum);
			else
				CHECK(!before.magic);
			CHECK(!before.magic || sum.packets > packets);
			close(dir);
		}
		sum.records += last.recorded - last.lost_output;
	}
	return sum;
}

static void write_events(struct producer *p, unsigned int nr)
{
	while (nr--)
		produce(p);
}

/* Each is readable alone, and together they have all. */
static void check_parts(struct daemon *d, const char *const *parts, const char *path, uint64_t want)
{
	struct sums sums = get_stats(d, 1);
	struct walked sum = walk(parts, path);
	long lines = 0;

	CHECK_IS(sums.recorded, ==, want);
	CHECK_IS(sums.written, ==, want);
	CHECK(sum.records == want && sum.bytes == sums.bytes && sum.packets == sums.packets);
	for (size_t i = 0; parts[i] && lines >= 0; i++) {
		char where[256];
		long n;

		snprintf(where, sizeof(where), "%s/%s", parts[i], path);
		n = babeltrace(where, COMPLAINT_NONE);
		lines = n < 0 ? -1 : lines + n;
	}
	CHECK(lines < 0 || (uint64_t)lines == want);
}

static const char *const all_parts[] = { OUT "/archives/a", OUT "/archives/b", OUT "/archives/c",
					 OUT, NULL };

/* An entry in the way is named, with the reason. */
static void check_obstacle(struct daemon *d, const char *name, const char *text)
{
	struct reply r;

	ASK(d, &r, con_turn, .output = 1, .name = name);
	printf("%s: %s\n", name, r.text);
	CHECK(r.code == ERR_OUTPUT && strstr(r.text, text));
}

static void check_names(struct daemon *d)
{
	static const char *const bad[] = { "", "..", "../x", "/x", "archives/../x", "archives//x" };
	struct rep_con_turn rep;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_IS(turn(d, bad[i], &rep), ==, ERR_INVALID);
	CHECK(mkdir(OUT "/archives/taken", 0700) == 0 && symlink("archives", OUT "/link") == 0);
	CHECK_IS(turn(d, "archives/taken", &rep), ==, ERR_OUTPUT);
	check_obstacle(d, "link/x", "'link' in the output directory is a symbolic link");
	CHECK(mkfifo(OUT "/fifo", 0600) == 0 && symlink("..", OUT "/archives/.turn-1") == 0);
	check_obstacle(d, "fifo/x", "'fifo' in the output directory is no directory");
	check_obstacle(d, "archives/x", "'archives/.turn-1' in the output directory is a symbolic");
	CHECK(unlink(OUT "/fifo") == 0 && unlink(OUT "/archives/.turn-1") == 0);
	CHECK(rmdir(OUT "/archives/taken") == 0 && unlink(OUT "/link") == 0);
}

static void check_turns(struct daemon *d)
{
	struct rep_con_turn rep;
	struct producer p;
	struct rings rings;

	open_output(d, 1, fresh_dir(OUT), 1000);
	open_trace(d, 1, 10, "ust/uid");
	rings = open_rings(d, 10, 20, 4, 16384);
	enable_rings(d, 1, 20, true);
	producer_init(&p, &rings, 0);
	write_events(&p, EVENTS);
	must_turn(d, "archives/a");
	check_parts(d, (const char *const[]){ OUT "/archives/a", OUT, NULL }, "ust/uid", EVENTS);
	must_turn(d, "archives/a");
	check_names(d);
	write_events(&p, EVENTS);
	must_turn(d, "archives/b");
	must_turn(d, "archives/c");
	MUST(d, con_metadata_append, .trace = 10, .text = text_blob("/* more */\n"));
	write_events(&p, EVENTS);
	MUST(d, con_output_flush, .output = 1);
	check_parts(d, all_parts, "ust/uid", 3 * EVENTS);
	MUST(d, con_ring_close, .ring = 20);
	MUST(d, con_trace_close, .trace = 10);
	check_parts(d, all_parts, "ust/uid", 3 * EVENTS);
	MUST(d, con_output_close, .output = 1);
	CHECK_IS(turn(d, "archives/closed", &rep), ==, ERR_INVALID);
}

/* --- traces that have ended, and those of another output --------------------------- */

static bool is_listed(const char *path)
{
	size_t len;
	char *list = slurp(AT_FDCWD, OUT "/.traces", &len);
	bool found = strstr(list, path);

	free(list);
	return found;
}

static struct rings record_into(struct daemon *d, uint64_t output, uint64_t trace, const char *path)
{
	struct rings rings;
	struct producer p;

	open_trace(d, output, trace, path);
	rings = open_rings(d, trace, trace, 4, 16384);
	enable_rings(d, output, trace, true);
	producer_init(&p, &rings, 0);
	write_events(&p, EVENTS);
	return rings;
}

static void check_others(struct daemon *d)
{
	static const char *const paths[] = { "ust/pid/one", "ust/pid/two", "kernel" };
	const char *const parts[] = { OUT "/archives/a", OUT, NULL };
	struct reply r;

	dir_remove(AT_FDCWD, OUT);
	open_output(d, 1, fresh_dir(OUT), 1000);
	open_output(d, 2, open_at(OUT), 1000);
	record_into(d, 1, 10, "ust/pid/one");
	MUST(d, con_ring_close, .ring = 10);
	MUST(d, con_trace_close, .trace = 10);
	CHECK(is_listed("ust/pid/one"));
	record_into(d, 1, 11, "ust/pid/two");
	record_into(d, 2, 12, "kernel");
	must_turn(d, "archives/a");
	CHECK(access(OUT "/ust/pid/one", F_OK) < 0 && !is_listed("ust/pid/one"));
	CHECK(is_listed("ust/pid/two") && access(OUT "/archives/a/kernel", F_OK) < 0);
	for (int i = 0; i < 2; i++) {
		ASK(d, &r, con_turn, .output = 2, .name = "archives/a");
		CHECK_IS(r.code, ==, 0);
		must_turn(d, "archives/a");
	}
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		char where[64];
		long lines;

		snprintf(where, sizeof(where), OUT "/archives/a/%s", paths[i]);
		lines = babeltrace(where, COMPLAINT_NONE);
		CHECK(lines < 0 || lines == EVENTS);
	}
	CHECK(access(OUT "/archives/.turn-1", F_OK) < 0 && access(OUT "/archives/.turn-2", F_OK) < 0);
	CHECK_IS(walk(parts, "kernel").records, ==, EVENTS);
	CHECK_IS(walk(parts, "ust/pid/two").records, ==, EVENTS);
	MUST(d, con_output_close, .output = 1);
	MUST(d, con_output_close, .output = 2);
}

/* --- kills --------------------------------------------------------------------------- */

struct buffers {
	int data, ctl_rw, doorbell;
	uint64_t metadata_bytes;
};

static struct rings open_buffers(struct daemon *d, struct buffers *ret)
{
	struct rings rings = { .id = 20, .nr = nr_cpus() };
	struct rep_con_metadata_append appended;
	struct rep_con_ring opened;
	struct reply r;

	open_output(d, 1, open_at(OUT), 1000);
	open_trace(d, 1, 10, "ust/uid");
	ASK(d, &r, con_metadata_append, .trace = 10, .text = text_blob("/* more */\n"));
	CHECK_IS(rep_con_metadata_append_decode(&r.dec, &appended), ==, 0);
	ret->metadata_bytes = appended.bytes;
	ASK(d, &r, con_ring, .data = -1, .ctl_rw = -1, .module = -1, .trace = 10, .ring = 20,
	    .channel = "chan", .nr_rings = rings.nr, .num_subbuf = 4, .subbuf_size = 65536,
	    .clock = TEST_RING_CLOCK);
	CHECK_IS(rep_con_ring_decode(&r.dec, &opened), ==, 0);
	rings.data_fd = ret->data = opened.data;
	rings.ctl_fd = opened.ctl;
	rings.doorbell_fd = ret->doorbell = opened.doorbell;
	ret->ctl_rw = opened.ctl_rw;
	enable_rings(d, 1, 20, true);
	return rings;
}

static void adopt(struct daemon *d, const struct buffers *b, const char *turning)
{
	MUST(d, con_output_open, .output = 1, .dir = open_at(OUT), .doorbell = b->doorbell,
	     .uid = geteuid(), .gid = getegid(), .flush_us = 1000, .turning = turning);
	MUST(d, con_trace, .adopt = 1, .metadata = -1, .output = 1, .trace = 10, .path = "ust/uid",
	     .uuid = { (const uint8_t *)TEST_UUID, 16 }, .metadata_bytes = b->metadata_bytes);
	MUST(d, con_ring, .adopt = 1, .trace = 10, .ring = 20, .channel = "chan",
	     .nr_rings = nr_cpus(), .num_subbuf = 4, .subbuf_size = 65536,
	     .clock = TEST_RING_CLOCK, .data = b->data, .ctl_rw = b->ctl_rw, .module = -1);
	MUST(d, con_adopted);
}

/* The files are removed in the background. */
static void await_removal(void)
{
	for (int i = 0; i < 200; i++, sleep_ms(50)) {
		DIR *dir = dir_open(AT_FDCWD, OUT "/archives");
		bool empty = !dir_next(dir);

		closedir(dir);
		if (empty)
			return;
	}
	CHECK(!"what was cleared is still there");
}

/* The files have all that is not cleared. */
static void check_cleared(struct daemon *d, uint64_t recorded, uint64_t least)
{
	struct sums sums;
	long lines;

	MUST(d, con_output_flush, .output = 1);
	sums = get_stats(d, 1);
	CHECK_IS(sums.recorded, ==, recorded);
	CHECK_IS(sums.written + sums.cleared + sums.lost_output, ==, recorded);
	CHECK_IS(sums.lost_output, ==, 0);
	CHECK_IS(sums.cleared, >=, least);
	lines = babeltrace(OUT "/ust/uid", COMPLAINT_NONE);
	CHECK(lines < 0 || (uint64_t)lines == sums.written);
	await_removal();
}

static uint64_t clear(struct daemon *d)
{
	struct rep_con_turn rep;
	struct reply r;

	ASK(d, &r, con_turn, .output = 1, .name = "archives/a", .clear = 1);
	if (r.code)
		printf("clear: %s\n", r.text);
	CHECK(r.code == 0 && rep_con_turn_decode(&r.dec, &rep) == 0);
	return rep.cleared;
}

/* The flush period is longer than the test: the records are in the rings. */
static void check_clear(struct daemon *d)
{
	struct rings rings;
	struct producer p;

	dir_remove(AT_FDCWD, OUT);
	open_output(d, 1, fresh_dir(OUT), 100000000);
	open_trace(d, 1, 10, "ust/uid");
	rings = open_rings(d, 10, 20, 4, 65536);
	enable_rings(d, 1, 20, true);
	producer_init(&p, &rings, 0);
	write_events(&p, EVENTS);
	CHECK_IS(clear(d), ==, EVENTS);
	check_cleared(d, EVENTS, EVENTS);
	write_events(&p, EVENTS);
	check_cleared(d, 2 * EVENTS, EVENTS);
	write_events(&p, EVENTS);
	CHECK_IS(clear(d), ==, 2 * EVENTS);
	CHECK_IS(clear(d), ==, 0);
	write_events(&p, EVENTS);
	check_cleared(d, 4 * EVENTS, 3 * EVENTS);
	must_turn(d, "kept");
	write_events(&p, EVENTS);
	CHECK_IS(clear(d), ==, EVENTS);
	MUST(d, con_ring_close, .ring = 20);
	CHECK_IS(get_stats(d, 1).cleared, ==, 4 * EVENTS);
	CHECK_IS(get_stats(d, 1).written, ==, EVENTS);
	MUST(d, con_output_close, .output = 1);
}

/* Return: whether it was killed, before its answer. */
static bool kill_in_turn(struct daemon *d, bool clears)
{
	struct pollfd poll_fd = { .fd = d->fd, .events = POLLIN };
	bool killed;

	SEND(d, con_turn, .output = 1, .name = "archives/a", .clear = clears);
	CHECK_IS(poll(&poll_fd, 1, 60000), ==, 1);
	killed = poll_fd.revents & POLLHUP;
	kill(d->pid, SIGKILL);
	waitpid(d->pid, NULL, 0);
	close(d->fd);
	return killed;
}

static void set_number(const char *name, unsigned int number)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", number);
	setenv(name, text, 1);
}

/* @error: 0: it is killed. */
static struct daemon start_to_fail(unsigned int at, unsigned int times, int error)
{
	struct daemon d;

	dir_remove(AT_FDCWD, OUT);
	close(fresh_dir(OUT));
	daemon_preload("dso/fault.so");
	setenv("LTT_FAULT_FROM", "archives", 1);
	setenv("LTT_FAULT_SHORT", "1", 1);
	setenv("LTT_FAULT_COUNT", "calls", 1);
	set_number("LTT_FAULT_AT", at);
	set_number("LTT_FAULT_TIMES", times);
	set_number("LTT_FAULT_KILL", !error);
	set_number("LTT_FAULT_ERRNO", (unsigned int)error);
	d = daemon_start();
	unsetenv("LD_PRELOAD");
	return d;
}

/* At the @at-th call. Return: whether there was one. */
static bool check_killed(unsigned int at, bool clears)
{
	struct daemon d;
	struct buffers b;
	struct rings rings;
	struct producer p;
	bool killed;

	d = start_to_fail(at, 1, 0);
	rings = open_buffers(&d, &b);
	producer_init(&p, &rings, 0);
	write_events(&p, EVENTS);
	killed = kill_in_turn(&d, clears);
	write_events(&p, EVENTS);
	d = daemon_start();
	adopt(&d, &b, "archives/a");
	write_events(&p, EVENTS);
	if (clears) {
		clear(&d);
		check_cleared(&d, 3 * EVENTS, 0); /* the rings were perhaps written */
	} else {
		must_turn(&d, "archives/a");
		MUST(&d, con_output_flush, .output = 1);
		check_parts(&d, (const char *const[]){ OUT "/archives/a", OUT, NULL }, "ust/uid",
			    3 * EVENTS);
	}
	CHECK(access(OUT "/archives/.turn-1", F_OK) < 0 && is_listed("ust/uid"));
	MUST(&d, con_output_close, .output = 1);
	daemon_end(&d);
	return killed;
}

/* --- faults -------------------------------------------------------------------------- */

struct failure {
	unsigned int times;
	bool clears, ends; /* the output, after the fault */
};

/* Of both traces: wherever a reader finds them. */
static uint64_t stored_events(const char *where)
{
	static const char *const paths[] = { "ust/pid/one", "ust/uid" };
	uint64_t events = 0;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		char metadata[512], trace[256];
		long lines;

		snprintf(trace, sizeof(trace), "%s/%s", where, paths[i]);
		snprintf(metadata, sizeof(metadata), "%s/metadata", trace);
		if (access(metadata, F_OK) < 0)
			continue;
		lines = babeltrace(trace, COMPLAINT_NONE);
		CHECK(lines >= 0);
		events += (uint64_t)lines;
	}
	return events;
}

static unsigned long calls_made(void)
{
	size_t len;
	char *text = slurp(AT_FDCWD, "calls", &len);
	unsigned long calls = strtoul(text, NULL, 10);

	free(text);
	return calls;
}

/* The clear is no loss to readers, once. */
static void check_noted(void)
{
	size_t len;
	char *list = slurp(AT_FDCWD, OUT "/archives/.gaps", &len);
	const char *entry = strstr(list, "\n7//");

	CHECK(entry && !strstr(entry + 1, "\n7//"));
	free(list);
}

/* The @at-th call fails. Return: whether there was one. */
static bool check_failed(unsigned int at, const struct failure *f)
{
	const char *name = f->clears ? "archives/cleared-7" : "archives/a";
	struct daemon d = start_to_fail(at, f->times, ENOSPC);
	struct rings rings;
	struct buffers b;
	struct producer p;
	struct sums sums;
	uint64_t want = 2 * EVENTS;
	struct reply r;

	rings = open_buffers(&d, &b);
	record_into(&d, 1, 11, "ust/pid/one");
	producer_init(&p, &rings, 0);
	write_events(&p, EVENTS);
	for (int i = 0; i < 10; i++) {
		ASK(&d, &r, con_turn, .output = 1, .name = name, .clear = f->clears);
		if (!r.code)
			break;
		printf("call %u: %s\n", at, r.text);
		write_events(&p, 10);
		want += 10;
		if (f->ends)
			break;
	}
	CHECK(f->ends || !r.code);
	write_events(&p, EVENTS);
	want += EVENTS;
	for (int i = 0; i < 10; i++) {
		ASK(&d, &r, con_output_flush, .output = 1);
		if (!r.code)
			break;
	}
	sums = get_last_stats(&d, 1);
	CHECK_IS(sums.recorded, ==, want);
	CHECK_IS(sums.written + sums.cleared, ==, want);
	daemon_end(&d);
	CHECK_IS(stored_events(OUT) + stored_events(f->clears ? OUT "/archives/cleared-7" :
							       OUT "/archives/a"),
		 ==, sums.written);
	CHECK(access(OUT "/archives/.turn-1", F_OK) < 0);
	if (f->clears && !f->ends)
		check_noted();
	return calls_made() >= at;
}

static const struct failure failures[] = {
	{ .times = 1 },
	{ .times = 1, .clears = true },
	{ .times = 1, .ends = true },
	{ .times = 1, .clears = true, .ends = true },
	{ .times = 6 },
	{ .times = 6, .clears = true },
};

int main(void)
{
	unsigned int stride = getenv("LTT_TEST_SHORT") ? 9 : 1;
	struct daemon d;

	need_rseq();
	need_preload();
	enter_test_dir();
	d = daemon_start();
	check_turns(&d);
	check_others(&d);
	check_clear(&d);
	daemon_end(&d);
	for (int clears = 0; clears < 2; clears++)
		for (unsigned int at = 1 + (unsigned int)getpid() % stride;
		     check_killed(at, clears); at += stride)
			printf("killed at call %u\n", at);
	stride *= stride;
	for (size_t i = 0; i < ARRAY_SIZE(failures); i++)
		for (unsigned int at = 1 + (unsigned int)getpid() % stride;
		     check_failed(at, &failures[i]); at += stride)
			;
	return 0;
}
