/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * objects.h - the programs and libraries that processes had mapped, according to the state dumps
 * of libltt and LTTng-UST in a trace, to the events of dlopen() that the wrappers record, and to
 * those of the kernel for maps of code. Made
 * by a pass of its own over the trace: a process can record events before its dump is complete.
 * Used by one thread.
 */
#ifndef ANALYSE_SYMBOL_OBJECTS_H
#define ANALYSE_SYMBOL_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"

struct event;
struct objects;
struct view;

#define OBJECT_ID_MAX 64u

/**
 * struct object - a file and where it was.
 * @base, @size: of its mapping, in bytes. @is_pic: addresses in its file begin at 0, else at @base.
 * @is_mapped: by the kernel's events: they are offsets in the file.
 * @build_id, @build_id_len: none: 0.
 * @is_kernel: the kernel that recorded a trace, and its modules. @kallsyms: descriptor of the file
 * with its functions (trace/kallsyms.h), which @build_id identifies; -1: there is none.
 * @from_ns: time of the dump, or when it was loaded. @until_ns: when it had gone; 0: it stayed.
 */
struct object {
	struct object *next;
	char *path;
	uint64_t base, size;
	int64_t from_ns, until_ns;
	bool is_pic, is_mapped, is_kernel;
	int kallsyms;
	uint8_t build_id[OBJECT_ID_MAX];
	uint32_t build_id_len;
};

/** Whether both are the same file, of one content. */
bool object_same_file(const struct object *one, const struct object *other);

/** objects_read() - read all dumps; @view is at its end afterwards. Return: 0 or negative errno. */
int objects_read(struct view *view, struct objects **ret) MUST_CHECK;
void objects_free(struct objects *objects);

/**
 * objects_find() - the object in which an address of the event's process lies, or one of the kernel
 * that recorded the trace.
 * @ret_known: whether there is a dump of this process. One that has none is the fork of another one
 * if all processes that have an object at the address have the same: it ended before its dump, or
 * executed another program before.
 * Return: NULL: none. Of several that were mapped there, the latest one before the event, unless it
 * had gone; else the first one after the event, which was seen late.
 */
const struct object *objects_find(struct objects *objects, const struct event *event,
				  uint64_t address, bool *ret_known);

#endif
