/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Damaged traces: a packet with any error costs that packet only;
 * a file may end anywhere, change while it is read, or be meant
 * to keep the reader busy for ever. Counts of lost events are exact.
 */
#include <inttypes.h>
#include <time.h>

#include "lib/view_make.h"

#define PACKETS 4
#define EVENTS 3 /* a packet */

static const char metadata[] = MAKE_HEAD MAKE_NUMBER("t:n", 1) MAKE_NUMBER(
	"t:far",
	70000) "event { id = 2; stream_id = 0; name = \"t:text\"; fields := struct { string _s; "
	       "uint32_t __len; uint8_t _seq[ __len ]; }; };\n";

/* Four packets; the number in an event identifies its place. Return: their ends. */
static void make_packets(struct maker *m, size_t ends[PACKETS])
{
	for (unsigned p = 0; p < PACKETS; p++) {
		uint64_t begin = 1000 * p;

		packet_open(m, begin);
		put(event(m, 1, begin + 1), 100 + p, 4);
		put_str(event(m, 2, begin + 2), "some text");
		put(&m->out, 5, 4);
		put_raw(&m->out, "12345", 5);
		put(event(m, 70000, begin + 3), 200 + p, 4);
		packet_close(m, begin + 1000);
		ends[p] = m->out.len;
	}
}

static struct seen look(const char *dir, const struct view_select *select)
{
	struct view_style style = { .format = VIEW_JSON };
	struct seen seen;
	int r = see_style(&seen, dir, select, &style);

	CHECK_IS(r, ==, 0);
	return seen;
}

/* The lines of the undamaged trace, EVENTS a packet. */
static char *lines[PACKETS * EVENTS];

static void learn_lines(const char *dir, const struct maker *m)
{
	struct seen seen;
	char *at;

	make_file(dir, "ch_0", m->out.at, m->out.len);
	seen = look(dir, NULL);
	CHECK(!seen.problems);
	at = strtok(seen.text, "\n");
	for (unsigned i = 0; i < PACKETS * EVENTS; i++, at = strtok(NULL, "\n")) {
		CHECK(at);
		lines[i] = strdup(at);
	}
	CHECK(!at && strstr(lines[EVENTS], ".000001001Z") && strstr(lines[EVENTS], "\"n\":101}"));
	seen_fini(&seen);
}

/* Is each event of packet @p there? */
static bool has_packet(const struct seen *seen, unsigned p)
{
	for (unsigned i = 0; i < EVENTS; i++)
		if (!strstr(seen->text, lines[p * EVENTS + i]))
			return false;
	return true;
}

/* --- cut anywhere --------------------------------------------------------- */

static void test_cut(const char *dir, const struct maker *m, const size_t ends[PACKETS])
{
	for (size_t len = 0; len <= m->out.len; len++) {
		unsigned whole = 0;
		bool at_end = len == 0;
		struct seen seen;

		for (; whole < PACKETS && ends[whole] <= len; whole++)
			at_end |= ends[whole] == len;
		make_file(dir, "ch_0", m->out.at, len);
		seen = look(dir, NULL);
		CHECK_IS(seen.sum->events, ==, whole * EVENTS);
		CHECK_IS(seen.sum->skipped_bytes, ==, len - (whole ? ends[whole - 1] : 0));
		CHECK(at_end ? !seen.problems : seen.problems == 1);
		CHECK(seen.sum->damaged_packets == 0 && seen.sum->lost == 0);
		for (unsigned p = 0; p < whole; p++)
			CHECK(has_packet(&seen, p));
		seen_fini(&seen);
	}
}

static void test_cut_metadata(const char *dir)
{
	for (size_t len = 0; len < sizeof(metadata) - 3; len += 7) {
		struct seen seen;

		make_file(dir, "metadata", metadata, len);
		if (see(&seen, dir) == 0)
			CHECK_IS(seen.sum->events % EVENTS, ==, 0);
		CHECK_IS(seen.problems, >, 0);
		seen_fini(&seen);
	}
	make_file(dir, "metadata", metadata, sizeof(metadata) - 1);
}

/* --- every byte wrong ----------------------------------------------------- */

