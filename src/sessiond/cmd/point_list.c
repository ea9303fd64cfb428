/* SPDX-License-Identifier: GPL-2.0-only */
/* point_list: the instrumentation points of the caller's applications. */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define FIELDS_BYTES 32768u /* leaves room for the rest of the item */

#define PAGE 4096u		/* points of an answer, at most */

/* Where a point is in the list. @same: points of this place up to the point. */
struct point_place {
	uint32_t pid, line, same;
	const char *process, *name;
};

struct listed_point {
	struct domain_point point; /* @process is allocated */
	size_t turn;		   /* in which it was visited */
};

/* The first points behind a place, in the memory of a page however many there are. */
struct listing {
	struct command *cmd;
	bool fields, more;
	uint8_t domain;
	struct point_place after;
	uint32_t same; /* points of the place @after that were visited */
	size_t nr, visited;
	struct listed_point points[2 * PAGE];
	uint8_t buf[FIELDS_BYTES];
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

static struct point_place place_of(const struct domain_point *point)
{
	return (struct point_place){
		.pid = point->pid,
		.line = point->line,
		.process = point->process,
		.name = point_name(point),
	};
}

/* By application, in the kernel by system; then by name. */
static int place_order(const struct point_place *x, const struct point_place *y)
{
	int order = (x->pid > y->pid) - (x->pid < y->pid);

	if (!order && !x->pid)
		order = strcmp(x->process, y->process);
	if (!order)
		order = strcmp(x->name, y->name);
	return order ? order : (x->line > y->line) - (x->line < y->line);
}

static int by_place(const void *a, const void *b)
{
	const struct listed_point *x = a, *y = b;
	const struct point_place of_x = place_of(&x->point), of_y = place_of(&y->point);
	int order = place_order(&of_x, &of_y);

	return order ? order : (x->turn > y->turn) - (x->turn < y->turn);
}

static void listing_sort(struct listing *l)
{
	qsort(l->points, l->nr, sizeof(*l->points), by_place);
	for (; l->nr > PAGE; l->more = true)
		free((char *)l->points[--l->nr].point.process);
}

static void point_list_keep(const struct domain_point *point, void *data)
{
	struct listing *l = data;
	const struct point_place place = place_of(point);
	int order = l->after.name ? place_order(&place, &l->after) : 1;

	if (order < 0 || (order == 0 && l->same++ < l->after.same))
		return;
	l->points[l->nr].point = *point;
	l->points[l->nr].point.process = xstrdup(point->process);
	l->points[l->nr++].turn = l->visited++;
	if (l->nr == 2 * PAGE)
		listing_sort(l);
}

/* "PID LINE SAME LENGTH PROCESS NAME", for the client to return. */
static char *place_text(const struct point_place *place)
{
	return xasprintf("%u %u %u %zu %s %s", place->pid, place->line, place->same,
			 strlen(place->process), place->process, place->name);
}

/* @text is changed, and @ret borrows of it. Return: whether it is one of place_text(). */
static bool place_read(char *text, struct point_place *ret)
{
	uint32_t *const numbers[] = { &ret->pid, &ret->line, &ret->same };
	unsigned long len;
	char *at = text;

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		*numbers[i] = (uint32_t)strtoul(at, &at, 10);
	len = strtoul(at, &at, 10);
	if (*at != ' ' || len >= strlen(at + 1) || at[1 + len] != ' ')
		return false;
	at[1 + len] = '\0';
	ret->process = at + 1;
	ret->name = at + 1 + len + 1;
	return true;
}

static void point_list_send(struct listing *listing, const struct domain_point *point)
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
		.way = point->way,
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

/* Return: the place behind which the rest of the list begins, allocated; NULL: that was all. */
static char *listing_send(struct listing *l)
{
	struct point_place last = l->after, place;
	size_t i = 0;

	for (; i < l->nr && (i == 0 || !command_choked(l->cmd)); i++) { /* fields may be long */
		place = place_of(&l->points[i].point);
		place.same = last.name && place_order(&place, &last) == 0 ? last.same + 1 : 1;
		point_list_send(l, &l->points[i].point);
		last = place;
	}
	return l->more || i < l->nr ? place_text(&last) : NULL;
}

static void listing_free(struct listing **l)
{
	for (size_t i = 0; i < (*l)->nr; i++)
		free((char *)(*l)->points[i].point.process);
	free(*l);
}

int cmd_point_list(struct command *cmd, struct req_point_list *req, struct rep_point_list *rep)
{
	struct listing *listing CLEANUP(listing_free) = xalloc(sizeof(*listing));
	char *after AUTO_FREE = xstrdup(req->after), *rest AUTO_FREE = NULL;
	struct domain_tracer *tracer;

	if (command_domain(cmd, req->domain) != CMD_DONE)
		return CMD_FAILED;
	if (*after && !place_read(after, &listing->after))
		return command_error(cmd, ERR_INVALID, "'%s' is no place in a list of points",
				     req->after);
	listing->cmd = cmd;
	listing->fields = req->fields;
	listing->domain = req->domain;
	tracer = command_tracer(cmd, req->domain);
	tracer->ops->each_point(tracer, &cmd->caller, point_list_keep, listing);
	listing_sort(listing);
	rest = listing_send(listing);
	if (!rest)
		tracer->ops->each_preset(tracer, cmd->caller.uid, list_preset, cmd);
	rep->rest = rest ? rest : "";
	reply_point_list(cmd, rep); /* while @rest is there */
	return CMD_WAIT;
}
