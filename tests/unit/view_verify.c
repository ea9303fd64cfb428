/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Proving a trace: every byte of a stream cut off or changed is noticed and costs
 * its packet only, by the checksum; so are packets and files that are gone, a wrong index, and
 * changed metadata.
 */
#include "lib/view_make.h"

#define PACKETS 4
#define EVENTS 3 /* a packet */
#define ALL (PACKETS * EVENTS)

static const char head[] = MAKE_HEAD MAKE_NUMBER(
	"t:n",
	1) "event { id = 2; stream_id = 0; name = \"t:text\"; fields := struct { string _s; }; };\n";

static struct bytes stream, packet_index, metadata;
static size_t ends[PACKETS + 1]; /* ends[0] is 0 */
static size_t text_begin;
static char dir[128];

/* As the consumer writes it: a packet, its text closed by the checksum. */
static void make_metadata(void)
{
	const char *causes = strstr(head, "uint64_t lost_output; "), *rest = causes + 22;
	size_t begin = metadata.len;
	char trailer[32];
	uint32_t bits;

	put(&metadata, 0x75d11d57, 4);
	put_raw(&metadata, MAKE_UUID, 16);
	put(&metadata, 0, 4);
	put(&metadata, 0, 8); /* both sizes */
	put(&metadata, 0, 3);
	put(&metadata, 1, 1);
	put(&metadata, 8, 1);
	text_begin = metadata.len;
	put_raw(&metadata, head, (size_t)(rest - head));
	put_raw(&metadata, "uint32_t crc32c; ", 17);
	put_raw(&metadata, rest, strlen(rest));
	snprintf(trailer, sizeof(trailer), "/* crc32c %08x */\n",
		 make_crc(metadata.at + text_begin, metadata.len - text_begin));
	put_raw(&metadata, trailer, strlen(trailer));
	bits = (uint32_t)(metadata.len - begin) * 8;
	poke(&metadata, begin + 24, bits, 4);
	poke(&metadata, begin + 28, bits, 4);
}

static void make_stream(void)
{
	struct maker m = { .crc = true };

	index_begin(&packet_index);
	for (unsigned p = 0; p < PACKETS; p++) {
		packet_open(&m, 1000 * p);
		put(event(&m, 1, 1000 * p + 1), 100 + p, 4);
		put_str(event(&m, 2, 1000 * p + 2), "some text");
		put(event(&m, 1, 1000 * p + 3), 200 + p, 4);
		packet_close(&m, 1000 * p + 1000);
		ends[p + 1] = m.out.len;
		index_add(&packet_index, ends[p], ends[p + 1] - ends[p], 1000 * p, 1000 * p + 1000);
		poke(&packet_index, packet_index.len - 8, p, 8);
	}
	stream = m.out;
}

static void write_all(void)
{
	make_file(dir, "metadata", metadata.at, metadata.len);
	make_file(dir, "ch_0", stream.at, stream.len);
	make_file(dir, "index/ch_0.idx", packet_index.at, packet_index.len);
}

struct verdict {
	uint64_t events, problems, damaged, unindexed, lost, lost_packets;
};

static struct verdict verify(void)
{
	const struct view_summary *sum;
	struct seen seen = { 0 };
	struct verdict v = { 0 };

	CHECK_IS(view_open(dir, note_problem, &seen, &seen.view), ==, 0);
	CHECK_IS(view_verify(seen.view), ==, 0);
	CHECK_IS(view_summary(seen.view, &sum), ==, 0);
	v = (struct verdict){ sum->events, sum->problems, sum->damaged_packets,
			      0,	   sum->lost,	  sum->lost_packets };
	for (size_t i = 0; i < sum->nr_streams; i++)
		v.unindexed += sum->streams[i].unindexed_packets;
	seen_fini(&seen);
	return v;
}

static unsigned int packets_within(size_t len)
{
	unsigned int n = 0;

	while (n < PACKETS && ends[n + 1] <= len)
		n++;
	return n;
}

/* A finished trace that was cut is damaged; one that a crash left is not, as
 * its index has no more than it. */
