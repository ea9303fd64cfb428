/* SPDX-License-Identifier: GPL-2.0-only */
#include "fetch.h"

#include <string.h>

#include "base/mem.h"
#include "ctl/connect.h"
#include "ctl/print/json.h"
#include "ctl/print/show.h"
#include "output.h"

static bool fetch_is_recording(struct json_object *o)
{
	const char *state = json_str(o, "state");

	return strcmp(state, "recording") == 0 || strcmp(state, "starting") == 0;
}

struct json_object *saved_fetch(struct ctl *ctl, const char *session)
{
	char *output AUTO_FREE = NULL;
	struct json_object *o;

	if (show_fetch(ctl, session, &o, &ctl->err) != 0)
		return NULL;
	output = xstrdup(json_str(o, "output"));
	json_object_object_del(o, "output");
	output_set(o, output);
	json_set_bool(o, "recording", fetch_is_recording(o));
	return o;
}

/* Whether the condition or an action of the trigger is about the session. */
static bool fetch_concerns(const struct ltt_ctl_trigger *trigger, const char *session)
{
	bool any = strcmp(trigger->options.session, session) == 0;

	for (size_t i = 0; i < trigger->nr_actions; i++)
		any |= strcmp(trigger->actions[i]->action.session, session) == 0;
	return any;
}

int saved_fetch_triggers(struct ctl *ctl, struct json_object *session)
{
	struct ltt_ctl_triggers *list;

	if (ctl_done(ctl, ltt_ctl_list_triggers(ctl->library, &list), &ctl->err) != 0)
		return ctl->err.code;
	for (size_t i = 0; i < list->nr; i++)
		if (list->triggers[i]->uid == json_num(session, "uid") &&
		    fetch_concerns(list->triggers[i], json_str(session, "name")))
			json_append(session, "triggers", json_model_trigger(list->triggers[i]));
	ltt_ctl_triggers_free(list);
	return 0;
}
