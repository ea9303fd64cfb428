/* SPDX-License-Identifier: GPL-2.0-only */
#include "context.h"

#include <ctype.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "count.h"
#include "link.h"
#include "ltt/context.h"
#include "proto/app.h"
#include "session.h"
#include "trace/metadata.h"

#define NUMBER(name_, bits, base_, flags_)                                                   \
	{                                                                                    \
		.name = (name_), .kind = LTT_KIND_INT, .size_bits = (bits), .base = (base_), \
		.flags = (flags_)                                                            \
	}
/* The trace's and the span's are two fields. */
#define OTEL_IDS(name_, bytes)                                                       \
	{                                                                            \
		.name = (name_), .kind = LTT_KIND_ARRAY, .size_bits = 8, .base = 16, \
		.count = (bytes)                                                     \
	}
#define ID(name) NUMBER(name, 32, 10, 0)
#define SPACE(name) NUMBER(name, 64, 10, 0)

/* Names and sizes are those of LTTng, so that viewers know them; values are written by
 * tracer/ring/context.c. */
static const struct layout_field contexts[] = {
	NUMBER("vpid", 32, 10, LTT_FIELD_SIGNED),
	NUMBER("vtid", 32, 10, LTT_FIELD_SIGNED),
	{ .name = "procname",
	  .kind = LTT_KIND_ARRAY,
	  .size_bits = 8,
	  .base = 10,
	  .flags = LTT_FIELD_TEXT,
	  .count = 16 },
	NUMBER("pthread_id", 64, 16, 0),
	NUMBER("cpu_id", 32, 10, LTT_FIELD_SIGNED),
	ID("vuid"),
	ID("veuid"),
	ID("vsuid"),
	ID("vgid"),
	ID("vegid"),
	ID("vsgid"),
	SPACE("cgroup_ns"),
	SPACE("ipc_ns"),
	SPACE("mnt_ns"),
	SPACE("net_ns"),
	SPACE("pid_ns"),
	SPACE("time_ns"),
	SPACE("user_ns"),
	SPACE("uts_ns"),
	NUMBER("ip", 64, 16, 0),
	OTEL_IDS("otel", 24),
};
#define MAX_CONTEXTS 64u /* of a channel */
#define NR_CONTEXTS (sizeof(contexts) / sizeof(contexts[0]))

/* As the name of an identifier in C. */
static size_t user_context_word(const char *at, size_t len)
{
	size_t n = 0;

	while (n < len && (isalpha((unsigned char)at[n]) || at[n] == '_' ||
			   (n > 0 && isdigit((unsigned char)at[n]))))
		n++;
	return n;
}

/* $app.PROVIDER:NAME */
static bool user_context_is_provided(const char *name, size_t len)
{
	const size_t head = strlen("$app.");
	size_t provider, rest;

	if (len <= head || len > head + LTT_CONTEXT_NAME_MAX || memcmp(name, "$app.", head) != 0)
		return false;
	provider = user_context_word(name + head, len - head);
	rest = len - head - provider;
	return provider && rest > 1 && name[head + provider] == ':' &&
	       user_context_word(name + len - rest + 1, rest - 1) == rest - 1;
}

/* The type of one that the application provides is recorded with each value. */
static bool user_context_find(const char *name, size_t len, struct layout_field *ret)
{
	for (size_t i = 0; i < NR_CONTEXTS; i++) {
		if (strlen(contexts[i].name) == len &&
		    memcmp(contexts[i].name, name, len) == 0) {
			*ret = contexts[i];
			return true;
		}
	}
	*ret = (struct layout_field){ .kind = LAYOUT_KIND_DYNAMIC };
	return user_context_is_provided(name, len);
}

void user_each_context(void (*fn)(const struct layout_field *context, void *data), void *data)
{
	for (size_t i = 0; i < NR_CONTEXTS; i++)
		fn(&contexts[i], data);
}

