/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The turn of a session that goes to a relay, with and without a spool: the archives at the relay
 * and the rest have all events, without a gap and without a repetition, also if the relay is killed
 * in between. While it is away, a turn is refused, and may be repeated; or it waits in the spool,
 * in its place among the packets, also if the consumer is killed at any call. After a call that
 * fails, as on a full disk, a turn or a clear is refused with a sentence, and may be repeated: all
 * counts are exact. A turn in the spool that can't be opened stays there, and is made once it can.
 */
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/utsname.h>

#include "base/dir.h"
#include "consumerd/sink/spool.h"
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

enum { WAITS = UINT32_MAX };

/* Return: the code; WAITS: it is in the spool. */
static uint32_t turn(struct daemon *d, uint64_t output, const char *name, bool clear)
{
	struct rep_con_turn rep = { 0 };
	struct reply r;

	ASK(d, &r, con_turn, .output = output, .name = name, .clear = clear);
	if (r.code)
		printf("%s: %s\n", name, r.text);
	else
		CHECK_IS(rep_con_turn_decode(&r.dec, &rep), ==, 0);
	return rep.waits ? WAITS : r.code;
}

/* A relay that is slow to answer may count as away for a moment. */
static void await_any(struct daemon *d, uint64_t output, const char *name, bool clear)
{
	uint32_t code = WAITS;

	for (int i = 0; i < 600 && code; i++, sleep_ms(50))
		code = turn(d, output, name, clear);
	CHECK_IS(code, ==, 0);
}

static void await_turn(struct daemon *d, uint64_t output, const char *name)
{
	await_any(d, output, name, false);
}

/* Return: the code. */
static uint32_t ask_session(struct daemon *d, uint64_t output, const char *name, int dir,
			    int doorbell, bool adopt)
{
	struct reply r;
	char addr[32];

	snprintf(addr, sizeof(addr), "127.0.0.1:%u", port);
	ASK(d, &r, con_output_open, .doorbell = doorbell, .output = output, .dir = dir,
	    .uid = geteuid(), .gid = getegid(), .flush_us = 1000, .max_size = 64 << 20,
	    .relay = addr, .relay_url = "", .relay_host = "", .relay_later = adopt,
	    .relay_name = name, .relay_stamp = STAMP,
	    .relay_id = { (const uint8_t *)"0123456789abcdef", 16 });
	if (r.code)
		printf("%s: %s\n", name, r.text);
	return r.code;
}

static void open_session_again(struct daemon *d, uint64_t output, const char *name, int dir,
			       int doorbell, bool adopt)
{
	CHECK_IS(ask_session(d, output, name, dir, doorbell, adopt), ==, 0);
}

static void open_session(struct daemon *d, uint64_t output, const char *name, int dir)
{
	open_session_again(d, output, name, dir, -1, false);
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
	static const char *const all[] = { "archives/a", "archives/b", "archives/c",
					   "archives/d", ".",	       NULL };
	uint32_t away = dir < 0 ? ERR_OUTPUT : WAITS;
	struct producer p;
	struct rings rings;

	open_session(d, output, name, dir);
	rings = open_rings(d, output, 10 * output, 4, 16384);
	enable_rings(d, output, 10 * output, true);
	producer_init(&p, &rings, 0);
	write_events(&p);
	await_turn(d, output, "archives/a");
	write_events(&p);
	await_turn(d, output, "archives/b");
	await_turn(d, output, "archives/b");
	write_events(&p);
	check(d, output, name, two, 3 * EVENTS);
	kill_relay();
	CHECK_IS(turn(d, output, "archives/c", false), ==, away);
	if (dir < 0)
		start_relay(d);
	else
		CHECK_IS(turn(d, output, "archives/c", false), ==, away);
	if (dir < 0)
		await_turn(d, output, "archives/c");
	write_events(&p);
	if (dir >= 0) {
		CHECK_IS(turn(d, output, "archives/d", false), ==, away);
		start_relay(d);
	}
	await_turn(d, output, "archives/d");
	write_events(&p);
	check(d, output, name, all, 5 * EVENTS);
	await_any(d, output, "cleared-5", true);
	write_events(&p);
	MUST(d, con_output_flush, .output = output);
	CHECK_IS(get_stats(d, output).written, ==, 5 * EVENTS);
	CHECK_IS(get_stats(d, output).cleared, ==, EVENTS);
	MUST(d, con_ring_close, .ring = 10 * output);
	MUST(d, con_trace_close, .trace = output);
	MUST(d, con_output_close, .output = output);
}

