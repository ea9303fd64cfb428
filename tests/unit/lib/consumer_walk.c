/* SPDX-License-Identifier: GPL-2.0-only */
/* consumer_walk.c - reads the consumer's files by the written formats alone. */
#include "consumer_client.h"
#include "trace/index.h"

void *slurp(int dir, const char *name, size_t *ret_len)
{
	int fd = openat(dir, name, O_RDONLY);
	struct stat st;
	char *data;

	if (fd < 0)
		printf("no %s\n", name);
	CHECK(fd >= 0 && fstat(fd, &st) == 0);
	data = malloc((size_t)st.st_size + 1);
	CHECK(data && read(fd, data, (size_t)st.st_size) == st.st_size);
	data[st.st_size] = '\0';
	*ret_len = (size_t)st.st_size;
	close(fd);
	return data;
}

static void check_index_entry(const uint64_t *e, const struct test_packet *p, size_t at)
{
	const uint64_t want[9] = { at,		 p->size,      p->content,  p->begin, p->end,
				   p->discarded, p->stream_id, p->instance, p->seq };

	for (int i = 0; i < 9; i++)
		CHECK_IS(be64toh(e[i]), ==, want[i]);
}

static void check_index_head(const uint32_t *head)
{
	CHECK(be32toh(head[0]) == 0xc1f1dcc1 && be32toh(head[1]) == 1 && be32toh(head[2]) == 1 &&
	      be32toh(head[3]) == 72);
}

void walk_stream(int dir, const char *name, struct test_packet *prev, struct walked *sum)
{
	char index_name[300];
	size_t len, index_len, at = 0, entry = 16;
	uint8_t *data = slurp(dir, name, &len), *index;

	snprintf(index_name, sizeof(index_name), "index/%s.idx", name);
	index = slurp(dir, index_name, &index_len);
	check_index_head((uint32_t *)index);
	while (at < len) {
		struct test_packet p, bare;
		uint64_t entry_words[9];

		CHECK_IS(len - at, >=, sizeof(p));
		memcpy(&p, data + at, sizeof(p));
		CHECK(p.magic == 0xc1fc1fc1 && p.form == 2 && !memcmp(p.uuid, TEST_UUID, 16));
		CHECK(p.content == p.size && p.size / 8 <= len - at && p.size / 8 >= sizeof(p));
		CHECK(p.begin <= p.end && p.cpu == p.instance);
		bare = p;
		bare.crc = 0;
		CHECK_IS(crc32c(crc32c(0, &bare, sizeof(bare)), data + at + sizeof(p),
				p.size / 8 - sizeof(p)),
			 ==, p.crc);
		CHECK_IS(p.discarded, ==, p.lost_full + p.lost_size + p.lost_busy + p.lost_output);
		if (prev->magic) { /* they touch, and nothing goes back */
			CHECK(p.begin == prev->end && p.seq == prev->seq + 1);
			/* but packets that the output has lost leave a gap */
			CHECK(p.pos == prev->pos + prev->size / 8 - sizeof(p) ||
			      (p.pos > prev->pos && p.lost_output > prev->lost_output));
			CHECK(p.recorded >= prev->recorded && p.discarded >= prev->discarded);
		} else {
			CHECK(p.pos == 0 && p.seq == 0);
		}
		CHECK_IS(entry + 72, <=, index_len);
		memcpy(entry_words, index + entry, 72);
		check_index_entry(entry_words, &p, at);
		entry += 72;
		sum->payload_bytes += p.size / 8 - sizeof(p);
		sum->packets++;
		at += p.size / 8;
		*prev = p;
	}
	CHECK_IS(entry, ==, index_len);
	sum->bytes += len;
	free(data);
	free(index);
}

struct walked walk_trace(int dir, const char *channel, uint32_t nr)
{
	struct walked sum = { 0 };

	for (uint32_t cpu = 0; cpu < nr; cpu++) {
		struct test_packet last = { 0 };
		char name[256];

		snprintf(name, sizeof(name), "%s_%u", channel, cpu);
		if (faccessat(dir, name, F_OK, 0) < 0)
			continue;
		walk_stream(dir, name, &last, &sum);
		sum.records += last.recorded - last.lost_output;
		sum.lost += last.discarded;
		sum.lost_output += last.lost_output;
		sum.streams++;
	}
	return sum;
}

/* A file grows page by page, so an index with an entry on both sides of the end of a page can
 * be seen to end there. Without an index, then, babeltrace2 reads all packets. */
static bool ends_with_a_page(const char *line)
{
	const char *at = strstr(line, "the index's size after the header (");
	unsigned long size;

	return at && sscanf(at, "%*[^(](%lu bytes)", &size) == 1 &&
	       (size + sizeof(struct index_header)) % 4096 == 0;
}

static bool is_allowed(const char *line, unsigned int allowed)
{
	return ((allowed & COMPLAINT_LOSSES) && strstr(line, "discarded")) ||
	       ((allowed & COMPLAINT_GROWING) &&
		(strstr(line, "indexed size != stream file size") || ends_with_a_page(line)));
}

/* Does it complain that a file ends with room for a packet that has no header yet? */
static bool says_headless(void)
{
	return system("grep -q 'Invalid CTF magic number.* magic=0$' bt.err") == 0;
}

bool babeltrace_reads(const char *path, unsigned int allowed, long *ret_lines)
{
	char command[8192], line[4096];
	FILE *f;

	*ret_lines = 0;
	snprintf(command, sizeof(command),
		 "timeout 100 babeltrace2 '%s' >bt.out 2>bt.err || exit 1; cat bt.out", path);
	f = popen(command, "r");
	CHECK(f);
	while (fgets(line, sizeof(line), f))
		++*ret_lines;
	if (pclose(f) != 0) {
		if ((allowed & COMPLAINT_GROWING) && says_headless())
			return false;
		fprintf(stderr, "babeltrace2 failed on %s\n", path);
		(void)!system("head -5 bt.err >&2");
		exit(1);
	}
	f = fopen("bt.err", "r");
	CHECK(f);
	while (fgets(line, sizeof(line), f))
		if (!is_allowed(line, allowed)) {
			fprintf(stderr, "babeltrace2: %s", line);
			exit(1);
		}
	fclose(f);
	return true;
}

long babeltrace(const char *path, unsigned int allowed)
{
	long lines;

	if (system("command -v babeltrace2 >/dev/null") != 0)
		return -1;
	for (int tries = 0; !babeltrace_reads(path, allowed, &lines); tries++) {
		CHECK_IS(tries, <, 20);
		sleep_ms(10);
	}
	return lines;
}

int fresh_dir(const char *name)
{
	int fd;

	CHECK_IS(mkdir(name, 0755), ==, 0);
	fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK_IS(fd, >=, 0);
	return fd;
}

void enter_test_dir(void)
{
	const char *dir = getenv("LTT_TEST_DIR");
	char name[64] = "/tmp/ltt-consumer-XXXXXX";

	CHECK_IS(chdir(dir ? dir : mkdtemp(name)), ==, 0);
}
