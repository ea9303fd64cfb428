// SPDX-License-Identifier: GPL-2.0-only
#include "samples.h"

#include <linux/err.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "counters.h"
#include "ltt_kmod.h"
#include "registry.h"
#include "stacks.h"

static const struct field samples_fields[] = {
	{ .name = "ip", .type = "void *", .elem_bytes = sizeof(u64) },
	{ .name = "stack_kernel", .type = "unsigned long", .elem_bytes = sizeof(u64), .base = 16,
	  .form = FORM_DYNAMIC },
	{ .name = "stack_user", .type = "unsigned long", .elem_bytes = sizeof(u64), .base = 16,
	  .form = FORM_DYNAMIC },
};

/* Odd rates: samples are not in step with a program that works a hundred times in a second. */
static struct samples_event {
	struct event event;
	u32 hz;
} samples_events[] = {
#define SAMPLES(hz_)										\
	{ { .system = "sample", .name = "cpu_sample_" #hz_ "hz", .fields = samples_fields,		\
	    .nr_fields = ARRAY_SIZE(samples_fields) }, hz_ }
	SAMPLES(99), SAMPLES(997), SAMPLES(4999),
#undef SAMPLES
};

/** struct samples_room - of the CPU whose sample is taken. */
struct samples_room {
	unsigned long stack[STACKS_MAX];
	u8 payload[sizeof(u64) + 2 * (sizeof(u16) + STACKS_MAX * sizeof(u64))];
};

/** struct sampler - of a channel. */
struct sampler {
	struct counters *counters;
	struct samples_room __percpu *room;
};

/* --- a sample ------------------------------------------------------------- */

static u8 *samples_put(u8 *to, const unsigned long *stack, u32 nr)
{
	u16 count = nr;

	memcpy(to, &count, sizeof(count));
	memcpy(to + sizeof(count), stack, nr * sizeof(*stack));
	return to + sizeof(count) + nr * sizeof(*stack);
}

/* Our interrupt comes first, then the place that it interrupted. */
static u32 samples_kernel_stack(unsigned long *stack, unsigned long ip)
{
	u32 nr = stacks_kernel(stack), own = 0;

	while (own < nr && stack[own] != ip)
		own++;
	if (own == nr) {
		stack[0] = ip;
		return 1;
	}
	memmove(stack, stack + own, (nr - own) * sizeof(*stack));
	return nr - own;
}

/* In an interrupt. */
static void samples_take(struct perf_event *counter, struct perf_sample_data *data,
			 struct pt_regs *regs)
{
	struct hook *hook = counter->overflow_handler_context;
	const struct sampler *sampler = READ_ONCE(hook->own);
	struct samples_room *room;
	u64 ip = instruction_pointer(regs);
	u8 *end;
	u32 nr;

	if (!sampler)
		return;
	room = this_cpu_ptr(sampler->room);
	memcpy(room->payload, &ip, sizeof(ip));
	nr = user_mode(regs) ? 0 : samples_kernel_stack(room->stack, ip);
	end = samples_put(room->payload + sizeof(ip), room->stack, nr);
	end = samples_put(end, room->stack, stacks_user(room->stack));
	ring_put(&hook->source, room->payload, end - room->payload);
}

/* --- on and off ------------------------------------------------------------ */

static int samples_start(struct hook *hook, struct sampler *sampler)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(attr),
		.sample_freq = container_of(hook->event, struct samples_event, event)->hz,
		.freq = 1,
		.exclude_idle = 1,
	};

	sampler->room = alloc_percpu(struct samples_room);
	if (!sampler->room)
		return -ENOMEM;
	WRITE_ONCE(hook->own, sampler);
	sampler->counters = counters_new(&attr, samples_take, hook, hook->event->name);
	return PTR_ERR_OR_ZERO(sampler->counters);
}

static void samples_free(struct sampler *sampler)
{
	free_percpu(sampler->room);
	kfree(sampler);
}

static int samples_attach(struct hook *hook)
{
	struct sampler *sampler = kzalloc(sizeof(*sampler), GFP_KERNEL);
	int ret = sampler ? samples_start(hook, sampler) : -ENOMEM;

	if (ret && sampler)
		samples_free(sampler);
	return ret;
}

static void samples_detach(struct hook *hook)
{
	struct sampler *sampler = hook->own;

	counters_free(sampler->counters);
	samples_free(sampler);
}

static const struct event_kind samples_kind = {
	.attach = samples_attach,
	.detach = samples_detach,
	.flags = LTT_KMOD_SAMPLED,
};

int samples_init(void)
{
	int ret = 0, i;

	for (i = 0; i < ARRAY_SIZE(samples_events) && !ret; i++) {
		ret = registry_add(&samples_events[i].event, &samples_kind);
		if (!ret)
			registry_comes(&samples_events[i].event);
	}
	return ret;
}
