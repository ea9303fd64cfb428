/* SPDX-License-Identifier: GPL-2.0-only */
/* map_list: the map channels of a session, with their values, also while they are incremented. */
#include "cmd.h"

#include "base/mem.h"

#define PART_BYTES 32u /* encoded */
#define PARTS_BYTES (MSG_MAX_BYTES - 4096u)

static void map_list_overflow(const struct domain_map_value *value, void *data)
{
	uint64_t *overflow = data;

	for (uint32_t part = 0; !value->key && part < value->nr_parts; part++)
		*overflow += value->parts[part];
}

/* Parts for which a message has no room, of machines with thousands of CPUs, follow in another. */
static uint32_t map_list_parts(struct encoder *enc, const struct domain_map_value *value,
			       uint32_t part)
{
	for (; part < value->nr_parts && enc->len < PARTS_BYTES - PART_BYTES; part++) {
		const struct msg_map_part item = { part, value->parts[part] };

		if (item.value)
			msg_map_part_add(enc, &item);
	}
	return part;
}

static void map_list_value(const struct domain_map_value *value, void *data)
{
	AUTO_FREE uint8_t *buf = xalloc(PARTS_BYTES);
	struct msg_map_value item = {
		.key = value->key,
		.uid = value->uid,
		.pid = (uint32_t)value->pid,
		.shared = value->shared,
	};
	uint32_t part = 0;

	while (value->key && part < value->nr_parts) {
		struct encoder enc;

		encoder_init(&enc, buf, PARTS_BYTES);
		part = map_list_parts(&enc, value, part);
		item.parts = encoder_list(&enc);
		item_map_value(data, &item);
	}
}

enum cmd_now cmd_map_list(struct command *cmd, struct req_map_list *req, struct rep_map_list *rep)
{
	const struct map *map;

	(void)req, (void)rep;
	list_for_each(map, &cmd->session->maps, node) {
		struct domain_tracer *tracer = command_tracer(cmd, (uint8_t)map->domain);
		struct msg_map item = {
			.name = map->name,
			.domain = (uint8_t)map->domain,
			.keys = map->nr_keys,
			.rules = map->nr_rules,
#define SHOWN(type, name, init, doc) .name = (MODEL_WIRE_TYPE(type))map->name,
#include "model/map.def"
		};

		tracer->ops->maps->each_value(tracer, cmd->session, map, map_list_overflow,
					      &item.overflow);
		item_map(cmd, &item);
		tracer->ops->maps->each_value(tracer, cmd->session, map, map_list_value, cmd);
	}
	return CMD_DONE;
}
