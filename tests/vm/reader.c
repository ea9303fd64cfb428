// SPDX-License-Identifier: GPL-2.0-only
#include "reader.h"

#include <err.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

int device(void)
{
	int fd = open(LTT_KMOD_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		err(1, LTT_KMOD_DEVICE);
	return fd;
}

int get_event(int fd, uint32_t index, struct ltt_kmod_event *ret)
{
	*ret = (struct ltt_kmod_event){ .size = sizeof(*ret), .index = index };
	return ioctl(fd, LTT_KMOD_EVENT, ret);
}

static struct ltt_ring_cons *cons(const struct reader *r, uint32_t cpu)
{
	return (struct ltt_ring_cons *)(r->ctl + LTT_RING_CONS_OFFSET) + cpu;
}

static const struct ltt_ring_prod *prod(const struct reader *r, uint32_t cpu)
{
	return (const struct ltt_ring_prod *)(r->data + cpu * ltt_ring_stride(&r->desc));
}

void reader_open(struct reader *r, uint32_t mode, uint32_t num_subbuf, uint64_t subbuf_size)
{
	struct ltt_kmod_channel c = { .size = sizeof(c), .mode = mode, .num_subbuf = num_subbuf,
				      .subbuf_size = subbuf_size, .clock = LTT_CLOCK_CYCLES,
				      .flags = LTT_KMOD_DATA };
	int fd = device();

	r->fd = ioctl(fd, LTT_KMOD_CHANNEL, &c);
	if (r->fd < 0)
		err(1, "channel");
	close(fd);
	r->data_fd = c.data_fd;
	r->ctl_fd = c.ctl_fd;
	r->data = mmap(NULL, c.data_bytes, PROT_READ, MAP_SHARED, c.data_fd, 0);
	r->ctl = mmap(NULL, c.ctl_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, c.ctl_fd, 0);
	if (r->data == MAP_FAILED || r->ctl == MAP_FAILED)
		err(1, "mmap");
	memcpy(&r->desc, r->ctl, sizeof(r->desc));
	if (r->desc.magic != LTT_RING_MAGIC || r->desc.nr_rings != c.nr_rings ||
	    ltt_ring_data_bytes(&r->desc) != c.data_bytes || c.nr_rings > MAX_CPUS)
		errx(1, "description of the rings");
	if (r->splices && pipe(r->pipe))
		err(1, "pipe");
}

void reader_state(const struct reader *r, uint32_t state)
{
	for (uint32_t cpu = 0; cpu < r->desc.nr_rings; cpu++)
		__atomic_store_n(&cons(r, cpu)->state, state, __ATOMIC_SEQ_CST);
}

/* By way of a pipe, which never holds more than one call puts into it. */
static void splice_all(const struct reader *r, uint64_t at, uint64_t bytes, FILE *to)
{
	off64_t offset = (off64_t)at;

	while (bytes) {
		ssize_t in = splice(r->data_fd, &offset, r->pipe[1], NULL, bytes, 0);

		if (in <= 0)
			err(1, "splice from the rings");
		bytes -= (uint64_t)in;
		while (in > 0) {
			ssize_t out = splice(r->pipe[0], NULL, fileno(to), NULL, (size_t)in, 0);

			if (out <= 0)
				err(1, "splice to the file");
			in -= out;
		}
	}
}

static void write_all(const struct reader *r, uint64_t at, uint64_t bytes, FILE *to)
{
	if (fwrite(r->data + at, 1, bytes, to) != bytes)
		err(1, "write");
}

static void put(const struct reader *r, uint32_t cpu, uint64_t from, uint64_t bytes)
{
	uint64_t data = cpu * ltt_ring_stride(&r->desc) + ltt_ring_prod_size(r->desc.num_subbuf);
	uint64_t at = from & (r->desc.data_size - 1);
	uint64_t first = bytes < r->desc.data_size - at ? bytes : r->desc.data_size - at;

	(r->splices ? splice_all : write_all)(r, data + at, first, r->out[cpu]);
	(r->splices ? splice_all : write_all)(r, data, bytes - first, r->out[cpu]);
}

void take(struct reader *r)
{
	for (uint32_t cpu = 0; cpu < r->desc.nr_rings; cpu++) {
		uint64_t pub = __atomic_load_n(&prod(r, cpu)->pub, __ATOMIC_ACQUIRE);
		uint64_t bytes = (pub - r->taken[cpu]) & LTT_POS_MASK;

		if (bytes > r->desc.data_size)
			errx(1, "ring %u holds %llu bytes", cpu, (unsigned long long)bytes);
		put(r, cpu, r->taken[cpu], bytes);
		r->taken[cpu] = pub & LTT_POS_MASK;
		__atomic_store_n(&cons(r, cpu)->consumed, r->taken[cpu], __ATOMIC_RELEASE);
	}
}

/* From the oldest entry that no writer can have reached. */
static uint64_t snapshot(struct reader *r, uint32_t cpu)
{
	const struct ltt_ring_prod *p = prod(r, cpu);
	uint64_t best = 0, skipped = p->count[!!(p->pub & LTT_PUB_PARITY)];

	for (uint32_t k = 0; k < r->desc.num_subbuf; k++) {
		uint64_t behind = (p->pub - p->region[k].pub) & LTT_POS_MASK;

		if (p->region[k].pub && behind >= best &&
		    behind <= r->desc.data_size - r->desc.max_record) {
			best = behind;
			skipped = p->region[k].count;
		}
	}
	put(r, cpu, (p->pub - best) & LTT_POS_MASK, best);
	return skipped;
}

FILE *create(const char *dir, const char *name, uint32_t cpu)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), name, dir, cpu);
	file = fopen(path, "w");
	if (!file)
		err(1, "%s", path);
	return file;
}

void keep_words(struct reader *r, const char *dir, int overwrite)
{
	FILE *words = create(dir, "%s/words", 0), *busy = create(dir, "%s/busy", 0);
	FILE *left_out = create(dir, "%s/left-out", 0);
	uint64_t lost = 0, not_sampled = 0;

	for (uint32_t cpu = 0; cpu < r->desc.nr_rings; cpu++) {
		const struct ltt_ring_prod *p = prod(r, cpu);
		uint64_t skipped = overwrite ? snapshot(r, cpu) : 0;

		fprintf(words, "%u %llu %llu %llu %llu %llu %llu\n", cpu, (unsigned long long)p->pub,
			(unsigned long long)p->last_ts,
			(unsigned long long)p->count[!!(p->pub & LTT_PUB_PARITY)],
			(unsigned long long)p->lost_full, (unsigned long long)p->lost_size,
			(unsigned long long)skipped);
		lost += p->lost_busy;
		not_sampled += p->not_sampled;
		fclose(r->out[cpu]);
	}
	fprintf(busy, "%llu\n", (unsigned long long)lost);
	fprintf(left_out, "%llu\n", (unsigned long long)not_sampled);
	fclose(left_out);
	fclose(busy);
	fclose(words);
}
