/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * State dump of the loaded libraries. They are collected under the loader's lock, which
 * blocks dlopen() in the program, and recorded after it is released.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "tracer/site/site.h"
#include "statedump.h"
#include "elf.h"
#include "events.h"

struct node {
	struct node *next;
	struct elf_object object;
};

struct collection {
	struct node *first;
	struct node **end;
};

static bool is_vdso(const struct dl_phdr_info *info)
{
	uintptr_t vdso = getauxval(AT_SYSINFO_EHDR);

	return vdso && vdso == (uintptr_t)info->dlpi_phdr - sizeof(ElfW(Ehdr));
}

static void name_object(struct elf_object *object, const struct dl_phdr_info *info, bool program)
{
	ssize_t len;

	if (is_vdso(info)) {
		strcpy(object->path, "[vdso]");
	} else if (program) {
		len = readlink("/proc/self/exe", object->path, sizeof(object->path) - 1);
		object->path[len > 0 ? len : 0] = '\0';
	} else {
		snprintf(object->path, sizeof(object->path), "%s", info->dlpi_name);
	}
}

static int collect(struct dl_phdr_info *info, size_t size, void *data)
{
	struct collection *all = data;
	struct node *node = calloc(1, sizeof(*node));

	(void)size;
	if (!node || !elf_read_memory(&node->object, info)) {
		free(node);
		return 0;
	}
	name_object(&node->object, info, all->end == &all->first); /* the program is first */
	*all->end = node;
	all->end = &node->next;
	return 0;
}

static void statedump_libraries_record(const struct elf_object *o)
{
	ltt_trace(ltt_statedump, bin_info, o->base, o->size, o->path, o->pic, o->build_id_len > 0,
		  o->link_name[0] != '\0');
	if (o->build_id_len)
		ltt_trace(ltt_statedump, build_id, o->base, o->build_id, o->build_id_len);
	if (o->link_name[0])
		ltt_trace(ltt_statedump, debug_link, o->base, o->link_crc, o->link_name);
}

void statedump_libraries(void)
{
	struct collection all = { .first = NULL, .end = &all.first };
	struct node *node;

	if (!ltt_enabled(ltt_statedump, bin_info) && !ltt_enabled(ltt_statedump, build_id) &&
	    !ltt_enabled(ltt_statedump, debug_link))
		return;
	dl_iterate_phdr(collect, &all);
	while ((node = all.first)) {
		all.first = node->next;
		elf_read_file(&node->object);
		site_unmute();
		statedump_libraries_record(&node->object);
		site_mute();
		free(node);
	}
}
