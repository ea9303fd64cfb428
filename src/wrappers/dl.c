// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libltt-dl.so: trace loading and unloading of libraries, by LD_PRELOAD. Runs in the
 * thread that calls dlopen().
 *
 * The loader uses the caller of dlopen(): a library without a slash in its name
 * is also searched along the caller's own run path. As the caller is this library
 * now, it does that part of the search itself.
 */
#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ltt/statedump.h>
#include <ltt/tracepoint.h>

#include "frames.h"

#define EXPORT __attribute__((visibility("default")))
#define BUILD_ID_MAX 64
/* Of the exported function. */
#define SITE __builtin_return_address(0), frames_take(&callers, __builtin_frame_address(0))

LTT_TRACEPOINT(ltt_dl, dlopen,
	       (uintptr_t base, uint64_t size, int mode, const char *file, uint8_t build_id,
		FRAMES_PARAMETERS),
	       LTT_DEBUG_MODULE,
	       ltt_ptr(baddr, base),
	       ltt_int(uint64_t, memsz, size),
	       ltt_hex(int, flags, mode),
	       ltt_string(path, file),
	       ltt_int(uint8_t, has_build_id, build_id),
	       FRAMES_FIELDS)
LTT_TRACEPOINT(ltt_dl, dlmopen,
	       (uintptr_t base, uint64_t size, long space, int mode, const char *file,
		uint8_t build_id, FRAMES_PARAMETERS),
	       LTT_DEBUG_MODULE,
	       ltt_ptr(baddr, base),
	       ltt_int(uint64_t, memsz, size),
	       ltt_int(long, nsid, space),
	       ltt_hex(int, flags, mode),
	       ltt_string(path, file),
	       ltt_int(uint8_t, has_build_id, build_id),
	       FRAMES_FIELDS)
LTT_TRACEPOINT(ltt_dl, build_id, (uintptr_t base, const uint8_t *id, size_t len),
	       LTT_DEBUG_MODULE,
	       ltt_ptr(baddr, base),
	       ltt_sequence_hex(uint8_t, build_id, id, uint32_t, len))
LTT_TRACEPOINT(ltt_dl, dlclose, (uintptr_t base, int result, FRAMES_PARAMETERS),
	       LTT_DEBUG_MODULE,
	       ltt_ptr(baddr, base),
	       ltt_int(int, status, result),
	       FRAMES_FIELDS)

__attribute__((constructor(101))) static void wrap_dl_start(void)
{
	frames_start();
}

/* --- loaded libraries --------------------------------------------------------------- */

struct object {
	const struct link_map *map;
	uintptr_t base;
	uint64_t size;
	size_t build_id_len;
	uint8_t build_id[BUILD_ID_MAX];
};

static size_t dl_align4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

static void dl_find_build_id(struct object *object, const uint8_t *at, size_t left)
{
	ElfW(Nhdr) note;

	while (left >= sizeof(note)) {
		memcpy(&note, at, sizeof(note));
		size_t name = dl_align4(note.n_namesz), body = dl_align4(note.n_descsz);

		if (note.n_namesz > left || note.n_descsz > left ||
		    sizeof(note) + name + body > left)
			return;
		at += sizeof(note);
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(at, "GNU", 4) == 0 && note.n_descsz <= BUILD_ID_MAX) {
			object->build_id_len = note.n_descsz;
			memcpy(object->build_id, at + name, note.n_descsz);
			return;
		}
		at += name + body;
		left -= sizeof(note) + name + body;
	}
}

static void dl_measure(struct object *object, const struct dl_phdr_info *info)
{
	uintptr_t low = UINTPTR_MAX, high = 0;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_NOTE && !object->build_id_len)
			dl_find_build_id(object, (const uint8_t *)(info->dlpi_addr + ph->p_vaddr),
					 ph->p_memsz);
		if (ph->p_type != PT_LOAD)
			continue;
		low = ph->p_vaddr < low ? ph->p_vaddr : low;
		high = ph->p_vaddr + ph->p_memsz > high ? ph->p_vaddr + ph->p_memsz : high;
	}
	if (low < high) {
		object->base = info->dlpi_addr + low;
		object->size = high - low;
	}
}

static int dl_inspect(struct dl_phdr_info *info, size_t size, void *data)
{
	struct object *object = data;
	const ElfW(Phdr) *dynamic = NULL;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = &info->dlpi_phdr[i];
	if (!dynamic || (uintptr_t)object->map->l_ld != info->dlpi_addr + dynamic->p_vaddr)
		return 0;
	dl_measure(object, info);
	return 1;
}

