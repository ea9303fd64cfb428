/* SPDX-License-Identifier: GPL-2.0-only */
/* check.c - whether the elements of a session, a channel, a rule or a tracker fit together. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/print/json.h"
#include "proto/enums.h"
#include "read.h"

/* The object that is checked. */
struct checked {
	struct json_object *o;
	const struct element *e;
	struct problems *problems;
	bool good;
};

static bool is_word(const struct checked *c, const char *key, const char *word)
{
	return strcmp(json_str(c->o, key), word) == 0;
}

static bool has_text(const struct checked *c, const char *key)
{
	return *json_str(c->o, key) != '\0';
}

static void check_that(struct checked *c, bool condition, const char *problem)
{
	if (!condition)
		c->good = problems_add(c->problems, c->e->line, c->e->name, "%s", problem);
}

static void check_name(struct checked *c, const char *(*check)(const char *name))
{
	const char *name = json_str(c->o, "name"), *wrong = check(name);

	if (wrong)
		c->good = problems_add(c->problems, c->e->line, c->e->name, "the name '%.100s' %s",
				       name, wrong);
}

static void check_path(struct checked *c, const char *key)
{
	if (has_text(c, key) && *json_str(c->o, key) != '/')
		c->good = problems_add(c->problems, c->e->line, c->e->name,
				       "'%s' is not an absolute path: '%.100s'", key,
				       json_str(c->o, key));
}

/* Items of a list that have the same values of two keys. */
static void check_twins(struct checked *c, const char *list, const char *first, const char *second)
{
	struct json_object *seen AUTO_RECORD = json_object_new_object();

	for (size_t i = 0; i < json_len(c->o, list); i++) {
		struct json_object *item = json_at(c->o, list, i);
		char *key AUTO_FREE =
			xasprintf("%s %s", json_str(item, first), json_str(item, second));

		if (json_get(seen, key))
			c->good = problems_add(c->problems,
					       (unsigned int)json_num(item, SAVED_LINE), list,
					       "'%.100s' is there twice (%s, %s)", key, first,
					       second);
		json_set_bool(seen, key, true);
	}
}

static bool is_rotated(const struct checked *c)
{
	return json_num(c->o, "rotate_us") || json_num(c->o, "rotate_size");
}

static bool has_limits(const struct checked *c)
{
	return json_num(c->o, "keep_archives") || json_num(c->o, "keep_us") ||
	       json_num(c->o, "keep_size");
}

static void check_session(struct checked *c)
{
	bool live = json_num(c->o, "live_us"), relay = has_text(c, "url") || live;
	bool directory = has_text(c, "output") || has_text(c, "output_parent");

	check_name(c, name_check);
	check_path(c, "output");
	check_path(c, "output_parent");
	check_path(c, "snapshot_path");
	check_that(c, !has_text(c, "output") || !has_text(c, "output_parent"),
		   "'output' and 'output_parent' exclude each other");
	check_that(
		c, !directory || !relay,
		"a trace goes to a directory or to a relay: 'output' and 'output_parent' exclude "
		"'url' and 'live_us'");
	check_that(c,
		   relay || (!json_num(c->o, "spool_size") && !json_flag(c->o, "compress") &&
			     !json_flag(c->o, "relay_clear")),
		   "'spool_size', 'compress' and 'relay_clear' need an 'url'");
	check_that(c, !live || json_num(c->o, "live_us") >= LIVE_MIN_US,
		   "the least 'live_us' is 20000");
	check_that(c, !json_flag(c->o, "snapshots") || !relay,
		   "'snapshots' can't be sent to a relay: omit 'url' and 'live_us'");
	check_that(c, !json_flag(c->o, "snapshot_elsewhere") || directory,
		   "'snapshot_elsewhere' needs a directory: 'output' or 'output_parent'");
	check_that(c, is_word(c, "sync", "period") == (json_num(c->o, "sync_us") != 0),
		   "'sync_us' belongs to the value 'period' of 'sync', and is not 0 then");
	check_that(c,
		   has_text(c, "snapshot_path") || (!has_text(c, "snapshot_name") &&
						    !json_num(c->o, "snapshot_max_size")),
		   "'snapshot_name' and 'snapshot_max_size' need a 'snapshot_path'");
	check_that(c, is_rotated(c) || !has_limits(c),
		   "'keep_archives', 'keep_us' and 'keep_size' need a 'rotate_us' or 'rotate_size'");
	check_that(c,
		   !is_rotated(c) ||
			   ((directory || (relay && !live)) && !json_flag(c->o, "snapshots")),
		   "'rotate_us' and 'rotate_size' need a directory or an 'url', and exclude "
		   "'snapshots' and 'live_us'");
	check_that(c, directory || !has_limits(c),
		   "'keep_archives', 'keep_us' and 'keep_size' need a directory");
	check_twins(c, "channels", "domain", "name");
	check_twins(c, "trackers", "domain", "kind");
}

