/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pairs.h"

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
	uint32_t mark;
};

/** The events that may be a pair have it in common. @number: of the kind. @name: of PAIRS_SUFFIX.
 *  @task: the process; of the idle threads, whose number is 0, the CPU. @text: of @len bytes; NULL:
 *  the key is @value. */
struct pairs_key {
	uint32_t number, source;
	uint64_t name, task, value;
	const char *text;
	size_t len;
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
	struct pairs_key key;
	char text[]; /* of the key */
};

enum pairs_side { BEGINS, ENDS };

/** struct pairs_role - the meaning of an event class. @number: of the kind, in keys. @field: with
 *  the key; NULL: the thread. */
struct pairs_role {
	struct pairs_role *next;
	enum pairs_kind kind;
	enum pairs_side side;
	uint32_t number;
	uint64_t tag;
	const char *field;
	struct pairs_named *named; /* of PAIRS_NAMED */
	const char *name;
	char text[];
};

struct pairs_class {
	struct idmap_node node;
	struct pairs_class *next;
	const struct ctf_event_class *ec;
	struct pairs_role *roles;
};

#define PAIRS_RECENT 64u /* classes that are found at once */

struct pairs {
	struct idmap map, classes;
	struct pairs_class *recent[PAIRS_RECENT]; /* by parts of the address of their class */
	struct pairs_open *all;
	struct pairs_class *all_classes;
	struct pairs_rest rest;
	struct pairs_named named[USER_PAIRS];
	uint32_t nr_named;
	bool by_suffix;
	const char *suffix_key;
	pairs_mark_fn on_begin;
	void *priv;
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
	idmap_init(&pairs->classes);
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

static void pairs_free_class(struct pairs_class *class)
{
	struct pairs_role *role;

	while ((role = class->roles)) {
		class->roles = role->next;
		free(role);
	}
	free(class);
}

void pairs_free(struct pairs *pairs)
{
	struct pairs_open *open;
	struct pairs_class *class;

	if (!pairs)
		return;
	idmap_fini(&pairs->map);
	idmap_fini(&pairs->classes);
	while ((open = pairs->all)) {
		pairs->all = open->next;
		free(open->begun);
		free(open);
	}
	while ((class = pairs->all_classes)) {
		pairs->all_classes = class->next;
		pairs_free_class(class);
	}
	free(pairs->text);
	free(pairs);
}

void pairs_by_suffix(struct pairs *pairs, const char *key)
{
	pairs->by_suffix = true;
	pairs->suffix_key = key;
}

void pairs_on_begin(struct pairs *pairs, pairs_mark_fn fn, void *priv)
{
	pairs->on_begin = fn;
	pairs->priv = priv;
}

/* --- the meaning of a class ------------------------------------------------------------- */

static void pairs_add_role(struct pairs_class *class, const struct pairs_role *role,
			   const char *name, size_t len)
{
	struct pairs_role *added = xalloc(sizeof(*added) + len + 1);

	*added = *role;
	memcpy(added->text, name, len);
	added->name = added->text;
	added->next = class->roles;
	class->roles = added;
}

/* The name behind @prefix, with or without "compat_" in front; NULL: it begins otherwise. */
static const char *pairs_behind_prefix(const char *name, const char *prefix)
{
	if (strncmp(name, "compat_", 7) == 0)
		name += 7;
	return strncmp(name, prefix, strlen(prefix)) == 0 ? name + strlen(prefix) : NULL;
}

static void pairs_add_call(struct pairs_class *class, const char *name)
{
	static const char *const prefixes[] = { "syscall_entry_", "syscall_exit_" };

	for (int side = BEGINS; side <= ENDS; side++) {
		const char *call = pairs_behind_prefix(name, prefixes[side]);
		const struct pairs_role role = { .kind = PAIRS_CALL,
						 .side = (enum pairs_side)side,
						 .number = PAIRS_CALL,
						 .tag = call ? idmap_hash_text(call) : 0 };

		if (call)
			pairs_add_role(class, &role, call, strlen(call));
	}
}

static bool pairs_is_function(const char *name)
{
	return strstr(name, "cyg_profile") && strstr(name, ":func_");
}

static void pairs_add_function(struct pairs_class *class, const char *name)
{
	enum pairs_kind kind = strstr(name, "_fast:") ? PAIRS_FAST : PAIRS_FUNCTION;
	const struct pairs_role role = { .kind = kind,
					 .side = strstr(name, ":func_exit") ? ENDS : BEGINS,
					 .number = kind };

	if (pairs_is_function(name))
		pairs_add_role(class, &role, name, strlen(name));
}

static void pairs_add_named(struct pairs *pairs, struct pairs_class *class, const char *name)
{
	for (uint32_t i = pairs->nr_named; i-- > 0;) {
		struct pairs_named *named = &pairs->named[i];
		const struct pairs_role role = { .kind = PAIRS_NAMED,
						 .side = strcmp(name, named->end) ? BEGINS : ENDS,
						 .number = PAIRS_NAMED + i,
						 .field = named->key,
						 .named = named };

		if (strcmp(name, named->begin) == 0 || role.side == ENDS)
			pairs_add_role(class, &role, named->begin, strlen(named->begin));
	}
}

static void pairs_add_suffix(struct pairs *pairs, struct pairs_class *class, const char *name)
{
	static const struct {
		const char *suffix;
		enum pairs_side side;
	} suffixes[] = {
		{ "begin", BEGINS }, { "start", BEGINS }, { "enter", BEGINS }, { "entry", BEGINS },
		{ "req", BEGINS },   { "end", ENDS },	  { "stop", ENDS },    { "exit", ENDS },
		{ "return", ENDS },  { "done", ENDS },	  { "finish", ENDS },  { "acq", ENDS },
	};
	const char *last = strrchr(name, '_');
	size_t len = last ? (size_t)(last - name) : 0;

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		struct pairs_role role = { .kind = PAIRS_SUFFIX,
					   .side = suffixes[i].side,
					   .number = PAIRS_SUFFIX,
					   .field = pairs->suffix_key };

		if (!len || strcmp(last + 1, suffixes[i].suffix) != 0)
			continue;
		pairs_add_role(class, &role, name, len);
		class->roles->tag = idmap_hash_text(class->roles->name);
	}
}