/* Return: whether it was killed before its answer. */
static bool is_killed(struct daemon *d)
{
	struct pollfd poll_fd = { .fd = d->fd, .events = POLLIN };
	struct msg_header header = { 0 };

	while (!(header.flags & MSG_REPLY)) {
		struct decoder dec;
		struct reply r;
		unsigned int nr;
		ssize_t n;

		CHECK_IS(poll(&poll_fd, 1, 60000), ==, 1);
		n = sock_recv(d->fd, r.buf, sizeof(r.buf), r.fds, &nr);
		if (n <= 0)
			return true;
		decoder_init(&dec, r.buf, (size_t)n, r.fds, nr);
		CHECK_IS(decode_header(&dec, &header), ==, 0);
	}
	return false;
}

/* Until the spool has a file of @bytes or more behind a turn. */
static bool await_stored(uint64_t bytes)
{
	for (int i = 0; i < 200; i++, sleep_ms(50)) {
		DIR *dir = dir_open(AT_FDCWD, "spool/ust/uid");
		struct dirent *entry;
		struct stat st;
		bool found = false;

		while ((entry = dir_next(dir)))
			if (strlen(entry->d_name) > strlen("chan_0_4294967") &&
			    fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 &&
			    (uint64_t)st.st_size >= bytes)
				found = true;
		closedir(dir);
		if (found)
			return true;
	}
	return false;
}

/* The relay does not answer the turn, and buffers fill: packets that are cut then are behind it. */
static void test_hung(struct daemon *d)
{
	static const char *const parts[] = { "archives/none", "archives/a", ".", NULL };
	struct producer p;
	struct rings rings;
	int status;

	dir_remove(AT_FDCWD, "spool");
	open_session(d, 3, "hung", fresh_dir("spool"));
	rings = open_rings(d, 3, 30, 4, 16384);
	enable_rings(d, 3, 30, true);
	producer_init(&p, &rings, 0);
	write_events(&p);
	await_turn(d, 3, "archives/none");
	MUST(d, con_output_flush, .output = 3);
	CHECK_IS(kill(relay, SIGSTOP), ==, 0);
	CHECK_IS(waitpid(relay, &status, WUNTRACED), ==, relay);
	SEND(d, con_turn, .output = 3, .name = "archives/a");
	sleep_ms(300);
	write_events(&p);
	CHECK(await_stored(16384));
	CHECK_IS(kill(relay, SIGCONT), ==, 0);
	CHECK(!is_killed(d));
	await_turn(d, 3, "archives/a");
	write_events(&p);
	check(d, 3, "hung", parts, 3 * EVENTS);
	MUST(d, con_ring_close, .ring = 30);
	MUST(d, con_trace_close, .trace = 3);
	MUST(d, con_output_close, .output = 3);
}

/* --- kills --------------------------------------------------------------------------- */

struct buffers {
	int data, ctl_rw, doorbell;
};

static struct rings open_buffers(struct daemon *d, struct buffers *ret)
{
	struct rings rings = { .id = 20, .nr = nr_cpus() };
	struct rep_con_ring opened;
	struct reply r;

