/* SPDX-License-Identifier: GPL-2.0-only */
#include "read.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/names.h"
#include "ctl/print/json.h"

#define BLANKS " \t\r\n"

/* --- values ------------------------------------------------------------------------- */

/* The text without blanks around it; allocated. */
static char *saved_word(const char *text)
{
	char *copy = xstrdup(text + strspn(text, BLANKS));
	size_t len = strlen(copy);

	while (len && strchr(BLANKS, copy[len - 1]))
		copy[--len] = '\0';
	return copy;
}

bool saved_number(const struct element *e, uint64_t max, uint64_t *ret, struct problems *problems)
{
	char *word AUTO_FREE = saved_word(e->text);
	uint64_t number;

	if (parse_u64(word, &number) != 0 || number > max)
		return problems_add(problems, e->line, e->name,
				    "'%.60s' is not a number from 0 to %" PRIu64, word, max);
	*ret = number;
	return true;
}

bool saved_flag(const struct element *e, bool *ret, struct problems *problems)
{
	char *word AUTO_FREE = saved_word(e->text);

	*ret = strcmp(word, "true") == 0 || strcmp(word, "1") == 0;
	if (*ret || strcmp(word, "false") == 0 || strcmp(word, "0") == 0)
		return true;
	return problems_add(problems, e->line, e->name, "'%.60s' is neither true nor false", word);
}

static bool read_number(const struct field *field, const struct element *e, struct json_object *o,
			struct problems *problems)
{
	uint64_t number;

	if (!saved_number(e, field->max, &number, problems))
		return false;
	json_set_num(o, field->key, number);
	return true;
}

static bool read_flag(const struct field *field, const struct element *e, struct json_object *o,
		      struct problems *problems)
{
	bool flag;

	if (!saved_flag(e, &flag, problems))
		return false;
	json_set_bool(o, field->key, flag);
	return true;
}

/* "a, b and c" */
static char *list_words(const struct words *words)
{
	char *list = xstrdup("");

	for (unsigned int i = 0; i < words->nr; i++) {
		char *before AUTO_FREE = list;

		list = words_has_own(words, i) ?
			       xasprintf("%s%s'%s'", before, *before ? ", " : "", words->words[i]) :
			       xstrdup(before);
	}
	return list;
}

static bool read_word(const struct field *field, const struct element *e, struct json_object *o,
		      struct problems *problems)
{
	char *word AUTO_FREE = saved_word(e->text);
	char *list AUTO_FREE = NULL;

	if (words_number(field->words, word) >= 0) {
		json_set_str(o, field->key, word);
		return true;
	}
	list = list_words(field->words);
	return problems_add(problems, e->line, e->name, "'%.60s' is none of %s", word, list);
}

static bool read_level(const struct field *field, const struct element *e, struct json_object *o,
		       struct problems *problems)
{
	char *word AUTO_FREE = saved_word(e->text);
	int level;

	if (loglevel_parse(word, &level) != 0)
		return problems_add(problems, e->line, e->name,
				    "'%.60s' is not a log level; they are EMERG (0) to DEBUG (14)",
				    word);
	json_set_str(o, field->key, loglevel_name(level));
	return true;
}

static bool read_names(const struct field *field, const struct element *e, struct json_object *o,
		       struct problems *problems)
{
	char *word AUTO_FREE = saved_word(e->text);
	struct names names CLEANUP(names_fini) = { 0 };

	json_set(o, field->key, json_object_new_array());
	if (!*word)
		return true;
	names_split(word, &names);
	for (size_t i = 0; i < names.nr; i++) {
		if (!*names.names[i])
			return problems_add(problems, e->line, e->name,
					    "there is an empty name in '%.60s'", word);
		json_append(o, field->key, json_object_new_string(names.names[i]));
	}
	return true;
}

static bool read_ids(const struct field *field, const struct element *e, struct json_object *o,
		     struct problems *problems)
{
	char *copy AUTO_FREE = xstrdup(e->text), *rest = NULL;
	uint64_t id;

	json_set(o, field->key, json_object_new_array());
	for (char *word = strtok_r(copy, BLANKS, &rest); word;
	     word = strtok_r(NULL, BLANKS, &rest)) {
		if (parse_u64(word, &id) != 0 || id > field->max)
			return problems_add(problems, e->line, e->name,
					    "'%.60s' is not a number from 0 to %" PRIu64, word,
					    field->max);
		json_append(o, field->key, json_object_new_uint64(id));
	}
	return true;
}

static bool read_text(const struct field *field, const struct element *e, struct json_object *o,
		      struct problems *problems)
{
	(void)problems;
	json_set_str(o, field->key, e->text);
	return true;
}

static bool read_field(const struct field *field, const struct element *e, struct json_object *o,
		       struct problems *problems)
{
	static bool (*const by_kind[])(const struct field *, const struct element *,
				       struct json_object *, struct problems *) = {
		[FIELD_TEXT] = read_text, [FIELD_NAMES] = read_names,
		[FIELD_FLAG] = read_flag, [FIELD_NUMBER] = read_number,
		[FIELD_WORD] = read_word, [FIELD_LEVEL] = read_level,
		[FIELD_IDS] = read_ids,
	};

