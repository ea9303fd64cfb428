// SPDX-License-Identifier: GPL-2.0-only
#include "syscall_probe.h"

#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>
#include <asm/syscall.h>

#include "compat.h"
#include "ltt_kmod.h"
#include "registry.h"
#include "ring.h"
#include "ring_write.h"
#include "instr/callbacks.h"
#include "kept.h"
#include "user_text.h"

#define NR_ARGS	    (1 + SYSCALL_ARGS) /* of unknown calls the number is the first */
#define TEXTS_BYTES 8192

/** struct scratch - a payload that is being made; each CPU has one, as calls are made by
 *  tasks, and preemption is off meanwhile. The last value may overshoot. */
struct scratch {
	u8 bytes[NR_ARGS * sizeof(u64) + TEXTS_BYTES];
};

static struct scratch __percpu *scratches;
static struct tracepoint *tracepoints[NR_SYSCALL_SIDES];
static unsigned int users[NR_SYSCALL_SIDES];

static notrace u32 nr_texts(const struct event *event)
{
	u32 i, nr = 0;

	for (i = 0; i < event->nr_fields; i++)
		nr += event->fields[i].form == FORM_STRING;
	return nr;
}

/* Payload: arguments of fixed size, then texts, each as declared. */
static notrace u32 syscall_probe_gather(const struct event *event, const unsigned long *args,
					u8 *to)
{
	u32 texts = nr_texts(event), i;
	u8 *end = to;

	for (i = 0; i < event->nr_fields; i++) {
		if (event->fields[i].form == FORM_STRING)
			continue;
		memcpy(end, &args[i], sizeof(args[i]));
		end += event->fields[i].elem_bytes;
	}
	for (i = 0; texts && i < event->nr_fields; i++)
		if (event->fields[i].form == FORM_STRING)
			end += user_text(end, TEXTS_BYTES / texts, (const char __user *)args[i]);
	return end - to;
}

/* The call is analysed once, also if several channels record it; not if sampling leaves it out. */
static notrace void syscall_probe_record(const struct event *event, const unsigned long *args)
{
	u8 *bytes = this_cpu_ptr(scratches)->bytes;
	bool gathered = false;
	struct hook *hook;
	u32 len = 0;

	list_for_each_entry_rcu(hook, &event->hooks, of_event) {
		if (ring_skips(&hook->source))
			continue;
		if (!gathered)
			len = syscall_probe_gather(event, args, bytes);
		gathered = true;
		ring_put(&hook->source, bytes, len);
	}
}

/* Registers of a 32-bit program are 32 bits wide; the upper bits are undefined. */
static notrace void narrow(const struct event *event, unsigned long *args)
{
	u32 i;

	for (i = 0; i < event->nr_fields; i++)
		args[i] = event->fields[i].is_signed && event->fields[i].form == FORM_VALUE ?
				  (long)(s32)args[i] : (u32)args[i];
}

static unsigned int nr_keeping; /* exits are recorded that need their entries */

/* A probe of its own, so that it costs nothing else. */
static notrace void on_entry_keep(void *unused, struct pt_regs *regs, long nr)
{
	bool compat = compat_is_compat_syscall();
	const struct event *event = syscalls_event(SYSCALL_EXIT, compat, nr);
	const struct call *call = container_of(event, struct call, event);
	unsigned long args[SYSCALL_ARGS];
	u32 i;

	if (likely(list_empty(&event->hooks)) || syscalls_is_unknown(event) ||
	    !outputs_need_entry(call->outputs))
		return;
	syscall_get_arguments(current, regs, args);
	for (i = 0; compat && i < SYSCALL_ARGS; i++)
		args[i] = (u32)args[i];
	outputs_keep(call->outputs, args);
}

static notrace void on_entry(void *unused, struct pt_regs *regs, long nr)
{
	bool compat = compat_is_compat_syscall();
	struct event *event = syscalls_event(SYSCALL_ENTRY, compat, nr);
	unsigned long args[NR_ARGS];
	bool has_number = syscalls_is_unknown(event);

	if (likely(list_empty(&event->hooks)))
		return;
	args[0] = nr;
	syscall_get_arguments(current, regs, args + has_number);
	if (compat)
		narrow(event, args);
	compat_syscall_begin();
	syscall_probe_record(event, args);
	compat_syscall_end();
}

