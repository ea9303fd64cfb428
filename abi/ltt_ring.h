/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ltt_ring.h - layout of a ring in shared memory.
 *
 * This file is the interface between the producers of events (libltt and ltt.ko) and
 * their reader (ltt-consumerd): the memory layout, and functions that compute it.
 *
 * A *ring set* is the buffer of one (session, channel, owner): one ring per
 * CPU. It lives in two memfds that the consumer creates and seals:
 *
 *   data memfd   the producer maps it read-write and may overwrite all of it; the consumer
 *                validates everything that it reads there. for each CPU c, at c *
 *                    ltt_ring_stride(): struct ltt_ring_prod, padded to ltt_ring_prod_size()
 *                    data area, data_size bytes
 *   ctl memfd    the consumer writes it; the producer gets a read-only
 *                descriptor (mode 0600, opened O_RDONLY).
 *                    struct ltt_ring_desc at 0 (fixed when the set is made)
 *                    struct ltt_ring_cons for CPU c at
 *                        LTT_RING_CONS_OFFSET + c * sizeof(struct ltt_ring_cons)
 *
 * Every mapping of a data area maps it twice in a row, so that a record which
 * crosses the end is contiguous.
 *
 * Positions count bytes since the ring was made, modulo 2^39.
 */
#ifndef LTT_ABI_RING_H
#define LTT_ABI_RING_H

#include <stdint.h>

#define LTT_RING_MAGIC    0x474e495254544c00ull /* "\0LTTRING", little-endian */
#define LTT_RING_VERSION  1

/* --- the word that commits records: `pub` --------------------------------- */

/*
 * bits  0..38  position of the first byte not yet published
 * bit   39     parity: flips with every record; selects count[parity]
 * bits 40..63  low 24 bits of the epoch (ts >> LTT_TS_BITS) of the last record
 */
#define LTT_POS_BITS      39
#define LTT_POS_MASK      ((1ull << LTT_POS_BITS) - 1)
#define LTT_PUB_PARITY    (1ull << 39)
#define LTT_PUB_EPOCH_SHIFT 40
#define LTT_TS_BITS       27 /* clock bits that a compact event header holds */

/* --- written by the producer ------------------------------------------- */

/** struct ltt_ring_region - values of @pub and @count before the first record that begins in a
 *  sub-buffer: a reader can start there. Stored before the commit of the record whose end is in
 *  the sub-buffer. */
struct ltt_ring_region {
	uint64_t pub;
	uint64_t count;
};

/**
 * struct ltt_ring_prod - producer words of one ring.
 * @pub: see above; a store to it commits a record.
 * @last_ts: clock of the last record attempted; stored before @pub.
 * @count: records published; count[parity of pub] is the valid one. The writer
 *         stores count[!parity] and then flips the parity with the commit, so
 *         a record that is abandoned is never counted.
 * @lost_full: records refused because the ring was full.
 * @lost_size: records refused because they exceed max_record (atomic adds).
 * @lost_busy: records refused because no ring could be written: the restart limit was reached or
 * the process has no private ring yet (atomic adds).
 * @not_sampled: events left out by --sample, --rate or --first of a rule: neither records nor
 *               losses. Plain adds, in restartable sequences only, or by the ring's CPU in the
 *               kernel.
 * @not_sampled_apart: the same, counted outside of restartable sequences (atomic adds).
 * @hint_end: for producers only: a record whose end stays below it (with a compact
 *            header, in 32 bits, less 4) is in the sub-buffer of `pub`, and fits.
 *            It is not valid in another sub-buffer: the first record there
 *            computes it again.
 * @hint_epoch: for producers only: the first clock value after an epoch that `pub`
 *              had; a clock value below it, and not below last_ts, is of the epoch of
 *              `pub`.
 * @switches: how often the end of the packet was requested (ltt_switch(); atomic adds).
 * @lost_full_apart: as @lost_full, counted outside of restartable sequences, by threads that have
 *                   waited for free space in vain (atomic adds).
 * @region: num_subbuf entries. Those of the first ring are followed by LTT_FILTER_WORDS words
 *          (ltt_filter.h) for rules with --rate or --first, which all producers share.
 */
struct ltt_ring_prod {
	uint64_t pub;
	uint64_t last_ts;
	uint64_t count[2];
	uint64_t lost_full;
	uint64_t lost_size;
	uint64_t lost_busy;
	uint64_t hint_end;
	uint64_t hint_epoch;
	uint64_t not_sampled;
	uint64_t not_sampled_apart;
	uint64_t switches;
	uint64_t lost_full_apart;
	uint64_t reserved[3];
	struct ltt_ring_region region[];
};

