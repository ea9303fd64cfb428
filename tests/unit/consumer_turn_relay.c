/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The turn of a session that goes to a relay, with and without a spool: the archives at the relay
 * and the rest have all events, without a gap and without a repetition, also if the relay is killed
 * in between. While it is away, a turn is refused, and may be repeated.
 */
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/utsname.h>

#include "lib/consumer_client.h"
#include "proto/enums.h"

enum { EVENTS = 3000 };

#define STAMP "20260101-000000"

static unsigned int port;
static pid_t relay;

static bool listens(void)
{
	const struct sockaddr_in sa = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool ok = connect(fd, (const struct sockaddr *)&sa, sizeof(sa)) == 0;

	close(fd);
	return ok;
}

static void start_relay(const struct daemon *d)
{
	char path[4096], control[64], live[64];

	build_path("bin/ltt-relayd", path);
	snprintf(control, sizeof(control), "tcp://127.0.0.1:%u", port);
	snprintf(live, sizeof(live), "tcp://127.0.0.1:%u", port + 1);
	relay = fork_child(d);
	if (relay == 0) {
		execl(path, "ltt-relayd", "-o", "relay", "-C", control, "-L", live, (char *)NULL);
		_exit(127);
	}
	for (int i = 0; i < 1000 && !listens(); i++)
		sleep_ms(10);
	CHECK(listens());
}

static void kill_relay(void)
{
	CHECK_IS(kill(relay, SIGKILL), ==, 0);
	CHECK_IS(waitpid(relay, NULL, 0), ==, relay);
}

static uint32_t turn(struct daemon *d, uint64_t output, const char *name, bool clear)
{
	struct reply r;

	ASK(d, &r, con_turn, .output = output, .name = name, .clear = clear);
	if (r.code)
		printf("%s: %s\n", name, r.text);
	return r.code;
}

static void open_session(struct daemon *d, uint64_t output, const char *name, int dir)
{
	char addr[32];

	snprintf(addr, sizeof(addr), "127.0.0.1:%u", port);
	MUST(d, con_output_open, .doorbell = -1, .output = output, .dir = dir, .uid = geteuid(),
	     .gid = getegid(), .flush_us = 1000, .max_size = 64 << 20,
	     .relay = addr, .relay_url = "", .relay_host = "",
	     .relay_name = name, .relay_stamp = STAMP,
	     .relay_id = { (const uint8_t *)"0123456789abcdef", 16 });
	open_trace(d, output, output, "ust/uid");
}

/* Walk the streams over the archives and the rest. */
static struct walked walk(const char *name, const char *const *parts)
{
	struct walked sum = { 0 };
	struct utsname host;

	CHECK_IS(uname(&host), ==, 0);
	for (uint32_t cpu = 0; cpu < nr_cpus(); cpu++) {
		struct test_packet last = { 0 };
		char file[64];

		snprintf(file, sizeof(file), "chan_%u", cpu);
		for (size_t i = 0; parts[i]; i++) {
			char where[512];
			int dir;

			snprintf(where, sizeof(where), "relay/%s/%s-" STAMP "/%s/ust/uid",
				 host.nodename, name, parts[i]);
			dir = open(where, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
			CHECK_IS(dir, >=, 0);
			if (faccessat(dir, file, F_OK, 0) == 0)
				walk_stream(dir, file, &last, &sum);
			close(dir);
		}
		sum.records += last.recorded - last.lost_output;
	}
	return sum;
}

/* babeltrace2 reads each of them alone. */
static void check_lines(const char *name, const char *const *parts, uint64_t want)
{
	struct utsname host;
	long lines = 0;

	CHECK_IS(uname(&host), ==, 0);
	for (size_t i = 0; parts[i] && lines >= 0; i++) {
		char where[512];
		long n;

		snprintf(where, sizeof(where), "relay/%s/%s-" STAMP "/%s/ust/uid", host.nodename,
			 name, parts[i]);
		n = babeltrace(where, COMPLAINT_NONE);
		lines = n < 0 ? -1 : lines + n;
	}
	CHECK(lines < 0 || (uint64_t)lines == want);
}

static void write_events(struct producer *p)
{
	for (unsigned int i = 0; i < EVENTS; i++)
		produce(p);
}

static void check(struct daemon *d, uint64_t output, const char *name, const char *const *parts,
		  uint64_t want)
{
	struct sums sums;
	struct walked sum;

	MUST(d, con_output_flush, .output = output);
	sums = get_stats(d, output);
	sum = walk(name, parts);
	CHECK_IS(sums.recorded, ==, want);
	CHECK_IS(sums.written, ==, want);
	CHECK_IS(sum.records, ==, want);
	CHECK_IS(sum.packets, ==, sums.packets);
	CHECK_IS(sum.bytes, ==, sums.bytes);
	check_lines(name, parts, want);
}

static void test_session(struct daemon *d, uint64_t output, const char *name, int dir)
{
	static const char *const two[] = { "archives/a", "archives/b", ".", NULL };
	static const char *const all[] = { "archives/a", "archives/b", "archives/c", ".", NULL };
	struct producer p;
	struct rings rings;

	open_session(d, output, name, dir);
	rings = open_rings(d, output, 10 * output, 4, 16384);
	enable_rings(d, output, 10 * output, true);
	producer_init(&p, &rings, 0);
	write_events(&p);
	CHECK_IS(turn(d, output, "archives/a", false), ==, 0);
	write_events(&p);
	CHECK_IS(turn(d, output, "archives/b", false), ==, 0);
	CHECK_IS(turn(d, output, "archives/b", false), ==, 0);
	write_events(&p);
	check(d, output, name, two, 3 * EVENTS);
	kill_relay();
	CHECK_IS(turn(d, output, "archives/c", false), ==, ERR_OUTPUT);
	start_relay(d);
	for (int i = 0; i < 100 && turn(d, output, "archives/c", false); i++)
		sleep_ms(50);
	write_events(&p);
	check(d, output, name, all, 4 * EVENTS);
	CHECK_IS(turn(d, output, "cleared-5", true), ==, 0);
	write_events(&p);
	MUST(d, con_output_flush, .output = output);
	CHECK_IS(get_stats(d, output).written, ==, 4 * EVENTS);
	CHECK_IS(get_stats(d, output).cleared, ==, EVENTS);
	MUST(d, con_ring_close, .ring = 10 * output);
	MUST(d, con_trace_close, .trace = output);
	MUST(d, con_output_close, .output = output);
}

int main(void)
{
	struct daemon d;

	need_rseq();
	enter_test_dir();
	port = 10000 + 2 * ((unsigned int)getpid() % 10000);
	d = daemon_start();
	start_relay(&d);
	test_session(&d, 1, "direct", -1);
	test_session(&d, 2, "spooled", fresh_dir("spool"));
	daemon_end(&d);
	kill_relay();
	return 0;
}
