/* SPDX-License-Identifier: GPL-2.0-only */
#include "row.h"

#include <string.h>

#include "ctl/print/json.h"

static struct json_object *row_word(const struct mi_word *words, const char *text)
{
	while (words->ours && strcmp(words->ours, text) != 0)
		words++;
	if (words->theirs && !*words->theirs)
		return NULL;
	return json_object_new_string(words->theirs ? words->theirs : text);
}

static struct json_object *row_value(const struct mi_row *row, struct json_object *from)
{
	const char *text = json_str(from, row->key);

	switch (row->kind) {
	case MI_NUMBER:
		return json_object_new_uint64(json_num(from, row->key));
	case MI_FLAG:
		return json_object_new_boolean(json_flag(from, row->key));
	case MI_WORD:
		return row_word(row->words, text);
	case MI_FIXED:
		return json_object_new_string(row->key);
	case MI_OPTION:
		return *text ? json_object_new_string(text) : NULL;
	case MI_TEXT:
		break;
	}
	return json_object_new_string(text);
}

void mi_take(struct json_object *to, const struct mi_row *rows, struct json_object *from)
{
	for (; rows->element; rows++) {
		struct json_object *value = row_value(rows, from);

		if (value)
			json_set(to, rows->element, value);
	}
}

struct json_object *mi_object(const struct mi_row *rows, struct json_object *from)
{
	struct json_object *o = json_object_new_object();

	mi_take(o, rows, from);
	return o;
}

struct json_object *mi_one(const char *key, struct json_object *value)
{
	struct json_object *o = json_object_new_object();

	json_set(o, key, value);
	return o;
}

struct json_object *mi_series(const char *name, struct json_object *from, const char *key,
			      struct json_object *(*item)(struct json_object *object))
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < json_len(from, key); i++)
		json_object_array_add(array, item(json_at(from, key, i)));
	return mi_one(name, array);
}
