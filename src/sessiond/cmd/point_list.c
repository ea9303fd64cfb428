/* SPDX-License-Identifier: GPL-2.0-only */
/* point_list: the instrumentation points of the caller's applications. */
#include "cmd.h"

#include "base/mem.h"

#define FIELDS_BYTES 32768u /* leaves room for the rest of the item */

struct listing {
	struct command *cmd;
	bool fields;
	uint8_t domain;
	bool cut; /* more than is sent at a time */
	uint8_t *buf;
};

static struct list make_fields(const struct layout *layout, uint8_t *buf)
{
	struct encoder enc;
	char type[48];

	encoder_init(&enc, buf, FIELDS_BYTES);
	for (uint32_t i = 0; i < layout->nr_fields; i++) {
		const struct layout_field *f = &layout->fields[i];
		const struct msg_point_field item = { f->name, type,
						      !(f->flags & LTT_FIELD_NOWRITE) };
		struct encoder before = enc;

		layout_field_type(f, type, sizeof(type));
		msg_point_field_add(&enc, &item);
		if (encoder_finish(&enc) < 0) {
			enc = before; /* the list is cut, not spoilt */
			break;
		}
	}
	return encoder_list(&enc);
}

static void point_list_point(const struct domain_point *point, void *data)
{
	struct listing *listing = data;
	const struct shape *shape = point->shape;
	struct msg_point item = {
		.pid = point->pid,
		.uid = point->uid,
		.process = point->process,
		.name = shape ? shape->name : point->name,
		.domain = listing->domain,
		.kind = (uint8_t)(shape ? shape->kind : point->kind),
		.loglevel = (uint8_t)(shape ? shape->loglevel : 0),
		.format = shape ? shape->format : "",
		.refused = point->refused ? point->refused : "",
		.file = point->file,
		.line = point->line,
		.active = point->active,
	};

	listing->cut = listing->cut || command_choked(listing->cmd);
	if (listing->cut)
		return;
	if (listing->fields && shape)
		item.fields = make_fields(shape->layout, listing->buf);
	item_point(listing->cmd, &item);
}

static void list_preset(const struct domain_preset *preset, void *data)
{
	const struct msg_preset item = {
		.name = preset->name,
		.events = preset->events,
		.subbuf_size = preset->subbuf_size,
		.num_subbuf = preset->num_subbuf,
		.uid = preset->uid,
		.unused = preset->unused,
	};

	item_preset(data, &item);
}

enum cmd_now cmd_point_list(struct command *cmd, struct req_point_list *req,
			    struct rep_point_list *rep)
{
	struct listing listing = { .cmd = cmd, .fields = req->fields, .domain = req->domain };
	struct domain_tracer *tracer;

	(void)rep;
	if (command_domain(cmd, req->domain) != CMD_DONE)
		return CMD_FAILED;
	tracer = command_tracer(cmd, req->domain);
	listing.buf = xalloc(FIELDS_BYTES);
	tracer->ops->each_point(tracer, &cmd->caller, point_list_point, &listing);
	free(listing.buf);
	tracer->ops->each_preset(tracer, cmd->caller.uid, list_preset, cmd);
	if (listing.cut)
		return command_error(
			cmd, ERR_LIMIT,
			"there are more instrumentation points than fit in one answer");
	return CMD_DONE;
}
