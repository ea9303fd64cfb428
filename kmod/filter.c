// SPDX-License-Identifier: GPL-2.0-only
#include "filter.h"

#include <linux/err.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include <asm/timex.h>

#include "context.h"
#include "request.h"

/* --- evaluation ----------------------------------------------------------- */

/** struct sampling - @words: of the rings. */
struct sampling {
	struct ltt_filter_state state;
	u64 *words;
};

static u64 *kmod_filter_words(struct ltt_filter_state *state)
{
	return container_of(state, struct sampling, state)->words;
}

static u64 kmod_filter_now(u32 clock)
{
	return clock == LTT_CLOCK_CYCLES ? get_cycles() : ktime_get_mono_fast_ns();
}

/* The first program that accepts; those that do not sample come first. */
static enum ltt_filter_verdict kmod_filter_run(const struct filter *filter, const void *payload,
					       u32 len, struct ltt_filter_state *state)
{
	enum ltt_filter_verdict worst = LTT_FILTER_REJECTED, verdict;
	struct ltt_filter_value values[LTT_KMOD_FILTER_CONTEXTS_MAX];
	const struct ltt_filter *program;
	u32 i, at;

	for (i = 0; i < filter->nr_contexts; i++)
		context_value(filter->which[i], &values[i]);
	for (at = 0; at < filter->bytes; at += ltt_filter_padded(program)) {
		program = (const void *)(filter->programs + at);
		verdict = ltt_filter_decide(program, payload, len, values, state);
		if (verdict == LTT_FILTER_ACCEPTED)
			return verdict;
		worst = max(worst, verdict);
	}
	return worst;
}

bool notrace filter_accepts_any(const struct filter *filter, const void *payload, u32 len)
{
	return kmod_filter_run(filter, payload, len, NULL) == LTT_FILTER_ACCEPTED;
}

/* @closed is a hint, which is that of one program. */
enum ltt_filter_verdict notrace filter_sample(const struct filter *filter, u64 *words,
					      const void *payload, u32 len)
{
	u64 closed = filter->only ? READ_ONCE(filter->closed) : 0;
	struct sampling sampling = {
		.state = { this_cpu_ptr(filter->samplers), kmod_filter_words, kmod_filter_now,
			   closed },
		.words = words,
	};
	struct ltt_filter_state *state = &sampling.state;
	enum ltt_filter_verdict verdict =
		filter->only ? ltt_filter_decide(filter->only, payload, len, NULL, state) :
			       kmod_filter_run(filter, payload, len, state);

	if (filter->only && state->closed != closed)
		WRITE_ONCE(((struct filter *)filter)->closed, state->closed);
	return verdict;
}

/* --- creation ------------------------------------------------------------- */

/* Return: 0; -EINVAL: there are too many; -ENOENT: no such context. */
static int kmod_filter_find_contexts(struct filter *filter, const struct ltt_kmod_filter *request)
{
	char names[sizeof(request->contexts)], *rest = names, *name;
	int which;

	strscpy(names, request->contexts, sizeof(names));
	while (*names && (name = strsep(&rest, ","))) {
		which = context_find_value(name);
		if (which < 0)
			return which;
		if (filter->nr_contexts == LTT_KMOD_FILTER_CONTEXTS_MAX)
			return -EINVAL;
		filter->which[filter->nr_contexts++] = which;
	}
	return 0;
}

/* The numbers from @min to @max for which a relation holds. Return: false: none. */
static bool kmod_filter_range(u8 relation, s64 number, s64 min, s64 max, s64 *ret_low,
			      s64 *ret_high)
{
	s64 low = min, high = max;

	switch (relation) {
	case LTT_FILTER_EQ:
		low = high = number;
		break;
	case LTT_FILTER_LT:
		high = number - (number > S64_MIN);
		low = number > S64_MIN ? low : S64_MAX;
		break;
	case LTT_FILTER_LE:
		high = number;
		break;
	case LTT_FILTER_GT:
		low = number + (number < S64_MAX);
		high = number < S64_MAX ? high : S64_MIN;
		break;
	default:
		low = number;
	}
	*ret_low = max(low, min);
	*ret_high = min(high, max);
	return *ret_low <= *ret_high;
}

/* Comparisons are those of s64, so an unsigned field of 64 bits is taken as signed. */
static void kmod_filter_limits(u8 type, s64 *ret_min, s64 *ret_max)
{
	u32 bits = 8u << (type & LTT_FILTER_SIZE);
	bool is_signed = bits == 64 || type & LTT_FILTER_SIGNED;

	*ret_max = S64_MAX >> (64 - bits);
	*ret_min = -*ret_max - 1;
	if (!is_signed) {
		*ret_max = (s64)(U64_MAX >> (64 - bits));
		*ret_min = 0;
	}
}

static bool kmod_filter_rejects_by_integer(const struct ltt_filter_insn *in)
{
	return in->op == LTT_FILTER_TEST_FIELD && in->base == LTT_FILTER_FIXED &&
	       in->jump == LTT_FILTER_REJECT &&
	       (!(in->type & LTT_FILTER_BIG_ENDIAN) || !(in->type & LTT_FILTER_SIZE));
}

/* Prepare the fast check of the first instruction: the range of values that pass it; with
 * LTT_FILTER_NOT the complement, which may wrap. */