static void test_cut(void)
{
	for (size_t len = 1; len < stream.len; len++) {
		unsigned int whole = packets_within(len);
		struct verdict v;

		make_file(dir, "ch_0", stream.at, len);
		v = verify();
		CHECK(v.events == whole * EVENTS && v.problems > 0);
		make_file(dir, "index/ch_0.idx", packet_index.at, 16 + 72 * whole);
		v = verify();
		CHECK(v.events == whole * EVENTS && v.problems == 0 && !v.unindexed);
		make_file(dir, "index/ch_0.idx", packet_index.at, packet_index.len);
	}
	write_all();
}

static void test_flips(void)
{
	static const uint8_t masks[] = { 0x01, 0x80, 0xff };

	for (size_t at = 0; at < stream.len; at++)
		for (size_t i = 0; i < sizeof(masks); i++) {
			struct verdict v;

			stream.at[at] ^= masks[i];
			make_file(dir, "ch_0", stream.at, stream.len);
			stream.at[at] ^= masks[i];
			v = verify();
			CHECK(v.events == ALL - EVENTS && v.problems > 0 && v.damaged > 0);
		}
	write_all();
}

/* Sectors that hold anything: the packets that none of it touched are all shown. */
static void test_ranges(void)
{
	uint8_t *copy = malloc(stream.len);

	srand(7);
	for (int round = 0; round < 3000; round++) {
		size_t from = (size_t)rand() % stream.len;
		size_t len = 1 + (size_t)rand() % (stream.len - from);
		unsigned int whole = 0;
		struct verdict v;

		memcpy(copy, stream.at, stream.len);
		for (size_t i = from; i < from + len; i++)
			copy[i] = round % 2 ? (uint8_t)rand() : 0;
		for (unsigned int p = 0; p < PACKETS; p++)
			whole +=
				!memcmp(copy + ends[p], stream.at + ends[p], ends[p + 1] - ends[p]);
		make_file(dir, "ch_0", copy, stream.len);
		v = verify();
		CHECK_IS(v.events, ==, whole * EVENTS);
		CHECK(whole == PACKETS || v.problems > 0);
	}
	free(copy);
	write_all();
}

/* Each packet left out, and each pair of neighbours exchanged */
static void test_order(void)
{
	for (unsigned int p = 0; p < PACKETS; p++) {
		struct bytes out = { 0 };
		struct verdict v;

		put_raw(&out, stream.at, ends[p]);
		put_raw(&out, stream.at + ends[p + 1], stream.len - ends[p + 1]);
		make_file(dir, "ch_0", out.at, out.len);
		v = verify();
		CHECK(v.events == ALL - EVENTS && v.problems > 0);
		bytes_fini(&out);
	}
	for (unsigned int p = 0; p + 1 < PACKETS; p++) {
		struct bytes out = { 0 };

		put_raw(&out, stream.at, ends[p]);
		put_raw(&out, stream.at + ends[p + 1], ends[p + 2] - ends[p + 1]);
		put_raw(&out, stream.at + ends[p], ends[p + 1] - ends[p]);
		put_raw(&out, stream.at + ends[p + 2], stream.len - ends[p + 2]);
		make_file(dir, "ch_0", out.at, out.len);
		CHECK_IS(verify().problems, >, 0);
		bytes_fini(&out);
	}
	write_all();
}

/* All events are read with any contents of the index; its errors are reported. */
static void test_index(void)
{
	char path[256];

	for (size_t at = 0; at < packet_index.len; at++) {
		struct verdict v;

		packet_index.at[at] ^= 0x41;
		make_file(dir, "index/ch_0.idx", packet_index.at, packet_index.len);
		packet_index.at[at] ^= 0x41;
		v = verify();
		CHECK_IS(v.events, ==, ALL);
		CHECK(v.problems > 0 || v.unindexed > 0 || (at >= 8 && at < 12)); /* minor */
	}
	for (size_t len = 0; len < packet_index.len; len++) {
		make_file(dir, "index/ch_0.idx", packet_index.at, len);
		CHECK_IS(verify().events, ==, ALL);
		CHECK(len < 16 || verify().problems == 0);
	}
	make_path(path, sizeof(path), dir, "index/ch_0.idx");
	CHECK_IS(unlink(path), ==, 0);
	CHECK(verify().problems == 0 && verify().unindexed == PACKETS);
	write_all();
	make_path(path, sizeof(path), dir, "ch_0");
	CHECK(unlink(path) == 0 && verify().problems == 1);
	make_file(dir, "ch_0", "", 0);
	CHECK_IS(verify().problems, ==, 1);
	write_all();
}

