// SPDX-License-Identifier: GPL-2.0-only
#include "argv.h"

#include <linux/binfmts.h>
#include <linux/mm_types.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "instr/callbacks.h"
#include "layout.h"
#include "registry.h"

#define ARGV_MAX 1024

static const struct field argv_fields[] = { INT(pid), TEXT(argv) };
static struct event argv_event = { .system = "sched", .name = "sched_process_argv",
				   .fields = argv_fields, .nr_fields = ARRAY_SIZE(argv_fields) };

struct argv_record {
	s32 pid;
	char text[ARGV_MAX + 1];
};

/* With a blank between two words. The kernel has written these pages for this program, which has
 * not run yet. Return: the length without the NUL. */
static u32 argv_read(const struct mm_struct *mm, char *text)
{
	unsigned long begin = READ_ONCE(mm->arg_start), end = READ_ONCE(mm->arg_end);
	u32 n = begin < end ? min_t(unsigned long, end - begin, ARGV_MAX) : 0, i;

	if (n && copy_from_user_nofault(text, (const void __user *)begin, n))
		n = strscpy(text, "(fault)", ARGV_MAX);
	while (n && !text[n - 1])
		n--;
	for (i = 0; i < n; i++)
		if (!text[i])
			text[i] = ' ';
	text[n] = '\0';
	return n;
}

static void argv_on_exec(void *data, struct task_struct *task, pid_t old_pid,
			 struct linux_binprm *bprm)
{
	const struct hook *hook = data;
	struct argv_record record;
	u32 n;

	compat_probe_begin();
	record.pid = task->pid;
	n = argv_read(task->mm, record.text);
	ring_put(&hook->source, &record, offsetof(struct argv_record, text) + n + 1);
	compat_probe_end();
}

static int argv_attach(struct hook *hook)
{
	return tracepoint_probe_register(hook->event->tp, argv_on_exec, hook);
}

static void argv_detach(struct hook *hook)
{
	tracepoint_probe_unregister(hook->event->tp, argv_on_exec, hook);
}

static const struct event_kind argv_kind = { .attach = argv_attach, .detach = argv_detach };

int argv_init(void)
{
	int ret = registry_add(&argv_event, &argv_kind);

	argv_event.tp = ltt_tracepoint_find("sched_process_exec");
	if (!ret && argv_event.tp)
		registry_comes(&argv_event);
	return ret;
}