static const struct pairs_class *pairs_class_of(struct pairs *pairs,
						const struct ctf_event_class *ec)
{
	struct pairs_class **recent = &pairs->recent[((uintptr_t)ec >> 6) % PAIRS_RECENT], *class;

	if (*recent && (*recent)->ec == ec)
		return *recent;
	*recent = class = idmap_get(&pairs->classes, (uintptr_t)ec, struct pairs_class, node);
	if (class)
		return class;
	*recent = class = xalloc(sizeof(*class));
	class->ec = ec;
	class->next = pairs->all_classes;
	pairs->all_classes = class;
	idmap_add(&pairs->classes, &class->node, (uintptr_t)ec);
	if (pairs->by_suffix && pairs_is_function(ec->name))
		return class;
	pairs_add_call(class, ec->name);
	pairs_add_function(class, ec->name);
	if (!class->roles)
		pairs_add_named(pairs, class, ec->name);
	if (!class->roles && pairs->by_suffix)
		pairs_add_suffix(pairs, class, ec->name);
	return class;
}

/* --- keys ------------------------------------------------------------------------------ */

/* Return: false: a value of that kind is no key. */
static bool pairs_value_key(struct pairs_key *key, const struct value *value)
{
	if (value->type->kind == TYPE_INT || value->type->kind == TYPE_ENUM) {
		key->value = value->u;
	} else if (value_has_text(value)) {
		key->text = (const char *)value->bytes;
		key->len = MIN(value_text_length(value), (size_t)KEY_BYTES);
	} else {
		return false;
	}
	return true;
}

static bool pairs_key_of(struct pairs_key *key, const struct event *event,
			 const struct pairs_role *role)
{
	const struct value *value = role->field ? value_member(event->fields, role->field) :
						  event->task.tid;

	*key = (struct pairs_key){ .number = role->number, .source = event->source->number };
	if (!value || !pairs_value_key(key, value))
		return false;
	if (role->kind == PAIRS_SUFFIX)
		key->name = role->tag;
	if (!role->field && !key->text && !key->value)
		key->task = event->packet->cpu;
	else if (!role->field && event->task.pid)
		key->task = event->task.pid->u;
	return true;
}

