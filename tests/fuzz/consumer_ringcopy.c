/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A producer that writes anything into a ring that is overwritten, its regions included, as
 * snapshots see it: a copy lies in its memory, its numbers of records are possible for its bytes,
 * and recorded = in snapshots + overwritten + in the ring, whatever the words are.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "consumerd/ring/ringcopy.h"
#include "consumerd/worker/ringset.h"
#include "must_hold.h"

#define SUBBUFS 4u
#define WORDS (sizeof(struct ltt_ring_prod) / 8 + SUBBUFS * sizeof(struct ltt_ring_region) / 8)

static struct disk disk; /* without limits */
static struct chunk_trace trace = {
	.fd = -1, .index_fd = -1, .metadata_fd = -1, .uuid = "0123456789abcde", .disk = &disk
};
static struct relay_conn_config no_relay;
static const struct sink_config sink_config = { .has_dir = true, .relay = &no_relay };
static struct sink *sink;
static struct ringset *set;
static struct ltt_ring_prod *prod; /* as the application has it */
static struct stats_box box;
static struct ring_copy copy;

static void open_set(int *ret_data_fd)
{
	struct ringset_spec spec = { .desc = { .mode = LTT_RING_OVERWRITE,
					       .nr_rings = 1,
					       .num_subbuf = SUBBUFS,
					       .subbuf_size = 4096,
					       .clock = LTT_CLOCK_MONOTONIC },
				     .channel = (char *)"c",
				     .sink = sink,
				     .boxes = &box,
				     .kept = true };
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
	MUST_HOLD(ring_copy_init(&copy, &set->streams[0].reader) == 0);
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

static void take(bool save)
{
	const struct ring_reader *r = &set->streams[0].reader;

	ring_copy_take(&copy, r, set->mem.start_ts);
	MUST_HOLD(copy.len <= r->size && copy.count <= copy.len / LTT_HDR_COMPACT);
	MUST_HOLD(!copy.len || (copy.at >= copy.room && copy.at + copy.len <= copy.room + r->size));
	MUST_HOLD(copy.begin_ts <= copy.end_ts);
	if (save)
		ring_set_saved(r, copy.count, copy.end, copy.len);
}

static void check(void)
{
	struct stats stats;
	uint64_t used;

	ringset_peek(set, 0, &box, &stats, &used);
	MUST_HOLD(used <= stats.size && stats.released <= stats.recorded);
	MUST_HOLD(stats.written + stats.overwritten + stats.cleared == stats.released);
}

static void step(unsigned int op, const uint8_t **data, size_t *size)
{
	uint64_t *word = (uint64_t *)prod + next(data, size, 1) % WORDS;

	switch (op & 7) {
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
		*word = prod->pub + (op >> 3) * 1024ull;
		break;
	case 4:
		stream_update(&set->streams[0]);
		if (op & 8)
			(void)ring_clear(&set->streams[0].reader);
		break;
	default:
		take(op & 8);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stats stats;
	int data_fd;

	if (!sink)
		sink = sink_new(&sink_config, NULL);
	open_set(&data_fd);
	while (size) {
		step((unsigned int)next(&data, &size, 1), &data, &size);
		check();
	}
	ring_copy_fini(&copy);
	set = ringset_free(set);
	stats_read(&box, &stats);
	MUST_HOLD(stats.written + stats.overwritten == stats.recorded);
	MUST_HOLD(stats.released == stats.recorded);
	munmap(prod, 4096);
	close(data_fd);
	return 0;
}
