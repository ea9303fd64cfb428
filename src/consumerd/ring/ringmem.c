/* SPDX-License-Identifier: GPL-2.0-only */
#include "ringmem.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "io/memfile.h"
#include "io/memgroup.h"
#include "store/append.h"
#include "consumerd/now.h"
#include "reader.h"

#define MAX_DATA_SIZE (1ull << 37)

static bool is_pow2(uint64_t v)
{
	return v && !(v & (v - 1));
}

/* A producer rings when it enters a sub-buffer; where there is only one, it would
 * find the ring full before that. */
static void make_two(struct ltt_ring_desc *desc, uint64_t least)
{
	desc->num_subbuf = 2;
	desc->subbuf_size = MAX(desc->subbuf_size / 2, least);
}

int ringmem_check(struct ltt_ring_desc *desc, struct err *err)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	if (desc->nr_rings < 1 || desc->nr_rings > RINGMEM_MAX_RINGS)
		return err_set(err, ERR_INVALID, "a ring set has 1 to %u rings, not %u",
			       RINGMEM_MAX_RINGS, desc->nr_rings);
	if (!is_pow2(desc->num_subbuf) || desc->num_subbuf > RINGMEM_MAX_SUBBUF)
		return err_set(err, ERR_INVALID,
			       "the number of sub-buffers must be a power of two up to %u, not %u",
			       RINGMEM_MAX_SUBBUF, desc->num_subbuf);
	if (!is_pow2(desc->subbuf_size) || desc->subbuf_size < MAX(page, LTT_RING_PAGE))
		return err_set(
			err, ERR_INVALID,
			"a sub-buffer must be a power of two of at least %llu bytes, not %llu",
			(unsigned long long)MAX(page, LTT_RING_PAGE),
			(unsigned long long)desc->subbuf_size);
	if (desc->subbuf_size >= MAX_DATA_SIZE / desc->num_subbuf)
		return err_set(err, ERR_INVALID, "a ring must be smaller than 128 GiB");
	if (desc->mode > LTT_RING_OVERWRITE || desc->clock > LTT_CLOCK_CYCLES)
		return err_set(err, ERR_INVALID, "unknown buffer mode or clock");
	if (desc->num_subbuf == 1)
		make_two(desc, MAX(page, LTT_RING_PAGE));
	desc->magic = LTT_RING_MAGIC;
	desc->version = desc->gap ? LTT_RING_VERSION_GAP : LTT_RING_VERSION;
	desc->data_size = desc->num_subbuf * desc->subbuf_size;
	desc->max_record = ltt_ring_max_record(desc->data_size);
	return 0;
}

/* A snapshot of a ring that is overwritten has no time for page faults. */
static int ringmem_map_at(const struct ringmem *mem, uint8_t *at, uint64_t bytes, int fd,
			  uint64_t offset)
{
	int populate = mem->desc.mode == LTT_RING_OVERWRITE ? MAP_POPULATE : 0;
	void *p = mmap(at, bytes, PROT_READ, MAP_SHARED | MAP_FIXED | populate, fd, (off_t)offset);

	return p == MAP_FAILED ? -errno : 0;
}

/* Space for everything first, so that nothing of ours is mapped over. With this beginning all
 * pages of large rings are where ltt_ring_large_gap() has them. */
