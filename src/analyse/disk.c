/* SPDX-License-Identifier: GPL-2.0-only */
#include "disk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/idmap.h"
#include "base/mem.h"
#include "read/event.h"

#define REQUESTS_MOST (1u << 20) /* that are open at a time */
#define MINOR_BITS 20		 /* of a device number in the kernel */

/** A request that is not complete. */
struct disk_request {
	struct idmap_node node;
	struct list_node all;
	const struct source *source;
	uint64_t device, sector;
	int64_t from_ns;
};

struct disk {
	struct idmap map;
	struct list_node requests;
	uint64_t nr_open, alone;
	span_fn fn;
	void *priv;
};

struct disk *disk_new(span_fn fn, void *priv)
{
	struct disk *disk = xalloc(sizeof(*disk));

	idmap_init(&disk->map);
	list_init(&disk->requests);
	disk->fn = fn;
	disk->priv = priv;
	return disk;
}

void disk_free(struct disk *disk)
{
	struct disk_request *request, *next;

	if (!disk)
		return;
	idmap_fini(&disk->map);
	list_for_each_safe(request, next, &disk->requests, all)
		free(request);
	free(disk);
}

static uint64_t disk_hash(uint64_t device, uint64_t sector)
{
	return device * 0x9e3779b97f4a7c15u ^ sector;
}

static struct disk_request *disk_find(const struct disk *disk, const struct event *event,
				      uint64_t device, uint64_t sector)
{
	struct idmap_node *node = idmap_find(&disk->map, disk_hash(device, sector));

	for (; node; node = idmap_next(&disk->map, node)) {
		struct disk_request *request = container_of(node, struct disk_request, node);

		if (request->source == event->source && request->device == device &&
		    request->sector == sector)
			return request;
	}
	return NULL;
}

/* One that is issued again has waited since. */
static void disk_issue(struct disk *disk, const struct event *event, uint64_t device,
		       uint64_t sector)
{
	struct disk_request *request = disk_find(disk, event, device, sector);

	if (!request && disk->nr_open == REQUESTS_MOST)
		return;
	if (!request) {
		request = xalloc(sizeof(*request));
		request->source = event->source;
		request->device = device;
		request->sector = sector;
		list_append(&disk->requests, &request->all);
		idmap_add(&disk->map, &request->node, disk_hash(device, sector));
		disk->nr_open++;
	}
	request->from_ns = event->ns;
}

/* The first letter that is no F, for a flush before it. */
static const char *disk_operation(const struct event *event)
{
	const struct value *rwbs = value_member(event->fields, "rwbs");
	size_t len = rwbs && value_has_text(rwbs) ?
			     value_text_length(rwbs) :
			     0;
	const uint8_t *at = len ? rwbs->bytes : NULL;

	if (len > 1 && *at == 'F')
		at++;
	switch (at ? *at : 0) {
	case 'R':
		return "read";
	case 'W':
		return "write";
	case 'D':
		return "discard";
	case 'F':
		return "flush";
	default:
		return "other";
	}
}

static void disk_complete(struct disk *disk, const struct event *event,
			  struct disk_request *request)
{
	const struct value *error = value_member(event->fields, "error");
	char name[64];
	const struct span span = {
		.name = name,
		.from_ns = request->from_ns,
		.ns = event_ns_between(request->from_ns, event->ns),
		.source = event->source,
		.cpu = event->packet->cpu,
		.lossy = request->from_ns < event->source->lossy_until_ns,
		.failed = error && error->u,
	};

	snprintf(name, sizeof(name), "%" PRIu64 ":%" PRIu64 " %s", request->device >> MINOR_BITS,
		 request->device & ((1u << MINOR_BITS) - 1), disk_operation(event));
	list_remove(&request->all);
	idmap_remove(&request->node);
	free(request);
	disk->nr_open--;
	disk->fn(disk->priv, &span);
}

void disk_take(struct disk *disk, const struct event *event)
{
	const struct value *device = value_member(event->fields, "dev");
	const struct value *sector = value_member(event->fields, "sector");
	const char *name = event->ec->name;
	struct disk_request *request;

	if (!device || !sector)
		return;
	if (strcmp(name, "block_rq_issue") == 0) {
		disk_issue(disk, event, device->u, sector->u);
	} else if (strcmp(name, "block_rq_complete") == 0) {
		request = disk_find(disk, event, device->u, sector->u);
		if (request)
			disk_complete(disk, event, request);
		else
			disk->alone++;
	}
}

uint64_t disk_open(const struct disk *disk, uint64_t *ret_alone)
{
	*ret_alone = disk->alone;
	return disk->nr_open;
}
