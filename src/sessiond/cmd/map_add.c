/* SPDX-License-Identifier: GPL-2.0-only */
/* map_add: create a map channel, also while recording; triggers may name it already. */
#include "cmd.h"

#include "base/mem.h"
#include "sessiond/trigger/increments.h"

/** A map channel that is not in force yet. */
struct map_added {
	struct command *cmd;
	uint32_t number; /* in the session */
};

static struct map *map_add_find(const struct map_added *added)
{
	const struct session *session = command_session(added->cmd);
	struct map *map;

	if (session)
		list_for_each(map, &session->maps, node)
			if (map->number == added->number)
				return map;
	return NULL;
}

static void map_add_in_force(void *data)
{
	struct map_added *added = data;
	const struct map *map = map_add_find(added);
	const struct rep_map_add rep = { map ? map->name : "", map ? map->nr_rules : 0 };

	reply_map_add(added->cmd, &rep);
	free(added);
}

int cmd_map_add(struct command *cmd, struct req_map_add *req, struct rep_map_add *rep)
{
	struct map_attr attr = {
#define ASKED(type, name, init, doc) .name = (MODEL_TYPE_##type)req->name,
#include "model/map.def"
	};
	const char *name = *req->name ? req->name : CHANNEL_DEFAULT_NAME;
	const struct domain_tracer *tracer = domains_find(&cmd->sd->domains, req->domain);
	struct map_added *added;
	struct map *map;

	if ((tracer && increments_check(tracer, &cmd->err)) ||
	    command_domain(cmd, req->domain) != CMD_DONE ||
	    map_attr_resolve(&attr, (enum domain_id)req->domain, &cmd->err) ||
	    session_add_map(cmd->session, name, (enum domain_id)req->domain, &attr, &map,
			    &cmd->err))
		return CMD_FAILED;
	added = xalloc(sizeof(*added));
	*added = (struct map_added){ .cmd = cmd, .number = map->number };
	if (increments_refresh(cmd->sd, map_add_in_force, added))
		return CMD_WAIT;
	free(added);
	rep->name = map->name;
	return CMD_DONE;
}