static int reserve_data(struct ringmem *mem)
{
	uint64_t more = ltt_ring_is_large(&mem->desc) ? LTT_RING_LARGE_PAGE : 0, gap;
	uint8_t *space = mmap(NULL, mem->data_bytes + more, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (space == MAP_FAILED)
		return -errno;
	gap = more ? ltt_ring_large_gap((uintptr_t)space, 0) : 0;
	mem->data = space + gap;
	if (gap)
		munmap(space, gap);
	if (more > gap)
		munmap(mem->data + mem->data_bytes, more - gap);
	return 0;
}

static int map_data(struct ringmem *mem, int fd)
{
	uint64_t stride = ltt_ring_stride(&mem->desc);
	uint64_t data_size = mem->desc.data_size;
	int ret;

	mem->view = stride + data_size;
	mem->data_bytes = mem->view * mem->desc.nr_rings;
	ret = reserve_data(mem);
	for (uint32_t i = 0; i < mem->desc.nr_rings && ret == 0; i++) {
		uint8_t *at = mem->data + i * mem->view;

		ret = ringmem_map_at(mem, at, stride, fd, i * stride);
		if (ret == 0)
			ret = ringmem_map_at(mem, at + stride, data_size, fd,
					     (i + 1) * stride - data_size);
	}
	return ret;
}

/* A ring begins with the clock of now, so that its first record's short clock
 * can be extended from there. No other process has the file yet. */
static int write_start(const struct ringmem *mem, int fd)
{
	uint64_t stride = ltt_ring_stride(&mem->desc);
	struct ltt_ring_prod prod = { .pub = reader_first_pub(mem->start_ts),
				      .last_ts = mem->start_ts };
	int ret = 0;

	for (uint32_t i = 0; i < mem->desc.nr_rings && ret == 0; i++)
		ret = append_bytes(fd, &prod, sizeof(prod), i * stride);
	return ret;
}

static int make_data(struct ringmem *mem, bool sparse, int *ret_fd)
{
	AUTO_FD int fd = -1;
	int ret = (sparse ? memfile_new_sparse : memfile_new)(
		"ltt-ring-data", ltt_ring_data_bytes(&mem->desc), &fd);

	if (ret == 0)
		ret = write_start(mem, fd);
	if (ret == 0)
		ret = map_data(mem, fd);
	if (ret == 0)
		*ret_fd = TAKE_FD(fd);
	return ret;
}

/* Behind the description, for our successor alone. */
struct notes {
	uint64_t start_ts;
};
#define NOTES_OFFSET 2048u

static int map_ctl(struct ringmem *mem, int fd)
{
	void *ctl = mmap(NULL, ltt_ring_ctl_bytes(&mem->desc), PROT_READ | PROT_WRITE, MAP_SHARED,
			 fd, 0);

	if (ctl == MAP_FAILED)
		return -errno;
	mem->ctl = ctl;
	return 0;
}

static int make_ctl(struct ringmem *mem, struct ringmem_fds *ret)
{
	struct notes notes = { mem->start_ts };
	AUTO_FD int fd = -1;
	int err = memfile_new("ltt-ring-ctl", ltt_ring_ctl_bytes(&mem->desc), &fd);

	if (err == 0)
		err = map_ctl(mem, fd);
	if (err < 0)
		return err;
	memcpy(mem->ctl, &mem->desc, sizeof(mem->desc));
	memcpy(mem->ctl + NOTES_OFFSET, &notes, sizeof(notes));
	err = memfile_read_only(fd);
	if (err < 0)
		return err;
	ret->ctl = err;
	ret->ctl_rw = TAKE_FD(fd);
	return 0;
}

void ringmem_add_to_clock(const struct ringmem *mem, uint64_t clock_add)
{
	for (uint32_t i = 0; clock_add && i < mem->desc.nr_rings; i++) {
		struct ltt_ring_cons *cons = ringmem_cons(mem, i);

		__atomic_store_n(&cons->clock_add, clock_add, __ATOMIC_RELAXED);
		__atomic_fetch_or(&cons->state, LTT_RING_SHIFTED, __ATOMIC_SEQ_CST);
	}
}

int ringmem_init(struct ringmem *mem, const struct ltt_ring_desc *desc, bool sparse,
		 uint64_t clock_add, struct ringmem_fds *ret, struct err *err)
{
	AUTO_FD int data_fd = -1;
	int result;

	*mem = (struct ringmem){ .desc = *desc, .start_ts = now_of_ring(desc->clock) + clock_add };
	result = make_data(mem, sparse, &data_fd);
	if (result == 0)
		result = make_ctl(mem, ret);
	if (result == 0)
		ringmem_add_to_clock(mem, clock_add);
	if (result < 0)
		ringmem_fini(mem);
	if (result == -EDQUOT)
		return err_set(
			err, ERR_NO_MEMORY,
			"can't make buffers of %llu bytes for each of %u CPUs: the memory "
			"control group of the consumer daemon allows %llu bytes more; use "
			"smaller or fewer sub-buffers, or raise the group's limit (memory.max)",
			(unsigned long long)desc->data_size, desc->nr_rings,
			(unsigned long long)memgroup_available());
	if (result < 0) {
		return err_errno(
			err, result == -ENOMEM ? ERR_NO_MEMORY : ERR_INTERNAL, -result,
			"can't make buffers of %llu bytes for each of %u CPUs (use smaller or fewer sub-buffers)",
			(unsigned long long)desc->data_size, desc->nr_rings);
	}
	ret->data = TAKE_FD(data_fd);
	return 0;
}

static int check_sealed(const struct ringmem *mem, int data_fd, int ctl_rw_fd)
{
	int ret = memfile_check(data_fd, ltt_ring_data_bytes(&mem->desc));

	return ret < 0 ? ret : memfile_check(ctl_rw_fd, ltt_ring_ctl_bytes(&mem->desc));
}

/* Pages of the kernel module can't be removed from a mapping, so only their owner matters. */
static int check_module(int data_fd, int ctl_rw_fd)
{
	int ret = memfile_check_module(data_fd, "data");

	return ret < 0 ? ret : memfile_check_module(ctl_rw_fd, "ctl");
}

/* Which the first of us finds in the rings: the module makes all with one clock. */
static void note_start(struct ringmem *mem, uint64_t clock_add)
{
	struct notes notes;

	memcpy(&notes, mem->ctl + NOTES_OFFSET, sizeof(notes));
	if (!notes.start_ts) {
		notes.start_ts = ringmem_prod(mem, 0)->last_ts + clock_add;
		memcpy(mem->ctl + NOTES_OFFSET, &notes, sizeof(notes));
	}
	mem->start_ts = notes.start_ts;
}

static int ringmem_use_fds(struct ringmem *mem, uint64_t clock_add, int data_fd, int ctl_rw_fd,
			   bool module)
{
	int ret = module ? check_module(data_fd, ctl_rw_fd) : check_sealed(mem, data_fd, ctl_rw_fd);

	if (ret == 0)
		ret = map_ctl(mem, ctl_rw_fd);
	if (ret < 0)
		return ret;
	if (memcmp(mem->ctl, &mem->desc, sizeof(mem->desc)) != 0)
		return -EBADF;
	ret = map_data(mem, data_fd);
	if (ret == 0) {
		note_start(mem, clock_add);
		ringmem_add_to_clock(mem, clock_add);
	}
	return ret;
}

int ringmem_adopt(struct ringmem *mem, const struct ltt_ring_desc *desc, uint64_t clock_add,
		  int data_fd, int ctl_rw_fd, bool module, struct err *err)
{
	int ret;

	*mem = (struct ringmem){ .desc = *desc };
	ret = ringmem_use_fds(mem, clock_add, data_fd, ctl_rw_fd, module);
	if (ret == 0)
		return 0;
	ringmem_fini(mem);
	return err_errno(err, ERR_INTERNAL, -ret, "the buffers can't be adopted");
}

void ringmem_fini(struct ringmem *mem)
{
	if (mem->data)
		munmap(mem->data, mem->data_bytes);
	if (mem->ctl)
		munmap(mem->ctl, ltt_ring_ctl_bytes(&mem->desc));
	mem->data = mem->ctl = NULL;
}