	ASK(d, &r, con_ring, .data = -1, .ctl_rw = -1, .module = -1, .trace = 1, .ring = 20,
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

static int open_spool(void)
{
	return open("spool", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void adopt(struct daemon *d, const struct buffers *b, const char *name,
		  uint64_t metadata_bytes)
{
	open_session_again(d, 1, name, open_spool(), b->doorbell, true);
	MUST(d, con_trace, .adopt = 1, .metadata = -1, .output = 1, .trace = 1, .path = "ust/uid",
	     .uuid = { (const uint8_t *)TEST_UUID, 16 }, .metadata_bytes = metadata_bytes);
	MUST(d, con_ring, .adopt = 1, .trace = 1, .ring = 20, .channel = "chan",
	     .nr_rings = nr_cpus(), .num_subbuf = 4, .subbuf_size = 65536, .clock = TEST_RING_CLOCK,
	     .data = b->data, .ctl_rw = b->ctl_rw, .module = -1);
	MUST(d, con_adopted);
}

static void set_number(const char *name, unsigned int number)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", number);
	setenv(name, text, 1);
}

/* Since the first file behind the turn. @error: 0: it is killed. */
static struct daemon start_to_fail(unsigned int at, unsigned int times, int error, int cpu)
{
	struct daemon d;
	char first[32];

	snprintf(first, sizeof(first), "chan_%d_%llu", cpu, 1ull << SPOOL_MARK_SHIFT);
	daemon_preload("dso/fault.so");
	setenv("LTT_FAULT_FROM", first, 1);
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

/* At the @at-th call since the first file behind the turn: as the turn is stored, and as it is sent
 * to a relay that is there, or is @away until it is stored. Return: whether there was one. */
static bool check_killed(unsigned int at, int cpu, bool away)
{
	static const char *const parts[] = { "archives/a", ".", NULL };
	struct daemon d, plain = { .fd = -1 };
	uint64_t metadata_bytes;
	struct producer p;
	struct rings rings;
	struct buffers b;
	char name[24];
	bool killed;

	snprintf(name, sizeof(name), "killed-%u-%d", at, away);
	dir_remove(AT_FDCWD, "spool");
	d = start_to_fail(at, 1, 0, cpu);
	open_session(&d, 1, name, fresh_dir("spool"));
	free(slurp(AT_FDCWD, "spool/ust/uid/metadata", &metadata_bytes));
	rings = open_buffers(&d, &b);
	producer_init(&p, &rings, 0);
	write_events(&p);
	MUST(&d, con_output_flush, .output = 1);
	if (away)
		kill_relay();
	SEND(&d, con_turn, .output = 1, .name = "archives/a");
	killed = is_killed(&d);
	if (away)
		start_relay(&plain);
	if (!killed) {
		SEND(&d, con_output_flush, .output = 1);
		killed = is_killed(&d);
	}
	kill(d.pid, SIGKILL);
	waitpid(d.pid, NULL, 0);
	close(d.fd);
	write_events(&p);
	d = daemon_start();
	adopt(&d, &b, name, metadata_bytes);
	write_events(&p);
	await_turn(&d, 1, "archives/a");
	write_events(&p);
	check(&d, 1, name, parts, 4 * EVENTS);
	MUST(&d, con_output_close, .output = 1);
	daemon_end(&d);
	return killed;
}

static void check_kills(int cpu, unsigned int stride, bool away)
{
	unsigned int at = 1 + (unsigned int)getpid() % stride;

	for (; check_killed(at, cpu, away); at += stride)
		printf("killed at call %u\n", at);
	CHECK_IS(at, >, stride);
}

/* --- faults -------------------------------------------------------------------------- */

struct failure {
	unsigned int times;
	bool away, clears;
	int error;
};

static unsigned long calls_made(void)
{
	size_t len;
	char *text = slurp(AT_FDCWD, "calls", &len);
	unsigned long calls = strtoul(text, NULL, 10);

	free(text);
	return calls;
}

/* Until it is made, or stored. Return: the number of events written meanwhile. */
static uint64_t turn_again(struct daemon *d, struct producer *p, const char *name,
			   const struct failure *f)
{
	uint32_t code = ERR_OUTPUT;
	uint64_t events = 0;

	for (int i = 0; i < 20 && code && code != WAITS; i++, events++) {
		code = turn(d, 1, name, f->clears);
		produce(p);
	}
	CHECK(!code || code == WAITS);
	return events;
}

static void check_all_cleared(struct daemon *d, uint64_t want)
{
	struct sums sums;

	MUST(d, con_output_flush, .output = 1);
	sums = get_stats(d, 1);
	CHECK_IS(sums.recorded, ==, want);
	CHECK_IS(sums.written + sums.cleared, ==, want);
	CHECK_IS(sums.cleared, >=, EVENTS);
}

/* The @at-th call fails. Return: whether there was one. */
static bool check_failed(unsigned int at, int cpu, const struct failure *f)
{
	static const char *const parts[] = { "archives/a", ".", NULL };
	const char *turn_name = f->clears ? "archives/cleared-1" : "archives/a";
	struct daemon d, plain = { .fd = -1 };
	struct producer p;
	struct rings rings;
	struct buffers b;
	struct reply r;
	char name[64];
	uint64_t want;

	snprintf(name, sizeof(name), "failed-%u-%u-%d%d%d", at, f->times, f->away, f->clears,
		 f->error);
	dir_remove(AT_FDCWD, "spool");
	d = start_to_fail(at, f->times, f->error, cpu);
	open_session(&d, 1, name, fresh_dir("spool"));
	rings = open_buffers(&d, &b);
	producer_init(&p, &rings, 0);
	write_events(&p);
	MUST(&d, con_output_flush, .output = 1);
	if (f->away)
		kill_relay();
	want = EVENTS + turn_again(&d, &p, turn_name, f);
	write_events(&p);
	want += EVENTS;
	ASK(&d, &r, con_output_flush, .output = 1);
	if (f->away)
		start_relay(&plain);
	for (int i = 0; i < 20; i++) {
		ASK(&d, &r, con_output_flush, .output = 1);
		if (!r.code)
			break;
	}
	await_any(&d, 1, turn_name, f->clears);
	write_events(&p);
	want += EVENTS;
	if (f->clears)
		check_all_cleared(&d, want);
	else
		check(&d, 1, name, parts, want);
	MUST(&d, con_output_close, .output = 1);
	daemon_end(&d);
	return calls_made() >= at;
}

static struct daemon start_unopened(unsigned int times, int error)
{
	struct daemon d;

	daemon_preload("dso/fault.so");
	setenv("LTT_FAULT_OPEN", ".turn-1", 1);
	set_number("LTT_FAULT_TIMES", times);
	set_number("LTT_FAULT_ERRNO", (unsigned int)error);
	set_number("LTT_FAULT_AT", 0);
	d = daemon_start();
	unsetenv("LD_PRELOAD");
	return d;
}

/* A successor tries to open the turn for a moment, then is refused; another one makes it. */
static void check_unopened(unsigned int times, int error)
{
	static const char *const parts[] = { "archives/a", ".", NULL };
	struct daemon d = daemon_start();
	uint64_t metadata_bytes;
	struct producer p;
	struct rings rings;
	struct buffers b;
	char name[24];

	snprintf(name, sizeof(name), "unopened-%u", times);
	dir_remove(AT_FDCWD, "spool");
	open_session(&d, 1, name, fresh_dir("spool"));
	free(slurp(AT_FDCWD, "spool/ust/uid/metadata", &metadata_bytes));
	rings = open_buffers(&d, &b);
	producer_init(&p, &rings, 0);
	write_events(&p);
	MUST(&d, con_output_flush, .output = 1);
	kill_relay();
	CHECK_IS(turn(&d, 1, "archives/a", false), ==, WAITS);
	kill(d.pid, SIGKILL);
	CHECK(is_killed(&d));
	write_events(&p);
	d = start_unopened(times, error);
	if (times > 1) {
		CHECK_IS(ask_session(&d, 1, name, open_spool(), b.doorbell, true), ==, ERR_OUTPUT);
		CHECK_IS(access("spool/.turn-1", F_OK), ==, 0);
		kill(d.pid, SIGKILL);
		CHECK(is_killed(&d));
		d = daemon_start();
	}
	adopt(&d, &b, name, metadata_bytes);
	start_relay(&d);
	await_turn(&d, 1, "archives/a");
	write_events(&p);
	check(&d, 1, name, parts, 3 * EVENTS);
	CHECK(access("spool/.turn-1", F_OK) < 0);
	MUST(&d, con_output_close, .output = 1);
	daemon_end(&d);
}

static const struct failure failures[] = {
	{ .times = 1, .error = ENOSPC },
	{ .times = 1, .error = EDQUOT, .away = true },
	{ .times = 6, .error = ENOSPC, .away = true },
	{ .times = 1, .error = EIO, .away = true, .clears = true },
	{ .times = 6, .error = ENOSPC, .clears = true },
};

static int pin(void)
{
	int cpu = sched_getcpu();
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	CHECK_IS(sched_setaffinity(0, sizeof(set), &set), ==, 0);
	return cpu;
}

int main(void)
{
	unsigned int stride = getenv("LTT_TEST_SHORT") ? 5 : 1;
	struct daemon d;
	int cpu;

	need_rseq();
	need_preload();
	enter_test_dir();
	port = 10000 + 2 * ((unsigned int)getpid() % 10000);
	d = daemon_start();
	start_relay(&d);
	test_session(&d, 1, "direct", -1);
	test_session(&d, 2, "spooled", fresh_dir("spool"));
	test_hung(&d);
	daemon_end(&d);
	cpu = pin();
	check_unopened(1, EMFILE);
	check_unopened(1000, EIO);
	check_kills(cpu, stride, true);
	check_kills(cpu, stride, false);
	stride *= stride;
	for (size_t i = 0; i < ARRAY_SIZE(failures); i++)
		for (unsigned int at = 1 + (unsigned int)getpid() % stride;
		     check_failed(at, cpu, &failures[i]); at += stride)
			printf("call %u failed\n", at);
	kill_relay();
	return 0;
}