static void flip(const char *dir, const struct maker *m, const size_t ends[PACKETS], size_t at,
		 uint8_t bits)
{
	unsigned hit = 0;
	struct seen seen;

	while (ends[hit] <= at)
		hit++;
	m->out.at[at] ^= bits;
	make_file(dir, "ch_0", m->out.at, m->out.len);
	m->out.at[at] ^= bits;
	seen = look(dir, NULL);
	for (unsigned p = 0; p < PACKETS; p++) {
		if (p == hit || has_packet(&seen, p))
			continue;
		fprintf(stderr, "byte %zu ^ %02x: packet %u is missing\n%s%s\n", at, bits, p,
			seen.said, seen.text);
		exit(1);
	}
	CHECK(seen.sum->events == (PACKETS - 1) * EVENTS || seen.sum->events == PACKETS * EVENTS);
	/* all or nothing, and reported */
	CHECK_IS((seen.sum->events == PACKETS * EVENTS), ==, (seen.sum->skipped_bytes == 0));
	CHECK(seen.sum->skipped_bytes == 0 || seen.problems > 0);
	seen_fini(&seen);
}

static void test_flips(const char *dir, const struct maker *m, const size_t ends[PACKETS])
{
	static const uint8_t bits[] = { 0x01, 0x80, 0xff };

	for (size_t at = 0; at < m->out.len; at++)
		for (size_t i = 0; i < sizeof(bits); i++)
			flip(dir, m, ends, at, bits[i]);
}

/* A packet is taken out, doubled, or of another trace. */
static void test_moved(const char *dir, const struct maker *m, const size_t ends[PACKETS])
{
	size_t size = ends[2] - ends[1];
	struct bytes b = { 0 };
	struct seen seen;

	put_raw(&b, m->out.at, ends[1]);
	put_raw(&b, m->out.at + ends[2], ends[3] - ends[2]);
	make_file(dir, "ch_0", b.at, b.len);
	seen = look(dir, NULL);
	CHECK(seen.sum->events == 3 * EVENTS && seen.sum->lost_packets == 1);
	seen_fini(&seen);
	b.len = 0;
	put_raw(&b, m->out.at, ends[1]);
	put_raw(&b, m->out.at + ends[0], size);
	put_raw(&b, m->out.at + ends[1], ends[3] - ends[1]);
	make_file(dir, "ch_0", b.at, b.len);
	seen = look(dir, NULL); /* the copy is not shown */
	CHECK(seen.sum->events == 4 * EVENTS && seen.sum->damaged_packets == 1);
	seen_fini(&seen);
	b.len = 0;
	put_raw(&b, m->out.at, m->out.len);
	b.at[ends[1] + 4] ^= 1; /* its UUID */
	make_file(dir, "ch_0", b.at, b.len);
	seen = look(dir, NULL);
	CHECK(seen.sum->events == 3 * EVENTS && seen.sum->damaged_packets == 1);
	CHECK(seen.sum->damaged_events == EVENTS && strstr(seen.said, "another trace"));
	seen_fini(&seen);
	bytes_fini(&b);
}

/* Several in a row are reported once each. */
static void test_several(const char *dir, const struct maker *m, const size_t ends[PACKETS])
{
	struct bytes b = { 0 };
	struct seen seen;

	put_raw(&b, m->out.at, m->out.len);
	for (unsigned p = 0; p < 2; p++)
		b.at[ends[p] + HEAD_BYTES] = 29; /* the id of no event */
	make_file(dir, "ch_0", b.at, b.len);
	seen = look(dir, NULL);
	CHECK_IS(seen.sum->events, ==, 2 * EVENTS);
	CHECK_IS(seen.sum->damaged_packets, ==, 2);
	CHECK_IS(seen.problems, ==, 2);
	seen_fini(&seen);
	bytes_fini(&b);
}

/* The files of a consumer that is in the middle of writing a packet. */
static void test_unfinished(const char *dir, const struct maker *m, const size_t ends[PACKETS])
{
	struct bytes b = { 0 };
	struct seen seen;

	put_raw(&b, m->out.at, m->out.len);
	poke(&b, ends[2] + HEAD_SIZES, HEAD_BYTES * 8, 8);
	memset(b.at + ends[2] + HEAD_BYTES, 0, b.len - ends[2] - HEAD_BYTES);
	make_file(dir, "ch_0", b.at, b.len);
	seen = look(dir, NULL);
	CHECK(seen.sum->events == 3 * EVENTS && seen.sum->damaged_packets == 0);
	CHECK(seen.problems == 1 && strstr(seen.said, "not complete (yet)"));
	seen_fini(&seen);
	bytes_fini(&b);
}