	if (json_get(o, field->key))
		return problems_add(problems, e->line, e->name, "there are two of these");
	if (e->first)
		return problems_add(problems, e->first->line, e->first->name,
				    "'%.60s' has a text, and no elements", e->name);
	return by_kind[field->kind](field, e, o, problems);
}

/* --- objects -------------------------------------------------------------------------- */

static struct json_object *read_object(const struct shape *shape, const struct element *e,
				       struct problems *problems);

/* An element that can't be read is left out. */
static bool read_list(const struct shape_list *list, const struct element *e, struct json_object *o,
		      struct problems *problems)
{
	if (json_get(o, list->key))
		return problems_add(problems, e->line, e->name, "there are two of these");
	json_set(o, list->key, json_object_new_array());
	if (strspn(e->text, BLANKS) != strlen(e->text))
		problems_add(problems, e->line, e->name, "it has a text beside elements");
	for (const struct element *child = e->first; child; child = child->next) {
		struct json_object *item;

		if (strcmp(child->name, list->item->name) != 0) {
			problems_add(problems, child->line, child->name, "'%s' contains only '%s'",
				     list->key, list->item->name);
			continue;
		}
		item = read_object(list->item, child, problems);
		if (item)
			json_append(o, list->key, item);
	}
	return true;
}

static bool read_child(const struct shape *shape, const struct element *e, struct json_object *o,
		       struct problems *problems)
{
	const struct field *field = shape_field(shape, e->name);
	const struct shape_list *list = shape_list(shape, e->name);

	if (e->attribute)
		return problems_add(problems, e->line, e->name,
				    "it has an attribute, '%.60s'; remove it", e->attribute);
	if (field)
		return read_field(field, e, o, problems);
	if (list)
		return read_list(list, e, o, problems);
	return problems_add(problems, e->line, e->name, "a %s has no such element", shape->name);
}

static bool has_all(const struct shape *shape, struct json_object *o, const struct element *e,
		    struct problems *problems)
{
	bool all = true;

	for (size_t i = 0; i < shape->nr; i++)
		if (shape->fields[i].must && !json_get(o, shape->fields[i].key))
			all = problems_add(problems, e->line, e->name, "it lacks the element '%s'",
					   shape->fields[i].key);
	return all;
}

/* Return: NULL: it has a problem. */
static struct json_object *read_object(const struct shape *shape, const struct element *e,
				       struct problems *problems)
{
	struct json_object *o AUTO_RECORD = json_object_new_object();
	bool good = true;

	for (const struct element *child = e->first; child; child = child->next)
		good = read_child(shape, child, o, problems) && good;
	if (e->attribute)
		good = problems_add(problems, e->line, e->name,
				    "it has an attribute, '%.60s'; remove it", e->attribute);
	if (!e->first && strspn(e->text, BLANKS) != strlen(e->text))
		good = problems_add(problems, e->line, e->name, "it has a text, and no elements");
	if (!has_all(shape, o, e, problems) || !good)
		return NULL;
	return saved_check(shape, o, e, problems) ? TAKE(o) : NULL;
}

/* --- the document ------------------------------------------------------------------------ */

static bool check_version(const struct element *root, struct problems *problems)
{
	uint64_t version = 0;

	if (!root->attribute || strcmp(root->attribute, "version") != 0 ||
	    parse_u64(root->value, &version) != 0 || version == 0)
		return problems_add(problems, root->line, root->name,
				    "it lacks the attribute version=\"%u\"", SHAPE_VERSION);
	if (version > SHAPE_VERSION)
		return problems_unsupported(
			problems, root->line, root->name,
			"a later version of lttctl has written the file (format "
			"%" PRIu64 "; this one reads %u); load it with that one",
			version, SHAPE_VERSION);
	return true;
}

static void read_sessions(const struct element *root, struct json_object *sessions,
			  struct problems *problems)
{
	if (!check_version(root, problems))
		return;
	for (const struct element *e = root->first; e; e = e->next) {
		struct json_object *session;

		if (strcmp(e->name, shape_session.name) != 0) {
			problems_add(problems, e->line, e->name, "'%s' contains only '%s'",
				     root->name, shape_session.name);
			continue;
		}
		session = read_object(&shape_session, e, problems);
		if (session)
			json_object_array_add(sessions, session);
	}
}

struct json_object *saved_read(const char *text, size_t len, struct problems *problems)
{
	struct json_object *sessions = json_object_new_array();
	struct xml xml CLEANUP(xml_fini) = { 0 };

	if (xml_parse(text, len, &xml, problems) != 0)
		return sessions;
	if (strcmp(xml.root->name, SHAPE_ROOT) == 0)
		read_sessions(xml.root, sessions, problems);
	else if (strcmp(xml.root->name, "sessions") == 0)
		saved_read_lttng(xml.root, sessions, problems);
	else
		problems_add(problems, xml.root->line, xml.root->name,
			     "neither saved sessions of lttctl ('%s') nor of LTTng ('sessions')",
			     SHAPE_ROOT);
	saved_check_names(sessions, problems);
	if (!problems->nr && json_object_array_length(sessions) == 0)
		problems_add(problems, xml.root->line, xml.root->name, "it has no session");
	return sessions;
}
