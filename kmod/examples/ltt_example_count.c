// SPDX-License-Identifier: GPL-2.0-only
/*
 * ltt_example_count - counts at tracepoints of the kernel and of a module, with no session and no
 * daemon. /sys/module/ltt_example_count/parameters/:
 *
 *   forks, execs  of processes, by tracepoints of the kernel
 *   steps         of ltt_example_marker, which may be loaded before or after, and several times
 *   listening     how often the probes are registered: once at first. 1 written adds one, 0 takes
 *                 one; 2 registers one more for steps, which is left registered
 *
 * With function=NAME when it is loaded, it counts that kernel function's `calls` and `returns`, has
 * the `value` that it returned last, and counts a kprobe's hits `at` its first instruction; with
 * program=PATH offset=N, the hits `in_program` of that place in that file.
 *
 * Its marker example_exec is written by a probe of its own at sched_process_exec, while a session
 * or a probe listens to it: the event marker:example_exec.
 */
#include <linux/binfmts.h>
#include <linux/module.h>
#include <linux/sched.h>

#define LTT_TRACE_NAMES
#include "ltt_probe.h"

#include <trace/events/sched.h>

#include "ltt_example_trace.h"
#include "ltt_marker.h"

static atomic_t forks, execs, steps;
module_param_named(forks, forks.counter, int, 0444);
module_param_named(execs, execs.counter, int, 0444);
module_param_named(steps, steps.counter, int, 0444);
static int listening;

static char *function, *program;
module_param(function, charp, 0444);
module_param(program, charp, 0444);
static unsigned long offset;
module_param(offset, ulong, 0444);
static atomic_t calls, returns, at, in_program;
module_param_named(calls, calls.counter, int, 0444);
module_param_named(returns, returns.counter, int, 0444);
module_param_named(at, at.counter, int, 0444);
module_param_named(in_program, in_program.counter, int, 0444);
static long value;
module_param(value, long, 0444);

static void on_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	atomic_inc(data);
}

static void on_exec(void *data, struct task_struct *task, pid_t old_pid, struct linux_binprm *bprm)
{
	atomic_inc(data);
}

static void on_step(void *data, unsigned int nr)
{
	atomic_inc(data);
}

static void on_exec_mark(void *marker, struct task_struct *task, pid_t old_pid,
			 struct linux_binprm *bprm);
DEFINE_MARKER_TP(example_exec, sched_process_exec, on_exec_mark, "pid %d path %s");

static void on_exec_mark(void *marker, struct task_struct *task, pid_t old_pid,
			 struct linux_binprm *bprm)
{
	if (!WARN_ON_ONCE(marker != GET_MARKER(example_exec)))
		ltt_mark_write(example_exec, task->pid, bprm->filename);
}

static void on_place(void *data, const struct ltt_hit *hit)
{
	if (hit->ip)
		atomic_inc(data);
}

static void on_return(void *data, const struct ltt_hit *hit)
{
	WRITE_ONCE(value, (long)hit->value);
	if (hit->caller)
		atomic_inc(data);
}

static const struct {
	enum ltt_place_kind kind;
	ltt_place_call *call;
	atomic_t *count;
} places[] = {
	{ LTT_PLACE_FUNCTION, on_place, &calls },
	{ LTT_PLACE_RETURN, on_return, &returns },
	{ LTT_PLACE_KPROBE, on_place, &at },
	{ LTT_PLACE_UPROBE, on_place, &in_program },
};

/* Return: 0: no such place is wanted. */
static int place_of(unsigned int i, struct ltt_place *place)
{
	bool is_program = places[i].kind == LTT_PLACE_UPROBE;

	*place = (struct ltt_place){ places[i].kind, is_program ? program : function,
				     is_program ? offset : 0 };
	return place->name != NULL;
}

static void unlisten_places(unsigned int nr)
{
	struct ltt_place place;

	while (nr--)
		if (place_of(nr, &place))
			ltt_place_unregister(&place, places[nr].call, places[nr].count);
}

static int listen_places(void)
{
	struct ltt_place place;
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		ret = place_of(i, &place) ?
			      ltt_place_register(&place, places[i].call, places[i].count) : 0;
		if (ret < 0) {
			unlisten_places(i);
			return ret;
		}
	}
	return 0;
}

static int listen(void)
{
	int ret = register_trace_sched_process_fork(on_fork, &forks);

	if (!ret)
		ret = LTT_REGISTER_TRACE(sched_process_exec, on_exec, &execs);
	if (ret > 0)
		ret = LTT_REGISTER_TRACE(ltt_example_step, on_step, &steps);
	if (ret > 0)
		listening = ret;
	return min(ret, 0);
}

static int unlisten(void)
{
	int ret = unregister_trace_sched_process_fork(on_fork, &forks);

	if (!ret)
		ret = LTT_UNREGISTER_TRACE(sched_process_exec, on_exec, &execs);
	if (ret >= 0)
		ret = LTT_UNREGISTER_TRACE(ltt_example_step, on_step, &steps);
	if (ret >= 0)
		listening = ret;
	return min(ret, 0);
}

static int set_listening(const char *text, const struct kernel_param *param)
{
	unsigned int wanted;
	int ret = kstrtouint(text, 0, &wanted);

	if (ret)
		return ret;
	if (wanted == 2)
		return min(LTT_REGISTER_TRACE(ltt_example_step, on_step, &forks), 0);
	return wanted ? listen() : unlisten();
}

static const struct kernel_param_ops listening_ops = {
	.set = set_listening, .get = param_get_int,
};
module_param_cb(listening, &listening_ops, &listening, 0644);

static int __init example_init(void)
{
	const struct ltt_trace_time now = ltt_trace_time();
	int ret = listen_places();

	if (!ret) {
		ret = listen();
		if (ret)
			unlisten_places(ARRAY_SIZE(places));
	}
	pr_info("ltt_example_count: clock %d at %llu\n", now.kind, now.value);
	return ret;
}

static void __exit example_exit(void)
{
	while (listening > 0 && unlisten() == 0)
		;
	unlisten_places(ARRAY_SIZE(places));
	ltt_trace_synchronize();
}

module_init(example_init);
module_exit(example_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("counts at tracepoints");
