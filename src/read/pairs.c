/* SPDX-License-Identifier: GPL-2.0-only */
#include "pairs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/idmap.h"
#include "base/mem.h"
#include "base/str.h"
#include "event.h"

#define USER_PAIRS 16u
#define KEY_BYTES 512u /* of longer values, the beginning is compared */

struct begun {
	uint64_t tag; /* of a function: its address */
	int64_t ns;
};

/**
 * struct pairs_open - the begins that one key has, the latest last.
 * @first: of the oldest one in @begun, which is a ring once it has PAIRS_OPEN_MOST.
 * @forgotten: older ones that had no room.
 */
struct pairs_open {
	struct idmap_node node;
	struct pairs_open *next;
	struct begun *begun;
	uint32_t first, nr, size;
	uint64_t forgotten;
	char key[];
};

struct pairs {
	struct idmap map;
	struct pairs_open *all;
	struct pairs_rest rest;
	struct pairs_named named[USER_PAIRS];
	uint32_t nr_named;
	char *text; /* of the named ones */
};

/* --- the user's pairs ---------------------------------------------------------------- */

/* Return: NULL, or why a pair is none. */
static const char *pairs_parse_one(struct pairs *pairs, char *text)
{
	struct pairs_named *named = &pairs->named[pairs->nr_named++];
	char *words = text;

	named->begin = strsep(&words, ",");
	named->end = strsep(&words, ",");
	named->key = strsep(&words, ",");
	if (!named->begin[0] && !named->end)
		return "a pair is missing: there is one on each side of a ';'";
	if (!named->begin[0] || !named->end || !named->end[0] || (named->key && !named->key[0]))
		return "use BEGIN,END[,KEY], the names of two events and of a field";
	if (words)
		return "a pair has only one key; use BEGIN,END[,KEY], and ';' before another pair";
	return strcmp(named->begin, named->end) ? NULL : "the two events have the same name";
}

struct pairs *pairs_new(const char *spec, char *why, size_t len)
{
	struct pairs *pairs = xalloc(sizeof(*pairs));
	char *rest, *one;
	const char *fault;

	idmap_init(&pairs->map);
	pairs->text = rest = xstrdup(spec ? spec : "");
	while (spec && (one = strsep(&rest, ";"))) {
		if (pairs->nr_named == USER_PAIRS)
			snprintf(why, len, "more than %u pairs", USER_PAIRS);
		else if ((fault = pairs_parse_one(pairs, one)))
			snprintf(why, len, "%s", fault);
		else
			continue;
		pairs_free(pairs);
		return NULL;
	}
	return pairs;
}

void pairs_free(struct pairs *pairs)
{
	struct pairs_open *open;

	if (!pairs)
		return;
	idmap_fini(&pairs->map);
	while ((open = pairs->all)) {
		pairs->all = open->next;
		free(open->begun);
		free(open);
	}
	free(pairs->text);
	free(pairs);
}

/* --- keys ------------------------------------------------------------------------------ */

/* Return: false: a value of that kind is no key. */
static bool pairs_value_key(char *buf, size_t len, const struct value *value)
{
	if (value->type->kind == TYPE_INT || value->type->kind == TYPE_ENUM)
		snprintf(buf, len, "%" PRIu64, value->u);
	else if (value->type->kind == TYPE_STRING || value_is_text(value))
		snprintf(buf, len, "%.*s", (int)MIN(value_text_length(value), (size_t)KEY_BYTES),
			 (const char *)value->bytes);
	else
		return false;
	return true;
}

static bool pairs_key(char *buf, size_t len, const struct event *event, const char *field,
		      const char *kind)
{
	const struct value *value = field ? value_member(event->fields, field) : event->task.tid;
	size_t used;

	if (!value)
		return false;
	used = (size_t)snprintf(buf, len, "%s %" PRIu32 " %" PRIu64 " ", kind,
				event->source->number,
				field || !event->task.pid ? 0 : event->task.pid->u);
	return used < len && pairs_value_key(buf + used, len - used, value);
}

/* --- begins and ends -------------------------------------------------------------------- */

static struct pairs_open *pairs_find(struct pairs *pairs, const char *key)
{
	uint64_t hash = idmap_hash_text(key);
	struct idmap_node *node = idmap_find(&pairs->map, hash);
	struct pairs_open *open;

	for (; node; node = idmap_next(&pairs->map, node)) {
		open = container_of(node, struct pairs_open, node);
		if (strcmp(open->key, key) == 0)
			return open;
	}
	open = xalloc(sizeof(*open) + strlen(key) + 1);
	strcpy(open->key, key);
	open->next = pairs->all;
	pairs->all = open;
	idmap_add(&pairs->map, &open->node, hash);
	return open;
}

static struct begun *pairs_begun(const struct pairs_open *open, uint32_t at)
{
	return &open->begun[(open->first + at) % PAIRS_OPEN_MOST];
}

/* The oldest one makes room: ends come in the order from the latest on. */
static void pairs_begin(struct pairs *pairs, struct pairs_open *open, uint64_t tag, int64_t ns)
{
	if (open->nr == PAIRS_OPEN_MOST) {
		open->first = (open->first + 1) % PAIRS_OPEN_MOST;
		open->nr--;
		open->forgotten++;
		pairs->rest.forgotten++;
	} else if (open->nr == open->size) {
		open->size = open->size ? open->size * 2 : 4;
		open->begun = xrealloc(open->begun, open->size * sizeof(*open->begun));
	}
	*pairs_begun(open, open->nr++) = (struct begun){ tag, ns };
}

