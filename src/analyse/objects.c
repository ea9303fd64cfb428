/* SPDX-License-Identifier: GPL-2.0-only */
#include "objects.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/idmap.h"
#include "base/mem.h"
#include "read/event.h"

#define OBJECTS_MOST 16384u /* of one process; a damaged trace may have any number */

#define PARENT_TRIES 16u   /* addresses by which the parent of a process is searched */

/**
 * struct object_process - @objects: the latest one first. @source: number of its trace.
 * @parent: of a process without a dump: the one that it is a fork of; NULL: unknown, after @tries.
 */
struct object_process {
	struct idmap_node node;
	struct object_process *next;
	const struct object_process *parent;
	struct object *objects;
	uint32_t nr, source, tries;
	char key[];
};

struct objects {
	struct idmap map;
	struct object_process *processes;
};

/* Of a trace of one process, or in the events' context. Return: false: unknown. */
static bool objects_process_key(char *buf, size_t len, const struct event *event)
{
	const struct ctf_env *vpid = trace_class_env_find(event->source->tc, "vpid");
	uint64_t pid;

	if (vpid && !vpid->text)
		pid = (uint64_t)vpid->number;
	else if (event->task.pid)
		pid = event->task.pid->u;
	else
		return false;
	return (size_t)snprintf(buf, len, "%" PRIu64 " %s", pid, event->source->label) < len;
}

static struct object_process *objects_process(struct objects *objects, const struct event *event)
{
	struct idmap_node *node;
	char key[4096];

	if (!objects_process_key(key, sizeof(key), event))
		return NULL;
	for (node = idmap_find(&objects->map, idmap_hash_text(key)); node;
	     node = idmap_next(&objects->map, node)) {
		struct object_process *process = container_of(node, struct object_process, node);

		if (strcmp(process->key, key) == 0)
			return process;
	}
	return NULL;
}

static struct object_process *objects_process_or_new(struct objects *objects,
						     const struct event *event)
{
	struct object_process *process = objects_process(objects, event);
	char key[4096];

	if (process || !objects_process_key(key, sizeof(key), event))
		return process;
	process = xalloc(sizeof(*process) + strlen(key) + 1);
	strcpy(process->key, key);
	process->source = event->source->number;
	process->next = objects->processes;
	objects->processes = process;
	idmap_add(&objects->map, &process->node, idmap_hash_text(key));
	return process;
}

static bool objects_overlap(const struct object *object, uint64_t base, uint64_t size)
{
	return object->base < base + size && base < object->base + object->size;
}

/* A dump names again the objects that were there before. @any_path: dlopen() may have another path
 * of the same file. */
static bool objects_has(const struct object_process *process, const struct object *wanted,
			bool any_path)
{
	for (const struct object *o = process->objects; o; o = o->next)
		if (objects_overlap(o, wanted->base, wanted->size))
			return !o->until_ns && o->base == wanted->base && o->size == wanted->size &&
			       (any_path || strcmp(o->path, wanted->path) == 0);
	return false;
}

static uint64_t objects_number(const struct event *event, const char *name)
{
	const struct value *value = value_member(event->fields, name);

	return value && value->type->kind == TYPE_INT ? value->u : 0;
}

static void objects_add(struct objects *objects, const struct event *event)
{
	const struct value *path = value_member(event->fields, "path");
	struct object_process *process = objects_process_or_new(objects, event);
	bool is_dlopen = !value_member(event->fields, "is_pic");
	struct object new = {
		.base = objects_number(event, "baddr"),
		.size = objects_number(event, "memsz"),
		.is_pic = is_dlopen || objects_number(event, "is_pic"),
		.from_ns = event->ns,
	};
	struct object *object;

	if (!process || process->nr == OBJECTS_MOST || !new.size ||
	    new.size > UINT64_MAX - new.base || !path || path->type->kind != TYPE_STRING)
		return;
	new.path = xasprintf("%.*s", (int)path->count, (const char *)path->bytes);
	if (objects_has(process, &new, is_dlopen)) {
		free(new.path);
		return;
	}
	object = xalloc(sizeof(*object));
	*object = new;
	object->next = process->objects;
	process->objects = object;
	process->nr++;
}

