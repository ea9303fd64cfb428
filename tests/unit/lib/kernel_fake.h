/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel_fake.h - a kernel module for session_harness.h: it has a few events, keeps the state that
 * the daemon's requests leave, and checks that each request is made in order.
 */
#ifndef TESTS_KERNEL_FAKE_H
#define TESTS_KERNEL_FAKE_H

#include "session_apps.h"

#define KERNEL_FAKE_NR 5    /* events of the module */
#define KERNEL_FAKE_STATE 4 /* the index of the one that ends a state dump */

/** A filter as it was received: its programs are valid. */
struct kernel_fake_filter {
	unsigned int nr_programs;
	char contexts[512];
	_Alignas(8) uint8_t first[2048]; /* the first program */
	size_t first_bytes;
};

struct kernel_fake {
	unsigned int missing; /* of the last events, which modules bring later */
	bool old;	      /* a module that neither samples nor counts by keys */
	uint32_t clock;	      /* enum ltt_clock_kind */
	bool on[KERNEL_FAKE_NR];
	uint32_t event_ids[KERNEL_FAKE_NR];
	unsigned int changes; /* events enabled or disabled */
	unsigned int instead; /* events that were on with another id */
	unsigned int dumps;
	uint32_t dump_flags; /* of the last one */
	int refuse;	     /* errno of LTT_KMOD_CHANNEL */
	int channel;	     /* the descriptor that the daemon has */
	int trial;	     /* descriptor of the channel in which probes and counters are tried */
	unsigned int tried;
	int counting;		      /* descriptor of the channel that counts */
	struct ltt_kmod_enable tally; /* the last event that is enabled in it */
	unsigned int nr_counted;      /* events enabled in it */
	uint64_t hits;		      /* of each of them */
	struct kernel_fake_filter counting_filter; /* of that last event */
	bool refuses;		      /* events and probes, except in a trial */
	int refuse_filter;	      /* errno of LTT_KMOD_FILTER */
	unsigned int refiltered;      /* requests LTT_KMOD_FILTER */
	struct kernel_fake_filter filters[KERNEL_FAKE_NR];
	struct {
		bool on;
		uint32_t id;
		struct ltt_kmod_probe probe;
		struct ltt_kmod_arg args[LTT_KMOD_ARGS_MAX];
		struct kernel_fake_filter filter;
	} probes[4];			 /* of the channel; ids are the places */
	struct ltt_kmod_user_probe user; /* the last one; ->second: its second place */
	struct ltt_kmod_user_place second;
	struct ltt_kmod_arg user_args[2][2];
	uint64_t user_inode; /* of its file */
	unsigned int users;
	bool unseen;		      /* the fake consumer has not received the metadata */
	char contexts[100];	      /* of the channel, in order */
	uint32_t on_kinds;	      /* tracked kinds */
	uint32_t ids[TRACK_NR_KINDS]; /* tracked ids of each kind */
	uint32_t sum[TRACK_NR_KINDS]; /* of these ids */
	uint32_t ended;		      /* process that can't be followed */
};

/** The only one; reset by kernel_fake_begin(). */
extern struct kernel_fake kernel_fake;

/** The number of events that are enabled. */
unsigned int kernel_fake_nr_on(void);

/** Whether the filter of an event accepts a number as its only field. */
bool kernel_fake_accepts(unsigned int event, uint32_t number);

/** Return: the enabled probe of this symbol with these flags, or NULL. */
const struct ltt_kmod_probe *kernel_fake_probe(const char *symbol, uint32_t flags);

/** Start the daemon with a client that has made the session NAME; @module: with the module
 * loaded. Return: the client. */
int kernel_fake_begin(bool module);

/** Enable kernel events of the session NAME. */
struct answer kernel_fake_enable_event(int client, const char *pattern);

/** Run the daemon until its walks, which are timers' work, are done. */
void kernel_fake_settle(void);

/** Enable a probe at @location, and run the daemon until it replies. */
struct answer kernel_fake_enable_place(int client, uint8_t kind, const char *name,
				       const char *location);

/** Disable a probe, which must succeed. */
void kernel_fake_disable_place(int client, const char *name);

#endif
