/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * guest.h - traces of virtual machines on the time line of their host. The host's kernel trace has
 * how the counter of each virtual CPU follows from its own: lttng_statedump_kvm_vcpu at the start,
 * kvm_write_tsc_offset for each change. Both are read by a pass of its own before events are shown.
 *
 * Belongs to the shower of a trace (show.c), and outlives the view; runs in its thread. The numbers
 * are untrusted: any of them gives some time.
 */
#ifndef READ_CLOCK_GUEST_H
#define READ_CLOCK_GUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "tsc.h"

struct ctf_clock;
struct guest_clock;
struct guest_trace;
struct packet;
struct source;
struct view;

/** A virtual CPU; other scales than these are not kept. */
#define GUEST_SCALES_MAX 1024u
#define GUEST_VCPUS_MAX 4096u

struct guest_vcpu {
	uint32_t number;
	bool assumed;  /* the ratio is not recorded */
	uint64_t seen; /* the host's counter when the last scale was known to be in force */
	struct tsc_scale *scales;
	size_t nr;
};

/**
 * struct guest - a virtual machine and its traces.
 * @word, @dir, @pid: the argument DIR:PID; @pid: of the hypervisor's process.
 * @source: of the host, whose clock is that of the time line; NULL: no event names the process.
 * @line: that clock by the host's counter.
 * @first_ns, @last_ns: the earliest and the latest time of the guest's traces so far.
 * @uncertainty_ns: of the times, the most of all its traces.
 */
struct guest {
	const char *word;
	char *dir;
	uint64_t pid;
	const struct source *source;
	struct tsc_line line;
	struct guest_vcpu *vcpus;
	size_t nr_vcpus;
	int64_t first_ns, last_ns;
	uint64_t uncertainty_ns;
	bool any, differ, unmatched, lost_scales, went_back;
	uint32_t unmatched_cpu; /* of the guest, without a virtual CPU */
};

/** struct guests - @host: the host's traces. @begin_ns, @end_ns: their first and last event. */
struct guests {
	struct view *host;
	int64_t begin_ns, end_ns;
	struct guest *guests;
	size_t nr;
	struct err err; /* of guest_trace_new() */
};

/**
 * guests_open() - read how the clocks of guests follow from their host's.
 * @words: DIR:PID each; NULL at the end.
 * Return: 0, or the code in @err.
 */
int guests_open(const char *host_dir, bool relay_clock, char *const *words, struct guests **ret,
		struct err *err) MUST_CHECK;
void guests_free(struct guests *guests);

/** Check the form of an argument. Return: 0, or the code in @err. */
int guest_check_word(const char *word, struct err *err) MUST_CHECK;

/* --- for the view --------------------------------------------------------------------- */

/** Have the clock of a source be its host's. Return: 0; -EPROTO: it can't be, and guests->err is
 *  set. */
int guest_trace_new(struct guests *guests, struct guest *guest, struct source *source) MUST_CHECK;
void guest_trace_free(struct guest_trace *trace);

/** The clock of a packet, by its CPU; NULL: its stream has none. */
const struct ctf_clock *guest_trace_clock(const struct guest_trace *trace,
					  const struct packet *packet);
uint64_t guest_trace_pid(const struct guest_trace *trace);
uint64_t guest_trace_uncertainty_ns(const struct guest_trace *trace);

/** ns since 1970, by the host's clock, of a value of a guest's. */
int64_t guest_clock_ns(const struct guest_clock *clock, uint64_t value);

#endif
