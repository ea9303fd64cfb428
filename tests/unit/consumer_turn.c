// SPDX-License-Identifier: GPL-2.0-only
/*
 * The turn to the next chunk: traces move to an archive, with their lists and metadata, and each
 * stream goes on in a new file, by an empty packet. The archives and the rest have all events,
 * without a gap and without a repetition. A name that is taken is refused, and nothing changes.
 */
#include <sys/mount.h>

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

static void check_names(struct daemon *d)
{
	static const char *const bad[] = { "", "..", "../x", "/x", "archives/../x", "archives//x" };
	struct rep_con_turn rep;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_IS(turn(d, bad[i], &rep), ==, ERR_INVALID);
	CHECK(mkdir(OUT "/archives/taken", 0700) == 0 && symlink("archives", OUT "/link") == 0);
	CHECK_IS(turn(d, "archives/taken", &rep), ==, ERR_OUTPUT);
	CHECK_IS(turn(d, "link/x", &rep), ==, ERR_OUTPUT);
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

int main(void)
{
	struct daemon d;

	need_rseq();
	enter_test_dir();
	d = daemon_start();
	check_turns(&d);
	daemon_end(&d);
	return 0;
}
