// SPDX-License-Identifier: GPL-2.0-only
/*
 * ltt_emit - hits a tracepoint that nothing else in the guest hits, power:cpu_frequency,
 * an exact number of times: on loading, `count` times from each of a kernel thread per
 * CPU, a tasklet that interrupts it, a timer's interrupt that interrupts both, and NMIs, which
 * interrupt all of them: the thread of another CPU sends them. The first argument counts up,
 * the second is the writer's id: CPU * 4 + 0 task, 1 softirq, 2 irq, 3 NMI.
 *
 * With measure=1: `count` times from one task, interrupts off, and writes the time of one to the
 * kernel's log. Where the guest's clock counts instructions, that is their
 * number. With calls=1 too: calls of set_normalized_timespec64() instead; with clock=1, of
 * ltt_trace_clock(), and with clock=2, of its counter. With probe=1 too: there is a probe that does
 * nothing.
 */
#include <linux/cpu.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/version.h>
#include <asm/apic.h>
#include <asm/nmi.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#include <asm/cpuid/api.h>
#include <asm/msr.h>
#else
#define rdmsrq(msr, value) rdmsrl(msr, value)
#define wrmsrq(msr, value) wrmsrl(msr, value)
#endif
#include <trace/events/power.h>

static unsigned int count = 1000;
module_param(count, uint, 0444);
static bool nest = true;
module_param(nest, bool, 0444);
static bool measure;
module_param(measure, bool, 0444);
static bool calls;
module_param(calls, bool, 0444);
static bool probe;
module_param(probe, bool, 0444);
static int clock;
module_param(clock, int, 0444);

#define PERIOD_NS (200 * NSEC_PER_USEC)
#define BATCH	  50 /* of a task, and of the NMI that is to come into the middle of that */

struct emitter {
	unsigned int cpu;
	unsigned int sent[4];
	unsigned int apic;
	unsigned int nmis, nmis_seen; /* there is one under way at most */
	struct hrtimer timer;
	struct tasklet_struct tasklet;
	struct completion done;
};

static DEFINE_PER_CPU(struct emitter, emitters);
static void __iomem *local_apic;

/* Each in pieces, so that they interrupt each other many times. */
static void emit(struct emitter *e, unsigned int who, unsigned int chunk)
{
	while (chunk-- && e->sent[who] < count)
		trace_cpu_frequency(e->sent[who]++, e->cpu * 4 + who);
}

static void softirq(struct tasklet_struct *tasklet)
{
	emit(from_tasklet((struct emitter *)NULL, tasklet, tasklet), 1, 9);
}

static enum hrtimer_restart interrupt(struct hrtimer *timer)
{
	struct emitter *e = container_of(timer, struct emitter, timer);

	emit(e, 2, 5);
	tasklet_schedule(&e->tasklet);
	if (e->sent[1] == count && e->sent[2] == count)
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, ns_to_ktime(PERIOD_NS));
	return HRTIMER_RESTART;
}

static int on_nmi(unsigned int type, struct pt_regs *regs)
{
	struct emitter *e = this_cpu_ptr(&emitters);

	if (READ_ONCE(e->nmis) == e->nmis_seen)
		return NMI_DONE;
	emit(e, 3, BATCH);
	smp_store_release(&e->nmis_seen, e->nmis_seen + 1);
	return NMI_HANDLED;
}

/* Nothing that does this is exported. */
static void send_nmi(const struct emitter *to)
{
	unsigned long flags;
	u64 base;

	rdmsrq(MSR_IA32_APICBASE, base);
	local_irq_save(flags);
	if (base & X2APIC_ENABLE) {
		wrmsrq(APIC_BASE_MSR + (APIC_ICR >> 4), (u64)to->apic << 32 | APIC_DM_NMI);
	} else {
		writel(to->apic << 24, local_apic + APIC_ICR2);
		writel(APIC_DM_NMI, local_apic + APIC_ICR);
	}
	local_irq_restore(flags);
}

/* While its task is at its batch. Return: are all sent, and seen? */
static bool interrupt_other(struct emitter *other)
{
	unsigned int by_task = READ_ONCE(other->sent[0]);

	if (smp_load_acquire(&other->nmis_seen) != other->nmis)
		return false;
	if (READ_ONCE(other->sent[3]) == count)
		return true;
	if (by_task < count && by_task < other->nmis * BATCH + BATCH / 4)
		return false;
	WRITE_ONCE(other->nmis, other->nmis + 1);
	send_nmi(other);
	return false;
}

/* Of the next CPU; where there is one, its own. */
static struct emitter *next_emitter(const struct emitter *e)
{
	unsigned int next = cpumask_next(e->cpu, cpu_online_mask);

	return per_cpu_ptr(&emitters, next < nr_cpu_ids ? next : cpumask_first(cpu_online_mask));
}

