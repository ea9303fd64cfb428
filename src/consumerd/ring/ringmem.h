/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ringmem.h - the memory of a ring set (abi/ltt_ring.h): creates, seals and maps it.
 * Owned by a ring set. Made and freed by the worker; in between, the main thread may use the
 * ctl words and read the producer's words.
 */
#ifndef CONSUMERD_RING_RINGMEM_H
#define CONSUMERD_RING_RINGMEM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "ltt_ring.h"

struct ringmem {
	struct ltt_ring_desc desc;
	uint64_t start_ts; /* the rings' clock when they were made */
	uint8_t *ctl;	   /* written by the consumer */
	uint8_t *data;	   /* read only; each ring's data area is mapped twice */
	uint64_t data_bytes;
	uint64_t view; /* bytes from one ring to the next in @data */
};

struct ringmem_fds {
	int data, ctl, ctl_rw;
};

#define RINGMEM_MAX_RINGS 8192u
#define RINGMEM_MAX_SUBBUF (1u << 16)

/** Fill the sizes of @desc that follow from the others. Return: the code. */
int ringmem_check(struct ltt_ring_desc *desc, struct err *err);

/**
 * ringmem_init() - make both files and map them.
 * @desc: checked. @sparse: without the pages of the data. @clock_add: as of struct ltt_ring_cons.
 * @ret: owned by the caller. `data` and `ctl` are for applications: `ctl` is read-only, and
 *     only the owner of the file (the calling thread's fsuid) could open it for
 *     writing; `ctl_rw` is for the next consumer.
 * Return: 0 or the error's code; then nothing was made.
 */
int ringmem_init(struct ringmem *mem, const struct ltt_ring_desc *desc, bool sparse,
		 uint64_t clock_add, struct ringmem_fds *ret, struct err *err);
/** Map memory that an earlier consumer or (@module) the kernel module created. @data_fd,
 *  @ctl_rw_fd stay the caller's. */
int ringmem_adopt(struct ringmem *mem, const struct ltt_ring_desc *desc, uint64_t clock_add,
		  int data_fd, int ctl_rw_fd, bool module, struct err *err);
/** Have the producers add this to their readings of the clock. Any thread. */
void ringmem_add_to_clock(const struct ringmem *mem, uint64_t clock_add);
/** Unmap. A zeroed struct is allowed. */
void ringmem_fini(struct ringmem *mem);

static inline const struct ltt_ring_prod *ringmem_prod(const struct ringmem *mem, uint32_t ring)
{
	return (const struct ltt_ring_prod *)(mem->data + ring * mem->view);
}

static inline const uint8_t *ringmem_data(const struct ringmem *mem, uint32_t ring)
{
	return mem->data + ring * mem->view + ltt_ring_prod_size(mem->desc.num_subbuf);
}

static inline struct ltt_ring_cons *ringmem_cons(const struct ringmem *mem, uint32_t ring)
{
	return (struct ltt_ring_cons *)(mem->ctl + LTT_RING_CONS_OFFSET) + ring;
}

#endif
