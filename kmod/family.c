// SPDX-License-Identifier: GPL-2.0-only
#include "family.h"

#include <linux/bitmap.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/rculist.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/vmalloc.h>

#include "fields.h"
#include "instr/callbacks.h"

static DEFINE_MUTEX(families_lock);
static LIST_HEAD(families);
static struct tracepoint *fork_tp; /* under the lock */

/* Of a process or a thread; it does not run yet. */
static notrace void family_on_fork(void *unused, struct task_struct *parent,
				   struct task_struct *child)
{
	struct family *family;

	rcu_read_lock();
	list_for_each_entry_rcu(family, &families, all)
		if (test_bit(parent->tgid, family->has))
			set_bit(child->pid, family->has);
		else if (test_bit(child->pid, family->has))
			clear_bit(child->pid, family->has);
	rcu_read_unlock();
}

static int family_list(struct family *family)
{
	int ret = 0;

	mutex_lock(&families_lock);
	if (!fork_tp)
		fork_tp = ltt_tracepoint_find("sched_process_fork");
	if (!fork_tp)
		ret = -EOPNOTSUPP;
	else if (list_empty(&families))
		ret = tracepoint_probe_register(fork_tp, family_on_fork, NULL);
	if (!ret)
		list_add_rcu(&family->all, &families);
	mutex_unlock(&families_lock);
	return ret;
}

struct family *family_new(void)
{
	struct family *family = __vmalloc(sizeof(*family), GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	int ret;

	if (!family)
		return ERR_PTR(-ENOMEM);
	ret = family_list(family);
	if (!ret)
		return family;
	vfree(family);
	return ERR_PTR(ret);
}

void family_free(struct family *family)
{
	if (!family)
		return;
	mutex_lock(&families_lock);
	list_del_rcu(&family->all);
	if (list_empty(&families))
		tracepoint_probe_unregister(fork_tp, family_on_fork, NULL);
	mutex_unlock(&families_lock);
	tracepoint_synchronize_unregister();
	synchronize_rcu();
	vfree(family);
}

/* By the process that made each; of one that has ended, its children are others'. */
static bool family_descends(struct task_struct *process, pid_t from)
{
	for (; process->pid; process = rcu_dereference(process->real_parent))
		if (process->tgid == from)
			return true;
	return false;
}

/* The process comes first: it may make others meanwhile, which either get its bit, or are found. */
static void family_mark(struct family *family, pid_t pid, bool is_in)
{
	struct task_struct *process, *thread;

	assign_bit(pid, family->has, is_in);
	smp_mb();
	rcu_read_lock();
	for_each_process(process) {
		if (!family_descends(process, pid))
			continue;
		assign_bit(process->tgid, family->has, is_in);
		for_each_thread(process, thread)
			assign_bit(thread->pid, family->has, is_in);
	}
	rcu_read_unlock();
}

static bool family_runs(u32 pid)
{
	bool runs;

	rcu_read_lock();
	runs = pid_task(find_pid_ns(pid, &init_pid_ns), PIDTYPE_TGID) != NULL;
	rcu_read_unlock();
	return runs;
}

int family_add(struct family *family, u32 pid)
{
	if (!pid || pid >= PID_MAX_LIMIT || !family_runs(pid))
		return -ESRCH;
	if (test_bit(pid, family->has))
		return -EEXIST;
	family_mark(family, pid, true);
	return 0;
}

int family_remove(struct family *family, u32 pid)
{
	if (!family_has(family, pid))
		return -ENOENT;
	family_mark(family, pid, false);
	return 0;
}

void family_clear(struct family *family)
{
	bitmap_zero(family->has, PID_MAX_LIMIT);
}

/* --- our own daemons -------------------------------------------------------- */

struct family *family_own;
static struct tracepoint *exec_tp; /* NULL: not watched */

/* Of root only: others could take such a name to hide. */
static bool family_is_daemon(struct task_struct *process)
{
	static const char *const names[] = { "ltt-sessiond", "ltt-consumerd", "ltt-keeperd",
					     "ltt-relayd" };

	return uid_eq(task_uid(process), GLOBAL_ROOT_UID) &&
	       match_string(names, ARRAY_SIZE(names), process->comm) >= 0;
}

/* It has its new name, and one thread, whose id is that of the process. */
static notrace void family_on_exec(void *unused, struct task_struct *task, pid_t old_pid,
				   struct linux_binprm *bprm)
{
	if (family_is_daemon(task))
		set_bit(task->pid, family_own->has);
}

/* With those that they have started. */
static void family_find_daemons(struct family *family)
{
	struct task_struct *process;

	rcu_read_lock();
	for_each_process(process)
		if (family_is_daemon(process))
			family_mark(family, process->tgid, true);
	rcu_read_unlock();
}

static int family_own_watch(void)
{
	struct tracepoint *tp = ltt_tracepoint_find("sched_process_exec");
	struct family *family = family_new();

	if (IS_ERR(family))
		return PTR_ERR(family);
	smp_store_release(&family_own, family);
	if (tp && !tracepoint_probe_register(tp, family_on_exec, NULL))
		exec_tp = tp;
	family_find_daemons(family);
	return 0;
}

int family_own_ensure(void)
{
	static DEFINE_MUTEX(lock);
	int ret = 0;

	mutex_lock(&lock);
	if (!family_own)
		ret = family_own_watch();
	mutex_unlock(&lock);
	return ret;
}

void family_own_fini(void)
{
	if (exec_tp)
		tracepoint_probe_unregister(exec_tp, family_on_exec, NULL);
	family_free(family_own);
}

/* --- events of others ------------------------------------------------------- */

static const struct {
	const char *system, *event, *field;
} subjects[] = {
	{ "sched", "sched_switch", "next_pid" },
	{ "sched", "sched_waking", "pid" },
	{ "sched", "sched_wakeup", "pid" },
	{ "sched", "sched_wakeup_new", "pid" },
	{ "sched", "sched_migrate_task", "pid" },
	{ "sched", "sched_pi_setprio", "pid" },
	{ "sched", "sched_stat_wait", "pid" },
	{ "sched", "sched_stat_sleep", "pid" },
	{ "sched", "sched_stat_iowait", "pid" },
	{ "sched", "sched_stat_blocked", "pid" },
	{ "signal", "signal_generate", "pid" },
};

static u16 family_place_of(const struct event *event, const char *name)
{
	const struct field *field;
	struct stat_field place;
	u32 nth;

	for (nth = 0; (field = field_nth(event, nth)); nth++)
		if (!strcmp(field->name, name) && !field_locate(event, nth, &place) &&
		    field->elem_bytes == sizeof(u32) && place.at < FAMILY_NO_SUBJECT)
			return place.at;
	return FAMILY_NO_SUBJECT;
}

u16 family_subject(const struct event *event)
{
	u32 i;

	for (i = 0; event->system && i < ARRAY_SIZE(subjects); i++)
		if (!strcmp(event->system, subjects[i].system) &&
		    !strcmp(event->name, subjects[i].event))
			return family_place_of(event, subjects[i].field);
	return FAMILY_NO_SUBJECT;
}
