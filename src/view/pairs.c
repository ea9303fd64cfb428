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
#define KEY_BYTES 512u	     /* of longer values, the beginning is compared */
#define STACK_MOST (1u << 16) /* calls of one thread; deeper ones have no duration */

/** A pair that the user names; with the texts in struct pairs. */
struct pairs_named {
	const char *begin, *end, *key;
};

struct begun {
	uint64_t tag; /* of a function: its address */
	int64_t ns;
};

/** The begins that one key has, the latest last. */
struct pairs_open {
	struct idmap_node node;
	struct pairs_open *next;
	struct begun *begun;
	uint32_t nr, size;
	char key[];
};

struct pairs {
	struct idmap map;
	struct pairs_open *all;
	struct pairs_rest rest;
	struct pairs_named named[USER_PAIRS];
	uint32_t nr_named;
	char *text;
};

/* --- the user's pairs ---------------------------------------------------------------- */

static bool pairs_parse_one(struct pairs *pairs, char *text)
{
	struct pairs_named *named = &pairs->named[pairs->nr_named++];
	char *words = text;

	named->begin = strsep(&words, ",");
	named->end = strsep(&words, ",");
	named->key = strsep(&words, ",");
	return !words && named->begin[0] && named->end && named->end[0] &&
	       (!named->key || named->key[0]) && strcmp(named->begin, named->end) != 0;
}

struct pairs *pairs_new(const char *spec, char *why, size_t len)
{
	struct pairs *pairs = xalloc(sizeof(*pairs));
	char *rest, *one;

	idmap_init(&pairs->map);
	pairs->text = rest = xstrdup(spec ? spec : "");
	while (spec && (one = strsep(&rest, ";"))) {
		if (pairs->nr_named == USER_PAIRS)
			snprintf(why, len, "more than %u pairs", USER_PAIRS);
		else if (!pairs_parse_one(pairs, one))
			snprintf(why, len,
				 "BEGIN,END[,KEY] is expected, two names of events and a field");
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

/* The value behind @value and its members. */
static const struct value *pairs_behind(const struct value *value)
{
	uint32_t nr = type_is_scalar(value->type) || value->type->kind == TYPE_STRING ||
				      value_is_packed(value) ?
			      0 :
			      value->count;

	value++;
	while (nr--)
		value = pairs_behind(value);
	return value;
}

static const struct value *pairs_field(const struct event *event, const char *name)
{
	const struct value *at = event->fields ? event->fields + 1 : NULL;

	for (uint32_t i = 0; at && i < event->fields->count; i++, at = pairs_behind(at))
		if (at->field->shown_len == strlen(name) &&
		    memcmp(at->field->shown, name, at->field->shown_len) == 0)
			return at;
	return NULL;
}

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
	const struct value *value = field ? pairs_field(event, field) : event->task.tid;
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

static void pairs_begin(struct pairs_open *open, uint64_t tag, int64_t ns)
{
	if (open->nr == STACK_MOST)
		return;
	if (open->nr == open->size) {
		open->size = open->size ? open->size * 2 : 4;
		open->begun = xrealloc(open->begun, open->size * sizeof(*open->begun));
	}
	open->begun[open->nr++] = (struct begun){ tag, ns };
}

/* The latest begin of that tag; those above it were left by longjmp() or an exception. */
static bool pairs_end(struct pairs *pairs, struct pairs_open *open, uint64_t tag, int64_t ns,
		      int64_t *ret_ns)
{
	uint32_t at = open->nr;

	while (at && open->begun[at - 1].tag != tag)
		at--;
	if (!at) {
		pairs->rest.alone++;
		return false;
	}
	pairs->rest.open += open->nr - at;
	open->nr = at - 1;
	*ret_ns = ns - open->begun[at - 1].ns;
	return true;
}

/* --- events ------------------------------------------------------------------------------- */

enum { BEGINS, ENDS };

static bool pairs_take_at(struct pairs *pairs, const struct event *event, const char *kind,
			  const char *field, int side, uint64_t tag, int64_t *ret_ns)
{
	char key[2 * KEY_BYTES];
	struct pairs_open *open;

	if (!pairs_key(key, sizeof(key), event, field, kind)) {
		pairs->rest.nowhere++;
		return false;
	}
	open = pairs_find(pairs, key);
	if (side == ENDS)
		return pairs_end(pairs, open, tag, event->ns, ret_ns);
	pairs_begin(open, tag, event->ns);
	return false;
}

/* A thread is in one system call at a time: an entry without an exit is forgotten. */
static bool pairs_take_call(struct pairs *pairs, const struct event *event, const char *call,
			    int side, int64_t *ret_ns)
{
	return pairs_take_at(pairs, event, "call", NULL, side, idmap_hash_text(call), ret_ns);
}

static bool pairs_take_function(struct pairs *pairs, const struct event *event, int side,
				int64_t *ret_ns)
{
	const struct value *address = pairs_field(event, "addr");
	bool is_fast = strstr(event->ec->name, "_fast:");

	return pairs_take_at(pairs, event, is_fast ? "fast" : "function", NULL, side,
			     address && !is_fast ? address->u : 0, ret_ns);
}

/* The name behind @prefix, with or without "compat_" in front; NULL: it begins otherwise. */
static const char *pairs_behind_prefix(const char *name, const char *prefix)
{
	if (strncmp(name, "compat_", 7) == 0)
		name += 7;
	return strncmp(name, prefix, strlen(prefix)) == 0 ? name + strlen(prefix) : NULL;
}

bool pairs_take(struct pairs *pairs, const struct event *event, int64_t *ret_ns)
{
	const char *name = event->ec->name, *call;
	bool is_end = false;

	if (strstr(name, "cyg_profile") && strstr(name, ":func_"))
		return pairs_take_function(pairs, event,
					   strstr(name, ":func_exit") ? ENDS : BEGINS, ret_ns);
	if ((call = pairs_behind_prefix(name, "syscall_entry_")))
		return pairs_take_call(pairs, event, call, BEGINS, ret_ns);
	if ((call = pairs_behind_prefix(name, "syscall_exit_")))
		return pairs_take_call(pairs, event, call, ENDS, ret_ns);
	for (uint32_t i = 0; i < pairs->nr_named; i++) {
		const struct pairs_named *named = &pairs->named[i];
		char kind[16];

		snprintf(kind, sizeof(kind), "%" PRIu32, i);
		if (strcmp(name, named->end) == 0)
			is_end |= pairs_take_at(pairs, event, kind, named->key, ENDS, 0, ret_ns);
		else if (strcmp(name, named->begin) == 0)
			pairs_take_at(pairs, event, kind, named->key, BEGINS, 0, ret_ns);
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