/* --- losses --------------------------------------------------------------- */

static void test_ledger(const char *dir)
{
	struct maker a = { .cpu = 0 }, b = { .cpu = 1 };
	struct seen seen;

	packet_open(&a, 0);
	put(event(&a, 1, 10), 0, 4);
	a.lost[0] = 5;
	packet_close(&a, 20);
	packet_open(&a, 20);
	a.lost[0] = 7, a.lost[1] = 2, a.lost[2] = 1, a.lost[3] = 3;
	packet_close(&a, 30); /* nothing but its counts */
	packet_open(&b, 0);
	put(event(&b, 1, 11), 1, 4);
	b.lost[2] = 100;
	packet_close(&b, 12);
	make_file(dir, "ch_0", a.out.at, a.out.len);
	make_file(dir, "ch_1", b.out.at, b.out.len);
	seen = look(dir, NULL);
	CHECK(seen.problems == 0 && seen.sum->events == 2 && seen.sum->nr_streams == 2);
	CHECK_IS(seen.sum->lost, ==, 113);
	CHECK(seen.sum->lost_by[VIEW_LOST_FULL] == 7 && seen.sum->lost_by[VIEW_LOST_SIZE] == 2);
	CHECK_IS(seen.sum->lost_by[VIEW_LOST_BUSY], ==, 101);
	CHECK(seen.sum->lost_by[VIEW_LOST_OUTPUT] == 3 && !seen.sum->lost_by[VIEW_LOST_OTHER]);
	CHECK(!strcmp(seen.sum->streams[1].name, "ch_1"));
	CHECK_IS(seen.sum->streams[1].lost[VIEW_LOST_BUSY], ==, 100);
	CHECK_IS(seen.sum->first_ns, ==, 1000000000000000010);
	CHECK_IS(seen.sum->last_ns, ==, 1000000000000000011);
	CHECK(seen.sum->bytes == a.out.len + b.out.len && seen.sum->packets == 3);
	seen_fini(&seen);
	bytes_fini(&a.out);
	bytes_fini(&b.out);
	rm_rf_at(AT_FDCWD, dir);
}

/* A packet whose header contradicts itself is not shown, and the header is reported. */
static void test_contradiction(const char *dir, unsigned at, uint64_t value, const char *why)
{
	struct maker m = { 0 };
	struct seen seen;

	for (unsigned p = 0; p < 2; p++) {
		packet_open(&m, 100 * p);
		put(event(&m, 1, 100 * p + 1), p, 4);
		m.lost[0] += 2;
		packet_close(&m, 100 * p + 50);
		if (p == 0)
			poke(&m.out, at, value, 8);
	}
	make_file(dir, "metadata", metadata, sizeof(metadata) - 1);
	make_file(dir, "ch_0", m.out.at, m.out.len);
	seen = look(dir, NULL);
	CHECK(seen.sum->events == 1 && seen.sum->damaged_packets == 1);
	CHECK(strstr(seen.text, "\"n\":1}") && strstr(seen.said, why));
	seen_fini(&seen);
	bytes_fini(&m.out);
	rm_rf_at(AT_FDCWD, dir);
}

/* One stream over several files counts as one; losses are not counted twice. */
static void test_files(const char *dir)
{
	struct maker m = { 0 };
	struct seen seen;
	char name[16];

	make_file(dir, "metadata", metadata, sizeof(metadata) - 1);
	for (unsigned i = 0; i < 12; i++) {
		m.out.len = 0;
		packet_open(&m, 10 * i);
		put(event(&m, 1, 10 * i + 1), i, 4);
		m.lost[0] += 3;
		packet_close(&m, 10 * i + 10);
		snprintf(name, sizeof(name), "ch_0_%u", i);
		make_file(dir, name, m.out.at, m.out.len);
	}
	seen = look(dir, NULL);
	CHECK(seen.problems == 0 && seen.sum->events == 12 && seen.sum->nr_streams == 1);
	CHECK(seen.sum->lost == 36 && seen.sum->lost_packets == 0);
	CHECK_IS(seen.sum->bytes, ==, 12 * m.out.len);
	for (unsigned i = 0; i < 12; i++) {
		snprintf(name, sizeof(name), "{\"n\":%u}", i);
		CHECK_IS(count_text(seen.text, name), ==, 1);
	}
	seen_fini(&seen);
	bytes_fini(&m.out);
	rm_rf_at(AT_FDCWD, dir);
}