/* dl_iterate_phdr() shows the namespace of its caller only; elsewhere the base is
 * all that is known. Return: false for the program itself and for failures. */
static bool dl_describe(void *handle, struct object *ret_object)
{
	struct link_map *map;

	if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map->l_name[0])
		return false;
	*ret_object = (struct object){ .map = map, .base = map->l_addr };
	dl_iterate_phdr(dl_inspect, ret_object);
	return true;
}

/* --- the caller -------------------------------------------------------------------- */

static void *real(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

static void *real_dlopen(const char *file, int mode)
{
	static void *(*call)(const char *, int);

	if (!call)
		call = (void *(*)(const char *, int))real("dlopen");
	return call(file, mode);
}

/* Along the directories of the object that called, as the loader would. */
static void *dl_search(const Dl_serinfo *list, const char *file, int mode)
{
	char path[PATH_MAX];
	void *handle = NULL;

	for (unsigned int i = 0; i < list->dls_cnt && !handle; i++) {
		if (snprintf(path, sizeof(path), "%s/%s", list->dls_serpath[i].dls_name, file) >=
		    (int)sizeof(path))
			continue;
		handle = real_dlopen(path, mode);
	}
	return handle;
}

static Dl_serinfo *search_list(void *handle)
{
	Dl_serinfo size, *list;

	if (dlinfo(handle, RTLD_DI_SERINFOSIZE, &size) != 0)
		return NULL;
	list = malloc(size.dls_size);
	if (!list)
		return NULL;
	list->dls_size = size.dls_size;
	list->dls_cnt = size.dls_cnt;
	if (dlinfo(handle, RTLD_DI_SERINFO, list) == 0)
		return list;
	free(list);
	return NULL;
}

static bool has_run_path(const struct link_map *map)
{
	for (const ElfW(Dyn) *d = map->l_ld; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_RUNPATH || d->d_tag == DT_RPATH)
			return true;
	return false;
}

/* Only a bare name, not loaded yet, requested by an object with a run path, needs it. */
static void *open_for(void *caller, const char *file, int mode)
{
	struct link_map *map = NULL;
	Dl_serinfo *list;
	Dl_info info;
	void *handle;

	if (!file || !*file || strchr(file, '/') ||
	    !dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) || !map || !has_run_path(map))
		return real_dlopen(file, mode);
	handle = real_dlopen(file, mode | RTLD_NOLOAD);
	if (handle || mode & RTLD_NOLOAD)
		return handle;
	list = search_list(map);
	if (list)
		handle = dl_search(list, file, mode);
	free(list);
	return handle ? handle : real_dlopen(file, mode);
}

/* --- the functions ------------------------------------------------------------------ */

static bool is_traced(void)
{
	return ltt_enabled(ltt_dl, dlopen) || ltt_enabled(ltt_dl, dlmopen) ||
	       ltt_enabled(ltt_dl, build_id);
}

EXPORT void *dlopen(const char *file, int mode)
{
	void *handle = open_for(__builtin_return_address(0), file, mode);
	struct frames callers;
	struct object o;

	ltt_statedump_libraries();
	if (!is_traced() || !dl_describe(handle, &o))
		return handle;
	ltt_trace(ltt_dl, dlopen, o.base, o.size, mode, o.map->l_name, o.build_id_len > 0,
		  SITE);
	if (o.build_id_len)
		ltt_trace(ltt_dl, build_id, o.base, o.build_id, o.build_id_len);
	return handle;
}

EXPORT void *dlmopen(Lmid_t space, const char *file, int mode)
{
	static void *(*call)(Lmid_t, const char *, int);
	struct frames callers;
	struct object o;
	void *handle;

	if (!call)
		call = (void *(*)(Lmid_t, const char *, int))real("dlmopen");
	handle = call(space, file, mode);
	ltt_statedump_libraries();
	if (!is_traced() || !dl_describe(handle, &o))
		return handle;
	ltt_trace(ltt_dl, dlmopen, o.base, o.size, space, mode, o.map->l_name,
		  o.build_id_len > 0, SITE);
	if (o.build_id_len)
		ltt_trace(ltt_dl, build_id, o.base, o.build_id, o.build_id_len);
	return handle;
}

EXPORT int dlclose(void *handle)
{
	static int (*call)(void *);
	struct object o = { .base = 0 };
	struct frames callers;
	bool known = ltt_enabled(ltt_dl, dlclose) && dl_describe(handle, &o);
	int result;

	if (!call)
		call = (int (*)(void *))real("dlclose");
	result = call(handle);
	ltt_statedump_libraries();
	if (known)
		ltt_trace(ltt_dl, dlclose, o.base, result, SITE);
	return result;
}