/* LTTng's and ours of the kernel. */
static const char *user_context_why_not(const char *type)
{
	static const struct {
		const char *names, *why;
	} others[] = {
		{ "pid,tid,ppid,vppid",
		  "a program sees the numbers of its own namespace, which are vpid and vtid" },
		{ "uid,euid,suid,gid,egid,sgid",
		  "a program sees the numbers of its own namespace, which are vuid, veuid, vsuid, "
		  "vgid, vegid and vsgid" },
		{ "perf:*", "counters of the CPU are read by the kernel" },
		{ "prio,nice,hostname,interruptible,preemptible,need_reschedule,migratable,"
		  "cgroup_id,callstack-*",
		  "a program can't read it without a system call for each event" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (glob_match_list(others[i].names, type))
			return others[i].why;
	return NULL;
}

static char *user_context_list(void)
{
	char *list = xstrdup("");

	for (size_t i = 0; i < NR_CONTEXTS; i++) {
		char *before AUTO_FREE = list;

		list = xasprintf("%s%s, ", before, contexts[i].name);
	}
	return list;
}

static int user_context_unknown(const char *type, struct err *err)
{
	const char *words[NR_CONTEXTS + 1] = { NULL };
	char *list AUTO_FREE = user_context_list();
	const char *near;

	for (size_t i = 0; i < NR_CONTEXTS; i++)
		words[i] = contexts[i].name;
	near = nearest_word(type, words);
	return err_set(err, ERR_INVALID,
		       "applications have no context '%.60s'; %s%s%sthere are %s$app.PROVIDER:NAME",
		       type, near ? "did you mean '" : "", near ? near : "", near ? "'? " : "",
		       list);
}

int user_check_context(const char *type, struct err *err)
{
	struct layout_field context;
	const char *why;

	if (user_context_find(type, strlen(type), &context))
		return 0;
	if (*type == '$')
		return err_set(
			err, ERR_INVALID,
			"'%.100s' is no context of an application; use '$app.PROVIDER:NAME', "
			"with letters, digits and underscores",
			type);
	why = user_context_why_not(type);
	if (why)
		return err_set(err, ERR_INVALID, "context '%.60s' is the kernel's only (-k): %s",
			       type, why);
	return user_context_unknown(type, err);
}

static void user_context_add(struct layout *layout, const struct layout_field *field)
{
	static const struct layout_field ids[] = { OTEL_IDS("otel_trace_id", 16),
						   OTEL_IDS("otel_span_id", 8) };

	if (strcmp(field->name, "otel") != 0) {
		(void)!layout_add_field(layout, field);
		return;
	}
	(void)!layout_add_field(layout, &ids[0]);
	(void)!layout_add_field(layout, &ids[1]);
}

char *user_context_text(enum metadata_form form, const char *names)
{
	struct layout *layout =
		layout_new(MAX_CONTEXTS + 1, 0, 2 * strlen(names) + MAX_CONTEXTS + 64);
	char *text;

	while (layout && *names) {
		size_t len = strcspn(names, ",");
		char name[sizeof("$app.") + LTT_CONTEXT_NAME_MAX];
		struct layout_field context;

		if (user_context_find(names, len, &context) && len < sizeof(name)) {
			memcpy(name, names, len);
			name[len] = '\0';
			context.name = name;
			user_context_add(layout, &context);
		}
		names += len + (names[len] == ',');
	}
	text = layout ? metadata_event_context(form, layout) : NULL;
	layout_free(layout);
	return text ? text : xstrdup("");
}

_Static_assert(sizeof("$app.") + LTT_CONTEXT_NAME_MAX <= FILTER_CONTEXT_BYTES, "each fits");

static void user_filter_add_context(const struct layout_field *context, void *data)
{
	filter_tracer_add(data, context);
}

const struct filter_tracer *user_filter_tracer(void)
{
	/* parts of the context `otel`, which is no value itself; texts here */
	static const struct layout_field trace = { .name = "otel_trace_id",
						   .kind = LTT_KIND_STRING };
	static const struct layout_field span = { .name = "otel_span_id", .kind = LTT_KIND_STRING };
	static struct filter_tracer tracer = { .provided = user_context_is_provided };

	if (!tracer.nr) {
		user_each_context(user_filter_add_context, &tracer);
		user_filter_add_context(&trace, &tracer);
		user_filter_add_context(&span, &tracer);
	}
	return &tracer;
}

static void user_filters_mark(const struct user_link *link)
{
	for (size_t i = 0; i < link->nr_arms; i++)
		if (link->arms[i].filter)
			link->arms[i].filter->used = true;
	for (size_t i = 0; i < link->nr_countings; i++)
		if (link->countings[i].filter)
			link->countings[i].filter->used = true;
}

void user_filters_sweep(struct user_session *us)
{
	const struct user_link *link;

	if (!event_filters_sweep_due(&us->filters))
		return;
	list_for_each(link, &us->links, in_session)
		user_filters_mark(link);
	event_filters_sweep(&us->filters);
}
