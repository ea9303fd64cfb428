/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dump.h - state dumps: on request, the current state of the system is recorded as events, because
 * the trace does not contain earlier events. Each dump records into one channel, in one task that
 * may sleep, the events that the channel has enabled, regardless of trackers.
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
	DUMP_KVM_VCPU,
	NR_DUMP_EVENTS,
};

/**
 * struct dump - a dump in progress. @is_over: set when the dump is cancelled. @is_unread: as
 * LTT_KMOD_DUMP_UNREAD. @payload, @len: the next record of dump_record().
 * @path: buffer for dumps that need a path.
 */
struct dump {
	struct ring_set *set;
	const bool *is_over;
	bool is_unread;
	u32 len;
	u8 payload[PATH_MAX + 512];
	char path[PATH_MAX];
};

/** Adds the events to the registry. Return: 0 or -ENOMEM. */
int dump_init(void);
/** Record the whole state, unless *@is_over is set meanwhile. Return: 0 or -ENOMEM. */
int dump_all(struct ring_set *set, const bool *is_over, bool is_unread);

/* --- for the parts of a dump ---------------------------------------------- */

/** Whether the channel has enabled the event. */
bool dump_wants(const struct dump *dump, enum dump_event which);
/** Append a value to the payload. Values of fixed size must precede texts. */
void dump_add(struct dump *dump, const void *value, u32 bytes);
void dump_add_text(struct dump *dump, const char *text);
#define DUMP_ADD(dump, type, value) dump_add(dump, &(type){ (value) }, sizeof(type))
/** Record the payload, and start a new, empty one. Any context but NMI. */
void dump_record(struct dump *dump, enum dump_event which);
/** Let other tasks run, and wait until readers have freed buffer space. Return: false if the dump
 *  was cancelled. */
bool dump_pause(struct dump *dump);

int dump_tasks(struct dump *dump);
void dump_interrupts(struct dump *dump);
void dump_network(struct dump *dump);
void dump_block_devices(struct dump *dump);
void dump_modules(struct dump *dump);
void dump_cpus(struct dump *dump);
void dump_kvm(struct dump *dump);

#endif
