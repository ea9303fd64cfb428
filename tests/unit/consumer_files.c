/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The consumer's files: trace files are limited, no existing file is overwritten and no
 * link followed, files belong to the output's user, and every invalid request gets an error message
 * and changes nothing.
 */
#include <sched.h>

#include "lib/consumer_client.h"
#include "trace/streamlist.h"

#define NO_FLUSH 60000000u /* but the ones that are requested */

/* One record to wake the consumer, in a packet of its own; then @packets. */
/* The first record wakes the worker, which then consumes only on request: if the record were
 * flushed instead, the next one would wake the worker in the middle of a packet. */
static void record(struct daemon *d, struct producer *p, uint64_t output, unsigned int packets,
		   unsigned int records)
{
	produce(p);
	while (get_stats(d, output).written < 1)
		usleep(1000);
	for (unsigned int i = 0; i < packets; i++) {
		for (unsigned int k = 0; k < records; k++)
			produce(p);
		MUST(d, con_output_flush, .output = output);
	}
}

static struct rings limited_rings(struct daemon *d, uint64_t id, uint64_t size, uint32_t count)
{
	struct rings rings = { .id = id, .nr = 1 };
	struct reply r;

	ASK(d, &r, con_ring, .data = -1, .ctl_rw = -1, .module = -1, .trace = id, .ring = id,
	    .channel = "chan", .nr_rings = 1, .num_subbuf = 4, .subbuf_size = 65536,
	    .clock = TEST_RING_CLOCK, .tracefile_size = size, .tracefile_count = count);
	CHECK_IS(r.code, ==, 0);
	rings_from(&r, &rings);
	return rings;
}

/* One ring for any CPU: this process is its only writer, and stays where it is. */
static void stay_on_cpu_0(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		SKIP("CPU 0 is not ours");
}

static uint64_t walk_numbered(int dir, unsigned int from, unsigned int to)
{
	struct walked sum = { 0 };
	struct test_packet last = { 0 };

	for (unsigned int n = from; n <= to; n++) {
		char name[64];
		struct stat st;

		snprintf(name, sizeof(name), "chan_0_%u", n);
		walk_stream(dir, name, &last, &sum);
		CHECK(fstatat(dir, name, &st, 0) == 0 && st.st_size <= 4096);
	}
	CHECK(sum.packets);
	return last.recorded;
}

/* Three of the four sub-buffers; none of a set whose producers do without restartable sequences. */
static void check_reclaim(struct daemon *d)
{
	struct rep_con_reclaim rep;
	struct rings rings, other = { .id = 2, .nr = 1 };
	struct producer p;
	struct reply r;

	open_output(d, 1, fresh_dir("reclaim"), NO_FLUSH);
	open_trace(d, 1, 1, "t");
	rings = limited_rings(d, 1, 0, 0);
	ASK(d, &r, con_ring, .data = -1, .ctl_rw = -1, .module = -1, .trace = 1, .ring = 2,
	    .channel = "other", .stream_class = 1, .first_instance = 1, .nr_rings = 1,
	    .num_subbuf = 4, .subbuf_size = 65536, .clock = TEST_RING_CLOCK, .exclusive = 1);
	CHECK_IS(r.code, ==, 0);
	rings_from(&r, &other);
	enable_rings(d, 1, 1, true);
	producer_init(&p, &rings, 0);
	record(d, &p, 1, 1, 100);
	ASK(d, &r, con_reclaim, .output = 1, .age_ns = UINT64_MAX);
	CHECK(r.code == 0 && rep_con_reclaim_decode(&r.dec, &rep) == 0);
	CHECK(rep.bytes == 0 && rep.left == 0);
	ASK(d, &r, con_reclaim, .output = 1);
	CHECK(r.code == 0 && rep_con_reclaim_decode(&r.dec, &rep) == 0);
	CHECK(rep.bytes == 3 * 65536 && rep.left == 0);
	ASK(d, &r, con_reclaim, .output = 1, .all = 1);
	CHECK(r.code == 0 && rep_con_reclaim_decode(&r.dec, &rep) == 0);
	CHECK(rep.bytes == 0 && rep.left == 1);
	ASK(d, &r, con_reclaim, .output = 99);
	CHECK_IS(r.code, ==, ERR_INVALID);
	MUST(d, con_output_close, .output = 1);
}

/* Packets of 100 records, 16 bytes each, and a header: two fit into a file. */
static void check_file_sizes(struct daemon *d)
{
	int out = fresh_dir("sizes"), dir;
	struct rings rings;
	struct producer p;

	open_output(d, 1, out, NO_FLUSH);
	open_trace(d, 1, 1, "t");
	rings = limited_rings(d, 1, 4096, 0);
	enable_rings(d, 1, 1, true);
	producer_init(&p, &rings, 0);
	record(d, &p, 1, 10, 100);
	MUST(d, con_output_close, .output = 1);
	dir = openat(out, "t", O_RDONLY | O_DIRECTORY);
	CHECK_IS(walk_numbered(dir, 0, 4), ==, 1001);
	CHECK(faccessat(dir, "chan_0_5", F_OK, 0) < 0 && faccessat(dir, "chan_0", F_OK, 0) < 0);
	long lines = babeltrace("sizes", COMPLAINT_NONE);
	CHECK(lines < 0 || lines == 1001);
}