static bool is_done(const struct emitter *e)
{
	return e->sent[0] == count && (!nest || (e->sent[1] == count && e->sent[2] == count));
}

static int task(void *data)
{
	struct emitter *e = data, *other = next_emitter(e);
	bool waits;

	if (nest)
		hrtimer_start(&e->timer, ns_to_ktime(PERIOD_NS), HRTIMER_MODE_REL_PINNED_HARD);
	do {
		waits = nest && !interrupt_other(other);
		if (!nest || e->sent[0] < (READ_ONCE(e->nmis_seen) + 1) * BATCH)
			emit(e, 0, BATCH);
		cond_resched();
		cpu_relax();
	} while (waits || !is_done(e));
	hrtimer_cancel(&e->timer);
	tasklet_kill(&e->tasklet);
	complete(&e->done);
	return 0;
}

static void learn_apic(void *data)
{
	this_cpu_ptr(&emitters)->apic = cpuid_ebx(1) >> 24;
}

static void prepare(struct emitter *e, unsigned int cpu)
{
	e->cpu = cpu;
	init_completion(&e->done);
	tasklet_setup(&e->tasklet, softirq);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
	hrtimer_setup(&e->timer, interrupt, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
#else
	hrtimer_init(&e->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	e->timer.function = interrupt;
#endif
}

static void call_often(void)
{
	struct timespec64 time;
	unsigned int i;

	for (i = 0; i < count; i++)
		set_normalized_timespec64(&time, 1, 1);
}

/* (ltt_instr.ko need not be there for the others.) */
u64 ltt_trace_clock(void);
int ltt_trace_clock_kind(void);
static u64 (*read_clock)(void);
static bool is_cycles;

static void read_often(void)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (clock == 1)
			read_clock();
		else if (is_cycles)
			get_cycles();
		else
			ktime_get_mono_fast_ns();
		barrier();
	}
}

static void emit_often(void)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		trace_cpu_frequency(i, 0);
		barrier();
	}
}

/* The cost of the loop itself is subtracted. */
static void take_measure(void)
{
	unsigned long flags;
	unsigned int i;
	u64 begin, empty, end;

	local_irq_save(flags);
	begin = get_cycles();
	for (i = 0; i < count; i++)
		barrier();
	empty = get_cycles();
	if (calls)
		call_often();
	else if (clock)
		read_often();
	else
		emit_often();
	end = get_cycles();
	local_irq_restore(flags);
	pr_info("ltt_emit: %llu per thousand events\n",
		div64_u64(((end - empty) - (empty - begin)) * 1000, count));
}

static void do_nothing(void *data, unsigned int state, unsigned int cpu)
{
}

static int measure_clock(void)
{
	int (*kind)(void) = symbol_get(ltt_trace_clock_kind);

	read_clock = symbol_get(ltt_trace_clock);
	if (kind && read_clock) {
		is_cycles = kind();
		take_measure();
	}
	if (kind)
		symbol_put(ltt_trace_clock_kind);
	if (read_clock)
		symbol_put(ltt_trace_clock);
	return kind && read_clock ? 0 : -ENOENT;
}

static int measure_all(void)
{
	int ret = probe ? register_trace_cpu_frequency(do_nothing, NULL) : 0;

	if (ret)
		return ret;
	take_measure();
	if (probe)
		unregister_trace_cpu_frequency(do_nothing, NULL);
	tracepoint_synchronize_unregister();
	return 0;
}

static void emit_on(struct emitter *e)
{
	struct task_struct *thread = kthread_create_on_cpu(task, e, e->cpu, "ltt_emit/%u");

	if (IS_ERR(thread))
		complete(&e->done);
	else
		wake_up_process(thread);
}

static void emit_everywhere(void)
{
	unsigned int cpu;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		prepare(per_cpu_ptr(&emitters, cpu), cpu);
		smp_call_function_single(cpu, learn_apic, NULL, 1);
	}
	for_each_online_cpu(cpu)
		emit_on(per_cpu_ptr(&emitters, cpu));
	for_each_online_cpu(cpu)
		wait_for_completion(&per_cpu_ptr(&emitters, cpu)->done);
	cpus_read_unlock();
}

static int __init emit_init(void)
{
	int ret;

	if (measure)
		return clock ? measure_clock() : measure_all();
	local_apic = ioremap(APIC_DEFAULT_PHYS_BASE, PAGE_SIZE);
	if (!local_apic)
		return -ENOMEM;
	ret = register_nmi_handler(NMI_LOCAL, on_nmi, 0, "ltt_emit");
	if (!ret) {
		emit_everywhere();
		unregister_nmi_handler(NMI_LOCAL, "ltt_emit");
	}
	iounmap(local_apic);
	return ret;
}

static void __exit emit_exit(void)
{
}

module_init(emit_init);
module_exit(emit_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("exact numbers of events, for tests of ltt.ko");