static void kmod_filter_prepare_first(struct filter *filter, const struct ltt_filter_insn *in)
{
	u32 bits = 8u << (in->type & LTT_FILTER_SIZE);
	u64 mask = U64_MAX >> (64 - bits), span;
	s64 min, max, low, high;

	filter->first.span = U64_MAX;
	if (!kmod_filter_rejects_by_integer(in))
		return;
	kmod_filter_limits(in->type, &min, &max);
	if (!kmod_filter_range(in->a & 0xf, in->constant, min, max, &low, &high))
		return;
	span = (u64)high - (u64)low;
	if (in->a & LTT_FILTER_NOT) {
		if (span == mask)
			return;
		low = (s64)((u64)high + 1);
		span = mask - span - 1;
	}
	filter->first.shift = 64 - bits;
	filter->first.least = (u64)low << filter->first.shift;
	filter->first.span = span << filter->first.shift | ((1ull << filter->first.shift) - 1);
	filter->first.offset = in->offset;
	filter->first.end = in->offset + bits / 8;
}

/* Return: its bytes; 0: it is not valid. */
static u32 kmod_filter_verify(const struct filter *filter, u32 at)
{
	const struct ltt_filter *program = (const void *)(filter->programs + at);
	u32 left = filter->bytes - at;

	if (left < sizeof(*program) || left < ltt_filter_padded(program) ||
	    !ltt_filter_verify(program, ltt_filter_bytes(program)) ||
	    program->head.nr_contexts > filter->nr_contexts)
		return 0;
	return ltt_filter_padded(program);
}

static int kmod_filter_verify_all(struct filter *filter)
{
	u32 at, bytes, nr = 0;

	for (at = 0; at < filter->bytes; at += bytes, nr++) {
		bytes = kmod_filter_verify(filter, at);
		if (!bytes)
			return -EINVAL;
	}
	filter->first.span = U64_MAX;
	if (nr == 1)
		kmod_filter_prepare_first(filter, ((struct ltt_filter *)filter->programs)->insns);
	if (nr == 1 && !filter->nr_contexts)
		filter->only = (const void *)filter->programs;
	return 0;
}

static bool kmod_filter_only_samples(const struct ltt_filter *program)
{
	u32 i;

	for (i = 0; i + 1 < program->head.nr_insns; i++)
		if (program->insns[i].op != LTT_FILTER_SAMPLE &&
		    program->insns[i].op != LTT_FILTER_RATE &&
		    program->insns[i].op != LTT_FILTER_FIRST)
			return false;
	return i;
}

static int kmod_filter_add_samplers(struct filter *filter)
{
	const struct ltt_filter *program;
	bool samples = false;
	u32 at;

	for (at = 0; at < filter->bytes; at += ltt_filter_padded(program)) {
		program = (const void *)(filter->programs + at);
		samples |= ltt_filter_samples(program);
	}
	if (!samples)
		return 0;
	filter->early = filter->only && kmod_filter_only_samples(filter->only);
	if (filter->early)
		ltt_filter_samples_at(filter->only->insns, &filter->sampling);
	filter->samplers = alloc_percpu_gfp(struct ltt_filter_samplers, GFP_KERNEL_ACCOUNT);
	if (!filter->samplers)
		return -ENOMEM;
	if (filter->sampling.op == LTT_FILTER_SAMPLE)
		filter->sampler = &filter->samplers->of[filter->sampling.slot];
	return 0;
}

static bool kmod_filter_is_sound(const struct ltt_kmod_filter *request)
{
	return request->bytes <= LTT_KMOD_FILTER_BYTES_MAX && !request->reserved &&
	       request_text_ends(request->contexts, sizeof(request->contexts)) &&
	       (request->bytes || (!request->programs && !request->contexts[0]));
}

static int kmod_filter_fill(struct filter *filter, const struct ltt_kmod_filter *request)
{
	int ret;

	filter->bytes = request->bytes;
	if (copy_from_user(filter->programs, u64_to_user_ptr(request->programs), request->bytes))
		return -EFAULT;
	ret = kmod_filter_find_contexts(filter, request);
	if (!ret)
		ret = kmod_filter_verify_all(filter);
	return ret ? ret : kmod_filter_add_samplers(filter);
}

const struct filter *filter_new(const struct ltt_kmod_filter *request)
{
	struct filter *filter;
	int ret = kmod_filter_is_sound(request) ? 0 : -EINVAL;

	if (ret || !request->bytes)
		return ERR_PTR(ret);
	filter = kvzalloc(struct_size(filter, programs, request->bytes), GFP_KERNEL_ACCOUNT);
	if (!filter)
		return ERR_PTR(-ENOMEM);
	ret = kmod_filter_fill(filter, request);
	if (!ret)
		ret = filter_rooms_ensure();
	if (!ret)
		return filter;
	free_percpu(filter->samplers);
	kvfree(filter);
	return ERR_PTR(ret);
}

static void kmod_filter_release(struct rcu_head *rcu)
{
	struct filter *filter = container_of(rcu, struct filter, rcu);

	free_percpu(filter->samplers);
	kvfree(filter);
}

void filter_free(const struct filter *filter)
{
	struct filter *mine = (struct filter *)filter;

	if (mine)
		call_rcu(&mine->rcu, kmod_filter_release);
}

/* --- rooms ---------------------------------------------------------------- */

static DEFINE_MUTEX(filter_lock);
DEFINE_PER_CPU(struct filter_rooms *, filter_rooms);

int filter_rooms_ensure(void)
{
	unsigned int cpu;
	int ret = 0;

	mutex_lock(&filter_lock);
	for_each_possible_cpu(cpu) {
		if (per_cpu(filter_rooms, cpu))
			continue;
		per_cpu(filter_rooms, cpu) =
			vzalloc_node(sizeof(struct filter_rooms), cpu_to_node(cpu));
		if (!per_cpu(filter_rooms, cpu))
			ret = -ENOMEM;
	}
	mutex_unlock(&filter_lock);
	return ret;
}

void filter_fini(void)
{
	unsigned int cpu;

	rcu_barrier(); /* of filter_free() */
	for_each_possible_cpu(cpu)
		vfree(per_cpu(filter_rooms, cpu));
}
