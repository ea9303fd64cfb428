/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A producer that writes anything into its ring, as the consumer sees it: the
 * reader and the packet cutter, for real, into files in memory. The input is a
 * program of stores into the producer's words, reads and cuts; invariants are
 * checked after each, and the written files in the end, by a reader of its own: packets
 * that follow each other, each with its sum and its entry in the index.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "consumerd/worker/ringset.h"
#include "lib/packet_walk.h"
#include "must_hold.h"

static struct disk disk; /* without limits */
static struct chunk_trace trace = {
	.fd = -1, .index_fd = -1, .metadata_fd = -1, .uuid = "0123456789abcde", .disk = &disk
};
static struct ringset *set;
static struct relay_conn_config no_relay;
static const struct sink_config sink_config = { .has_dir = true, .relay = &no_relay };
static struct sink *sink;
static struct ltt_ring_prod *prod; /* as the application has it */
static struct stats_box box;

static void check(const struct ring_reader *r, const struct ring_reader *before)
{
	MUST_HOLD(r->released <= r->pos && (r->overwrite || r->pos - r->released <= r->size));
	MUST_HOLD(r->overwritten <= r->released_count && r->skipped <= r->released);
	MUST_HOLD(r->pos >= before->pos && r->released >= before->released);
	MUST_HOLD(r->count >= before->count && r->released_count <= r->count);
	MUST_HOLD(r->last_ts >= before->last_ts);
	for (int i = 0; i < LOST_KINDS; i++)
		MUST_HOLD(r->lost[i] >= before->lost[i]);
	MUST_HOLD(r->invalid_bytes >= before->invalid_bytes &&
		  r->invalid_words >= before->invalid_words);
	MUST_HOLD(reader_bytes(r) >= r->data && reader_bytes(r) < r->data + r->size);
	MUST_HOLD(__atomic_load_n(&r->cons->consumed, __ATOMIC_RELAXED) ==
		  (r->released & LTT_POS_MASK));
}

static void open_set(enum ltt_ring_mode mode, int *ret_data_fd)
{
	struct ringset_spec spec = { .desc = { .mode = mode,
					       .nr_rings = 1,
					       .num_subbuf = 2,
					       .subbuf_size = 4096,
					       .clock = LTT_CLOCK_MONOTONIC },
				     .channel = (char *)"c",
				     .sink = sink,
				     .boxes = &box };
	struct err err = { 0 };
	struct ringmem_fds fds;

	memset(&box, 0, sizeof(box));
	MUST_HOLD(ringmem_check(&spec.desc, &err) == 0);
	MUST_HOLD(ringset_new(&spec, &trace, &set, &fds, &err) == 0);
	close(fds.ctl);
	close(fds.ctl_rw);
	*ret_data_fd = fds.data;
	prod = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, *ret_data_fd, 0);
	MUST_HOLD(prod != MAP_FAILED);
}

static uint64_t next(const uint8_t **data, size_t *size, size_t n)
{
	uint64_t v = 0;

	n = MIN(n, *size);
	memcpy(&v, *data, n);
	*data += n;
	*size -= n;
	return v;
}

static void step(unsigned int op, const uint8_t **data, size_t *size)
{
	uint64_t *word = (uint64_t *)prod + op % 8;

	switch (op >> 3 & 7) {
	case 0:
		*word = next(data, size, 8);
		break;
	case 1:
		*word += next(data, size, 2);
		break;
	case 2:
		*word -= next(data, size, 2);
		break;
	case 3:
		*word ^= LTT_PUB_PARITY;
		break;
	case 4:
		(void)!reader_snapshot(&set->streams[0].reader, op & 1);
		break;
	default:
		(void)!stream_cut(&set->streams[0], (enum stream_cut)(op % 3));
		break;
	}
}

/* --- the written files ------------------------------------------------------- */

/* Return: a descriptor of a stream's file that outlives the stream. */
static int memory_file(int *ret_fd, uint64_t *bytes, size_t head)
{
	static const uint8_t zeros[WALK_INDEX_HEAD];
	int fd = memfd_create("file", MFD_CLOEXEC);

	*ret_fd = dup(fd);
	*bytes = head;
	MUST_HOLD(fd >= 0 && *ret_fd >= 0 && write(fd, zeros, head) == (ssize_t)head);
	return fd;
}

/* A producer that lied goes on at another position, as does a stream with losses behind
 * the ring. */
static void check_next(const struct walk_packet *p, const struct walk_packet *last, bool lied)
{
	MUST_HOLD(p->seq == last->seq + 1 && p->begin >= last->end);
	MUST_HOLD(p->begin == last->end || p->lost[0] > last->lost[0]);
	if (lied || p->lost[3] != last->lost[3])
		MUST_HOLD(p->pos >= last->pos + last->bytes - WALK_HEAD);
	else
		MUST_HOLD(walk_follows(p, last));
	MUST_HOLD(p->recorded >= last->recorded);
	for (int i = 0; i < 4; i++)
		MUST_HOLD(p->lost[i] >= last->lost[i]);
}

static void check_files(int stream_fd, int index_fd, bool lied, uint64_t recorded)
{
	const struct walk_stream s = { trace.uuid, 0, 0 };
	struct contents stream = walk_load(stream_fd), index = walk_load(index_fd);
	struct walk_packet p, last = { 0 };
	size_t nr = 0;

	for (size_t at = 0; at < stream.len; at += p.bytes, nr++) {
		MUST_HOLD(walk_at(&s, &stream, at, &p));
		walk_judge(&stream, &p);
		MUST_HOLD(p.bytes - WALK_HEAD <= 8192 && (nr || p.seq == 0));
		if (nr)
			check_next(&p, &last, lied);
		MUST_HOLD(walk_entry_is(&s, &index, nr, &p));
		last = p;
	}
	MUST_HOLD(index.len == WALK_INDEX_HEAD + nr * WALK_ENTRY);
	MUST_HOLD(last.recorded <= recorded);
	free(stream.at);
	free(index.at);
	close(stream_fd);
	close(index_fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stats stats;
	uint64_t used;
	int data_fd, stream_fd, index_fd;
	struct chunk_stream *file;

	if (trace.fd < 0) { /* nothing is made there: the files are open */
		trace.fd = open("/dev", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		MUST_HOLD(trace.fd >= 0);
		sink = sink_new(&sink_config, NULL);
	}
	/* by the last byte, which is a step, too */
	open_set(size && data[size - 1] >> 7 ? LTT_RING_OVERWRITE : LTT_RING_DISCARD, &data_fd);
	file = file_sink_file(set->streams[0].out);
	stream_fd = memory_file(&file->fd, &file->bytes, 0);
	index_fd = memory_file(&file->index_fd, &file->index_bytes, WALK_INDEX_HEAD);
	while (size) {
		struct ring_reader before = set->streams[0].reader;

		step((unsigned int)next(&data, &size, 1), &data, &size);
		check(&set->streams[0].reader, &before);
		ringset_peek(set, 0, &box, &stats, &used);
		MUST_HOLD(used <= 8192);
		(void)reader_has_crossed(&set->streams[0].reader);
	}
	set = ringset_free(set);
	stats_read(&box, &stats);
	MUST_HOLD(stats.written + stats.lost_output <= stats.recorded);
	check_files(stream_fd, index_fd, stats.lost_invalid, stats.recorded);
	munmap(prod, 4096);
	close(data_fd);
	return 0;
}