/* Put @len bytes at @offset, far behind the file's end. */
static void put_far(const char *name, uint64_t offset, const void *data, size_t len)
{
	char path[256];
	int fd;

	make_path(path, sizeof(path), dir, name);
	fd = open(path, O_WRONLY);
	CHECK_IS(pwrite(fd, data, len, (off_t)offset), ==, (ssize_t)len);
	close(fd);
}

/* A file's size costs nothing: the work is that of its data. */
static void test_holes(void)
{
	const uint64_t huge = 4ull << 40;
	struct bytes far = { 0 };
	struct verdict v;

	put_far("ch_0", huge, "", 1);
	CHECK_IS(verify().events, ==, ALL);
	write_all();
	put_far("index/ch_0.idx", huge / 4, "", 1);
	v = verify();
	CHECK(v.events == ALL && v.problems == 1 && !v.unindexed);
	write_all();

	/* a packet that is a hole but for its head, its size within the file */
	put_raw(&far, stream.at, stream.len);
	poke(&far, ends[1] + HEAD_SIZES, huge * 4, 8);
	poke(&far, ends[1] + HEAD_SIZES + 8, huge * 4, 8);
	make_file(dir, "ch_0", far.at, far.len);
	put_far("ch_0", huge, "", 1);
	v = verify();
	CHECK(v.events == ALL - EVENTS && v.problems > 0);
	bytes_fini(&far);

	/* packets behind a hole are found */
	make_file(dir, "ch_0", stream.at, ends[1]);
	put_far("ch_0", huge, stream.at + ends[1], stream.len - ends[1]);
	v = verify();
	CHECK(v.events == ALL && v.problems > 0);
	write_all();
}

/* Changes of a comment's first words, and of bytes that readers never read, are not detected. */
static void test_metadata(void)
{
	for (size_t at = text_begin; at < metadata.len - 22; at++) {
		struct seen seen = { 0 };

		metadata.at[at] ^= 0x04;
		make_file(dir, "metadata", metadata.at, metadata.len);
		metadata.at[at] ^= 0x04;
		if (view_open(dir, note_problem, &seen, &seen.view) == 0)
			CHECK_IS(view_verify(seen.view), ==, 0);
		CHECK(seen.problems > 0 && strstr(seen.said, "checksum"));
		seen_fini(&seen);
	}
	write_all();
}

/* Packets without a count of events, as of other tracers: the reader of events and this one judge
 * alike. */
static void test_times(void)
{
	static const char recorded[] = "events_recorded";
	char *text = strdup(head);
	struct maker m = { 0 };
	struct seen seen;

	memset(strstr(text, recorded), 'x', strlen(recorded));
	make_path(dir, sizeof(dir), make_root, "times");
	make_file(dir, "metadata", text, strlen(text));
	for (unsigned late = 0; late < 2; late++) {
		packet_open(&m, 0);
		put(event(&m, 1, 10), 1, 4);
		put(event(&m, 1, 500), 2, 4);
		m.epoch = 1; /* so the next clock is whole */
		put(event(&m, 1, late ? 600 : 400), 3, 4);
		packet_close(&m, 1000);
		make_file(dir, "ch_0", m.out.at, m.out.len);
		CHECK_IS(see(&seen, dir), ==, 0);
		CHECK(seen.problems == !late && seen.sum->events == 3);
		seen_fini(&seen);
		CHECK(verify().problems == !late && verify().events == 3);
		bytes_fini(&m.out);
		m = (struct maker){ 0 };
	}
	free(text);
}

#define ARCHIVES "archives/20260101T000000+0000-20260101T000001+0000-"

/* Packets @from to @to - 1 of a stream: each has two events, and a loss before it; but each third
 * one is empty, as one that begins a part. */
static void make_part(const char *part, unsigned from, unsigned to)
{
	struct maker m = { .crc = true };
	uint64_t now = 0;
	char path[256];

	for (unsigned p = 0; p < to; p++) {
		m.out.len = p <= from ? 0 : m.out.len;
		packet_open(&m, now);
		for (unsigned i = 0; p % 3 && i < 2; i++)
			put(event(&m, 1, ++now), p, 4);
		m.lost[0] += p % 3 > 0;
		packet_close(&m, now);
	}
	make_path(path, sizeof(path), make_root, part);
	make_file(path, "metadata", metadata.at, metadata.len);
	make_file(path, "ch_0", m.out.at, m.out.len);
	bytes_fini(&m.out);
}