/* The latest begin of that tag; those above it were left by longjmp() or an exception. */
static bool pairs_end(struct pairs *pairs, struct pairs_open *open, uint64_t tag,
		      const struct event *event, struct took *ret)
{
	uint32_t at = open->nr;
	int64_t begin_ns;

	while (at && pairs_begun(open, at - 1)->tag != tag)
		at--;
	if (!at && open->forgotten)
		open->forgotten--;
	else if (!at)
		pairs->rest.alone++;
	if (!at)
		return false;
	pairs->rest.open += open->nr - at;
	open->nr = at - 1;
	begin_ns = pairs_begun(open, at - 1)->ns;
	*ret = (struct took){ event->ns - begin_ns, begin_ns < event->source->lossy_until_ns };
	pairs->rest.ended++;
	pairs->rest.lossy += ret->lossy;
	return true;
}

static void pairs_forget(struct pairs *pairs, struct pairs_open *open)
{
	pairs->rest.open += open->nr;
	open->nr = 0;
}

/* --- events ------------------------------------------------------------------------------- */

enum { BEGINS, ENDS };

static const char kind_call[] = "call"; /* system calls */

static struct pairs_open *pairs_open_of(struct pairs *pairs, const struct event *event,
					const char *kind, const char *field)
{
	char key[2 * KEY_BYTES];

	return pairs_key(key, sizeof(key), event, field, kind) ? pairs_find(pairs, key) : NULL;
}

static bool pairs_take_at(struct pairs *pairs, struct pairs_open *open, const struct event *event,
			  int side, uint64_t tag, struct took *ret)
{
	if (side == ENDS)
		return pairs_end(pairs, open, tag, event, ret);
	pairs_begin(pairs, open, tag, event->ns);
	return false;
}

static bool pairs_take_own(struct pairs *pairs, const struct event *event, const char *kind,
			   int side, uint64_t tag, struct took *ret)
{
	struct pairs_open *open = pairs_open_of(pairs, event, kind, NULL);

	if (!open) {
		pairs->rest.nowhere++;
		return false;
	}
	/* A thread is in one system call at a time: the exit of the one before is not there. */
	if (side == BEGINS && kind == kind_call)
		pairs_forget(pairs, open);
	return pairs_take_at(pairs, open, event, side, tag, ret);
}

static bool pairs_take_function(struct pairs *pairs, const struct event *event, int side,
				struct took *ret)
{
	const struct value *address = value_member(event->fields, "addr");
	bool is_fast = strstr(event->ec->name, "_fast:");

	return pairs_take_own(pairs, event, is_fast ? "fast" : "function", side,
			      address && !is_fast ? address->u : 0, ret);
}

static bool pairs_take_named(struct pairs *pairs, uint32_t nr, const struct event *event, int side,
			     struct took *ret)
{
	struct pairs_named *named = &pairs->named[nr];
	struct pairs_open *open;
	char kind[16];

	snprintf(kind, sizeof(kind), "%" PRIu32, nr);
	*(side == ENDS ? &named->ends : &named->begins) += 1;
	open = pairs_open_of(pairs, event, kind, named->key);
	if (open)
		return pairs_take_at(pairs, open, event, side, 0, ret);
	*(named->key ? &named->keyless : &pairs->rest.nowhere) += 1;
	return false;
}

/* The name behind @prefix, with or without "compat_" in front; NULL: it begins otherwise. */
static const char *pairs_behind_prefix(const char *name, const char *prefix)
{
	if (strncmp(name, "compat_", 7) == 0)
		name += 7;
	return strncmp(name, prefix, strlen(prefix)) == 0 ? name + strlen(prefix) : NULL;
}

bool pairs_take(struct pairs *pairs, const struct event *event, struct took *ret)
{
	const char *name = event->ec->name, *call;
	bool is_end = false;

	if (strstr(name, "cyg_profile") && strstr(name, ":func_"))
		return pairs_take_function(pairs, event,
					   strstr(name, ":func_exit") ? ENDS : BEGINS, ret);
	if ((call = pairs_behind_prefix(name, "syscall_entry_")))
		return pairs_take_own(pairs, event, kind_call, BEGINS, idmap_hash_text(call), ret);
	if ((call = pairs_behind_prefix(name, "syscall_exit_")))
		return pairs_take_own(pairs, event, kind_call, ENDS, idmap_hash_text(call), ret);
	for (uint32_t i = 0; i < pairs->nr_named; i++) {
		if (strcmp(name, pairs->named[i].end) == 0)
			is_end |= pairs_take_named(pairs, i, event, ENDS, ret);
		else if (strcmp(name, pairs->named[i].begin) == 0)
			pairs_take_named(pairs, i, event, BEGINS, ret);
	}
	return is_end;
}

struct pairs_rest pairs_left(const struct pairs *pairs)
{
	struct pairs_rest rest = pairs->rest;

	for (const struct pairs_open *open = pairs->all; open; open = open->next)
		rest.open += open->nr;
	return rest;
}

const struct pairs_named *pairs_named(const struct pairs *pairs, uint32_t nr)
{
	return nr < pairs->nr_named ? &pairs->named[nr] : NULL;
}
