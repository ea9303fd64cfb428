/* SPDX-License-Identifier: GPL-2.0-only */
#include "fetch.h"

#include <string.h>

#include "base/mem.h"
#include "ctl/connect.h"
#include "ctl/map/rows.h"
#include "ctl/print/json.h"
#include "ctl/print/show.h"
#include "output.h"

static bool fetch_is_recording(struct json_object *o)
{
	const char *state = json_str(o, "state");

	return strcmp(state, "recording") == 0 || strcmp(state, "starting") == 0;
}

static int fetch_maps(struct ctl *ctl, const char *session, struct json_object *o)
{
	struct ltt_ctl_maps *list;

	json_set(o, "map_channels", json_object_new_array());
	if (ctl_done(ctl, ltt_ctl_list_maps(ctl->library, session, &list), &ctl->err) != 0)
		return ctl->err.code;
	for (size_t i = 0; i < list->nr; i++)
		json_append(o, "map_channels", map_json(list->maps[i]));
	ltt_ctl_maps_free(list);
	return 0;
}

struct json_object *saved_fetch(struct ctl *ctl, const char *session)
{
	char *output AUTO_FREE = NULL;
	struct json_object *o;

	if (show_fetch(ctl, session, &o, &ctl->err) != 0)
		return NULL;
	if (fetch_maps(ctl, session, o) != 0) {
		json_object_put(o);
		return NULL;
	}
	output = xstrdup(json_str(o, "output"));
	json_object_object_del(o, "output");
	output_set(o, output);
	json_set_bool(o, "recording", fetch_is_recording(o));
	return o;
}

/* Whether the condition or an action of the trigger names the session. */
static bool fetch_names(const struct ltt_ctl_trigger *trigger, const char *session)
{
	bool any = strcmp(trigger->options.session, session) == 0;

	for (size_t i = 0; i < trigger->nr_actions; i++)
		any |= strcmp(trigger->actions[i]->action.session, session) == 0;
	return any;
}

/* A name is that of the session of the trigger's owner, if it has one. */
static bool fetch_concerns(const struct ltt_ctl_trigger *trigger, struct json_object *session,
			   const struct ltt_ctl_sessions *all)
{
	const char *name = json_str(session, "name");
	bool elsewhere = false;

	for (size_t i = 0; i < all->nr; i++)
		elsewhere |= all->sessions[i]->uid == trigger->uid &&
			     strcmp(all->sessions[i]->name, name) == 0;
	return (trigger->uid == json_num(session, "uid") || !elsewhere) &&
	       fetch_names(trigger, name);
}

static struct json_object *fetch_trigger(const struct ltt_ctl_trigger *trigger,
					 struct json_object *session)
{
	struct json_object *o = json_model_trigger(trigger);

	if (trigger->uid != json_num(session, "uid"))
		json_set_num(o, "uid", trigger->uid);
	return o;
}

int saved_fetch_triggers(struct ctl *ctl, struct json_object *session)
{
	struct ltt_ctl_sessions *all;
	struct ltt_ctl_triggers *list;

	if (ctl_done(ctl, ltt_ctl_find(ctl->library, NULL, &all), &ctl->err) != 0)
		return ctl->err.code;
	if (ctl_done(ctl, ltt_ctl_list_triggers(ctl->library, &list), &ctl->err) == 0) {
		for (size_t i = 0; i < list->nr; i++)
			if (fetch_concerns(list->triggers[i], session, all))
				json_append(session, "triggers",
					    fetch_trigger(list->triggers[i], session));
		ltt_ctl_triggers_free(list);
	}
	ltt_ctl_sessions_free(all);
	return ctl->err.code;
}
