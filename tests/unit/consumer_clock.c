/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cycle counter went back by a day: the session daemon informs the consumer, and the clock of
 * all rings of the output goes on by that much, in those that are open, being opened or opened
 * later; that of another output does not. The counter itself is the machine's.
 */
#include "base/macros.h"
#include "consumerd/now.h"
#include "lib/consumer_client.h"

#define EVENTS 100u
#define BACK (86400ull << 31) /* cycles, at about 2 GHz */

static void record(const struct rings *rings)
{
	struct producer p;

	producer_init(&p, rings, 0);
	for (unsigned int i = 0; i < EVENTS; i++)
		produce(&p);
}

static void clock_add(struct daemon *d, uint64_t cycles)
{
	MUST(d, con_clock_add, .output = 1, .cycles = cycles);
}

static struct rings open_shifted(struct daemon *d, uint64_t id, uint64_t cycles)
{
	struct rings rings = { .id = id, .nr = nr_cpus() };
	struct reply r;

	ASK(d, &r, con_ring, .data = -1, .ctl_rw = -1, .module = -1, .trace = 1, .ring = id,
	    .channel = "later", .stream_class = 0, .nr_rings = rings.nr, .num_subbuf = 4,
	    .subbuf_size = 65536, .clock = TEST_RING_CLOCK, .first_instance = 1000,
	    .clock_add = cycles);
	CHECK_IS(r.code, ==, 0);
	CHECK_IS(rings_from(&r, &rings), ==, 0);
	return rings;
}

/* All packets of a channel's streams are of this time. Return: the latest end of one. */
static uint64_t check_packets(const char *channel, uint64_t begin, uint64_t end)
{
	uint64_t last = 0;

	for (uint32_t cpu = 0; cpu < nr_cpus(); cpu++) {
		struct test_packet p;
		char name[100];
		size_t len, at;
		uint8_t *data;
		int dir;

		dir = open("out/t", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		snprintf(name, sizeof(name), "%s_%u", channel, cpu);
		if (faccessat(dir, name, F_OK, 0) == 0) {
			data = slurp(dir, name, &len);
			for (at = 0; at < len; at += p.size / 8) {
				memcpy(&p, data + at, sizeof(p));
				CHECK_IS(p.begin, >=, begin);
				CHECK_IS(p.end, <=, end);
				CHECK_IS(p.end, >=, p.begin);
				last = MAX(last, p.end);
			}
			free(data);
		}
		close(dir);
	}
	return last;
}

int main(void)
{
	uint64_t begin = now_of_ring(TEST_RING_CLOCK) >> LTT_TS_BITS << LTT_TS_BITS;
	struct rings first, later, other;
	struct daemon d;
	struct reply r;
	struct sums s;
	uint64_t end;

	need_rseq();
	enter_test_dir();
	d = daemon_start();
	open_output(&d, 1, fresh_dir("out"), 1000);
	open_output(&d, 2, fresh_dir("other"), 1000);
	open_trace(&d, 1, 1, "t");
	open_trace(&d, 2, 2, "t");
	first = open_rings(&d, 1, 1, 4, 65536);
	other = open_rings(&d, 2, 2, 4, 65536);
	enable_rings(&d, 1, 1, true);
	enable_rings(&d, 2, 2, true);
	record(&first);
	MUST(&d, con_output_flush, .output = 1);
	ASK(&d, &r, con_clock_add, .output = 3, .cycles = BACK);
	CHECK_IS(r.code, ==, ERR_INVALID);
	clock_add(&d, BACK / 2);
	record(&first);
	clock_add(&d, BACK);
	record(&first);
	later = open_shifted(&d, 3, BACK);
	enable_rings(&d, 1, 3, true);
	record(&later);
	record(&other);
	end = now_of_ring(TEST_RING_CLOCK);
	s = get_stats(&d, 1);
	CHECK_IS(s.recorded, ==, 4 * EVENTS);
	CHECK(s.lost_invalid == 0 && lost_in_rings(&s) == 0);
	MUST(&d, con_output_close, .output = 1);
	MUST(&d, con_output_close, .output = 2);
	daemon_end(&d);
	CHECK_IS(check_packets("chan", begin, end + BACK), >=, begin + BACK);
	CHECK_IS(check_packets("later", begin + BACK, end + BACK), >, begin + BACK);
	CHECK(rename("out", "first") == 0 && rename("other", "out") == 0);
	CHECK_IS(check_packets("chan", begin, end), >, begin);
	babeltrace("first", COMPLAINT_NONE);
	return 0;
}