/* --- written by the consumer ------------------------------------------- */

/** state: bits of ltt_ring_cons.state. The fast path records only if the value is LTT_RING_ON;
 *  any other value is handled out of line. */
enum {
	LTT_RING_ON = 1,      /* record */
	LTT_RING_WAKE = 2,    /* the consumer sleeps: wake it by its doorbell after a record */
	LTT_RING_SHIFTED = 4, /* the clock of a record is the counter plus @clock_add */
};

/** struct ltt_ring_clear - values of @pub and @count behind the last record that a clear removed;
 *  @records: that all clears have removed from the ring before a snapshot had them. */
struct ltt_ring_clear {
	uint64_t pub;
	uint64_t count;
	uint64_t records;
};

/**
 * struct ltt_ring_stored - the end of a packet of a ring that is overwritten, where the next one
 * goes on: the packet itself does not have its place in the ring.
 * @next: number of the packet behind it; 0: there is none.
 * @pos, @count: position, of 64 bits, and number of records at its end.
 * @overwritten, @skipped: records before its end, and their bytes, that newer ones overwrote: no
 *                         packet has them.
 * @lost_full: of the ring.
 */
struct ltt_ring_stored {
	uint64_t next;
	uint64_t pos;
	uint64_t count;
	uint64_t overwritten;
	uint64_t skipped;
	uint64_t lost_full;
};

/**
 * struct ltt_ring_cons - consumer words of one ring, on a page of their own, which
 * a producer can map next to the producer words.
 * @apart, @reserved: unused.
 * @consumed: position up to which the space may be reused.
 * @state: LTT_RING_*.
 * @waiting: not 0 while the consumer sleeps between flushes: a record that
 *           enters a new sub-buffer wakes it by its doorbell.
 * @saved_end: of a ring that is overwritten, for the consumer and its successors only: value of
 *             @count at the end of the last snapshot.
 * @saved_records, @saved_bytes, @saved_packets: written to all snapshots; a record that is in
 *             several of them counts once in @saved_records.
 * @clock_add: with LTT_RING_SHIFTED: cycles by which the counter went back while the session
 *             recorded, so that the ring's clock goes on. Stored before the bit; it only grows.
 * @clears: number of clears, for the consumer and its successors only: clear[@clears & 1] is the
 *          last one.
 * @stored: of a ring that is overwritten and written to a trace, for the consumer and its
 *          successors only: of the last two packets, by the last bit of their numbers.
 * @lowered: not 0 while @consumed is behind the records that were released, so that memory of free
 *           sub-buffers can be given back: LTT_RING_LOWERED and their position. For the consumer
 *           and its successors only.
 */
struct ltt_ring_cons {
	uint64_t apart[256];
	uint64_t consumed;
	uint32_t state;
	uint32_t waiting;
	uint64_t saved_end;
	uint64_t saved_records;
	uint64_t saved_bytes;
	uint64_t saved_packets;
	uint64_t clock_add;
	uint64_t clears;
	struct ltt_ring_clear clear[2];
	struct ltt_ring_stored stored[2];
	uint64_t lowered;
	uint64_t reserved[229];
};

#define LTT_RING_LOWERED (1ull << 63)

enum ltt_ring_mode { LTT_RING_DISCARD = 0, LTT_RING_OVERWRITE = 1 };

/** The version of a ring set with @gap: an older libltt, which would write there, refuses it. */
#define LTT_RING_VERSION_GAP 2
#define LTT_RING_WAIT_FOREVER UINT32_MAX

/** struct ltt_ring_desc - describes a ring set; constant once created.
 *  @blocking_us: longest time that a program which allows it waits for free space, with
 *                LTT_RING_DISCARD; 0: it does not wait; LTT_RING_WAIT_FOREVER: no limit.
 *  @gap: bytes in front of @consumed that the producers leave alone: a page, if the consumer gives
 *        memory back. So a page that has the byte at @consumed is not written to until that moves
 *        on, and the consumer may remove its memory before. Else 0. */
struct ltt_ring_desc {
	uint64_t magic;
	uint32_t version;
	uint32_t mode;        /* enum ltt_ring_mode */
	uint32_t nr_rings;    /* one per possible CPU, or 1 */
	uint32_t num_subbuf;  /* power of two */
	uint64_t subbuf_size; /* bytes, power of two, >= 4096 */
	uint64_t data_size;   /* num_subbuf * subbuf_size, < 2^37 */
	uint32_t max_record;  /* bytes, header included */
	uint32_t clock;       /* enum ltt_clock_kind */
	uint32_t blocking_us;
	uint32_t gap;
};

