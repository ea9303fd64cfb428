/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A consumer that was killed has a successor: it gets the same buffers and files,
 * with any end of the files, and the trace has each record once. A session daemon that was
 * killed has a successor, too: the consumer continues.
 */
#include "lib/consumer_client.h"
#include "trace/packet.h"

#define RECORDS 2000u
#define CHAN "chan"

struct buffers {
	int data, ctl_rw, doorbell;
	uint64_t metadata_bytes;
};

static struct buffers open_buffers(struct daemon *d, int dir, struct rings *rings)
{
	struct rep_con_metadata_append appended;
	struct rep_con_ring opened;
	struct buffers b;
	struct reply r;

	MUST(d, con_output_open, .output = 1, .dir = dir, .doorbell = -1, .uid = geteuid(),
	     .gid = getegid(), .flush_us = 10000000);
	MUST(d, con_trace, .metadata = -1, .output = 1, .trace = 1, .path = "t",
	     .uuid = { (const uint8_t *)TEST_UUID, 16 });
	ASK(d, &r, con_metadata_append, .trace = 1, .text = text_blob(test_tsdl));
	CHECK(rep_con_metadata_append_decode(&r.dec, &appended) == 0 && appended.bytes > 0);
	b.metadata_bytes = appended.bytes;
	rings->id = 1;
	rings->nr = nr_cpus();
	ASK(d, &r, con_ring, .data = -1, .ctl_rw = -1, .module = -1, .trace = 1, .ring = 1,
	    .channel = CHAN, .nr_rings = rings->nr, .num_subbuf = 4, .subbuf_size = 65536,
	    .clock = TEST_RING_CLOCK);
	CHECK(rep_con_ring_decode(&r.dec, &opened) == 0 && opened.ctl_rw >= 0);
	rings->data_fd = b.data = opened.data;
	rings->ctl_fd = opened.ctl;
	rings->doorbell_fd = b.doorbell = opened.doorbell;
	b.ctl_rw = opened.ctl_rw;
	enable_rings(d, 1, 1, true);
	return b;
}

/* @subbuf_size: as the session daemon remembers it. Return: bytes that were cut off. */
static uint64_t adopt_sized(struct daemon *d, int dir, const struct buffers *b,
			    uint64_t subbuf_size)
{
	struct rep_con_ring rep;
	struct reply r;

	MUST(d, con_output_open, .output = 1, .dir = dir, .doorbell = b->doorbell, .uid = geteuid(),
	     .gid = getegid(), .flush_us = 10000000);
	MUST(d, con_trace, .adopt = 1, .metadata = -1, .output = 1, .trace = 1, .path = "t",
	     .uuid = { (const uint8_t *)TEST_UUID, 16 }, .metadata_bytes = b->metadata_bytes);
	ASK(d, &r, con_ring, .adopt = 1, .trace = 1, .ring = 1, .channel = CHAN,
	    .nr_rings = nr_cpus(), .num_subbuf = 4, .subbuf_size = subbuf_size,
	    .clock = TEST_RING_CLOCK, .data = b->data, .ctl_rw = b->ctl_rw, .module = -1);
	CHECK(r.code == 0 && rep_con_ring_decode(&r.dec, &rep) == 0);
	MUST(d, con_adopted);
	return rep.cut_bytes;
}

static uint64_t adopt(struct daemon *d, int dir, const struct buffers *b)
{
	return adopt_sized(d, dir, b, 65536);
}

static void produce_many(struct producer *p, unsigned int nr)
{
	while (nr--)
		produce(p);
}

/* Take @cut bytes off the end of a file and put @more bytes of garbage there. */
static void spoil(const char *path, off_t cut, size_t more)
{
	int fd = open(path, O_RDWR);
	char garbage[200];
	struct stat st;

	if (fd < 0)
		return; /* nothing was recorded on that CPU */
	memset(garbage, 0xc1, sizeof(garbage));
	CHECK(fstat(fd, &st) == 0 && more <= sizeof(garbage));
	CHECK_IS(ftruncate(fd, MAX(st.st_size - cut, 0)), ==, 0);
	CHECK_IS(pwrite(fd, garbage, more, MAX(st.st_size - cut, 0)), ==, (ssize_t)more);
	close(fd);
}

/* The state that append_packet() leaves while it writes: of full size, and empty. Behind it may be
 * room without a header: the consumer was killed. */
static void tear_last_packet(const char *path)
{
	const uint64_t none = sizeof(struct packet_header) * 8;
	struct packet_header head = { 0 };
	off_t at = 0, next = 0;
	int fd = open(path, O_RDWR);

	if (fd < 0)
		return; /* nothing was recorded on that CPU */
	while (pread(fd, &head, sizeof(head), next) == (ssize_t)sizeof(head) && head.packet_size) {
		at = next;
		next += (off_t)(head.packet_size / 8);
	}
	CHECK_IS(next, >, 0);
	at += (off_t)offsetof(struct packet_header, content_size);
	CHECK_IS(pwrite(fd, &none, sizeof(none), at), ==, (ssize_t)sizeof(none));
	close(fd);
}

struct damage {
	off_t stream_cut, index_cut;
	size_t stream_more, index_more;
	bool torn;
};

static void spoil_all(const struct damage *damage)
{
	char path[100];

	for (uint32_t cpu = 0; cpu < nr_cpus(); cpu++) {
		snprintf(path, sizeof(path), "out/t/" CHAN "_%u", cpu);
		if (damage->torn)
			tear_last_packet(path);
		spoil(path, damage->stream_cut, damage->stream_more);
		snprintf(path, sizeof(path), "out/t/index/" CHAN "_%u.idx", cpu);
		spoil(path, damage->index_cut, damage->index_more);
	}
	spoil("out/t/metadata", 0, damage->stream_more);
}

