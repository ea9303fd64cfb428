/* SPDX-License-Identifier: GPL-2.0-only */
#include "shape.h"

#include <string.h>

#include "base/macros.h"
#include "ctl/print/json.h"
#include "proto/enums.h"

/* Rows of the model as fields, by their types; a comma behind each. libltt-ctl derives the
 * attributes of type `derived` from others. */
#define FIELD(type, name, init, doc) FIELD_OF_##type(#name, init, doc)
#define FIELD_OF_text(id, preset, text) { .key = id, .kind = FIELD_TEXT, .doc = text },
#define FIELD_OF_option FIELD_OF_text
#define FIELD_OF_derived(id, preset, text)
#define FIELD_OF_names(id, preset, text) { .key = id, .kind = FIELD_NAMES, .doc = text },
#define FIELD_OF_flag(id, preset, text) \
	{ .key = id, .kind = FIELD_FLAG, .init = (preset), .doc = text },
#define FIELD_OF_u32(id, preset, text) FIELD_UP_TO(UINT32_MAX, id, preset, text)
#define FIELD_OF_u64(id, preset, text) FIELD_UP_TO(UINT64_MAX, id, preset, text)
#define FIELD_UP_TO(limit, id, preset, text) \
	{ .key = id, .kind = FIELD_NUMBER, .max = (limit), .init = (preset), .doc = text },
#define FIELD_OF_mode FIELD_OF_flag
#define FIELD_OF_ownership(id, preset, text) FIELD_IN(words_owner, id, preset, text)
#define FIELD_OF_output_type(id, preset, text) FIELD_IN(words_output_type, id, preset, text)
#define FIELD_OF_sync_mode(id, preset, text) FIELD_IN(words_sync, id, preset, text)
#define FIELD_OF_trace_format(id, preset, text) \
	FIELD_IN(words_trace_format, id, preset, \
		 "form of the metadata; omitted: that of the daemon that loads it")
#define FIELD_OF_rule_kind(id, preset, text) FIELD_IN(words_rule_kind, id, preset, text)
#define FIELD_OF_loglevel_type(id, preset, text) FIELD_IN(words_level_type, id, preset, text)
#define FIELD_OF_condition(id, preset, text) FIELD_IN(words_condition, id, preset, text)
#define FIELD_OF_action_kind(id, preset, text) FIELD_IN(words_action, id, preset, text)
#define FIELD_OF_map_value(id, preset, text) FIELD_IN(words_map_value, id, preset, text)
#define FIELD_OF_map_update(id, preset, text) FIELD_IN(words_map_update, id, preset, text)
#define FIELD_OF_map_dead(id, preset, text) FIELD_IN(words_map_dead, id, preset, text)
#define FIELD_IN(list, id, preset, text) \
	{ .key = id, .kind = FIELD_WORD, .words = &(list), .init = (preset), .doc = text },
#define FIELD_OF_loglevel(id, preset, text) { .key = id, .kind = FIELD_LEVEL, .doc = text },
#define FIELD_OF_relay_link(id, preset, text) \
	{ .key = id,                          \
	  .kind = FIELD_FLAG,                 \
	  .doc = "true: the connection to the relay is not encrypted" },

static const struct field session_fields[] = {
	{ .key = "name", .kind = FIELD_TEXT, .must = true, .doc = "name of the session" },
	{ .key = "recording",
	  .kind = FIELD_FLAG,
	  .doc = "true: the session recorded, and is started when it is loaded" },
	{ .key = "output",
	  .kind = FIELD_TEXT,
	  .doc = "absolute path of the trace's directory; excludes output_parent and url; without "
		 "any of them no trace is written" },
	{ .key = "output_parent",
	  .kind = FIELD_TEXT,
	  .doc = "the trace is written to a new directory in this one, which has the session's "
		 "name and the date" },
	{ .key = "url",
	  .kind = FIELD_TEXT,
	  .doc = "URL of the relay that receives the trace, or several, separated by commas" },
#define SHOWN FIELD
#include "model/session.def"
};

static const struct field channel_fields[] = {
	{ .key = "name", .kind = FIELD_TEXT, .must = true, .doc = "name of the channel" },
	{ .key = "domain",
	  .kind = FIELD_WORD,
	  .must = true,
	  .words = &words_domain,
	  .doc = "origin of its events" },
#define SHOWN FIELD
#include "model/channel.def"
};

static const struct field map_fields[] = {
	{ .key = "name", .kind = FIELD_TEXT, .must = true, .doc = "name of the map channel" },
	{ .key = "domain",
	  .kind = FIELD_WORD,
	  .must = true,
	  .words = &words_domain,
	  .doc = "origin of the events that increment its values" },
#define SHOWN FIELD
#include "model/map.def"
};

