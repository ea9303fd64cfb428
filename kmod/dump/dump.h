/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dump.h - the state of the system, recorded as events on request: the state before anything was
 * recorded. Each dump is of one channel, runs in one task that may sleep, and records the events
 * that the channel has enabled, regardless of trackers.
 */
#ifndef KMOD_DUMP_H
#define KMOD_DUMP_H

#include <linux/limits.h>
#include <linux/types.h>

#include "ring.h"

enum dump_event {
	DUMP_START,
	DUMP_END,
	DUMP_PROCESS_STATE,
	DUMP_PROCESS_CGROUP_NS,
	DUMP_PROCESS_IPC_NS,
	DUMP_PROCESS_MNT_NS,
	DUMP_PROCESS_NET_NS,
	DUMP_PROCESS_TIME_NS,
	DUMP_PROCESS_UTS_NS,
	DUMP_PROCESS_PID_NS,
	DUMP_PROCESS_USER_NS,
	DUMP_PROCESS_CGROUP,
	DUMP_FILE_DESCRIPTOR,
	DUMP_VM_MAP,
	DUMP_INTERRUPT,
	DUMP_NETWORK_INTERFACE,
	DUMP_BLOCK_DEVICE,
	DUMP_MODULE,
	DUMP_CPU_TOPOLOGY,
	NR_DUMP_EVENTS,
};

/**
 * struct dump - a dump in progress. @is_over: the dump was cancelled. @payload, @len: the next
 * record of dump_record().
 * @path: buffer for dumps that need a path.
 */
struct dump {
	struct ring_set *set;
	const bool *is_over;
	u32 len;
	u8 payload[PATH_MAX + 512];
	char path[PATH_MAX];
};

/** Adds the events to the registry. Return: 0 or -ENOMEM. */
int dump_init(void);
/** Records the whole state; ends early once *@is_over. Return: 0 or -ENOMEM. */
int dump_all(struct ring_set *set, const bool *is_over);

/* --- for the parts of a dump ---------------------------------------------- */

bool dump_wants(const struct dump *dump, enum dump_event which);
/** The next values of the payload: first what has a fixed size. */
void dump_add(struct dump *dump, const void *value, u32 bytes);
void dump_add_text(struct dump *dump, const char *text);
#define DUMP_ADD(dump, type, value) dump_add(dump, &(type){ (value) }, sizeof(type))
/** Records the payload; the next one is empty. May be called wherever no NMI is. */
void dump_record(struct dump *dump, enum dump_event which);
/** Lets other tasks run, and readers catch up. Return: false if the dump was cancelled. */
bool dump_pause(struct dump *dump);

int dump_tasks(struct dump *dump);
void dump_interrupts(struct dump *dump);
void dump_network(struct dump *dump);
void dump_block_devices(struct dump *dump);
void dump_modules(struct dump *dump);
void dump_cpus(struct dump *dump);

#endif