/* --- seeking -------------------------------------------------------------- */

static void check_from(const char *dir, unsigned first, unsigned problems)
{
	struct view_select select = { .has_begin = true,
				      .begin_ns = 1000000000000000000 + 1000 * first + 1 };
	struct seen seen = look(dir, &select);

	CHECK_IS(seen.sum->events, ==, (PACKETS - first) * EVENTS);
	for (unsigned p = first; p < PACKETS; p++)
		CHECK(has_packet(&seen, p));
	CHECK_IS(seen.problems, ==, problems);
	seen_fini(&seen);
}

static void test_seek(const char *dir, const struct maker *m, const size_t ends[PACKETS])
{
	struct bytes index = { 0 };

	make_file(dir, "ch_0", m->out.at, m->out.len);
	check_from(dir, 2, 0);
	index_begin(&index);
	for (unsigned p = 0; p < PACKETS; p++)
		index_add(&index, p ? ends[p - 1] : 0, ends[p] - (p ? ends[p - 1] : 0), 1000 * p,
			  1000 * p + 1000);
	make_file(dir, "index/ch_0.idx", index.at, index.len);
	for (unsigned p = 0; p < PACKETS; p++)
		check_from(dir, p, 0);
	make_file(dir, "index/ch_0.idx", index.at, index.len - 9); /* being written */
	check_from(dir, 1, 0);
	for (size_t at = 0; at < index.len; at++) { /* lying: noticed, or harmless */
		struct view_select select = { .has_begin = true, .begin_ns = 1000000000000002001 };
		struct seen seen;

		index.at[at] ^= 0x41;
		make_file(dir, "index/ch_0.idx", index.at, index.len);
		index.at[at] ^= 0x41;
		seen = look(dir, &select);
		CHECK(seen.sum->events == 2 * EVENTS && has_packet(&seen, 2) &&
		      has_packet(&seen, 3));
		seen_fini(&seen);
	}
	bytes_fini(&index);
}

/* --- bytes read ----------------------------------------------------------- */

#define LONG 5000 /* packets of a long stream */

/* Bytes that this process has read so far, and the number of reads. */
static void count_reads(uint64_t *ret_bytes, uint64_t *ret_reads)
{
	FILE *f = fopen("/proc/self/io", "re");

	CHECK(f && fscanf(f, "rchar: %" SCNu64 " wchar: %*u syscr: %" SCNu64, ret_bytes,
			  ret_reads) == 2);
	fclose(f);
}

/* A stream of packets of an event each, and its index without the last @unlisted of them. */
static void make_long(const char *dir, unsigned number, uint64_t begin, unsigned unlisted)
{
	struct bytes index = { 0 };
	struct maker m = { .cpu = number };
	char name[64];

	index_begin(&index);
	for (unsigned p = 0; p < LONG; p++) {
		size_t at = m.out.len;

		packet_open(&m, begin + 1000 * p);
		put(event(&m, 1, begin + 1000 * p + 1), p, 4);
		packet_close(&m, begin + 1000 * p + 1000);
		if (p < LONG - unlisted)
			index_add(&index, at, m.out.len - at, begin + 1000 * p,
				  begin + 1000 * p + 1000);
	}
	snprintf(name, sizeof(name), "ch_%u", number);
	make_file(dir, name, m.out.at, m.out.len);
	snprintf(name, sizeof(name), "index/ch_%u.idx", number);
	make_file(dir, name, index.at, index.len);
	bytes_fini(&index);
	bytes_fini(&m.out);
}

#define STREAMS 12
#define LATE 4