static const struct field rule_fields[] = {
#define SHOWN FIELD
#include "model/rule.def"
};

static const struct field tracker_fields[] = {
	{ .key = "domain",
	  .kind = FIELD_WORD,
	  .must = true,
	  .words = &words_domain,
	  .doc = "origin of the events" },
	{ .key = "kind",
	  .kind = FIELD_WORD,
	  .must = true,
	  .words = &words_track_kind,
	  .doc = "kind of the ids" },
	{ .key = "ids",
	  .kind = FIELD_IDS,
	  .max = UINT32_MAX - 1,
	  .doc = "only events of tasks with one of these ids are recorded; empty: of no task" },
};

static const struct field trigger_fields[] = {
	{ .key = "name", .kind = FIELD_TEXT, .must = true, .doc = "name of the trigger" },
	{ .key = "uid",
	  .kind = FIELD_NUMBER,
	  .max = SHAPE_OWN_UID,
	  .init = SHAPE_OWN_UID,
	  .doc = "its owner, if this is another user than the owner of the session" },
#define SHOWN FIELD
#include "model/trigger.def"
};

static const struct field action_fields[] = {
#define SHOWN FIELD
#include "model/action.def"
};

const struct shape shape_action = {
	.name = "action",
	.doc = "An action of a trigger.",
	.fields = action_fields,
	.nr = ARRAY_SIZE(action_fields),
};

const struct shape shape_trigger = {
	.name = "trigger",
	.doc = "A trigger, whose condition or actions concern the session.",
	.fields = trigger_fields,
	.nr = ARRAY_SIZE(trigger_fields),
	.lists = { { "actions", &shape_action } },
};

const struct shape shape_tracker = {
	.name = "tracker",
	.doc = "A selection of tasks by one kind of ids.",
	.fields = tracker_fields,
	.nr = ARRAY_SIZE(tracker_fields),
};

const struct shape shape_rule = {
	.name = "rule",
	.doc = "An event rule.",
	.fields = rule_fields,
	.nr = ARRAY_SIZE(rule_fields),
};

const struct shape shape_channel = {
	.name = "channel",
	.doc = "A channel, and the event rules that record into it.",
	.fields = channel_fields,
	.nr = ARRAY_SIZE(channel_fields),
	.lists = { { "rules", &shape_rule } },
};

const struct shape shape_map = {
	.name = "map_channel",
	.doc = "A map channel; its values are not saved.",
	.fields = map_fields,
	.nr = ARRAY_SIZE(map_fields),
};

const struct shape shape_session = {
	.name = "session",
	.doc = "A session.",
	.fields = session_fields,
	.nr = ARRAY_SIZE(session_fields),
	.lists = { { "trackers", &shape_tracker },
		   { "channels", &shape_channel },
		   { "map_channels", &shape_map },
		   { "triggers", &shape_trigger } },
};

const struct field *shape_field(const struct shape *shape, const char *name)
{
	for (size_t i = 0; i < shape->nr; i++)
		if (strcmp(shape->fields[i].key, name) == 0)
			return &shape->fields[i];
	return NULL;
}

const struct shape_list *shape_list(const struct shape *shape, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(shape->lists) && shape->lists[i].key; i++)
		if (strcmp(shape->lists[i].key, name) == 0)
			return &shape->lists[i];
	return NULL;
}

static struct json_object *shape_default(const struct field *field)
{
	switch (field->kind) {
	case FIELD_NAMES:
	case FIELD_IDS:
		return json_object_new_array();
	case FIELD_FLAG:
		return json_object_new_boolean(field->init != 0);
	case FIELD_NUMBER:
		return json_object_new_uint64(field->init);
	case FIELD_WORD:
		return json_object_new_string(words_name(field->words, (unsigned int)field->init));
	case FIELD_TEXT:
	case FIELD_LEVEL:
		break;
	}
	return json_object_new_string("");
}

void shape_complete(const struct shape *shape, struct json_object *o)
{
	for (size_t i = 0; i < shape->nr; i++)
		if (!json_object_object_get_ex(o, shape->fields[i].key, NULL))
			json_set(o, shape->fields[i].key, shape_default(&shape->fields[i]));
	for (size_t i = 0; i < ARRAY_SIZE(shape->lists) && shape->lists[i].key; i++)
		if (!json_get(o, shape->lists[i].key))
			json_set(o, shape->lists[i].key, json_object_new_array());
}