static void check_channel(struct checked *c)
{
	bool kernel = is_word(c, "domain", "kernel"),
	     is_system = is_word(c, "ownership", "system");

	check_name(c, name_check_channel);
	check_that(c, kernel ? is_system || is_word(c, "ownership", "default") : !is_system,
		   "buffers belong to the system in the domain 'kernel', to a user or a process in "
		   "the domain 'user'");
	check_that(c,
		   !json_num(c->o, "blocking_us") ||
			   (!kernel && !json_flag(c->o, "overwrite") &&
			    !json_flag(c->o, "remember")),
		   "'blocking_us' belongs to channels of the domain 'user' that neither overwrite "
		   "nor remember");
	check_that(c,
		   (!json_flag(c->o, "on_demand") && !json_flag(c->o, "reclaim") &&
		    !json_num(c->o, "reclaim_us")) ||
			   (!kernel && !json_flag(c->o, "overwrite") &&
			    !json_flag(c->o, "remember")),
		   "'on_demand', 'reclaim' and 'reclaim_us' belong to channels of the domain 'user' that neither "
		   "overwrite nor remember");
	check_that(
		c, !json_num(c->o, "tracefile_count") || json_num(c->o, "tracefile_size"),
		"'tracefile_count' needs a 'tracefile_size': files without a size are never full");
}

static void check_rule(struct checked *c)
{
	bool events = is_word(c, "kind", "events") || is_word(c, "kind", "count");

	check_that(c, has_text(c, "pattern"), "it lacks the element 'pattern', or that is empty");
	check_that(c, is_word(c, "loglevel_type", "all") != has_text(c, "loglevel"),
		   "'loglevel' belongs to the values 'at-least' and 'only' of 'loglevel_type'");
	check_that(
		c, events != has_text(c, "location"),
		"'location' belongs to rules of other kinds than 'events' and 'count', and is not "
		"empty then");
}

bool saved_check(const struct shape *shape, struct json_object *o, const struct element *e,
		 struct problems *problems)
{
	struct checked c = { o, e, problems, true };

	shape_complete(shape, o);
	json_set_num(o, SAVED_LINE, e->line);
	if (shape == &shape_session)
		check_session(&c);
	else if (shape == &shape_channel)
		check_channel(&c);
	else if (shape == &shape_rule)
		check_rule(&c);
	return c.good;
}

void saved_check_names(struct json_object *sessions, struct problems *problems)
{
	struct json_object *seen AUTO_RECORD = json_object_new_object();

	for (size_t i = 0; i < json_object_array_length(sessions); i++) {
		struct json_object *session = json_object_array_get_idx(sessions, i);
		const char *name = json_str(session, "name");

		if (json_get(seen, name))
			problems_add(problems, (unsigned int)json_num(session, SAVED_LINE),
				     shape_session.name, "'%.100s' is there twice (name)", name);
		json_set_bool(seen, name, true);
	}
}
