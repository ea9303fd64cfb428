/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A consumer that has nothing to do does nothing: no wake-up in two seconds.
 * The first record after that is on disk at once, commands are answered at once,
 * and a producer that rings the doorbell all the time gets no more than a bounded share of ours.
 */
#include <limits.h>
#include <linux/futex.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "lib/consumer_client.h"

static uint64_t status_sum(pid_t pid, const char *word)
{
	char path[300], line[256];
	uint64_t sum = 0;
	struct dirent *de;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	CHECK(tasks);
	while ((de = readdir(tasks))) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/status", pid, de->d_name);
		f = de->d_name[0] == '.' ? NULL : fopen(path, "r");
		while (f && fgets(line, sizeof(line), f))
			if (!strncmp(line, word, strlen(word)))
				sum += strtoull(line + strlen(word) + 1, NULL, 10);
		if (f)
			fclose(f);
	}
	closedir(tasks);
	return sum;
}

static uint64_t wakeups(pid_t pid)
{
	return status_sum(pid, "voluntary_ctxt_switches");
}

static uint64_t cpu_ticks(pid_t pid)
{
	char path[64], text[1024];
	unsigned long user, sys;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	CHECK(f && fgets(text, sizeof(text), f));
	fclose(f);
	CHECK_IS(sscanf(strrchr(text, ')'), ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
			&user, &sys),
		 ==, 2);
	return user + sys;
}

static off_t bytes_of(int dir)
{
	off_t sum = 0;

	for (uint32_t cpu = 0; cpu < nr_cpus(); cpu++) {
		char name[64];
		struct stat st;

		snprintf(name, sizeof(name), "t/chan_%u", cpu);
		if (fstatat(dir, name, &st, 0) == 0)
			sum += st.st_size;
	}
	return sum;
}

static void check_first_record(struct producer *p, int dir)
{
	uint64_t begin = mono_ns();

	produce(p);
	while (!bytes_of(dir)) {
		CHECK_IS(mono_ns() - begin, <, 5000000000u);
		sleep_ms(1);
	}
	printf("first record on disk after %.1f ms\n", (double)(mono_ns() - begin) / 1e6);
}

#if defined(__SANITIZE_THREAD__)
#define OTHERS_WAKE 1 /* the sanitizer has a thread of its own, which never rests */
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define OTHERS_WAKE 1
#endif
#endif
#ifndef OTHERS_WAKE
#define OTHERS_WAKE 0
#endif

static void check_idle(struct daemon *d)
{
	uint64_t before;

	/* two periods: data, nothing new, last check */
	sleep_ms(700);
	before = wakeups(d->pid);
	sleep_ms(2000);
	CHECK(wakeups(d->pid) == before || OTHERS_WAKE);
}

/* Records that come one by one into a sleeping consumer: none is forgotten. */
static void check_no_lost_wakeup(struct daemon *d, struct producer *p, int dir)
{
	for (int round = 0; round < 6; round++) {
		off_t before = bytes_of(dir);
		uint64_t begin;

		/* around the moments in which it drains and falls asleep */
		sleep_ms(40 + (unsigned int)round * 13);
		produce(p);
		begin = mono_ns();
		while (bytes_of(dir) == before) {
			CHECK_IS(mono_ns() - begin, <, 5000000000u);
			sleep_ms(1);
		}
	}
	CHECK_IS(get_stats(d, 1).recorded, ==, p->payload.seq);
}

static pid_t start_spammer(const struct daemon *d, const struct rings *rings)
{
	pid_t pid = fork_child(d);

	if (pid == 0) {
		uint32_t *doorbell = map_doorbell(rings->doorbell_fd);

		for (;;) {
			__atomic_add_fetch(doorbell, 1, __ATOMIC_SEQ_CST);
			syscall(SYS_futex, doorbell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
		}
	}
	return pid;
}

static double worst_answer_ms(struct daemon *d)
{
	uint64_t worst = 0;

	for (int i = 0; i < 20; i++) {
		uint64_t begin = mono_ns();

		MUST(d, con_output_flush, .output = 1);
		worst = mono_ns() - begin > worst ? mono_ns() - begin : worst;
		sleep_ms(5);
	}
	return (double)worst / 1e6;
}

static void check_spam(struct daemon *d, const struct rings *rings)
{
	pid_t spammer = start_spammer(d, rings);
	uint64_t ticks = cpu_ticks(d->pid), woke = wakeups(d->pid), begin = mono_ns();
	double seconds; /* more than requested on a busy machine */

	sleep_ms(1000);
	ticks = cpu_ticks(d->pid) - ticks;
	woke = wakeups(d->pid) - woke;
	seconds = (double)(mono_ns() - begin) / 1e9;
	printf("spammed for %.1f s: %llu wake-ups, %llu ticks of CPU\n", seconds,
	       (unsigned long long)woke, (unsigned long long)ticks);
	CHECK((double)woke < 200 * seconds &&
	      (double)ticks < (double)sysconf(_SC_CLK_TCK) / 4 * seconds);
	printf("slowest of 20 flushes meanwhile: %.2f ms\n", worst_answer_ms(d));
	kill(spammer, SIGKILL);
	CHECK_IS(waitpid(spammer, NULL, 0), ==, spammer);
}

int main(void)
{
	struct producer p;
	struct rings rings;
	struct daemon d;
	uint64_t begin;
	int dir;

	need_rseq();
	enter_test_dir();
	d = daemon_start();
	dir = fresh_dir("out");
	open_output(&d, 1, dir, 20000);
	open_trace(&d, 1, 1, "t");
	rings = open_rings(&d, 1, 1, 4, 65536);
	enable_rings(&d, 1, 1, true);
	producer_init(&p, &rings, 1);
	check_idle(&d);
	check_first_record(&p, dir);
	check_idle(&d);
	check_no_lost_wakeup(&d, &p, dir);
	check_spam(&d, &rings);
	check_idle(&d);
	printf("slowest of 20 idle flushes: %.2f ms\n", worst_answer_ms(&d));
	begin = mono_ns();
	MUST(&d, con_output_close, .output = 1);
	printf("close: %.2f ms\n", (double)(mono_ns() - begin) / 1e6);
	CHECK_IS(walk_trace(openat(dir, "t", O_RDONLY), "chan", rings.nr).records, ==,
		 p.payload.seq);
	daemon_end(&d);
	return 0;
}
