/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tables.h - the tables of a loaded object, by which the dynamic linker finds its symbols. */
#ifndef TRACER_AGENT_HOST_TABLES_H
#define TRACER_AGENT_HOST_TABLES_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Relocations. */
struct relocations {
	const ElfW(Rela) * first;
	size_t bytes;
};

/* The tables of an object's dynamic section; NULL: it has none. @base: added to the
 * addresses in them. */
struct tables {
	uintptr_t base;
	const ElfW(Sym) * symbols;
	const char *names;
	const uint32_t *hash, *gnu_hash;
	const ElfW(Half) * versions;
	struct relocations data, calls;
	bool implicit_addends; /* REL, which these architectures do not use */
};

struct tables tables_of(const struct dl_phdr_info *info);

/** The segment of this kind that has the address, or NULL. */
const ElfW(Phdr) * tables_segment(const struct dl_phdr_info *info, uint32_t type, uintptr_t at);

/** The hash of a name in GNU tables. */
uint32_t tables_hash(const char *name);

/** The symbol that an object with a GNU table defines, of the version that is used by default;
 *  NULL: none. @hash: of the name. */
const ElfW(Sym) * tables_find(const struct tables *tables, const char *name, uint32_t hash);

#endif
