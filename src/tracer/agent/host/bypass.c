/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bypass.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clone.h"
#include "namespaces.h"
#include "next.h"
#include "rights.h"
#include "spawn.h"
#include "tables.h"
#include "tracer/base/sys.h"
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
	{ "sigaltstack", BYPASS_STACKS },
};

/* Undefined symbols are in front of those that the GNU table finds; the other table has all. */
static uint32_t nr_symbols(const struct tables *object)
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
	return tables_segment(info, PT_LOAD, (uintptr_t)agent_vfork);
}

static int add_references(struct dl_phdr_info *info, size_t size, void *data)
{
	struct tables object = tables_of(info);
	uint32_t *found = data;

	(void)size;
	if (is_libltt(info))
		return 0;
	for (uint32_t i = 1; i < nr_symbols(&object); i++)
		if (object.symbols[i].st_shndx == SHN_UNDEF)
			*found |= changes_of(object.names + object.symbols[i].st_name);
	return 0;
}

/* --- calls that concern libltt's thread ---------------------------------------------- */

#if defined(__x86_64__)
#define TYPE_DATA R_X86_64_GLOB_DAT
#define TYPE_CALL R_X86_64_JUMP_SLOT
#else
#define TYPE_DATA R_AARCH64_GLOB_DAT
#define TYPE_CALL R_AARCH64_JUMP_SLOT
#endif

static struct redirection {
	const char *name;
	uintptr_t own, libc; /* 0: not libc's, so that nothing is redirected */
} redirections[] = {
	{ .name = "unshare", .own = (uintptr_t)agent_unshare },
	{ .name = "setns", .own = (uintptr_t)agent_setns },
	{ .name = "fork", .own = (uintptr_t)agent_fork },
	{ .name = "prctl", .own = (uintptr_t)agent_prctl },
	{ .name = "capset", .own = (uintptr_t)agent_capset },
	{ .name = "setfsuid", .own = (uintptr_t)agent_setfsuid },
	{ .name = "setfsgid", .own = (uintptr_t)agent_setfsgid },
	{ .name = "personality", .own = (uintptr_t)agent_personality },
#if !AGENT_UNDER_TSAN
	{ .name = "syscall", .own = (uintptr_t)agent_syscall },
#endif
};
#define NR_REDIRECTIONS (sizeof(redirections) / sizeof(*redirections))

/* The dynamic linker may have made the slot's page read-only, as it does for whole pages. If it
 * can't be written, it stays. */
static void write_slot(const struct dl_phdr_info *info, uintptr_t *slot, uintptr_t value)
{
	const uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE);
	const ElfW(Phdr) *relro = tables_segment(info, PT_GNU_RELRO, (uintptr_t)slot);
	const ElfW(Phdr) *load = tables_segment(info, PT_LOAD, (uintptr_t)slot);
	void *page = (void *)((uintptr_t)slot & -size);
	bool locked =
		relro &&
		(uintptr_t)slot < ((info->dlpi_addr + relro->p_vaddr + relro->p_memsz) & -size);

	if (!load || !(load->p_flags & PF_W))
		return;
	if (locked && mprotect(page, size, PROT_READ | PROT_WRITE) != 0)
		return;
	__atomic_store_n(slot, value, __ATOMIC_RELEASE);
	if (locked)
		mprotect(page, size, PROT_READ);
}

static const struct redirection *redirection_of(const char *name)
{
	for (size_t i = 0; i < NR_REDIRECTIONS; i++)
		if (redirections[i].libc && strcmp(redirections[i].name, name) == 0)
			return &redirections[i];
	return NULL;
}

/* A slot that no call has used yet has an address in its object's own code. */
static void redirect(const struct dl_phdr_info *info, const struct tables *object,
		     const ElfW(Rela) * relocation)
{
	const uint64_t type = ELF64_R_TYPE(relocation->r_info);
	const ElfW(Sym) *symbol = &object->symbols[ELF64_R_SYM(relocation->r_info)];
	uintptr_t *slot = (uintptr_t *)(info->dlpi_addr + relocation->r_offset);
	const struct redirection *to;

	if ((type != TYPE_DATA && type != TYPE_CALL) || symbol->st_shndx != SHN_UNDEF)
		return;
	to = redirection_of(object->names + symbol->st_name);
	if (to && (*slot == to->libc ||
		   (type == TYPE_CALL && tables_segment(info, PT_LOAD, *slot))))
		write_slot(info, slot, to->own);
}

static int redirect_in(struct dl_phdr_info *info, size_t size, void *data)
{
	struct tables object = tables_of(info);

	(void)size;
	(void)data;
	if (!object.symbols || !object.names || object.implicit_addends || is_libltt(info))
		return 0;
	for (size_t i = 0; i < object.data.bytes / sizeof(ElfW(Rela)); i++)
		redirect(info, &object, &object.data.first[i]);
	for (size_t i = 0; i < object.calls.bytes / sizeof(ElfW(Rela)); i++)
		redirect(info, &object, &object.calls.first[i]);
	return 0;
}

/* Where another library's function comes first, it is the one that the program wants. */
static void redirect_calls(void)
{
	bool any = false;
	Dl_info libc, found;

	if (!dladdr((void *)gnu_get_libc_version, &libc))
		return;
	for (size_t i = 0; i < NR_REDIRECTIONS; i++) {
		void *first = dlsym(RTLD_DEFAULT, redirections[i].name);

		if (!first || !dladdr(first, &found) || found.dli_fbase != libc.dli_fbase)
			continue;
		redirections[i].libc = (uintptr_t)first;
		any = true;
	}
	if (any)
		dl_iterate_phdr(redirect_in, NULL);
}

/*
 * If another library's vfork() is found first, as a sanitizer's is, and libc's behind libltt, then
 * that library calls libltt's. A search that fails leaves a message, which the program's next call
 * of dlerror() would return.
 */
static bool libc_comes_first(void)
{
	void *first, *next;

	if (agent_next_is_behind("vfork"))
		return false;
	first = dlsym(RTLD_DEFAULT, "vfork");
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

	if (libc_comes_first()) {
		dl_iterate_phdr(add_references, &found);
		redirect_calls();
	}
	return found;
}

#else

uint32_t bypass_find(void)
{
	return 0;
}

#endif
