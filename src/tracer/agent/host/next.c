/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "next.h"

#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <stddef.h>

static __thread const struct next_scope *scope __attribute__((tls_model("initial-exec")));

/* @data: the scope, of which @own is its size until libltt's object was found. */
static int add_tables(struct dl_phdr_info *info, size_t size, void *data)
{
	const unsigned int most = sizeof(scope->objects) / sizeof(*scope->objects);
	struct next_scope *to = data;
	struct tables *tables = &to->objects[to->nr];

	(void)size;
	*tables = tables_of(info);
	if (!tables->symbols || !tables->names || !tables->gnu_hash)
		return -1;
	if (to->own == most && tables_segment(info, PT_LOAD, (uintptr_t)agent_next))
		to->own = to->nr;
	to->nr++;
	if (tables_segment(info, PT_LOAD, (uintptr_t)gnu_get_libc_version))
		return to->own < most ? 1 : -1;
	return to->nr < most ? 0 : -1;
}

/*
 * The objects of which the program consists are searched in the order in which they are listed,
 * and before others that have been loaded since. libc is one of them; libltt is one if it is in
 * front of libc.
 */
void agent_next_begin(struct next_scope *new)
{
	new->nr = 0;
	new->own = sizeof(new->objects) / sizeof(*new->objects);
	if (dl_iterate_phdr(add_tables, new) != 1)
		new->nr = 0;
	scope = new;
}

void agent_next_end(void)
{
	scope = NULL;
}

/* The dynamic linker would have to call others than functions. */
static void *find_by_tables(const char *name)
{
	const uint32_t hash = tables_hash(name);

	for (unsigned int i = scope->own + 1; i < scope->nr; i++) {
		const ElfW(Sym) *found = tables_find(&scope->objects[i], name, hash);

		if (found)
			return ELF64_ST_TYPE(found->st_info) == STT_FUNC ?
				       (void *)(scope->objects[i].base + found->st_value) :
				       NULL;
	}
	return NULL;
}

bool agent_next_is_behind(const char *name)
{
	const uint32_t hash = tables_hash(name);

	if (!scope || !scope->nr)
		return false;
	for (unsigned int i = 0; i < scope->own; i++)
		if (tables_find(&scope->objects[i], name, hash))
			return false;
	return true;
}

/* If libltt is searched behind libc, nothing follows it. A search that fails leaves a message for
 * dlerror(). */
static void *find_by_name(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found)
		found = dlsym(RTLD_DEFAULT, name);
	if (!found)
		dlerror();
	return found;
}

void *agent_next(void **slot, const char *name, const void *own)
{
	void *found = __atomic_load_n(slot, __ATOMIC_RELAXED);
	int saved = errno;

	if (found)
		return found;
	found = scope && scope->nr ? find_by_tables(name) : NULL;
	if (!found)
		found = find_by_name(name);
	errno = saved;
	if (found == own)
		return NULL;
	__atomic_store_n(slot, found, __ATOMIC_RELAXED);
	return found;
}