/* Killed, damaged, taken over: twice written, once in the files, more in the ring. */
static void killed(const struct damage *damage)
{
	int dir = fresh_dir("out"), again = dup(dir);
	struct daemon d = daemon_start();
	struct producer p;
	struct buffers b;
	struct rings rings;
	struct walked w;
	struct sums sums;
	uint64_t cut;

	b = open_buffers(&d, dir, &rings);
	producer_init(&p, &rings, 1);
	for (int i = 0; i < 2; i++) {
		produce_many(&p, RECORDS);
		MUST(&d, con_output_flush, .output = 1);
	}
	produce_many(&p, RECORDS);
	kill(d.pid, SIGKILL);
	CHECK(WIFSIGNALED(daemon_wait(&d)));
	produce_many(&p, RECORDS);
	spoil_all(damage);

	d = daemon_start();
	cut = adopt(&d, again, &b);
	CHECK(!damage->stream_more || cut > 0);
	produce_many(&p, RECORDS);
	MUST(&d, con_metadata_append, .trace = 1, .text = text_blob("/* more */\n"));
	MUST(&d, con_output_flush, .output = 1);
	sums = get_stats(&d, 1);
	CHECK(sums.recorded == 5 * RECORDS && sums.written == 5 * RECORDS);
	daemon_end(&d);
	w = walk_trace(open("out/t", O_RDONLY), CHAN, nr_cpus());
	CHECK(w.records == 5 * RECORDS && w.bytes == sums.bytes && w.packets == sums.packets);
	CHECK_IS(w.lost, ==, 0);
}

/* The memory is freed with all processes that mapped it: the files are repaired without much
 * memory, however large the buffers were. */
static void memory_lost(void)
{
	int dir = fresh_dir("out"), again = dup(dir);
	struct daemon d = daemon_start();
	struct buffers b;
	struct rings rings;
	struct producer p;

	b = open_buffers(&d, dir, &rings);
	producer_init(&p, &rings, 1);
	produce_many(&p, RECORDS);
	MUST(&d, con_output_flush, .output = 1);
	kill(d.pid, SIGKILL);
	CHECK(WIFSIGNALED(daemon_wait(&d)));
	spoil_all(&(struct damage){ .stream_more = 60 });

	d = daemon_start();
	b.data = b.ctl_rw = -1;
	CHECK_IS(adopt_sized(&d, again, &b, 16ull << 30), >, 0);
	daemon_end(&d);
	CHECK_IS(walk_trace(open("out/t", O_RDONLY), CHAN, nr_cpus()).records, ==, RECORDS);
	CHECK_IS(system("rm -rf out"), ==, 0);
}

static int connect_to(const char *path)
{
	int fd = -1;

	for (int i = 0; i < 500 && fd < 0; i++) {
		fd = sock_connect(path);
		if (fd < 0)
			sleep_ms(10);
	}
	CHECK_IS(fd, >=, 0);
	return fd;
}

/* The session daemon dies: its successor finds the consumer and its own outputs; outputs unknown to
 * the successor are closed, and con_end ends the rest. */
static void lives_on(void)
{
	int dir = fresh_dir("out"), again = dup(dir), fds[2];
	struct daemon d = { 0 };
	struct producer p;
	struct buffers b;
	struct rings rings;
	struct reply r;
	char path[4096];

	build_path("bin/ltt-consumerd", path);
	CHECK_IS(sock_pair(fds), ==, 0);
	d.pid = fork();
	if (d.pid == 0) {
		dup2(fds[1], 3);
		execl(path, "ltt-consumerd", "--listen", "./next.sock", NULL);
		_exit(127);
	}
	close(fds[1]);
	d.fd = fds[0];
	b = open_buffers(&d, dir, &rings);
	MUST(&d, con_output_open, .output = 2, .dir = -1, .doorbell = -1);
	producer_init(&p, &rings, 1);
	produce_many(&p, RECORDS);
	close(d.fd);
	produce_many(&p, RECORDS);

	d.fd = connect_to("./next.sock");
	CHECK_IS(adopt(&d, again, &b), ==, 0);
	ASK(&d, &r, con_output_flush, .output = 2);
	CHECK_IS(r.code, !=, 0);
	produce_many(&p, RECORDS);
	MUST(&d, con_output_flush, .output = 1);
	CHECK_IS(get_stats(&d, 1).written, ==, 3 * RECORDS);
	SEND(&d, con_end);
	CHECK_IS(daemon_wait(&d), ==, 0);
	CHECK_IS(walk_trace(open("out/t", O_RDONLY), CHAN, nr_cpus()).records, ==, 3 * RECORDS);
	CHECK_IS(access("./next.sock", F_OK), <, 0);
}

int main(void)
{
	static const struct damage damages[] = {
		{ .stream_cut = 0 },	/* between two packets */
		{ .stream_more = 60 },	/* in a header */
		{ .stream_more = 180 }, /* behind an invalid one */
		{ .index_cut = 72 },	/* before the index entry */
		{ .index_cut = 30 },	/* in it */
		{ .index_more = 72 },	/* an entry of nothing */
		{ .stream_cut = 1 },	/* the packet is not whole */
		{ .torn = true },
		{ .torn = true, .index_cut = 72 },
		{ .stream_cut = 5000, .index_cut = 72, .stream_more = 100, .index_more = 50 },
		{ .stream_cut = 1 << 30, /* the first packet is not whole */
		  .index_cut = 1 << 30,
		  .stream_more = 20,
		  .index_more = 10 },
	};

	need_rseq();
	enter_test_dir();
	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		killed(&damages[i]);
		CHECK_IS(system("rm -rf out"), ==, 0);
	}
	memory_lost();
	lives_on();
	return 0;
}