/* The build id of an object follows it. */
static void objects_add_build_id(struct objects *objects, const struct event *event)
{
	const struct value *id = value_member(event->fields, "build_id");
	struct object_process *process = objects_process(objects, event);
	uint64_t base = objects_number(event, "baddr");
	struct object *object = process ? process->objects : NULL;

	while (object && object->base != base)
		object = object->next;
	if (!object || !id || !value_is_packed(id) || id->count > OBJECT_ID_MAX)
		return;
	object->build_id_len = id->count;
	for (uint32_t i = 0; i < id->count; i++)
		object->build_id[i] = (uint8_t)value_element(id, i).u;
}

static void objects_end(struct objects *objects, const struct event *event)
{
	struct object_process *process = objects_process(objects, event);
	uint64_t base = objects_number(event, "baddr");
	struct object *object = process ? process->objects : NULL;

	while (object && object->base != base)
		object = object->next;
	if (object && !object->until_ns)
		object->until_ns = event->ns;
}

int objects_read(struct view *view, struct objects **ret)
{
	static const struct view_select dumps = {
		.names = "ltt_statedump:bin_info,ltt_statedump:build_id,ltt_statedump:bin_gone,"
			 "ltt_dl:dlopen,ltt_dl:dlmopen,ltt_dl:build_id,"
			 "lttng_ust_statedump:bin_info,lttng_ust_statedump:build_id,"
			 "lttng_ust_lib:load,lttng_ust_lib:build_id,lttng_ust_lib:unload",
		.names_only = true,
	};
	struct objects *objects = xalloc(sizeof(*objects));
	struct event event;
	int r;

	idmap_init(&objects->map);
	while ((r = event_next(view, &dumps, &event)) > 0) {
		if (strstr(event.ec->name, ":build_id"))
			objects_add_build_id(objects, &event);
		else if (strstr(event.ec->name, ":bin_gone") || strstr(event.ec->name, ":unload"))
			objects_end(objects, &event);
		else
			objects_add(objects, &event);
	}
	if (r < 0)
		objects_free(objects);
	else
		*ret = objects;
	return r;
}

bool object_same_file(const struct object *one, const struct object *other)
{
	return one->build_id_len == other->build_id_len &&
	       memcmp(one->build_id, other->build_id, one->build_id_len) == 0 &&
	       strcmp(one->path, other->path) == 0;
}

void objects_free(struct objects *objects)
{
	struct object_process *process;
	struct object *object;

	if (!objects)
		return;
	idmap_fini(&objects->map);
	while ((process = objects->processes)) {
		objects->processes = process->next;
		while ((object = process->objects)) {
			process->objects = object->next;
			free(object->path);
			free(object);
		}
		free(process);
	}
	free(objects);
}

/* As objects_find(). */
static const struct object *objects_at(const struct object_process *process, uint64_t address,
				       int64_t ns)
{
	const struct object *found = NULL;

	for (const struct object *o = process->objects; o; o = o->next) {
		if (address - o->base >= o->size)
			continue;
		if (o->from_ns > ns || !o->until_ns || ns <= o->until_ns)
			found = o;
		if (o->from_ns <= ns)
			break;
	}
	return found;
}

static const struct object_process *objects_find_parent(const struct objects *objects,
							const struct object_process *child,
							uint64_t address, int64_t ns)
{
	const struct object_process *parent = NULL;
	const struct object *first = NULL;

	for (const struct object_process *p = objects->processes; p; p = p->next) {
		const struct object *object =
			p->source == child->source ? objects_at(p, address, ns) : NULL;

		if (!object)
			continue;
		if (first &&
		    (object->base != first->base || strcmp(object->path, first->path) != 0))
			return NULL;
		first = object;
		parent = p;
	}
	return parent;
}

const struct object *objects_find(struct objects *objects, const struct event *event,
				  uint64_t address, bool *ret_known)
{
	struct object_process *process = objects_process_or_new(objects, event);

	*ret_known = false;
	if (!process)
		return NULL;
	if (!process->nr && !process->parent && process->tries < PARENT_TRIES) {
		process->tries++;
		process->parent = objects_find_parent(objects, process, address, event->ns);
	}
	*ret_known = process->nr || process->parent;
	return objects_at(process->parent ? process->parent : process, address, event->ns);
}
