/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every file call of the consumer fails once, and three times in a row, with a full
 * disk, with an I/O error, and in the middle of a write. The request fails with a message and
 * succeeds when it is repeated; each lost event is counted; the trace is complete in the end.
 */
#include "lib/consumer_client.h"
#include "read/view.h"

#define EVENTS 900u

struct fault {
	unsigned int at, times, error;
	bool half; /* the first write is a short one */
};

static void set_number(const char *name, unsigned int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	setenv(name, text, 1);
}

static void set_fault(const struct fault *fault)
{
	daemon_preload("dso/fault.so");
	set_number("LTT_FAULT_AT", fault->at);
	set_number("LTT_FAULT_TIMES", fault->times);
	set_number("LTT_FAULT_ERRNO", fault->error);
	setenv("LTT_FAULT_COUNT", "calls", 1);
	if (fault->half)
		setenv("LTT_FAULT_SHORT", "1", 1);
	else
		unsetenv("LTT_FAULT_SHORT");
}

/* Repeat the request until it succeeds: as many refusals as there are faults, each with a
 * message. */
#define INSIST(d, fault, r, name, ...)                                \
	do {                                                          \
		for (unsigned int try_ = 0;; try_++) {                \
			ASK(d, r, name, __VA_ARGS__);                 \
			if (!(r)->code)                               \
				break;                                \
			CHECK((r)->text[0] && try_ < (fault)->times); \
		}                                                     \
	} while (0)

static struct rings open_all(struct daemon *d, const struct fault *fault)
{
	struct rings rings = { .id = 1, .nr = nr_cpus() };
	int dir = fresh_dir("out");
	struct reply r;

	INSIST(d, fault, &r, con_output_open, .doorbell = -1, .output = 1, .dir = dir,
	       .uid = geteuid(), .gid = getegid(), .flush_us = 10000);
	INSIST(d, fault, &r, con_trace, .metadata = -1, .output = 1, .trace = 1, .path = "t",
	       .uuid = { (const uint8_t *)TEST_UUID, 16 });
	INSIST(d, fault, &r, con_metadata_append, .trace = 1, .text = text_blob(test_tsdl));
	INSIST(d, fault, &r, con_ring, .data = -1, .ctl_rw = -1, .module = -1, .trace = 1,
	       .ring = 1, .channel = "chan", .nr_rings = rings.nr, .num_subbuf = 4,
	       .subbuf_size = 8192, .clock = TEST_RING_CLOCK);
	rings_from(&r, &rings);
	return rings;
}

static void note_problem(void *priv, const char *sentence)
{
	fprintf(stderr, "verify: %s\n", sentence);
	++*(unsigned int *)priv;
}

static void check_trace(uint64_t written)
{
	const struct view_summary *sum;
	unsigned int problems = 0;
	struct view *view;

	CHECK_IS(view_open("out", note_problem, &problems, &view), ==, 0);
	CHECK(view_verify(view) == 0 && view_summary(view, &sum) == 0);
	CHECK(problems == 0 && sum->events == written);
	for (size_t i = 0; i < sum->nr_streams; i++)
		CHECK_IS(sum->streams[i].unindexed_packets, ==, 0);
	view_free(view);
	CHECK_IS(walk_trace(open("out/t", O_RDONLY), "chan", nr_cpus()).records, ==, written);
}

static void flush(struct daemon *d, const struct fault *fault)
{
	struct reply r;

	INSIST(d, fault, &r, con_output_flush, .output = 1);
}

/* Return: the number of calls that there were. */
static unsigned int run(const struct fault *fault)
{
	unsigned int calls = 0;
	struct producer p;
	struct rings rings;
	struct sums sums;
	struct daemon d;
	FILE *f;

	set_fault(fault);
	d = daemon_start();
	rings = open_all(&d, fault);
	enable_rings(&d, 1, 1, true);
	producer_init(&p, &rings, 0);
	for (unsigned int i = 0; i < EVENTS; i++) {
		produce(&p);
		if (i % (EVENTS / 3) == 10)
			flush(&d, fault);
	}
	enable_rings(&d, 1, 1, false);
	flush(&d, fault);
	sums = get_stats(&d, 1);
	CHECK_IS(sums.recorded + lost_in_rings(&sums), ==, EVENTS);
	CHECK(sums.written == sums.recorded && !sums.lost_output && !sums.lost_invalid);
	CHECK_IS(d.recoveries, ==, d.errors);
	MUST(&d, con_output_close, .output = 1);
	daemon_end(&d);
	check_trace(sums.written);
	close(rings.data_fd);
	close(rings.ctl_fd);
	close(rings.doorbell_fd);
	f = fopen("calls", "r");
	CHECK(f && fscanf(f, "%u", &calls) == 1);
	fclose(f);
	CHECK_IS(system("rm -rf out calls"), ==, 0);
	return calls;
}

int main(void)
{
	static const struct fault kinds[] = {
		{ .times = 1, .error = ENOSPC },
		{ .times = 3, .error = EIO },
		{ .times = 2, .error = EDQUOT, .half = true },
	};
	struct fault none = { .at = 0 };
	unsigned int calls, runs = 0;

	need_preload();
	need_rseq();
	enter_test_dir();
	calls = run(&none);
	CHECK_IS(calls, >, 20);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (unsigned int k = 1; k <= calls; k++, runs++) {
			struct fault fault = kinds[i];

			fault.at = k;
			run(&fault);
		}
	printf("%u calls, %u runs\n", calls, runs);
	return 0;
}
