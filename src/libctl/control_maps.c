/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* control_maps.c - calls of ltt/control.h about map channels. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "calls.h"
#include "control.h"
#include "model/types.h"

int ltt_ctl_add_map(struct ltt_ctl *ctl, const struct ltt_ctl_map_options *map, char **ret_name)
{
	struct ltt_ctl_map_options o;
	struct req_map_add req;
	struct rep_map_add rep;

	if (control_begin(ctl) != 0 || control_take(ctl, map, &o, sizeof(o)) != 0 ||
	    control_check_given(ctl, o.session, "the session of the map channel") != 0 ||
	    control_check_enum(ctl, CONTROL_DOMAIN, o.domain) != 0 ||
	    control_check_enum(ctl, CONTROL_OWNER, o.ownership) != 0 ||
	    control_check_enum(ctl, CONTROL_MAP_TYPE, o.value_type) != 0 ||
	    control_check_enum(ctl, CONTROL_MAP_UPDATE, o.update) != 0 ||
	    control_check_enum(ctl, CONTROL_MAP_DEAD, o.dead) != 0)
		return ctl->err.code;
	req = (struct req_map_add){
		.session = o.session,
		.domain = (uint8_t)o.domain,
		.name = o.name ? o.name : "",
#define ASKED(type, name, init, doc) .name = (MODEL_WIRE_TYPE(type))o.name,
#include "model/map.def"
	};
	if (call_map_add(ctl->client, &req, NULL, NULL, &rep, &ctl->err) != 0)
		return control_failed(ctl);
	if (ret_name)
		*ret_name = strdup(rep.name);
	return ret_name && !*ret_name ? err_errno(&ctl->err, ERR_NO_MEMORY, ENOMEM, "the name") : 0;
}

/** List in which the last map is not complete. */
struct control_mapping {
	struct ltt_ctl_maps *list;
	struct ltt_ctl_map *last;
};

static int control_take_map(struct control_mapping *mapping, struct decoder *dec)
{
	struct pool *pool = pool_of(mapping->list);
	struct ltt_ctl_map *map;
	struct msg_map m;

	if (msg_map_decode(dec, &m) != 0)
		return ERR_BAD_MESSAGE;
	map = mapping->last = pool_alloc(pool, sizeof(*map));
	if (!map)
		return 0;
	*map = (struct ltt_ctl_map){
		.name = pool_str(pool, m.name),
		.domain = (enum ltt_ctl_domain)m.domain,
		.keys = m.keys,
		.overflow = m.overflow,
		.rules = m.rules,
#define SHOWN(type, name, init, doc) .name = (__typeof__(map->name))m.name,
#include "model/map.def"
	};
	pool_append(pool, (const void *const **)&mapping->list->maps, &mapping->list->nr, map);
	return 0;
}

static void control_take_parts(struct pool *pool, struct ltt_ctl_map_value *value,
			       struct list parts)
{
	struct msg_map_part m;

	while (msg_map_part_next(&parts, &m)) {
		struct ltt_ctl_map_part *part = pool_alloc(pool, sizeof(*part));

		if (!part)
			return;
		*part = (struct ltt_ctl_map_part){ m.number, m.value };
		pool_append(pool, (const void *const **)&value->parts, &value->nr_parts, part);
	}
}

static int control_take_map_value(struct control_mapping *mapping, struct decoder *dec)
{
	struct pool *pool = pool_of(mapping->list);
	struct ltt_ctl_map *map = mapping->last;
	struct ltt_ctl_map_value *value;
	struct msg_map_value m;

	if (msg_map_value_decode(dec, &m) != 0 || !map)
		return ERR_BAD_MESSAGE;
	value = pool_alloc(pool, sizeof(*value));
	if (!value)
		return 0;
	*value = (struct ltt_ctl_map_value){
		.key = pool_str(pool, m.key), .uid = m.uid, .pid = m.pid, .shared = m.shared
	};
	control_take_parts(pool, value, m.parts);
	pool_append(pool, (const void *const **)&map->values, &map->nr_values, value);
	return 0;
}

static int control_map_item(void *priv, unsigned int type, struct decoder *dec)
{
	return type == MSG_map	     ? control_take_map(priv, dec) :
	       type == MSG_map_value ? control_take_map_value(priv, dec) :
				       0;
}

int ltt_ctl_list_maps(struct ltt_ctl *ctl, const char *session, struct ltt_ctl_maps **ret_maps)
{
	const struct req_map_list req = { .session = session };
	struct ltt_ctl_maps *list = control_begin_result(ctl, sizeof(*list));
	struct control_mapping mapping = { .list = list };
	struct rep_map_list rep;
	int code;

	if (!list)
		return ctl->err.code;
	code = call_map_list(ctl->client, &req, control_map_item, &mapping, &rep, &ctl->err);
	if (control_finish(ctl, code, list) != 0)
		return ctl->err.code;
	*ret_maps = list;
	return 0;
}

void ltt_ctl_maps_free(struct ltt_ctl_maps *maps)
{
	pool_owner_free(maps);
}
