/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Several processes record flat out into one session's rings, some are killed
 * in the middle, a second channel has rings that are far too small; everything
 * is accounted for: recorded + lost = emitted, on disk as in the counters.
 */
#include "lib/consumer_client.h"

enum { WRITERS = 4, MS = 80, AFTER_MS = 50 };

struct score {
	uint64_t calls[WRITERS]; /* calls that returned */
	uint32_t stop;
};

static struct score *score;

/* The gate has no time to read so many events. */
static unsigned int shortened(unsigned int ms)
{
	return check_short() > 1 ? ms / 4 : ms;
}

static pid_t start_writer(const struct daemon *d, const struct rings *rings, uint32_t writer)
{
	pid_t pid = fork_child(d);

	if (pid == 0) {
		struct producer p;

		producer_init(&p, rings, writer);
		while (!__atomic_load_n(&score->stop, __ATOMIC_RELAXED)) {
			produce(&p);
			__atomic_store_n(&score->calls[writer], p.payload.seq, __ATOMIC_RELAXED);
			/* now and then a pause, so that it is not all one burst */
			if (p.payload.seq % 200000 == 0)
				sleep_ms(5);
		}
		_exit(0);
	}
	return pid;
}

static uint64_t run_writers(const struct daemon *d, const struct rings *rings, unsigned int killed)
{
	pid_t pids[WRITERS];
	uint64_t calls = 0;

	memset(score, 0, sizeof(*score));
	for (uint32_t i = 0; i < WRITERS; i++)
		pids[i] = start_writer(d, rings, i);
	sleep_ms(shortened(MS));
	for (unsigned int i = 0; i < killed; i++)
		kill(pids[i], SIGKILL);
	sleep_ms(shortened(AFTER_MS));
	__atomic_store_n(&score->stop, 1, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < WRITERS; i++)
		CHECK_IS(waitpid(pids[i], NULL, 0), ==, pids[i]);
	for (uint32_t i = 0; i < WRITERS; i++)
		calls += score->calls[i];
	return calls;
}

static void check_round(struct daemon *d, const char *path, uint64_t output, uint32_t num_subbuf,
			uint64_t subbuf_size, unsigned int killed)
{
	int dir = fresh_dir(path), trace;
	struct rings rings;
	struct walked walked;
	struct sums sums;
	uint64_t calls, known;

	open_output(d, output, dir, 0);
	open_trace(d, output, output, "ust/uid/1/64-bit");
	rings = open_rings(d, output, output, num_subbuf, subbuf_size);
	enable_rings(d, output, output, true);
	calls = run_writers(d, &rings, killed);
	enable_rings(d, output, output, false);
	MUST(d, con_output_flush, .output = output);
	sums = get_stats(d, output);
	known = sums.recorded + lost_in_rings(&sums);
	CHECK(sums.streams == rings.nr && sums.used == 0);
	/* of a killed writer, one call may have recorded and not returned */
	CHECK(known >= calls && known <= calls + killed);
	CHECK(sums.recorded == sums.written && !sums.lost_output && !sums.lost_invalid);
	MUST(d, con_output_close, .output = output);

	trace = openat(dir, "ust/uid/1/64-bit", O_RDONLY | O_DIRECTORY);
	CHECK_IS(trace, >=, 0);
	walked = walk_trace(trace, "chan", rings.nr);
	CHECK(walked.records == sums.written && walked.lost == lost_in_rings(&sums));
	CHECK(walked.packets == sums.packets && walked.bytes == sums.bytes);
	long lines = babeltrace(path, walked.lost ? COMPLAINT_LOSSES : COMPLAINT_NONE);
	CHECK(lines < 0 || (uint64_t)lines == sums.recorded);
	printf("%s: %llu calls, %llu recorded, %llu lost, %llu packets\n", path,
	       (unsigned long long)calls, (unsigned long long)sums.recorded,
	       (unsigned long long)walked.lost, (unsigned long long)walked.packets);
	close(trace);
	close(dir);
}

/* A trace without an event, and one that has only metadata, can be read. */
static void check_empty(struct daemon *d)
{
	int dir = fresh_dir("empty");

	open_output(d, 90, dir, 0);
	open_trace(d, 90, 90, "t");
	CHECK_IS(babeltrace("empty", COMPLAINT_NONE), <=, 0);
	open_rings(d, 90, 90, 2, 4096);
	enable_rings(d, 90, 90, true);
	MUST(d, con_output_flush, .output = 90);
	CHECK_IS(babeltrace("empty", COMPLAINT_NONE), <=, 0);
	MUST(d, con_output_close, .output = 90);
	CHECK_IS(babeltrace("empty", COMPLAINT_NONE), <=, 0);
	close(dir);
}

/* No output: everything is consumed and counted. */
static void check_uncounted(struct daemon *d)
{
	struct producer p;
	struct rings rings;
	struct sums sums;

	open_output(d, 91, -1, 0);
	open_trace(d, 91, 91, "t");
	rings = open_rings(d, 91, 91, 2, 4096);
	enable_rings(d, 91, 91, true);
	producer_init(&p, &rings, 0);
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 100; i++)
			produce(&p);
		MUST(d, con_output_flush, .output = 91);
	}
	sums = get_stats(d, 91);
	CHECK(sums.recorded == 2000 && sums.written == 0 && !sums.lost_output &&
	      !lost_in_rings(&sums));
	MUST(d, con_output_close, .output = 91);
}

int main(void)
{
	struct daemon d;

	need_rseq();
	enter_test_dir();
	d = daemon_start();
	score = mmap(NULL, sizeof(*score), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	CHECK_IS(score, !=, MAP_FAILED);
	check_empty(&d);
	check_uncounted(&d);
	check_round(&d, "default", 1, 4, 512 << 10, 0);
	check_round(&d, "killed", 2, 4, 512 << 10, 2);
	check_round(&d, "tiny", 3, 2, 4096, 2);
	check_round(&d, "one", 4, 1, 4096, WRITERS);
	daemon_end(&d);
	return 0;
}
