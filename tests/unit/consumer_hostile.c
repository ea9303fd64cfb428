/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Applications that scribble over their rings, shrink them and punch holes into
 * them: the consumer survives, answers, and another session's counts are still exact. The control
 * pages can't be written by a holder of the descriptor.
 */
#include <grp.h>
#include <linux/falloc.h>

#include "lib/consumer_client.h"

enum { MS = 1200 };

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Values that hurt more than others. */
static uint64_t nasty(uint64_t *state, uint64_t was)
{
	uint64_t r = next_random(state);

	switch (r % 8) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX;
	case 2:
		return r;
	case 3:
		return was + (r >> 8) % 8192;
	case 4:
		return was - (r >> 8) % 8192;
	case 5:
		return was ^ LTT_PUB_PARITY;
	case 6:
		return (was & ~LTT_POS_MASK) | (r & LTT_POS_MASK);
	default:
		return was + 65536;
	}
}

static void scribble(const struct rings *rings)
{
	struct stat st;
	uint64_t state = 88172645463325252u, *words;

	CHECK_IS(fstat(rings->data_fd, &st), ==, 0);
	words = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, rings->data_fd,
		     0);
	CHECK_IS(words, !=, MAP_FAILED);
	for (;;) {
		uint64_t r = next_random(&state);
		size_t block = (size_t)st.st_size / rings->nr / 8;
		/* mostly the producer's words of some ring, else anything */
		size_t i = r % 4 ? r % rings->nr * block + (r >> 20) % 8 :
				   (r >> 4) % ((size_t)st.st_size / 8);

		__atomic_store_n(&words[i], nasty(&state, words[i]), __ATOMIC_RELAXED);
		if (r % 100000 == 1)
			(void)!fallocate(rings->data_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
					 0, st.st_size);
	}
}

/* Operations that seals and modes forbid. */
static void check_seals(const struct rings *rings)
{
	char path[64];

	CHECK(ftruncate(rings->data_fd, 0) < 0 && ftruncate(rings->data_fd, 1 << 30) < 0);
	CHECK(ftruncate(rings->ctl_fd, 0) < 0 && ftruncate(rings->doorbell_fd, 0) < 0);
	CHECK_IS(fcntl(rings->data_fd, F_ADD_SEALS, F_SEAL_WRITE), <, 0);
	CHECK_IS(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, rings->ctl_fd, 0), ==,
		 MAP_FAILED);
	CHECK_IS(write(rings->ctl_fd, "x", 1), <, 0);
	if (geteuid() != 0)
		return;
	pid_t pid = fork();
	if (pid == 0) { /* an application of a user, under the daemon of root */
		snprintf(path, sizeof(path), "/proc/self/fd/%d", rings->ctl_fd);
		if (setgroups(0, NULL) < 0 || setgid(65534) < 0 || setuid(65534) < 0)
			_exit(2);
		_exit(open(path, O_RDWR) < 0 && errno == EACCES ? 0 : 1);
	}
	int status;
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

/* Packets are framed correctly with any contents of the ring words. */
static void check_framing(int out)
{
	for (uint32_t cpu = 0; cpu < nr_cpus(); cpu++) {
		char name[64];
		size_t len, at = 0;
		uint8_t *data;
		uint64_t end = 0, discarded = 0;

		snprintf(name, sizeof(name), "t/chan_%u", cpu);
		if (faccessat(out, name, F_OK, 0) < 0)
			continue;
		data = slurp(out, name, &len);
		while (at < len) {
			struct test_packet p;

			CHECK_IS(len - at, >=, sizeof(p));
			memcpy(&p, data + at, sizeof(p));
			CHECK(p.magic == 0xc1fc1fc1 && p.size == p.content);
			CHECK(p.size / 8 >= sizeof(p) && p.size / 8 <= len - at);
			CHECK(p.begin <= p.end && p.begin >= end && p.discarded >= discarded);
			end = p.end;
			discarded = p.discarded;
			at += p.size / 8;
		}
		free(data);
	}
}

static void check_neighbour(struct daemon *d, struct producer *honest)
{
	uint64_t end = mono_ns() + MS * 1000000ull, worst = 0;
	struct sums sums;

	while (mono_ns() < end) {
		uint64_t begin = mono_ns();

		for (int i = 0; i < 1000; i++)
			produce(honest);
		MUST(d, con_output_flush, .output = 2);
		worst = mono_ns() - begin > worst ? mono_ns() - begin : worst;
		MUST(d, con_output_flush, .output = 1);
		sums = get_stats(d, 1); /* of the hostile one: plausible, and at once */
		CHECK(sums.used <= sums.size && sums.lost_full < 1ull << 40);
	}
	sums = get_stats(d, 2);
	CHECK_IS(sums.recorded + lost_in_rings(&sums), ==, honest->payload.seq);
	CHECK(sums.recorded == sums.written && !sums.lost_invalid && !lost_in_rings(&sums));
	printf("the neighbour's slowest 1000 records and flush: %.2f ms\n", (double)worst / 1e6);
}

int main(void)
{
	int out1, out2;
	struct rings hostile, rings;
	struct producer honest;
	struct daemon d;
	struct sums sums;
	uint64_t begin;
	pid_t pid;

	need_rseq();
	enter_test_dir();
	d = daemon_start();
	out1 = fresh_dir("hostile");
	out2 = fresh_dir("honest");
	open_output(&d, 1, out1, 5000);
	open_output(&d, 2, out2, 0);
	open_trace(&d, 1, 1, "t");
	open_trace(&d, 2, 2, "t");
	hostile = open_rings(&d, 1, 1, 2, 4096);
	rings = open_rings(&d, 2, 2, 4, 65536);
	check_seals(&hostile);
	enable_rings(&d, 1, 1, true);
	enable_rings(&d, 2, 2, true);
	producer_init(&honest, &rings, 1);
	pid = fork_child(&d);
	if (pid == 0)
		scribble(&hostile);
	check_neighbour(&d, &honest);
	begin = mono_ns();
	MUST(&d, con_output_flush, .output = 1);
	sums = get_stats(&d, 1);
	MUST(&d, con_output_close, .output = 1); /* while it goes on scribbling */
	printf("flush and close of the damaged one: %.2f ms; %llu bytes invalid, %llu packets\n",
	       (double)(mono_ns() - begin) / 1e6, (unsigned long long)sums.lost_invalid,
	       (unsigned long long)sums.packets);
	CHECK(mono_ns() - begin < 2000000000u && sums.lost_invalid);
	CHECK_IS(d.damaged, ==, 1);
	kill(pid, SIGKILL);
	CHECK_IS(waitpid(pid, NULL, 0), ==, pid);
	check_framing(out1);
	MUST(&d, con_output_close, .output = 2);
	CHECK_IS(walk_trace(openat(out2, "t", O_RDONLY), "chan", rings.nr).records, ==,
		 honest.payload.seq);
	daemon_end(&d);
	return 0;
}