static struct view_summary see_part(const char *part)
{
	struct view_summary sum;
	struct seen seen;

	make_path(dir, sizeof(dir), make_root, part);
	CHECK_IS(see(&seen, dir), ==, 0);
	sum = *seen.sum;
	seen_fini(&seen);
	return sum;
}

/* All that was recorded before the first packet was cleared. */
static void test_cleared(void)
{
	struct maker m = { .crc = true, .recorded = 81, .pos = 700, .lost = { 3 } };
	struct view_summary sum;
	char path[256];

	packet_open(&m, 0);
	packet_close(&m, 0);
	packet_open(&m, 0);
	put(event(&m, 1, 1), 1, 4);
	m.lost[0]++;
	packet_close(&m, 1);
	make_path(path, sizeof(path), make_root, "cleared");
	make_file(path, "metadata", metadata.at, metadata.len);
	make_file(path, "ch_0", m.out.at, m.out.len);
	bytes_fini(&m.out);
	sum = see_part("cleared");
	CHECK(!sum.before && !sum.lost_before && !sum.lost_packets && !sum.problems);
	CHECK_IS(sum.events, ==, 1);
	CHECK_IS(sum.lost, ==, 1);
}

static struct view_summary verify_part(const char *part)
{
	struct seen seen = { 0 };
	struct view_summary sum;
	char path[256];

	make_path(path, sizeof(path), make_root, part);
	CHECK_IS(view_open(path, note_problem, &seen, &seen.view), ==, 0);
	CHECK_IS(view_verify(seen.view), ==, 0);
	CHECK_IS(view_summary(seen.view, &seen.sum), ==, 0);
	sum = *seen.sum;
	seen_fini(&seen);
	return sum;
}

/* The number of events of all parts, and the fault that is reported of them. */
static void check_in(const char *name, uint64_t events, const char *said)
{
	struct seen seen = { 0 };
	char root[128];

	make_path(root, sizeof(root), make_root, name);
	CHECK_IS(view_open(root, note_problem, &seen, &seen.view), ==, 0);
	CHECK_IS(view_verify(seen.view), ==, 0);
	CHECK(view_summary(seen.view, &seen.sum) == 0 && seen.sum->events == events);
	CHECK_IS(seen.problems, ==, *said != '\0');
	CHECK(strstr(seen.said, said));
	seen_fini(&seen);
}

/* A list that begins with a hole of @hole bytes. */
static void make_long_gaps(const char *entries, long hole)
{
	char path[256];
	int fd;

	make_path(path, sizeof(path), dir, ".gaps");
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CHECK_IS(pwrite(fd, entries, strlen(entries), hole), ==, strlen(entries));
	close(fd);
}

/* Archives, and the rest: each alone has its own losses; together they are whole, but for one that
 * is missing or there twice. */
static void test_archives(void)
{
	static const char *const parts[] = { "s/" ARCHIVES "1/ust", "s/" ARCHIVES "2/ust",
					     "s/ust" };
	static const char before[] = "\n+8 5 ch_0_*/\n0 ch_0_*/\n+8 5 ch_0_*/\n0 ch_0_*/";
	char path[256], other[256];
	struct view_summary sum;

	for (unsigned i = 0; i < 3; i++) {
		make_part(parts[i], 3 * i, 3 * i + 3);
		sum = see_part(parts[i]);
		CHECK(!sum.before && !sum.lost_before && !sum.lost_packets && !sum.problems);
		CHECK(sum.events == 4 && sum.lost == 2);
	}
	check_in("s", 12, "");
	rm_rf_at(AT_FDCWD, dir);
	check_in("s", 8, "");
	make_part(parts[2], 3, 6);
	check_in("s", 12, "events 5 to 8 of ust/ch_0 are in both archive ");
	make_part(parts[2], 6, 9);
	make_path(dir, sizeof(dir), make_root, "s/" ARCHIVES "2");
	rm_rf_at(AT_FDCWD, dir);
	check_in("s", 8, "events 5 to 8 of ust/ch_0 are missing between archive ");
	make_path(dir, sizeof(dir), make_root, "s/archives");
	make_file(dir, ".gaps", "\n3//\n2/", 7);
	check_in("s", 8, "events 5 to 8 of ust/ch_0 are missing between archive ");
	make_file(dir, ".gaps", "\n3//\n2//", 8);
	check_in("s", 8, "");
	make_long_gaps("\n4/\n4//", 65u << 20);
	check_in("s", 8, "events 5 to 8 of ust/ch_0 are missing between archive ");
	make_long_gaps("\n4/\n2//\n3//", 65u << 20);
	check_in("s", 8, "");

	/* the first packets were removed in favour of later ones; a list counts the rest */
	make_part(parts[2], 7, 9);
	sum = see_part(parts[2]);
	CHECK(sum.before == 8 && sum.lost_before == 5 && sum.lost == 1);
	make_path(path, sizeof(path), dir, "ch_0_1");
	make_path(other, sizeof(other), dir, "ch_0");
	CHECK_IS(rename(other, path), ==, 0);
	make_file(dir, ".streams", before, sizeof(before) - 1);
	sum = verify_part(parts[2]);
	CHECK(!sum.before && !sum.lost_before && sum.lost == 1 && !sum.problems);
}

