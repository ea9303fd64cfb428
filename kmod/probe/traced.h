/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * traced.h - events of providers for ftrace and perf: `ltt:PROVIDER_EVENT` in tracefs, with their
 * fields, while they are registered. One that ftrace has enabled, or perf has open, when its
 * provider goes is disabled in ftrace's own buffer; where others have it, it stays there, silent,
 * until they leave it. Listeners hold ltt.ko.
 */
#ifndef KMOD_TRACED_H
#define KMOD_TRACED_H

#include <linux/atomic.h>
#include <linux/types.h>

struct event;
struct traced;

/** struct traced_part - a value of varying length. @len: of a text with its NUL. */
struct traced_part {
	const void *data;
	u32 len;
};

/** When the module is loaded. */
void traced_init(void);
/** @event: a provider's; it outlives this. Return: NULL: no memory, or no lock of the kernel. */
struct traced *traced_new(const struct event *event);
/** NULL is allowed. Its provider has gone. */
void traced_free(struct traced *traced);

/** Show the event to ftrace and perf. @listeners: their number is added to it, and kept so until
 *  traced_goes(). Process context. Failures are reported in the kernel's log. NULL is allowed. */
void traced_comes(struct traced *traced, atomic_t *listeners);
void traced_goes(struct traced *traced);

/** Whether one of them records the event. Preemption is off. */
bool traced_is_on(const struct traced *traced);
/** @numbers: all of them, packed. @parts: the others, in their order. Preemption is off; any
 *  context in which RCU is watching. */
void traced_record(const struct traced *traced, const void *numbers,
		   const struct traced_part parts[]);

#endif