/* The cost of @events events among streams of 5000 packets. @most: reads. */
static void check_reads(const char *dir, const struct view_select *select, uint64_t events,
			unsigned most)
{
	uint64_t before_bytes, before_reads, bytes, reads;
	struct seen seen = { 0 };

	count_reads(&before_bytes, &before_reads);
	CHECK_IS(view_open(dir, note_problem, &seen, &seen.view), ==, 0);
	CHECK_IS(view_scan(seen.view, select), ==, 0);
	count_reads(&bytes, &reads);
	CHECK_IS(view_summary(seen.view, &seen.sum), ==, 0);
	CHECK_IS(seen.sum->events, ==, events);
	CHECK(!seen.problems);
	CHECK_IS(reads - before_reads, <=, most);
	CHECK_IS(bytes - before_bytes, <, most * 4096ull);
	seen_fini(&seen);
}

/* The first event of all is of one stream; the packets of the others began as early, but their
 * events come later, as with rings that are made when a session starts: they cost one read. */
static void test_first(const char *dir)
{
	const struct view_select select = { .limit = 1 };

	make_file(dir, "metadata", metadata, sizeof(metadata) - 1);
	for (unsigned i = 0; i < STREAMS; i++) {
		struct maker m = { .cpu = i };
		char name[64];

		packet_open(&m, 0);
		packet_close(&m, 0);
		packet_open(&m, 0);
		for (unsigned e = 0; e < LONG / 4; e++)
			put(event(&m, 1, 1000 * (STREAMS - i) + e), e, 4);
		packet_close(&m, 1000 * LONG);
		snprintf(name, sizeof(name), "ch_%u", i);
		make_file(dir, name, m.out.at, m.out.len);
		bytes_fini(&m.out);
	}
	check_reads(dir, &select, 1, STREAMS + 16);
	rm_rf_at(AT_FDCWD, dir);
}

/* Most streams end early, one of which has packets that are not in its index; the window is at the
 * end of the others, or behind all: a stream that ends before costs one read, one that does not its
 * packet, too. Two more are of the metadata, and three of the packets without index. */
static void test_reads(const char *dir)
{
	const uint64_t late = 1000ull * 2 * LONG, end = late + 1000ull * LONG;
	struct view_select select = { .has_begin = true };

	make_file(dir, "metadata", metadata, sizeof(metadata) - 1);
	for (unsigned i = 0; i < STREAMS; i++)
		make_long(dir, i, i < STREAMS - LATE ? 0 : late, i == 3 ? 2 : 0);
	select.begin_ns = (int64_t)(1000000000000000000 + end - 1500);
	check_reads(dir, &select, LATE, STREAMS + LATE + 5);
	select.begin_ns = (int64_t)(1000000000000000000 + end + 1);
	check_reads(dir, &select, 0, STREAMS + 5);
	select = (struct view_select){ .names = "other:*", .names_only = true };
	check_reads(dir, &select, 0, 2 * STREAMS + 5);
	rm_rf_at(AT_FDCWD, dir);
}

/* --- changed while it is read, and never meant to be read ------------------ */

static void test_changed(const char *dir, const struct maker *m, const size_t ends[PACKETS])
{
	struct seen seen = { 0 };
	char path[256], *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	int fd;

	make_file(dir, "ch_0", m->out.at, ends[2]);
	CHECK_IS(view_open(dir, note_problem, &seen, &seen.view), ==, 0);
	make_path(path, sizeof(path), dir, "ch_0");
	fd = open(path, O_WRONLY | O_APPEND);
	CHECK(fd >= 0 && write(fd, m->out.at + ends[2], 100) == 100); /* not ours to see */
	CHECK_IS(view_print(seen.view, NULL, NULL, out), ==, 0);
	CHECK_IS(view_summary(seen.view, &seen.sum), ==, 0);
	CHECK(seen.sum->events == 3 * EVENTS && !seen.problems);
	seen_fini(&seen);
	CHECK_IS(view_open(dir, note_problem, &seen, &seen.view), ==, 0);
	CHECK_IS(ftruncate(fd, ends[0] + 60), ==, 0); /* no SIGBUS */
	CHECK_IS(view_print(seen.view, NULL, NULL, out), ==, 0);
	CHECK_IS(view_summary(seen.view, &seen.sum), ==, 0);
	CHECK(seen.sum->events == EVENTS && seen.problems);
	seen_fini(&seen);
	CHECK_IS(view_open(dir, note_problem, &seen, &seen.view), ==, 0);
	CHECK_IS(unlink(path), ==, 0);
	CHECK(view_scan(seen.view, NULL) == 0 && seen.problems == 1);
	seen_fini(&seen);
	close(fd);
	fclose(out);
	free(text);
}