/* To the channels that have contents of files and the like, or to those that have none. */
static notrace void record_outputs(const struct call *call, const unsigned long *args, long ret,
				   bool with_data)
{
	u8 *bytes = this_cpu_ptr(scratches)->bytes;
	struct hook *hook;
	u32 len = 0;

	list_for_each_entry_rcu(hook, &call->event.hooks, of_event) {
		if (hook->source.set->has_data != with_data || ring_skips(&hook->source))
			continue;
		if (!len) {
			memcpy(bytes, &ret, sizeof(ret));
			len = outputs_put(call->outputs, args, ret, with_data,
					  bytes + sizeof(ret)) - bytes;
		}
		ring_put(&hook->source, bytes, len);
	}
}

/* The registers still have the arguments. */
static noinline notrace void syscall_probe_outputs(const struct event *event, struct pt_regs *regs,
					   long ret)
{
	const struct call *call = container_of(event, struct call, event);
	unsigned long args[SYSCALL_ARGS];
	u32 i;

	syscall_get_arguments(current, regs, args);
	for (i = 0; compat_is_compat_syscall() && i < SYSCALL_ARGS; i++)
		args[i] = (u32)args[i];
	record_outputs(call, args, ret, false);
	record_outputs(call, args, ret, true);
}

static notrace void on_exit(void *unused, struct pt_regs *regs, long ret)
{
	long nr = syscall_get_nr(current, regs);
	struct event *event = syscalls_event(SYSCALL_EXIT, compat_is_compat_syscall(), nr);
	unsigned long args[2] = { nr, ret };
	bool has_number = syscalls_is_unknown(event);

	if (likely(list_empty(&event->hooks)))
		return;
	compat_syscall_begin();
	if (event->nr_fields == 1 || has_number)
		syscall_probe_record(event, args + !has_number);
	else
		syscall_probe_outputs(event, regs, ret);
	compat_syscall_end();
}

/* --- on and off, beneath the registry's lock ------------------------------ */

static void *const probes[NR_SYSCALL_SIDES] = { on_entry, on_exit };

static int syscall_probe_attach(enum syscall_side side)
{
	int ret = 0;

	if (!users[side])
		ret = tracepoint_probe_register(tracepoints[side], probes[side], NULL);
	if (!ret)
		users[side]++;
	return ret;
}

static void syscall_probe_detach(enum syscall_side side)
{
	if (!--users[side])
		tracepoint_probe_unregister(tracepoints[side], probes[side], NULL);
}

static int syscall_probe_attach_entry(struct hook *hook)
{
	return syscall_probe_attach(SYSCALL_ENTRY);
}

static bool syscall_probe_needs_entry(const struct event *event)
{
	return !syscalls_is_unknown(event) &&
	       outputs_need_entry(container_of(event, struct call, event)->outputs);
}

static int syscall_probe_attach_keep(void)
{
	int ret = nr_keeping ? 0 : kept_begin();

	if (!ret && !nr_keeping)
		ret = tracepoint_probe_register(tracepoints[SYSCALL_ENTRY], on_entry_keep, NULL);
	if (!ret)
		nr_keeping++;
	return ret;
}

static void syscall_probe_detach_keep(void)
{
	if (!--nr_keeping)
		tracepoint_probe_unregister(tracepoints[SYSCALL_ENTRY], on_entry_keep, NULL);
}

static int attach_exit(struct hook *hook)
{
	bool keeps = syscall_probe_needs_entry(hook->event);
	int ret = keeps ? syscall_probe_attach_keep() : 0;

	if (ret)
		return ret;
	ret = syscall_probe_attach(SYSCALL_EXIT);
	if (ret && keeps)
		syscall_probe_detach_keep();
	return ret;
}

static void syscall_probe_detach_entry(struct hook *hook)
{
	syscall_probe_detach(SYSCALL_ENTRY);
}

static void detach_exit(struct hook *hook)
{
	syscall_probe_detach(SYSCALL_EXIT);
	if (syscall_probe_needs_entry(hook->event))
		syscall_probe_detach_keep();
}

const struct event_kind syscall_kinds[NR_SYSCALL_SIDES] = {
	{ .attach = syscall_probe_attach_entry,
	  .detach = syscall_probe_detach_entry,
	  .flags = LTT_KMOD_SYSCALL },
	{ .attach = attach_exit, .detach = detach_exit, .flags = LTT_KMOD_SYSCALL },
};

int syscall_probe_init(void)
{
	tracepoints[SYSCALL_ENTRY] = ltt_tracepoint_find("sys_enter");
	tracepoints[SYSCALL_EXIT] = ltt_tracepoint_find("sys_exit");
	if (!tracepoints[SYSCALL_ENTRY] || !tracepoints[SYSCALL_EXIT])
		return -ENOSYS;
	scratches = alloc_percpu(struct scratch);
	return scratches ? 0 : -ENOMEM;
}

void syscall_probe_fini(void)
{
	free_percpu(scratches);
	kept_fini();
}
