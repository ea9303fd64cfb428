/* SPDX-License-Identifier: GPL-2.0-only */
#include "objects.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/idmap.h"
#include "base/mem.h"
#include "read/event.h"
#include "trace/kallsyms.h"

#define OBJECTS_MOST 16384u /* of one process; a damaged trace may have any number */

#define OBJECTS_PAGE 4096u     /* the unit of vm_map's pgoff */
#define OBJECTS_EXECUTABLE 4u /* VM_EXEC of the kernel, in flags */
#define PARENT_TRIES 16u   /* addresses by which the parent of a process is searched */

/**
 * struct object_process - @objects: the latest one first. @source: number of its trace.
 * @first_ns: time of the first of them: a fork that executes another program has none before.
 * @parent: the process that it is a fork of, if that matters; NULL: unknown, after @tries.
 */
struct object_process {
	struct idmap_node node;
	struct object_process *next;
	const struct object_process *parent;
	struct object *objects;
	uint32_t nr, source, tries;
	int64_t first_ns;
	char key[];
};

/** The kernel of a trace. */
struct object_kernel {
	struct object_kernel *next;
	const struct object *object;
	char label[]; /* of the trace */
};

/** @kernels: of the traces; several have one object of @kernel_objects if they have one file. */
struct objects {
	struct idmap map;
	struct object_process *processes;
	struct object_kernel *kernels;
	struct object *kernel_objects;
};

static bool objects_is_map(const struct event *event)
{
	return strstr(event->ec->name, "vm_map");
}

/* Of a trace of one process, or in the events' context; of a map, which process has it. Return:
 * false: unknown. */
static bool objects_process_key(char *buf, size_t len, const struct event *event)
{
	const struct ctf_env *vpid = trace_class_env_find(event->source->tc, "vpid");
	const struct value *of = objects_is_map(event) ? value_member(event->fields, "pid") : NULL;
	uint64_t pid;

	if (vpid && !vpid->text)
		pid = (uint64_t)vpid->number;
	else if (of && of->type->kind == TYPE_INT)
		pid = of->u;
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

/* Code of a file, as if the file were mapped from its beginning on. */
static struct object objects_mapped(const struct event *event)
{
	uint64_t start = objects_number(event, "start"), end = objects_number(event, "end");
	uint64_t offset = objects_number(event, "pgoff") * OBJECTS_PAGE;
	bool is_code = objects_number(event, "flags") & OBJECTS_EXECUTABLE;

	return (struct object){
		.base = start - offset,
		.size = is_code && start < end && offset <= start ? end - start + offset : 0,
		.is_pic = true,
		.is_mapped = true,
		.from_ns = event->ns,
	};
}

static void objects_add(struct objects *objects, const struct event *event)
{
	bool is_map = objects_is_map(event);
	const struct value *path = value_member(event->fields, is_map ? "filename" : "path");
	struct object_process *process = objects_process_or_new(objects, event);
	bool is_dlopen = !is_map && !value_member(event->fields, "is_pic");
	struct object new = is_map ? objects_mapped(event) :
				     (struct object){
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
	if (!process->nr++)
		process->first_ns = event->ns;
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
			 "lttng_ust_lib:load,lttng_ust_lib:build_id,lttng_ust_lib:unload,"
			 "vm_map_exec,lttng_statedump_vm_map",
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
	struct object_kernel *kernel;
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
	while ((kernel = objects->kernels)) {
		objects->kernels = kernel->next;
		free(kernel);
	}
	while ((object = objects->kernel_objects)) {
		objects->kernel_objects = object->next;
		if (object->kallsyms >= 0)
			close(object->kallsyms);
		free(object->path);
		free(object);
	}
	free(objects);
}

/* --- kernels ------------------------------------------------------------------------------ */

/* Archives have links to one file. A trace may have anything there: a FIFO, a link. */
static void object_find_kallsyms(struct object *object, int dir_fd)
{
	int fd = openat(dir_fd, KALLSYMS_FILE,
			O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	struct stat st;

	object->kallsyms = fd;
	if (fd < 0 || fstat(fd, &st) != 0)
		return;
	memcpy(object->build_id, &st.st_dev, sizeof(st.st_dev));
	memcpy(object->build_id + sizeof(st.st_dev), &st.st_ino, sizeof(st.st_ino));
	object->build_id_len = sizeof(st.st_dev) + sizeof(st.st_ino);
}

static const struct object *objects_new_kernel(struct objects *objects, const struct source *source)
{
	struct object new = { .base = KALLSYMS_FIRST, .size = KALLSYMS_FIRST, .is_kernel = true };
	struct object *object;

	object_find_kallsyms(&new, source->dir_fd);
	for (object = objects->kernel_objects; object; object = object->next)
		if (new.build_id_len && object->build_id_len == new.build_id_len &&
		    memcmp(object->build_id, new.build_id, new.build_id_len) == 0)
			break;
	if (object) {
		close(new.kallsyms);
		return object;
	}
	object = xalloc(sizeof(*object));
	*object = new;
	object->path = new.build_id_len ? xstrdup("[kernel]") :
					  xasprintf("[kernel of %s]", source->label);
	object->next = objects->kernel_objects;
	objects->kernel_objects = object;
	return object;
}

static const struct object *objects_kernel(struct objects *objects, const struct source *source)
{
	const char *domain = trace_class_env(source->tc, "domain");
	struct object_kernel *kernel;

	if (!domain || strcmp(domain, "kernel") != 0)
		return NULL;
	for (kernel = objects->kernels; kernel; kernel = kernel->next)
		if (strcmp(kernel->label, source->label) == 0)
			return kernel->object;
	kernel = xalloc(sizeof(*kernel) + strlen(source->label) + 1);
	strcpy(kernel->label, source->label);
	kernel->object = objects_new_kernel(objects, source);
	kernel->next = objects->kernels;
	objects->kernels = kernel;
	return kernel->object;
}

/* --- finding ------------------------------------------------------------------------------ */

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
	const struct object *object;
	struct object_process *process;
	const struct object *kernel =
		address >= KALLSYMS_FIRST ? objects_kernel(objects, event->source) : NULL;

	*ret_known = kernel;
	if (kernel)
		return kernel;
	process = objects_process_or_new(objects, event);
	if (!process)
		return NULL;
	object = objects_at(process, address, event->ns);
	*ret_known = process->nr;
	if (object || (process->nr && process->first_ns <= event->ns))
		return object;
	if (!process->parent && process->tries < PARENT_TRIES) {
		process->tries++;
		process->parent = objects_find_parent(objects, process, address, event->ns);
	}
	*ret_known = process->nr || process->parent;
	return process->parent ? objects_at(process->parent, address, event->ns) : NULL;
}