static void test_strange_files(const char *dir, const struct maker *m)
{
	static const char garbage[] = "this is a file that an editor left in the trace";
	char path[256];
	struct seen seen;

	make_file(dir, "ch_0", m->out.at, m->out.len);
	make_file(dir, "notes.txt", garbage, sizeof(garbage));
	make_file(dir, "empty", "", 0);
	make_file(dir, ".hidden", garbage, sizeof(garbage));
	make_path(path, sizeof(path), dir, "fifo");
	CHECK_IS(mkfifo(path, 0600), ==, 0);
	make_path(path, sizeof(path), dir, "link");
	CHECK_IS(symlink("/dev/zero", path), ==, 0);
	make_path(path, sizeof(path), dir, "loop");
	CHECK_IS(symlink(".", path), ==, 0);
	seen = look(dir, NULL);
	CHECK(seen.sum->events == PACKETS * EVENTS && seen.problems == 1);
	CHECK(strstr(seen.said, "notes.txt"));
	seen_fini(&seen);
	CHECK(see(&seen, "/nonexistent") == -ENOENT && !seen.problems);
	make_path(path, sizeof(path), make_root, "nothing/here");
	make_file(make_root, "nothing/here", "", 0);
	make_path(path, sizeof(path), make_root, "nothing");
	CHECK(see(&seen, path) == -ENOENT && !seen.problems);
	make_file(path, "metadata", "\x1e{\"type\":\"preamble\",\"version\":3}", 32);
	CHECK(see(&seen, path) == -EPROTO && strstr(seen.said, "CTF 3"));
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* Thousands of headers, each of which claims the whole rest of the file: a search through each of
 * them to the end would not terminate in practice. */
static void test_hostile(const char *dir)
{
	struct maker m = { 0 };
	double begin = now();
	struct seen seen;

	for (int i = 0; i < 30000; i++) {
		packet_open(&m, 0);
		put(event(&m, 1, 1), 0, 4);
		packet_close(&m, 1ull << 40);
		m.recorded = m.pos = m.seq = 0;
	}
	for (size_t at = 0; at < m.out.len; at += HEAD_BYTES + 8) {
		poke(&m.out, at + HEAD_SIZES, (m.out.len - at) * 8, 8);
		poke(&m.out, at + HEAD_SIZES + 8, (m.out.len - at) * 8, 8);
	}
	make_file(dir, "metadata", metadata, sizeof(metadata) - 1);
	make_file(dir, "ch_0", m.out.at, m.out.len);
	seen = look(dir, NULL);
	CHECK(seen.sum->events <= 1 && seen.sum->problems > 0);
	CHECK_IS(now() - begin, <, 60); /* not hours */
	seen_fini(&seen);
	bytes_fini(&m.out);
}

int main(void)
{
	const uint64_t bits = (HEAD_BYTES + 8) * 8;
	struct maker m = { 0 };
	size_t ends[PACKETS];
	char dir[128];

	make_path(dir, sizeof(dir), make_tmp(), "t");
	make_packets(&m, ends);
	make_file(dir, "metadata", metadata, sizeof(metadata) - 1);
	learn_lines(dir, &m);
	test_cut(dir, &m, ends);
	test_cut_metadata(dir);
	test_flips(dir, &m, ends);
	test_moved(dir, &m, ends);
	test_several(dir, &m, ends);
	test_unfinished(dir, &m, ends);
	test_seek(dir, &m, ends);
	test_changed(dir, &m, ends);
	test_ledger(dir);
	test_contradiction(dir, HEAD_SIZES, bits + 8, "sizes are invalid");
	test_contradiction(dir, HEAD_SIZES, HEAD_BYTES * 8 - 8, "sizes are invalid");
	test_contradiction(dir, HEAD_DISCARDED, 3, "contradict each other");
	test_files(dir);
	make_file(dir, "metadata", metadata, sizeof(metadata) - 1);
	test_strange_files(dir, &m);
	rm_rf_at(AT_FDCWD, dir);
	test_first(dir);
	test_reads(dir);
	test_hostile(dir);
	bytes_fini(&m.out);
	for (unsigned i = 0; i < PACKETS * EVENTS; i++)
		free(lines[i]);
	return 0;
}
