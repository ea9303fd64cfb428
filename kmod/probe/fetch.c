// SPDX-License-Identifier: GPL-2.0-only
#include "fetch.h"

#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "registers.h"

/* --- at a hit ------------------------------------------------------------- */

enum memory { OF_KERNEL, OF_USER, OF_USER_AT_LEISURE };

/* Return: false where there is no such memory; @to is as it was, or half written. */
static bool read_memory(void *to, u64 from, u32 bytes, enum memory memory)
{
	if (memory == OF_USER_AT_LEISURE)
		return !copy_from_user(to, (const void __user *)(unsigned long)from, bytes);
	if (memory == OF_USER)
		return !copy_from_user_nofault(to, (const void __user *)(unsigned long)from, bytes);
	return !copy_from_kernel_nofault(to, (const void *)(unsigned long)from, bytes);
}
NOKPROBE_SYMBOL(read_memory);

/* Little endian, as all that this module runs on. */
static u64 kmod_fetch_read_number(u64 from, u32 bytes, enum memory memory)
{
	u64 value = 0;

	return read_memory(&value, from, bytes, memory) ? value : 0;
}
NOKPROBE_SYMBOL(kmod_fetch_read_number);

static u64 first_step(const struct ltt_kmod_step *step, struct pt_regs *regs, enum memory user)
{
	switch (step->op) {
	case LTT_KMOD_STEP_REGISTER:
		return register_value(regs, step->nr);
	case LTT_KMOD_STEP_ARGUMENT:
		return register_argument(regs, step->nr);
	case LTT_KMOD_STEP_STACK:
		return kmod_fetch_read_number(kernel_stack_pointer(regs) + step->nr * sizeof(long),
					      sizeof(long), user_mode(regs) ? user : OF_KERNEL);
	case LTT_KMOD_STEP_RETURNED:
		return regs_return_value(regs);
	case LTT_KMOD_STEP_COMM:
		return (unsigned long)current->comm;
	default:
		return step->offset;
	}
}
NOKPROBE_SYMBOL(first_step);

static u64 next_step(u64 value, const struct ltt_kmod_step *step, struct pt_regs *regs,
		     enum memory user)
{
	u32 above = 64 - 8 * step->nr;

	switch (step->op) {
	case LTT_KMOD_STEP_READ:
		return kmod_fetch_read_number(value + step->offset, step->nr, OF_KERNEL);
	case LTT_KMOD_STEP_READ_USER:
		return kmod_fetch_read_number(value + step->offset, step->nr, user);
	case LTT_KMOD_STEP_ADD_REGISTER:
		return value + register_value(regs, step->nr) * (u64)step->offset;
	case LTT_KMOD_STEP_EXTEND:
		return step->offset ? (u64)((s64)(value << above) >> above) :
				      value << above >> above;
	default:
		return value + step->offset;
	}
}
NOKPROBE_SYMBOL(next_step);

static u64 kmod_fetch_walk(const struct ltt_kmod_arg *arg, struct pt_regs *regs, enum memory user)
{
	u64 value = first_step(&arg->steps[0], regs, user);
	u32 i;

	for (i = 1; i < arg->nr_steps; i++)
		value = next_step(value, &arg->steps[i], regs, user);
	return value;
}
NOKPROBE_SYMBOL(kmod_fetch_walk);

/* Page by page: the next one may not be there, and need not. Return: bytes, with NUL. */
static u32 kmod_fetch_put_text(u8 *to, u32 room, u64 from, enum memory memory)
{
	u32 end = 0;

	while (end < room - 1) {
		u32 bytes = min_t(u32, room - 1 - end, PAGE_SIZE - offset_in_page(from + end));
		u32 len;

		if (!read_memory(to + end, from + end, bytes, memory))
			return strscpy(to, "(fault)", room) < 0 ? room : sizeof("(fault)");
		len = strnlen(to + end, bytes);
		end += len;
		if (len < bytes)
			break;
	}
	to[end] = 0;
	return end + 1;
}
NOKPROBE_SYMBOL(kmod_fetch_put_text);

static bool kmod_fetch_is_number(const struct ltt_kmod_arg *arg)
{
	return arg->kind == LTT_KMOD_ARG_NUMBER;
}
NOKPROBE_SYMBOL(kmod_fetch_is_number);

u32 fetch_put(const struct fetch *fetch, struct pt_regs *regs, u8 *to)
{
	const struct ltt_kmod_arg *arg, *last = fetch->args + fetch->nr_args;
	enum memory user = fetch->may_sleep ? OF_USER_AT_LEISURE : OF_USER;
	u8 *end = to;

	for (arg = fetch->args; arg < last; arg++) {
		if (kmod_fetch_is_number(arg)) {
			u64 value = kmod_fetch_walk(arg, regs, user);

			memcpy(end, &value, arg->bytes);
			end += arg->bytes;
		}
	}
	for (arg = fetch->args; arg < last; arg++)
		if (!kmod_fetch_is_number(arg))
			end += kmod_fetch_put_text(
				end, arg->bytes, kmod_fetch_walk(arg, regs, user),
				arg->kind == LTT_KMOD_ARG_TEXT_USER ? user : OF_KERNEL);
	return end - to;
}
NOKPROBE_SYMBOL(fetch_put);

/* --- requests ------------------------------------------------- */

