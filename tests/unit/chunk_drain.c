/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets of a stream are passed on while more come, and their files are kept: until they are
 * released, file by file, and never before all packets in one were passed on. It begins again with
 * the oldest. A file that is released while it grows is followed by another. Without keeping, a
 * file is removed as soon as it was passed on.
 */
#include "store/chunk_drain.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/dir.h"
#include "check.h"

#define BODY 3000u
#define A_FILE 2u /* packets in it */

static const uint8_t uuid[16] = "0123456789abcde";
static uint8_t body[BODY];
static struct disk disk = { .max_size = 1u << 30 };
static struct chunk chunk;
static struct chunk_stream file;
static struct chunk_drain drain;
static struct chunk_drain_sums sums;

static void append(uint64_t seq)
{
	struct packet_header header = {
		.magic = PACKET_MAGIC,
		.stream_instance_id = 0,
		.form = PACKET_FORM,
		.stream_pos = seq * BODY,
		.events_recorded = 10 * (seq + 1),
		.content_size = (sizeof(header) + BODY) * 8,
		.packet_size = (sizeof(header) + BODY) * 8,
		.packet_seq_num = seq,
	};

	memcpy(header.uuid, uuid, sizeof(uuid));
	header.crc32c = packet_checksum(&header, body, BODY);
	CHECK_IS(chunk_stream_append(&file, &header, body, BODY, NULL), ==, 0);
	chunk_drain_add(&drain, header.packet_size / 8);
}

/* Return: its number; -1: there is none. */
static int64_t pass(void)
{
	struct packet_header header;
	void *data;
	int ret = chunk_drain_next(&drain, &header, &data);

	if (ret == 0)
		return -1;
	CHECK_IS(ret, ==, CHUNK_DRAIN_PACKET);
	CHECK(memcmp(data, body, BODY) == 0);
	free(data);
	chunk_drain_pass(&drain, header.packet_size / 8);
	return (int64_t)header.packet_seq_num;
}

static unsigned int nr_files(const struct chunk_trace *trace)
{
	AUTO_DIR DIR *dir = dir_open(trace->fd, ".");
	struct dirent *entry;
	uint64_t number;
	unsigned int nr = 0;

	while ((entry = dir_next(dir)))
		nr += chunk_stream_number_of(&file, entry->d_name, &number);
	return nr;
}

static void test_kept(const struct chunk_trace *trace)
{
	struct packet_header last = { 0 };
	uint64_t first;

	drain.keeps = true;
	for (uint64_t seq = 0; seq < 7; seq++)
		append(seq); /* 0 1, 2 3, 4 5, 6 */
	for (int64_t seq = 0; seq < 3; seq++)
		CHECK_IS(pass(), ==, seq);
	CHECK_IS(nr_files(trace), ==, 4);
	CHECK(!chunk_drain_release(&drain, 0, &last));
	CHECK(chunk_drain_release(&drain, 3, &last)); /* 3 was not passed on */
	CHECK_IS(last.packet_seq_num, ==, 1);
	CHECK_IS(last.events_recorded, ==, 20);
	CHECK_IS(nr_files(trace), ==, 3);
	CHECK_IS(sums.kept, ==, BODY + sizeof(last));

	CHECK_IS(chunk_drain_rewind(&drain, &first), ==, 0);
	CHECK_IS(first, ==, 2);
	CHECK_IS(sums.kept, ==, 0);
	CHECK_IS(sums.waiting, ==, 5 * (BODY + sizeof(last)));
	for (int64_t seq = 2; seq < 7; seq++)
		CHECK_IS(pass(), ==, seq);
	CHECK_IS(pass(), ==, -1);
	CHECK_IS(sums.waiting, ==, 0);
	append(7);
	CHECK_IS(pass(), ==, 7);
	CHECK_IS(nr_files(trace), ==, 3);
	append(8); /* the next file, of which nothing was passed on */
	CHECK(chunk_drain_release(&drain, 100, &last));
	CHECK_IS(last.packet_seq_num, ==, 7);
	CHECK_IS(nr_files(trace), ==, 1);
	CHECK_IS(pass(), ==, 8);
	CHECK(chunk_drain_release(&drain, 8, &last)); /* and it would grow */
	CHECK_IS(nr_files(trace), ==, 0);
	CHECK_IS(sums.kept, ==, 0);
	CHECK(!chunk_drain_release(&drain, 100, &last));
	CHECK_IS(chunk_drain_rewind(&drain, &first), ==, 0);
	CHECK_IS(first, ==, UINT64_MAX);
	append(9);
	CHECK_IS(pass(), ==, 9);
	CHECK_IS(pass(), ==, -1);
	chunk_drain_close(&drain, true);
	CHECK_IS(nr_files(trace), ==, 0);
}

static void test_not_kept(const struct chunk_trace *trace)
{
	for (uint64_t seq = 10; seq < 13; seq++)
		append(seq);
	CHECK_IS(nr_files(trace), ==, 2);
	CHECK_IS(pass(), ==, 10);
	CHECK_IS(pass(), ==, 11);
	CHECK_IS(nr_files(trace), ==, 1);
	CHECK_IS(pass(), ==, 12);
	CHECK_IS(pass(), ==, -1);
	CHECK_IS(nr_files(trace), ==, 0);
	CHECK_IS(sums.waiting + sums.kept, ==, 0);
}

int main(void)
{
	const struct chunk_trace_spec spec = { .id = 1, .path = "ust", .uuid = uuid };
	struct stream_config config = {
		.disk = &disk,
		.channel = (char *)"chan",
		.tracefile_size = A_FILE * (BODY + sizeof(struct packet_header)),
		.unlisted = true,
	};
	char top[] = "/tmp/chunk_drain_XXXXXX";
	struct chunk_trace *trace;
	struct err err = { 0 };
	int fd;

	CHECK(mkdtemp(top));
	fd = open(top, O_RDONLY | O_DIRECTORY);
	CHECK(fd >= 0);
	chunk_init(&chunk, fd, &disk);
	CHECK_IS(chunk_trace_continue(&chunk, &spec, &trace, &err), ==, 0);
	config.trace = trace;
	chunk_stream_init(&file, &config, 0);
	chunk_drain_init(&drain, &file, &sums);
	test_kept(trace);
	chunk_drain_init(&drain, &file, &sums);
	CHECK_IS(chunk_drain_find(&drain), ==, 0);
	test_not_kept(trace);
	chunk_drain_close(&drain, false);
	chunk_stream_close(&file);
	chunk_fini(&chunk);
	close(fd);
	dir_remove(AT_FDCWD, top);
	return 0;
}
