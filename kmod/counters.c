// SPDX-License-Identifier: GPL-2.0-only
#include "counters.h"

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cred.h>
#include <linux/mutex.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "ltt_kmod.h"

#define QUIET HZ /* none was created for this long: now others can be released */

/** struct counters - @of_list: in `counting`, or in `gone`. */
struct counters {
	struct list_head of_list;
	struct perf_event_attr attr;
	perf_overflow_handler_t handler;
	void *data;
	char name[LTT_KMOD_NAME_MAX];
	struct perf_event *of_cpu[];
};

/* Beneath it: the lists, and counters of each CPU. Never taken where a CPU comes or goes, nor
 * with the lock of those: to make or release a counter of a tracepoint takes locks of the
 * kernel's (event_mutex) that it holds itself when it takes the one of CPUs. */
static DEFINE_MUTEX(counters_lock);
static LIST_HEAD(counting);
static LIST_HEAD(gone);
static unsigned long quiet_at;
/* Some are made, or some released, which take the kernel's own locks the other way round. */
static DEFINE_MUTEX(turn);
static enum cpuhp_state hotplug_state;
static struct cpumask went; /* perf has taken their counters away since they were made */

static void release_gone(struct work_struct *work);
static DECLARE_DELAYED_WORK(releaser, release_gone);
static void serve_those_that_came(struct work_struct *work);
static DECLARE_WORK(server, serve_those_that_came);

/* --- one CPU's ------------------------------------------------------------ */

static int kmod_counters_add(struct counters *counters, unsigned int cpu)
{
	struct perf_event *counter = perf_event_create_kernel_counter(
		&counters->attr, cpu, NULL, counters->handler, counters->data);

	if (IS_ERR(counter))
		return PTR_ERR(counter);
	WRITE_ONCE(counters->of_cpu[cpu], counter);
	return 0;
}

/* An interrupting reader finds no counter. */
static void remove(struct counters *counters, unsigned int cpu)
{
	struct perf_event *counter = counters->of_cpu[cpu];

	WRITE_ONCE(counters->of_cpu[cpu], NULL);
	if (counter)
		perf_event_release_kernel(counter);
}

/* A moment later: see `counters_lock`. */
static int cpu_comes(unsigned int cpu)
{
	queue_work(compat_unbound_wq, &server);
	return 0;
}

static int cpu_goes(unsigned int cpu)
{
	cpumask_set_cpu(cpu, &went);
	return 0;
}

static void kmod_counters_serve(unsigned int cpu)
{
	bool anew = cpumask_test_and_clear_cpu(cpu, &went);
	struct counters *counters;
	int ret;

	list_for_each_entry(counters, &counting, of_list) {
		if (anew)
			remove(counters, cpu);
		ret = counters->of_cpu[cpu] ? 0 : kmod_counters_add(counters, cpu);
		if (ret && ret != -ENODEV) /* it goes again, and will be back here */
			pr_warn("ltt: %s is not counted on CPU %u\n", counters->name, cpu);
	}
}

static void serve_those_that_came(struct work_struct *work)
{
	unsigned int cpu;

	mutex_lock(&turn);
	mutex_lock(&counters_lock);
	for_each_online_cpu(cpu) kmod_counters_serve(cpu);
	mutex_unlock(&counters_lock);
	mutex_unlock(&turn);
}

const char *counters_name(const struct counters *counters)
{
	return counters->name;
}

u64 notrace counters_read(const struct counters *counters)
{
	struct perf_event *counter = READ_ONCE(counters->of_cpu[raw_smp_processor_id()]);
	unsigned long flags;

	if (!counter || counter->state == PERF_EVENT_STATE_ERROR)
		return 0;
	raw_local_irq_save(flags);
	if (counter->state == PERF_EVENT_STATE_ACTIVE)
		counter->pmu->read(counter);
	raw_local_irq_restore(flags);
	return local64_read(&counter->count);
}

/* --- all of them ---------------------------------------------------------- */

static void remove_all(struct counters *counters)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		remove(counters, cpu);
}

/* A CPU that comes or goes meanwhile has none (ENODEV), as where there is none at all; once it
 * is there it is served. */
static int add_everywhere(struct counters *counters)
{
	bool any = false;
	unsigned int cpu;
	int ret;

	for_each_online_cpu(cpu) {
		ret = kmod_counters_add(counters, cpu);
		if (ret && ret != -ENODEV)
			return ret;
		any |= !ret;
	}
	return any ? 0 : -ENODEV;
}

static int kmod_counters_start(struct counters *counters)
{
	int ret;

	mutex_lock(&counters_lock);
	quiet_at = jiffies + QUIET;
	ret = add_everywhere(counters);
	if (!ret)
		list_add_tail(&counters->of_list, &counting);
	mutex_unlock(&counters_lock);
	if (ret)
		remove_all(counters);
	return ret;
}

/* A process that may open the device may record; but perf checks the caller's rights,
 * and the session daemon has dropped its own. */
static int start_with_rights(struct counters *counters)
{
	struct cred *kernel = prepare_kernel_cred(&init_task);
	const struct cred *caller;
	int ret;

	if (!kernel)
		return -ENOMEM;
	mutex_lock(&turn);
	caller = override_creds(kernel);
	ret = kmod_counters_start(counters);
	revert_creds(caller);
	mutex_unlock(&turn);
	put_cred(kernel);
	return ret;
}

struct counters *counters_new(const struct perf_event_attr *attr, perf_overflow_handler_t handler,
			      void *data, const char *name)
{
	struct counters *counters =
		kzalloc(struct_size(counters, of_cpu, nr_cpu_ids), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!counters)
		return ERR_PTR(-ENOMEM);
	counters->attr = *attr;
	counters->handler = handler;
	counters->data = data;
	strscpy(counters->name, name, sizeof(counters->name));
	ret = start_with_rights(counters);
	if (!ret)
		return counters;
	kfree(counters);
	return ERR_PTR(ret);
}

/* --- the end of them ------------------------------------------------------ */

static struct counters *next_gone(void)
{
	struct counters *counters;

	mutex_lock(&counters_lock);
	counters = list_first_entry_or_null(&gone, struct counters, of_list);
	if (counters && time_before(jiffies, quiet_at)) {
		queue_delayed_work(compat_unbound_wq, &releaser, quiet_at - jiffies);
		counters = NULL;
	}
	if (counters)
		list_del(&counters->of_list);
	mutex_unlock(&counters_lock);
	return counters;
}

static void release_gone(struct work_struct *work)
{
	struct counters *counters;

	while ((counters = next_gone())) {
		mutex_lock(&turn);
		remove_all(counters);
		mutex_unlock(&turn);
		kfree(counters);
	}
}

void counters_free(struct counters *counters)
{
	unsigned int cpu;

	if (!counters)
		return;
	mutex_lock(&counters_lock);
	for_each_possible_cpu(cpu)
		if (counters->of_cpu[cpu])
			perf_event_disable(counters->of_cpu[cpu]);
	list_move_tail(&counters->of_list, &gone);
	mutex_unlock(&counters_lock);
	queue_delayed_work(compat_unbound_wq, &releaser, 0);
}

int counters_init(void)
{
	int ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "ltt:online", cpu_comes, cpu_goes);

	if (ret < 0)
		return ret;
	hotplug_state = ret;
	return 0;
}

void counters_fini(void)
{
	quiet_at = jiffies;
	flush_delayed_work(&releaser);
	cpuhp_remove_state_nocalls(hotplug_state);
	flush_work(&server);
}
