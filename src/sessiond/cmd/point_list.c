/* SPDX-License-Identifier: GPL-2.0-only */
/* point_list: the instrumentation points of the caller's applications. */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define FIELDS_BYTES 32768u /* leaves room for the rest of the item */

struct listing {
	struct command *cmd;
	bool fields;
	uint8_t domain;
	struct domain_point *points;
	size_t nr;
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

static const char *point_name(const struct domain_point *point)
{
	return point->shape ? point->shape->name : point->name;
}

static void point_list_keep(const struct domain_point *point, void *data)
{
	struct listing *listing = data;

	if ((listing->nr & (listing->nr - 1)) == 0) /* full */
		listing->points = xrealloc(listing->points, (listing->nr ? 2 * listing->nr : 1) *
								    sizeof(*listing->points));
	listing->points[listing->nr] = *point;
	listing->points[listing->nr++].process = xstrdup(point->process);
}

/* By application, in the kernel by system; then by name. */
static int by_application(const void *a, const void *b)
{
	const struct domain_point *x = a, *y = b;
	int order = (x->pid > y->pid) - (x->pid < y->pid);

	if (!order && !x->pid)
		order = strcmp(x->process, y->process);
	if (!order)
		order = strcmp(point_name(x), point_name(y));
	return order ? order : (x->line > y->line) - (x->line < y->line);
}

static void point_list_send(const struct listing *listing, const struct domain_point *point)
{
	const struct shape *shape = point->shape;
	struct msg_point item = {
		.pid = point->pid,
		.uid = point->uid,
		.process = point->process,
		.name = point_name(point),
		.domain = listing->domain,
		.kind = (uint8_t)(shape ? shape->kind : point->kind),
		.loglevel = (uint8_t)(shape ? shape->loglevel : 0),
		.format = shape ? shape->format : "",
		.refused = point->refused ? point->refused : "",
		.file = point->file,
		.line = point->line,
		.active = point->active,
	};

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
	bool cut = false;

	(void)rep;
	if (command_domain(cmd, req->domain) != CMD_DONE)
		return CMD_FAILED;
	tracer = command_tracer(cmd, req->domain);
	tracer->ops->each_point(tracer, &cmd->caller, point_list_keep, &listing);
	if (listing.nr)
		qsort(listing.points, listing.nr, sizeof(*listing.points), by_application);
	listing.buf = xalloc(FIELDS_BYTES);
	for (size_t i = 0; i < listing.nr; i++) {
		cut = cut || command_choked(cmd); /* more than is sent at a time */
		if (!cut)
			point_list_send(&listing, &listing.points[i]);
		free((char *)listing.points[i].process);
	}
	free(listing.buf);
	free(listing.points);
	tracer->ops->each_preset(tracer, cmd->caller.uid, list_preset, cmd);
	if (cut)
		return command_error(
			cmd, ERR_LIMIT,
			"there are more instrumentation points than fit in one answer");
	return CMD_DONE;
}