/** The trace clock; ltt_ring_desc.clock and the application protocol. */
enum ltt_clock_kind {
	LTT_CLOCK_MONOTONIC = 0, /* CLOCK_MONOTONIC, ns */
	LTT_CLOCK_CYCLES = 1,    /* rdtsc / cntvct_el0 */
};

#define LTT_RING_CONS_OFFSET 4096u
#define LTT_RING_PAGE        4096u /* granularity of the layout; data areas are
                                      also multiples of the machine's page */
#define LTT_RING_SLACK       16u   /* a copy loop may overrun by this many bytes */
#define LTT_RING_MAX_RECORD  65536u

/** Bytes of the producer block, a multiple of LTT_RING_PAGE. */
static inline uint64_t ltt_ring_prod_size(uint32_t num_subbuf)
{
	uint64_t size = sizeof(struct ltt_ring_prod) +
			(uint64_t)num_subbuf * sizeof(struct ltt_ring_region);

	return (size + LTT_RING_PAGE - 1) & ~(uint64_t)(LTT_RING_PAGE - 1);
}

/** Bytes from one CPU's producer block to the next in the data memfd. */
static inline uint64_t ltt_ring_stride(const struct ltt_ring_desc *desc)
{
	return ltt_ring_prod_size(desc->num_subbuf) + desc->data_size;
}

/**
 * Rings with at least as much data are mapped for large pages, which shared memory has where
 * /sys/kernel/mm/transparent_hugepage/shmem_enabled allows them: a page of the file has an address
 * that is as far behind a multiple of their size as it is in the file.
 */
#define LTT_RING_LARGE_PAGE (2ull << 20)

static inline int ltt_ring_is_large(const struct ltt_ring_desc *desc)
{
	return desc->data_size >= LTT_RING_LARGE_PAGE;
}

/** Bytes from @at to the next address that is @offset behind a multiple of a large page's size. */
static inline uint64_t ltt_ring_large_gap(uint64_t at, uint64_t offset)
{
	return (offset - at) & (LTT_RING_LARGE_PAGE - 1);
}

/** Size of the data memfd. */
static inline uint64_t ltt_ring_data_bytes(const struct ltt_ring_desc *desc)
{
	return ltt_ring_stride(desc) * desc->nr_rings;
}

/** Size of the ctl memfd. */
static inline uint64_t ltt_ring_ctl_bytes(const struct ltt_ring_desc *desc)
{
	return LTT_RING_CONS_OFFSET +
	       (uint64_t)desc->nr_rings * sizeof(struct ltt_ring_cons);
}

/** Largest record of a ring: an eighth of it, at most 64 KiB. */
static inline uint32_t ltt_ring_max_record(uint64_t data_size)
{
	uint64_t eighth = data_size / 8;

	return eighth < LTT_RING_MAX_RECORD ? (uint32_t)eighth : LTT_RING_MAX_RECORD;
}

/* --- records ------------------------------------------------------------- */

/*
 * A record is a header and the payload, byte-packed, little-endian:
 *
 *   compact   u32: bits 0..4 = id (0..29), bits 5..31 = low 27 clock bits
 *   wide      u32: bits 0..4 = 30, bits 5..31 = low 27 clock bits; u16 id
 *   extended  u8 = 31; u32 id; u64 clock
 *
 * compact and wide need (ts >> 27) equal to the epoch of the record before;
 * extended is used if it differs, and for ids above 65535.
 */
#define LTT_ID_COMPACT_MAX 29u
#define LTT_ID_WIDE        30u
#define LTT_ID_EXTENDED    31u
#define LTT_HDR_COMPACT    4u
#define LTT_HDR_WIDE       6u
#define LTT_HDR_EXTENDED   13u

/* Programs of 32 bits record into the same memory: no structure has padding that depends on it. */
_Static_assert(sizeof(struct ltt_ring_region) == 16 && sizeof(struct ltt_ring_prod) == 128 &&
		       sizeof(struct ltt_ring_clear) == 24 &&
		       sizeof(struct ltt_ring_stored) == 48 &&
		       sizeof(struct ltt_ring_cons) == 4096 && sizeof(struct ltt_ring_desc) == 56,
	       "the layout of 64 bits");

#endif