/* The packet that the first one of a file must follow. */
static struct test_packet packet_before(int dir, const char *name)
{
	size_t len;
	struct test_packet *first = slurp(dir, name, &len);
	struct test_packet before = *first;

	CHECK(len >= sizeof(*first) && first->seq == 5);
	before.seq--;
	before.end = first->begin;
	before.size = sizeof(before) * 8;
	free(first);
	return before;
}

static void check_list_is(int dir, const char *wanted)
{
	size_t len;
	char *list = slurp(dir, STREAMLIST_FILE, &len);

	CHECK(len == strlen(wanted) && memcmp(list, wanted, len) == 0);
	free(list);
}

/* The same with three files in turn: the newest data is kept. */
static void check_file_count(struct daemon *d)
{
	int out = fresh_dir("count"), dir;
	struct rings rings;
	struct producer p;
	struct test_packet last = { 0 };
	struct walked sum = { 0 };

	open_output(d, 2, out, NO_FLUSH);
	open_trace(d, 2, 2, "t");
	rings = limited_rings(d, 2, 4096, 3);
	enable_rings(d, 2, 2, true);
	producer_init(&p, &rings, 0);
	record(d, &p, 2, 10, 100);
	MUST(d, con_output_close, .output = 2);
	dir = openat(out, "t", O_RDONLY | O_DIRECTORY);
	/* packets 0 to 2 and 3 to 4 are gone: 7 to 10 took their files */
	last = packet_before(dir, "chan_0_2");
	walk_stream(dir, "chan_0_2", &last, &sum);
	walk_stream(dir, "chan_0_0", &last, &sum);
	walk_stream(dir, "chan_0_1", &last, &sum);
	CHECK(sum.packets == 6 && last.recorded == 1001);
	CHECK_IS(faccessat(dir, "chan_0_3", F_OK, 0), <, 0);
	check_list_is(dir, "\n0 chan_0_*/\n0 chan_0_*/"); /* of the first file alone */
	/* the events of the abandoned files are not in the trace, on purpose */
	long lines = babeltrace("count", COMPLAINT_LOSSES);
	CHECK(lines < 0 || lines == 600);
}

/* The directory has been used before. */
static void check_planted(struct daemon *d)
{
	int out = fresh_dir("planted"), dir;
	struct rings rings;
	struct producer p;
	struct sums sums;
	struct stat st;
	size_t len;
	char *text;

	open_output(d, 3, out, 0);
	open_trace(d, 3, 3, "t");
	dir = openat(out, "t", O_RDONLY | O_DIRECTORY);
	int victim = openat(out, "victim", O_CREAT | O_WRONLY, 0644);
	CHECK_IS(write(victim, "precious", 8), ==, 8);
	close(victim);
	CHECK_IS(symlinkat("../victim", dir, "chan_0"), ==, 0);
	rings = limited_rings(d, 3, 0, 0);
	enable_rings(d, 3, 3, true);
	producer_init(&p, &rings, 0);
	for (int i = 0; i < 10; i++)
		produce(&p);
	struct reply r;
	ASK(d, &r, con_output_flush, .output = 3);
	CHECK(r.code == ERR_OUTPUT && d->errors == 1 && d->last_error == EEXIST);
	text = slurp(out, "victim", &len);
	CHECK(len == 8 && !memcmp(text, "precious", 8));
	free(text);
	/* out of the way with it, and the data is there after all */
	CHECK_IS(unlinkat(dir, "chan_0", 0), ==, 0);
	MUST(d, con_output_flush, .output = 3);
	CHECK_IS(d->recoveries, ==, 1);
	sums = get_stats(d, 3);
	CHECK(sums.written == 10 && !sums.lost_output);
	CHECK(fstatat(dir, "chan_0", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode));
	CHECK_IS((st.st_mode & 0777), ==, 0640);

	/* a trace where there is one, and through a link */
	ASK(d, &r, con_trace, .metadata = -1, .output = 3, .trace = 31, .path = "t",
	    .uuid = { (const uint8_t *)TEST_UUID, 16 });
	CHECK(r.code == ERR_OUTPUT && strstr(r.text, "exists"));
	CHECK_IS(symlinkat("/tmp", out, "link"), ==, 0);
	ASK(d, &r, con_trace, .metadata = -1, .output = 3, .trace = 32, .path = "link/x",
	    .uuid = { (const uint8_t *)TEST_UUID, 16 });
	CHECK(r.code == ERR_OUTPUT && access("/tmp/x", F_OK) < 0);
	MUST(d, con_output_close, .output = 3);
}