static bool kmod_fetch_is_size(u32 bytes)
{
	return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

static bool is_sound_first(const struct ltt_kmod_step *step, enum fetch_place place)
{
	switch (step->op) {
	case LTT_KMOD_STEP_NUMBER:
	case LTT_KMOD_STEP_COMM:
		return !step->nr;
	case LTT_KMOD_STEP_REGISTER:
		return step->nr < NR_REGISTERS;
	case LTT_KMOD_STEP_ARGUMENT:
		return step->nr < NR_ARGUMENT_REGISTERS && place == FETCH_AT_ENTRY;
	case LTT_KMOD_STEP_STACK:
		return step->nr < LTT_KMOD_STACK_MAX;
	case LTT_KMOD_STEP_RETURNED:
		return !step->nr && place == FETCH_AT_RETURN;
	default:
		return false;
	}
}

static bool is_sound_next(const struct ltt_kmod_step *step)
{
	switch (step->op) {
	case LTT_KMOD_STEP_ADD:
		return !step->nr;
	case LTT_KMOD_STEP_READ:
	case LTT_KMOD_STEP_READ_USER:
		return kmod_fetch_is_size(step->nr);
	case LTT_KMOD_STEP_ADD_REGISTER:
		return step->nr < NR_REGISTERS;
	case LTT_KMOD_STEP_EXTEND:
		return kmod_fetch_is_size(step->nr) && step->nr < 8 && (step->offset | 1) == 1;
	default:
		return false;
	}
}

static bool kmod_fetch_is_sound(const struct ltt_kmod_arg *arg, enum fetch_place place)
{
	u32 i;

	if (arg->kind > LTT_KMOD_ARG_TEXT_USER || !arg->nr_steps ||
	    arg->nr_steps > LTT_KMOD_STEPS_MAX || !arg->bytes ||
	    (kmod_fetch_is_number(arg) && !kmod_fetch_is_size(arg->bytes)) ||
	    !is_sound_first(&arg->steps[0], place))
		return false;
	for (i = 1; i < arg->nr_steps; i++)
		if (!is_sound_next(&arg->steps[i]))
			return false;
	return true;
}

/* Return: 0 or -EINVAL; sets fetch->bytes. */
static int kmod_fetch_check(struct fetch *fetch, enum fetch_place place)
{
	u32 i, texts = 0;

	for (i = 0; i < fetch->nr_args; i++) {
		const struct ltt_kmod_arg *arg = &fetch->args[i];

		if (!kmod_fetch_is_sound(arg, place))
			return -EINVAL;
		fetch->bytes += arg->bytes;
		texts += kmod_fetch_is_number(arg) ? 0 : arg->bytes;
	}
	return texts <= LTT_KMOD_TEXTS_MAX ? 0 : -EINVAL;
}

struct fetch *fetch_new(u64 args, u32 nr_args, enum fetch_place place)
{
	struct fetch *fetch;
	int ret = 0;

	if (!nr_args)
		return args ? ERR_PTR(-EINVAL) : NULL;
	if (nr_args > LTT_KMOD_ARGS_MAX)
		return ERR_PTR(-EINVAL);
	fetch = kzalloc(struct_size(fetch, args, nr_args), GFP_KERNEL_ACCOUNT);
	if (!fetch)
		return ERR_PTR(-ENOMEM);
	fetch->nr_args = nr_args;
	if (copy_from_user(fetch->args, u64_to_user_ptr(args), nr_args * sizeof(*fetch->args)))
		ret = -EFAULT;
	if (!ret)
		ret = kmod_fetch_check(fetch, place);
	if (!ret)
		return fetch;
	kfree(fetch);
	return ERR_PTR(ret);
}

static const char *const arg_names[LTT_KMOD_ARGS_MAX] = {
	"arg1", "arg2", "arg3", "arg4", "arg5", "arg6", "arg7", "arg8", "arg9", "arg10", "arg11",
	"arg12", "arg13", "arg14", "arg15", "arg16",
};

static struct field kmod_fetch_field(const struct ltt_kmod_arg *arg, const char *name)
{
	if (!kmod_fetch_is_number(arg))
		return (struct field){ .name = name, .type = "char", .elem_bytes = 1,
				       .form = FORM_STRING };
	return (struct field){ .name = name, .type = "unsigned", .elem_bytes = arg->bytes };
}

int fetch_describe(const struct fetch *fetch, u32 nr_own, struct event *event)
{
	static const struct field own[] = {
		{ .name = "ip", .type = "void *", .elem_bytes = sizeof(u64) },
		{ .name = "parent_ip", .type = "void *", .elem_bytes = sizeof(u64) },
		{ .name = "ret", .type = "long", .elem_bytes = sizeof(u64), .is_signed = true },
	};
	u32 nr_args = fetch ? fetch->nr_args : 0, nr = nr_own, i;
	struct field *fields = kcalloc(nr_own + nr_args, sizeof(*fields), GFP_KERNEL_ACCOUNT);
	int texts;

	if (!fields)
		return -ENOMEM;
	memcpy(fields, own, nr_own * sizeof(*fields));
	for (texts = 0; texts < 2; texts++)
		for (i = 0; i < nr_args; i++)
			if (kmod_fetch_is_number(&fetch->args[i]) != texts)
				fields[nr++] = kmod_fetch_field(&fetch->args[i], arg_names[i]);
	event->fields = fields;
	event->nr_fields = nr;
	return 0;
}

bool fetch_alike(const struct fetch *a, const struct fetch *b)
{
	u32 i;

	if (!a || !b || a->nr_args != b->nr_args)
		return a == b;
	for (i = 0; i < a->nr_args; i++)
		if (a->args[i].kind != b->args[i].kind || a->args[i].bytes != b->args[i].bytes)
			return false;
	return true;
}
