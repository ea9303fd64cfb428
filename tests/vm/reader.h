/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reader.h - a reader of a channel of ltt.ko. Written from abi/ltt_kmod.h and abi/ltt_ring.h
 * alone. Each failure ends the program with a line on stderr.
 */
#ifndef VM_READER_H
#define VM_READER_H

#include <stdint.h>
#include <stdio.h>

#include "ltt_kmod.h"
#include "ltt_ring.h"

#define MAX_CPUS 64

/** struct reader - @splices: it takes by splice(), not from the mapping. */
struct reader {
	int fd, data_fd, ctl_fd;
	int splices, pipe[2];
	struct ltt_ring_desc desc;
	const uint8_t *data;
	uint8_t *ctl;
	uint64_t taken[MAX_CPUS];
	FILE *out[MAX_CPUS];
};

/** Return: a descriptor of /dev/ltt. */
int device(void);
/** The event with that index; -1 and errno ENOENT behind the last one. */
int get_event(int fd, uint32_t index, struct ltt_kmod_event *ret);

void reader_open(struct reader *r, uint32_t mode, uint32_t num_subbuf, uint64_t subbuf_size);
/** Sets all rings' state. */
void reader_state(const struct reader *r, uint32_t state);
/** Writes the contents of the rings to r->out. */
void take(struct reader *r);
/** Writes the counters of all rings to DIR/words and closes r->out; of an overwriting
 *  channel it takes a snapshot first. */
void keep_words(struct reader *r, const char *dir, int overwrite);
/** A file in @dir; @name: a format with the folder and @cpu. */
FILE *create(const char *dir, const char *name, uint32_t cpu);

/** Parse the values to record at a place, "[,KIND:STEP[.STEP]...]...". Return: their number. */
uint32_t parse_args(const char *text, struct ltt_kmod_arg args[LTT_KMOD_ARGS_MAX]);

/** kmodtool bad: makes requests that must be refused. */
int bad(void);

#endif
