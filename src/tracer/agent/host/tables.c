/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tables.h"

#include <string.h>

#define HIDDEN 0x8000u /* a version that is only found by its name */

/* Some dynamic linkers store addresses there, others leave offsets. */
static const void *address_of(const struct dl_phdr_info *info, const ElfW(Dyn) * entry)
{
	uintptr_t value = entry->d_un.d_ptr;

	return (const void *)(value < info->dlpi_addr ? info->dlpi_addr + value : value);
}

static void read_dynamic(const struct dl_phdr_info *info, const ElfW(Dyn) * entry,
			 struct tables *ret)
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
		else if (entry->d_tag == DT_VERSYM)
			ret->versions = address_of(info, entry);
		else if (entry->d_tag == DT_RELA)
			ret->data.first = address_of(info, entry);
		else if (entry->d_tag == DT_RELASZ)
			ret->data.bytes = entry->d_un.d_val;
		else if (entry->d_tag == DT_JMPREL)
			ret->calls.first = address_of(info, entry);
		else if (entry->d_tag == DT_PLTRELSZ)
			ret->calls.bytes = entry->d_un.d_val;
		else if (entry->d_tag == DT_PLTREL)
			ret->implicit_addends = entry->d_un.d_val != DT_RELA;
	}
}

struct tables tables_of(const struct dl_phdr_info *info)
{
	struct tables tables = { .base = info->dlpi_addr };

	for (unsigned int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			read_dynamic(info,
				     (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
				     &tables);
	return tables;
}

const ElfW(Phdr) * tables_segment(const struct dl_phdr_info *info, uint32_t type, uintptr_t at)
{
	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == type &&
		    at - info->dlpi_addr - segment->p_vaddr < segment->p_memsz)
			return segment;
	}
	return NULL;
}

uint32_t tables_hash(const char *name)
{
	uint32_t hash = 5381;

	while (*name)
		hash = hash * 33 + (unsigned char)*name++;
	return hash;
}

static bool defines(const struct tables *tables, uint32_t nr, const char *name)
{
	const ElfW(Sym) *symbol = &tables->symbols[nr];

	return symbol->st_shndx != SHN_UNDEF && symbol->st_value &&
	       !(tables->versions && (tables->versions[nr] & HIDDEN)) &&
	       strcmp(tables->names + symbol->st_name, name) == 0;
}

/* A header of four words, a Bloom filter, the first symbol of each bucket, and the hash of each
 * symbol, of which the lowest bit ends a bucket. */
const ElfW(Sym) * tables_find(const struct tables *tables, const char *name, uint32_t hash)
{
	const uint32_t *head = tables->gnu_hash;
	const ElfW(Addr) *bloom = (const void *)(head + 4);
	const uint32_t *buckets = (const void *)(bloom + head[2]);
	const uint32_t *hashes = buckets + head[0] - head[1];
	const unsigned int bits = 8 * sizeof(*bloom);
	ElfW(Addr) word = bloom[hash / bits & (head[2] - 1)];

	if (!(word >> hash % bits & word >> (hash >> head[3]) % bits & 1))
		return NULL;
	for (uint32_t nr = buckets[hash % head[0]]; nr; nr++) {
		if ((hashes[nr] ^ hash) <= 1 && defines(tables, nr, name))
			return &tables->symbols[nr];
		if (hashes[nr] & 1)
			break;
	}
	return NULL;
}
