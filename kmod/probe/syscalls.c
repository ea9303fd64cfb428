// SPDX-License-Identifier: GPL-2.0-only
#include "syscalls.h"

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/trace_events.h>
#include <trace/syscall.h>

#include "arg_type.h"
#include "instr/syscall_names.h"
#include "registry.h"
#include "syscall_probe.h"

static struct event *events[NR_SYSCALL_SIDES][2][SYSCALL_NUMBERS];
static struct call *last_call; /* the first of the list */

#define VALUE(name_, type_, bytes, signed_) \
	{ .name = name_, .type = type_, .elem_bytes = (bytes), .is_signed = (signed_) }
#define RAW(nr) VALUE("arg" #nr, "unsigned long", 8, false)

static const struct field result_fields[] = { VALUE("ret", "long", 8, true) };
static const struct field raw_fields[] = { RAW(0), RAW(1), RAW(2), RAW(3), RAW(4), RAW(5) };
static const struct field unknown_fields[NR_SYSCALL_SIDES][1 + SYSCALL_ARGS] = {
	{ VALUE("id", "long", 8, true), RAW(0), RAW(1), RAW(2), RAW(3), RAW(4), RAW(5) },
	{ VALUE("id", "long", 8, true), VALUE("ret", "long", 8, true) },
};
static struct event unknown[NR_SYSCALL_SIDES] = {
	{ .name = "syscall_entry_unknown", .fields = unknown_fields[SYSCALL_ENTRY],
	  .nr_fields = 1 + SYSCALL_ARGS },
	{ .name = "syscall_exit_unknown", .fields = unknown_fields[SYSCALL_EXIT],
	  .nr_fields = 2 },
};

struct event *syscalls_event(enum syscall_side side, bool compat, long nr)
{
	struct event *event = (unsigned long)nr < SYSCALL_NUMBERS ? events[side][compat][nr] : NULL;

	return event ? event : &unknown[side];
}

bool syscalls_is_unknown(const struct event *event)
{
	return event >= unknown && event < unknown + NR_SYSCALL_SIDES;
}

/* --- arguments ------------------------------------------------------------ */

/* The kernel's description of a call's arguments; it is part of the kernel itself, so
 * it is never freed. NULL: none. */
static const struct syscall_metadata *metadata_of(const char *call)
{
	const struct syscall_metadata *metadata;
	struct trace_event_file *file;
	char name[64];

	snprintf(name, sizeof(name), "sys_enter_%s", call);
	file = trace_get_event_file(NULL, "syscalls", name);
	if (IS_ERR(file))
		return NULL;
	metadata = file->event_call->data;
	trace_put_event_file(file);
	return metadata;
}

/* Names that come with a length, not with a NUL. */
static bool syscalls_is_text(const char *type, const char *name)
{
	return !strcmp(type, "const char *") && strcmp(name, "buf") && strcmp(name, "u_msg_ptr");
}

static void describe_arg(struct field *field, const char *type, const char *name)
{
	u32 bytes = arg_type(type, &field->is_signed);

	field->name = name;
	field->type = type;
	field->form = FORM_VALUE;
	field->elem_bytes = bytes ? bytes : sizeof(long);
	if (!syscalls_is_text(type, name))
		return;
	field->type = "char";
	field->form = FORM_STRING;
	field->elem_bytes = 1;
	field->is_signed = true;
}

/* --- events --------------------------------------------------------------- */

static int syscalls_add(struct event *event, enum syscall_side side)
{
	int ret = registry_add(event, &syscall_kinds[side]);

	if (!ret)
		registry_comes(event);
	return ret;
}

static struct call *syscalls_call_new(const char *side, bool compat, const char *bare,
				      int nr_fields)
{
	struct call *call = kzalloc(struct_size(call, fields, nr_fields), GFP_KERNEL_ACCOUNT);

	if (!call)
		return NULL;
	call->event.fields = call->fields;
	call->event.nr_fields = nr_fields;
	call->event.name = kasprintf(GFP_KERNEL_ACCOUNT, "%ssyscall_%s_%s", compat ? "compat_" : "",
				     side, bare);
	call->made_before = last_call;
	last_call = call;
	return call->event.name ? call : NULL;
}

static struct call *entry_new(bool compat, const char *bare)
{
	const struct syscall_metadata *metadata = metadata_of(bare);
	int i, nr = metadata ? min_t(int, metadata->nb_args, SYSCALL_ARGS) : 0;
	struct call *call = syscalls_call_new("entry", compat, bare, nr);

	for (i = 0; call && i < nr; i++)
		describe_arg(&call->fields[i], metadata->types[i], metadata->args[i]);
	if (call && !metadata) {
		call->event.fields = raw_fields;
		call->event.nr_fields = ARRAY_SIZE(raw_fields);
	}
	return call;
}

static struct call *exit_with(const struct outputs *outputs, const char *const *args, bool compat,
			      const char *bare)
{
	struct call *call =
		syscalls_call_new("exit", compat, bare, 1 + outputs_nr_fields(outputs));

	if (!call)
		return NULL;
	call->fields[0] = result_fields[0];
	call->outputs = kmemdup(outputs, sizeof(*outputs), GFP_KERNEL_ACCOUNT);
	return call->outputs && !outputs_describe(outputs, args, call->fields + 1) ? call : NULL;
}

/* A kernel without the names of the arguments has no outputs. */
static struct call *exit_new(bool compat, const char *bare)
{
	const struct syscall_metadata *metadata;
	struct outputs outputs;
	struct call *call;

	outputs_find(bare, compat, &outputs);
	metadata = outputs.nr ? metadata_of(bare) : NULL;
	if (metadata)
		return exit_with(&outputs, metadata->args, compat, bare);
	call = syscalls_call_new("exit", compat, bare, 0);
	if (call) {
		call->event.fields = result_fields;
		call->event.nr_fields = ARRAY_SIZE(result_fields);
	}
	return call;
}

static int add_call(enum syscall_side side, bool compat, long nr, const char *bare)
{
	struct call *call;
	int ret;

	call = side == SYSCALL_ENTRY ? entry_new(compat, bare) : exit_new(compat, bare);
	if (!call)
		return -ENOMEM;
	ret = syscalls_add(&call->event, side);
	if (!ret)
		events[side][compat][nr] = &call->event;
	return ret;
}

static int add_table(bool compat)
{
	const char *bare;
	int ret = 0;
	u32 nr;

	for (nr = 0; nr < SYSCALL_NUMBERS && !ret; nr++) {
		bare = ltt_syscall_name(compat, nr);
		if (!bare)
			continue;
		ret = add_call(SYSCALL_ENTRY, compat, nr, bare);
		if (!ret)
			ret = add_call(SYSCALL_EXIT, compat, nr, bare);
	}
	return ret;
}

int syscalls_init(void)
{
	int ret = syscall_probe_init();

	if (ret)
		return ret;
	ret = syscalls_add(&unknown[SYSCALL_ENTRY], SYSCALL_ENTRY);
	if (!ret)
		ret = syscalls_add(&unknown[SYSCALL_EXIT], SYSCALL_EXIT);
	if (!ret)
		ret = add_table(false);
	if (!ret)
		ret = add_table(true);
	return ret;
}

void syscalls_fini(void)
{
	struct call *call;
	u32 i;

	syscall_probe_fini();
	while ((call = last_call)) {
		last_call = call->made_before;
		for (i = 1; call->outputs && i < call->event.nr_fields; i++)
			kfree(call->fields[i].name);
		kfree(call->outputs);
		kfree(call->event.name);
		kfree(call);
	}
}
