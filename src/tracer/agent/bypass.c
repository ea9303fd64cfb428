/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bypass.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "clone.h"
#include "tracer/ring/context.h"
#include "tracer/ring/section.h"

#if SECTION_SUPPORTED

static const struct function {
	const char *name;
	uint32_t changes;
} functions[] = {
	{ "vfork", CONTEXT_TASK },
	{ "clone", CONTEXT_TASK },
	{ "dlopen", BYPASS_LOADS },
	{ "dlmopen", BYPASS_LOADS },
	{ "prctl", CONTEXT_NAME | BYPASS_FILTERS },
	{ "syscall", BYPASS_FILTERS }, /* seldom for the rest */
	{ "pthread_setname_np", CONTEXT_NAME },
	{ "setuid", CONTEXT_USERS },
	{ "setgid", CONTEXT_USERS },
	{ "seteuid", CONTEXT_USERS },
	{ "setegid", CONTEXT_USERS },
	{ "setreuid", CONTEXT_USERS },
	{ "setregid", CONTEXT_USERS },
	{ "setresuid", CONTEXT_USERS },
	{ "setresgid", CONTEXT_USERS },
	{ "setns", CONTEXT_USERS | CONTEXT_NAMESPACES },
	{ "unshare", CONTEXT_USERS | CONTEXT_NAMESPACES },
};

/* The tables of an object's dynamic section. */
struct object {
	const ElfW(Sym) *symbols;
	const char *names;
	const uint32_t *hash, *gnu_hash;
};

/* Some dynamic linkers store addresses there, others leave offsets. */
static const void *address_of(const struct dl_phdr_info *info, const ElfW(Dyn) *entry)
{
	uintptr_t value = entry->d_un.d_ptr;

	return (const void *)(value < info->dlpi_addr ? info->dlpi_addr + value : value);
}

static void read_dynamic(const struct dl_phdr_info *info, const ElfW(Dyn) *entry,
			 struct object *ret)
{
	for (; entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_SYMTAB)
			ret->symbols = address_of(info, entry);
		else if (entry->d_tag == DT_STRTAB)
			ret->names = address_of(info, entry);
		else if (entry->d_tag == DT_HASH)
			ret->hash = address_of(info, entry);
		else if (entry->d_tag == DT_GNU_HASH)
			ret->gnu_hash = address_of(info, entry);
	}
}

/* Undefined symbols are in front of those that the GNU table finds; the other table has all. */
static uint32_t nr_symbols(const struct object *object)
{
	if (!object->symbols || !object->names)
		return 0;
	return object->gnu_hash ? object->gnu_hash[1] : object->hash ? object->hash[1] : 0;
}

static uint32_t changes_of(const char *name)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (functions[i].name[0] == name[0] && strcmp(functions[i].name, name) == 0)
			return functions[i].changes;
	return 0;
}

/* Whether libltt is in this object, whose own references reach its own functions. */
static bool is_libltt(const struct dl_phdr_info *info)
{
	uintptr_t at = (uintptr_t)agent_vfork - info->dlpi_addr;

	for (unsigned int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD &&
		    at - info->dlpi_phdr[i].p_vaddr < info->dlpi_phdr[i].p_memsz)
			return true;
	return false;
}

static int add_references(struct dl_phdr_info *info, size_t size, void *data)
{
	struct object object = { .symbols = NULL };
	uint32_t *found = data;

	(void)size;
	for (unsigned int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			read_dynamic(info,
				     (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
				     &object);
	if (is_libltt(info))
		return 0;
	for (uint32_t i = 1; i < nr_symbols(&object); i++)
		if (object.symbols[i].st_shndx == SHN_UNDEF)
			*found |= changes_of(object.names + object.symbols[i].st_name);
	return 0;
}

/*
 * If another library's vfork() is found first, as a sanitizer's is, and libc's behind libltt, then
 * that library calls libltt's. A search that fails leaves a message, which the program's next call
 * of dlerror() would return.
 */
static bool libc_comes_first(void)
{
	void *first = dlsym(RTLD_DEFAULT, "vfork"), *next;

	if (!first || first == (void *)agent_vfork)
		return false;
	next = dlsym(RTLD_NEXT, "vfork");
	if (!next)
		dlerror();
	return !next || next == first;
}

uint32_t bypass_find(void)
{
	uint32_t found = 0;

	if (libc_comes_first())
		dl_iterate_phdr(add_references, &found);
	return found;
}

#else

uint32_t bypass_find(void)
{
	return 0;
}

#endif