/* --- begins and ends -------------------------------------------------------------------- */

static bool pairs_key_same(const struct pairs_key *one, const struct pairs_key *other)
{
	return one->number == other->number && one->source == other->source &&
	       one->name == other->name && one->task == other->task &&
	       one->value == other->value && one->len == other->len &&
	       !one->text == !other->text &&
	       (!one->text || memcmp(one->text, other->text, one->len) == 0);
}

static uint64_t pairs_hash(const struct pairs_key *key)
{
	uint64_t hash = (key->task ^ key->name ^ key->value * 0x9e3779b97f4a7c15u) +
			key->number * 31u + (uint64_t)key->source * 0x100000001b3u;

	for (size_t i = 0; i < key->len; i++)
		hash = (hash ^ (uint8_t)key->text[i]) * 0x100000001b3u;
	return hash;
}

static struct pairs_open *pairs_find(struct pairs *pairs, const struct pairs_key *key)
{
	uint64_t hash = pairs_hash(key);
	struct idmap_node *node = idmap_find(&pairs->map, hash);
	struct pairs_open *open;

	for (; node; node = idmap_next(&pairs->map, node)) {
		open = container_of(node, struct pairs_open, node);
		if (pairs_key_same(&open->key, key))
			return open;
	}
	open = xalloc(sizeof(*open) + key->len + 1);
	open->key = *key;
	if (key->text)
		open->key.text = memcpy(open->text, key->text, key->len);
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
static void pairs_begin(struct pairs *pairs, struct pairs_open *open, struct begun begun)
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
	*pairs_begun(open, open->nr++) = begun;
}

/* The latest begin of that tag; those above it were left by longjmp() or an exception. */
static bool pairs_end(struct pairs *pairs, struct pairs_open *open, const struct pairs_role *role,
		      uint64_t tag, const struct event *event, struct took *ret)
{
	uint32_t at = open->nr;
	struct begun begun;

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
	begun = *pairs_begun(open, at - 1);
	*ret = (struct took){ .ns = event->ns - begun.ns,
			      .lossy = begun.ns < event->source->lossy_until_ns,
			      .kind = role->kind,
			      .name = role->name,
			      .mark = begun.mark };
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

static uint64_t pairs_tag(const struct event *event, const struct pairs_role *role)
{
	const struct value *address =
		role->kind == PAIRS_FUNCTION ? value_member(event->fields, "addr") : NULL;

	return address ? address->u : role->tag;
}

static bool pairs_take_role(struct pairs *pairs, const struct event *event,
			    const struct pairs_role *role, struct took *ret)
{
	struct pairs_named *named = role->named;
	struct pairs_open *open;
	struct pairs_key key;
	uint64_t tag = pairs_tag(event, role);

	if (named)
		*(role->side == ENDS ? &named->ends : &named->begins) += 1;
	if (!pairs_key_of(&key, event, role)) {
		*(named && named->key ? &named->keyless : &pairs->rest.nowhere) += 1;
		return false;
	}
	open = pairs_find(pairs, &key);
	if (role->side == ENDS)
		return pairs_end(pairs, open, role, tag, event, ret);
	/* A thread is in one system call at a time: the exit of the one before is not there. */
	if (role->kind == PAIRS_CALL)
		pairs_forget(pairs, open);
	pairs_begin(pairs, open,
		    (struct begun){
			    tag, event->ns,
			    pairs->on_begin ? pairs->on_begin(pairs->priv, event) : 0 });
	return false;
}

bool pairs_take(struct pairs *pairs, const struct event *event, struct took *ret)
{
	const struct pairs_class *class = pairs_class_of(pairs, event->ec);
	bool ends = false;

	for (const struct pairs_role *role = class->roles; role; role = role->next)
		ends |= pairs_take_role(pairs, event, role, ret);
	return ends;
}

bool pairs_need_fields(struct pairs *pairs, const struct ctf_event_class *ec)
{
	for (const struct pairs_role *role = pairs_class_of(pairs, ec)->roles; role;
	     role = role->next)
		if (role->field || role->kind == PAIRS_FUNCTION || role->kind == PAIRS_CALL ||
		    pairs->on_begin)
			return true;
	return false;
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