/* A stream that begins in an archive that is missing is named; a reader that shows events notes the
 * numbers of missing archives. */
static void test_begin_missing(void)
{
	struct seen seen = { 0 };
	char root[128];

	make_part("b/" ARCHIVES "3/ust", 3, 6);
	check_in("b", 4, "");
	make_path(dir, sizeof(dir), make_root, "b/" ARCHIVES "1/ust");
	make_file(dir, "metadata", metadata.at, metadata.len);
	check_in("b", 4, "the first events of ust/ch_0 are missing, up to number 4: it begins between "
			 "archive ");
	make_path(dir, sizeof(dir), make_root, "b/archives");
	make_file(dir, ".gaps", "\n2//", 4);
	check_in("b", 4, "");
	make_part("b/" ARCHIVES "7/ust", 6, 9);
	make_path(root, sizeof(root), make_root, "b");
	CHECK_IS(view_open(root, note_problem, &seen, &seen.view), ==, 0);
	CHECK_IS(view_scan(seen.view, NULL), ==, 0);
	view_check_files(seen.view);
	CHECK(strstr(seen.said, "these archives are not here, nor are their events: 4 to 6 ("));
	seen_fini(&seen);
}

/* A trace without a stream, of a session that lists it no trace, has lost none. */
static void test_lists(void)
{
	static const char *const parts[] = { "l/" ARCHIVES "1/ust", "l/ust" };

	make_part(parts[0], 0, 3);
	make_path(dir, sizeof(dir), make_root, parts[0]);
	make_file(dir, ".streams", "\n1 ch_0/", 8);
	make_path(dir, sizeof(dir), make_root, "l/" ARCHIVES "1");
	make_file(dir, ".traces", "\nust//", 6);
	make_path(dir, sizeof(dir), make_root, parts[1]);
	make_file(dir, "metadata", metadata.at, metadata.len);
	CHECK_IS(verify_part("l").unlisted, ==, 1);
	make_path(dir, sizeof(dir), make_root, "l");
	make_file(dir, ".traces", "", 0);
	CHECK_IS(verify_part("l").unlisted, ==, 0);
	CHECK_IS(verify_part("l/archives").unlisted, ==, 0);
	CHECK_IS(verify_part("l/" ARCHIVES "1").unlisted, ==, 0);
	CHECK_IS(verify_part("l/" ARCHIVES "1/ust").unlisted, ==, 0);
	make_file(dir, ".traces", "\nust//", 6);
	CHECK_IS(verify_part("l").unlisted, ==, 1);
}

int main(void)
{
	make_path(dir, sizeof(dir), make_tmp(), "t");
	make_metadata();
	make_stream();
	write_all();
	CHECK(verify().events == ALL && verify().problems == 0 && verify().unindexed == 0);
	test_cut();
	test_flips();
	test_ranges();
	test_order();
	test_index();
	test_holes();
	test_metadata();
	test_times();
	test_archives();
	test_begin_missing();
	test_lists();
	test_cleared();
	bytes_fini(&stream);
	bytes_fini(&packet_index);
	bytes_fini(&metadata);
	return 0;
}