#define REFUSED(d, expected, name, ...)                                          \
	do {                                                                     \
		struct reply r_;                                                 \
                                                                                 \
		ASK(d, &r_, name, __VA_ARGS__);                                  \
		if (r_.code != (expected))                                       \
			fprintf(stderr, "%s: %u %s\n", #name, r_.code, r_.text); \
		CHECK_IS(r_.code, ==, (expected));                               \
	} while (0)

static void check_refusals(struct daemon *d)
{
	static const char *const paths[] = { "",	"/etc", "..",	"a/../b", "a//b",
					     ".hidden", "a/.",	"a\nb", "a/./b" };
	int out = fresh_dir("refused");
	struct blob uuid = { (const uint8_t *)TEST_UUID, 16 };

	open_output(d, 4, out, 0);
	REFUSED(d, ERR_INVALID, con_output_open, .doorbell = -1, .output = 4, .dir = -1);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		REFUSED(d, ERR_INVALID, con_trace, .metadata = -1, .output = 4, .trace = 40,
			.path = paths[i], .uuid = uuid);
	REFUSED(d, ERR_INVALID, con_trace, .metadata = -1, .output = 4, .trace = 40, .path = "t",
		.uuid = { (const uint8_t *)"x", 1 });
	REFUSED(d, ERR_INVALID, con_trace, .metadata = -1, .output = 99, .trace = 40, .path = "t",
		.uuid = uuid);
	open_trace(d, 4, 4, "t");
	REFUSED(d, ERR_INVALID, con_trace, .metadata = -1, .output = 4, .trace = 4, .path = "u",
		.uuid = uuid);
	REFUSED(d, ERR_INVALID, con_metadata_append, .trace = 99, .text = text_blob("x"));

#define RING(...)                                                                                \
	con_ring, .data = -1, .ctl_rw = -1, .module = -1, .trace = 4, .ring = 4, .channel = "c", \
		  .nr_rings = 1, .num_subbuf = 2, .subbuf_size = 4096, __VA_ARGS__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Winitializer-overrides"
#endif
	REFUSED(d, ERR_INVALID, RING(.trace = 99));
	REFUSED(d, ERR_INVALID, RING(.channel = "../c"));
	REFUSED(d, ERR_INVALID, RING(.channel = ""));
	REFUSED(d, ERR_INVALID, RING(.nr_rings = 0));
	REFUSED(d, ERR_INVALID, RING(.nr_rings = 1u << 31));
	REFUSED(d, ERR_INVALID, RING(.num_subbuf = 3));
	REFUSED(d, ERR_INVALID, RING(.num_subbuf = 0));
	REFUSED(d, ERR_INVALID, RING(.subbuf_size = 2048));
	REFUSED(d, ERR_INVALID, RING(.subbuf_size = 4097));
	REFUSED(d, ERR_INVALID, RING(.subbuf_size = 1ull << 62));
	REFUSED(d, ERR_INVALID, RING(.mode = 7));
	REFUSED(d, ERR_INVALID, RING(.clock = 7));
	/* more than any machine has: a sentence, and nothing half made */
	REFUSED(d, ERR_NO_MEMORY,
		RING(.nr_rings = 8192, .num_subbuf = 2, .subbuf_size = 1ull << 35));
	REFUSED(d, 0, RING(.ring = 5));
	REFUSED(d, ERR_INVALID, RING(.ring = 5));
#pragma GCC diagnostic pop
	REFUSED(d, ERR_INVALID, con_ring_close, .ring = 4);
	REFUSED(d, 0, con_ring_close, .ring = 5);
	REFUSED(d, ERR_INVALID, con_ring_close, .ring = 5);
	REFUSED(d, ERR_INVALID, con_output_flush, .output = 99);
	REFUSED(d, ERR_INVALID, con_stats, .output = 99);
	REFUSED(d, 0, con_output_close, .output = 4);
	REFUSED(d, ERR_INVALID, con_output_close, .output = 4);
}

/* Sent as they are: unknown types, cut-off fields. */
static void check_garbage(struct daemon *d)
{
	uint8_t buf[64];
	struct encoder enc;
	struct reply r;

	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, 9999, 0, ++d->serial);
	send_end(d, &enc);
	daemon_await(d, d->serial, &r, NULL, NULL);
	CHECK_IS(r.code, ==, ERR_UNKNOWN_COMMAND);
	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, MSG_con_output_flush, 0, ++d->serial);
	encode_u8(&enc, 1); /* a third of a u32, and no more */
	send_end(d, &enc);
	daemon_await(d, d->serial, &r, NULL, NULL);
	CHECK_IS(r.code, ==, ERR_BAD_MESSAGE);
}

int main(void)
{
	struct daemon d;

	need_rseq();
	stay_on_cpu_0();
	enter_test_dir();
	umask(0022);
	d = daemon_start();
	check_refusals(&d);
	check_garbage(&d);
	check_file_sizes(&d);
	check_file_count(&d);
	check_planted(&d);
	check_reclaim(&d);
	daemon_end(&d);
	return 0;
}
