/* SPDX-License-Identifier: GPL-2.0-only */
#include "elf_place.h"

#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#if defined(__aarch64__)
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_X86_64
#endif

/** A program that is being read. */
struct program {
	Elf *elf;
	const char *path;
	struct elf_places *found;
	struct err *err;
};

static void program_fini(struct program *program)
{
	elf_end(program->elf);
}

void elf_places_fini(struct elf_places *places)
{
	free(places->all);
	*places = (struct elf_places){ 0 };
}

/* Read, not mapped: the file may become shorter. */
static int program_open(struct program *program, int fd)
{
	GElf_Ehdr head;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return err_set(program->err, ERR_INTERNAL, "libelf is of another version");
	program->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!program->elf || elf_kind(program->elf) != ELF_K_ELF ||
	    !gelf_getehdr(program->elf, &head))
		return err_set(program->err, ERR_INVALID, "%s is not a program or library",
			       program->path);
	if (head.e_machine != MACHINE || (head.e_type != ET_EXEC && head.e_type != ET_DYN))
		return err_set(program->err, ERR_INVALID,
			       "%s is not a program or library for this architecture",
			       program->path);
	return 0;
}

/* From an address of the program to where that is in its file. @code: it can be run. */
static bool offset_of(const struct program *program, uint64_t address, bool code, uint64_t *ret)
{
	GElf_Phdr part;
	size_t nr;

	if (elf_getphdrnum(program->elf, &nr) != 0)
		return false;
	for (size_t i = 0; i < nr; i++)
		if (gelf_getphdr(program->elf, (int)i, &part) && part.p_type == PT_LOAD &&
		    (!code || part.p_flags & PF_X) && address >= part.p_vaddr &&
		    address - part.p_vaddr < part.p_filesz) {
			*ret = address - part.p_vaddr + part.p_offset;
			return true;
		}
	return false;
}

/* Once for each place, even if several symbols or notes name it. NULL: there are too many. */
static struct elf_place *elf_place_add(struct elf_places *found, uint64_t offset)
{
	for (size_t i = 0; i < found->nr; i++)
		if (found->all[i].offset == offset)
			return &found->all[i];
	if (found->nr == ELF_MAX_PLACES)
		return NULL;
	found->all = xrealloc(found->all, (found->nr + 1) * sizeof(*found->all));
	found->all[found->nr] = (struct elf_place){ .offset = offset };
	return &found->all[found->nr++];
}

static int too_many(const struct program *program, const char *name)
{
	return err_set(program->err, ERR_INVALID, "%s: '%.200s' is at more than %u places",
		       program->path, name, ELF_MAX_PLACES);
}

/* --- symbols ------------------------------------------------------------------------- */

/** Return: non-zero ends the search, and is handed on. */
typedef int (*each_symbol)(struct program *program, const GElf_Sym *symbol, const char *name,
			   void *data);

static int elf_place_each_of(struct program *program, Elf_Scn *section, const GElf_Shdr *head,
			     each_symbol fn, void *data)
{
	Elf_Data *table = elf_getdata(section, NULL);
	GElf_Sym symbol;
	int ret = 0;

	for (int i = 0; table && !ret && gelf_getsym(table, i, &symbol); i++) {
		const char *name = elf_strptr(program->elf, head->sh_link, symbol.st_name);

		if (name && symbol.st_shndx != SHN_UNDEF)
			ret = fn(program, &symbol, name, data);
	}
	return ret;
}

/* In the table for linking at run time, too: others are stripped off often. */
static int search_symbols(struct program *program, each_symbol fn, void *data)
{
	Elf_Scn *section = NULL;
	GElf_Shdr head;
	int ret = 0;

	while (!ret && (section = elf_nextscn(program->elf, section)))
		if (gelf_getshdr(section, &head) &&
		    (head.sh_type == SHT_SYMTAB || head.sh_type == SHT_DYNSYM))
			ret = elf_place_each_of(program, section, &head, fn, data);
	return ret;
}

static int take_function(struct program *program, const GElf_Sym *symbol, const char *name,
			 void *data)
{
	uint64_t offset;

	if (GELF_ST_TYPE(symbol->st_info) != STT_FUNC || strcmp(name, data) != 0 ||
	    !offset_of(program, symbol->st_value, true, &offset))
		return 0;
	return elf_place_add(program->found, offset) ? 0 : too_many(program, name);
}

int elf_find_function(int fd, const char *path, const char *symbol, struct elf_places *ret,
		      struct err *err)
{
	struct program program CLEANUP(program_fini) = { .path = path, .found = ret, .err = err };
	char *name AUTO_FREE = xstrdup(symbol);

	if (program_open(&program, fd) || search_symbols(&program, take_function, name))
		return err->code;
	return ret->nr ? 0 :
			 err_set(err, ERR_NO_EVENT,
				 "%s has no function '%.200s' (`nm -C` and `nm -D` list what it "
				 "has)",
				 path, symbol);
}

/* --- notes --------------------------------------------------------------------------- */

/** A USDT probe that is searched for, and a symbol that is. */
struct wanted {
	const char *provider, *name;
	uint64_t base; /* where .stapsdt.base is; 0: nowhere */
};

struct variable {
	const char *name;
	uint64_t address;
};

static int is_variable(struct program *program, const GElf_Sym *symbol, const char *name,
		       void *data)
{
	struct variable *variable = data;

	(void)program;
	if (strcmp(name, variable->name) != 0)
		return 0;
	variable->address = symbol->st_value;
	return 1;
}

static bool elf_place_resolve(void *data, const char *symbol, uint64_t *ret)
{
	struct variable variable = { .name = symbol };

	if (!search_symbols(data, is_variable, &variable))
		return false;
	*ret = variable.address;
	return true;
}

/* A file that was linked at another address than that in its notes (prelink) moved with the
 * base. */
static int take_note(struct program *program, const struct wanted *wanted, struct sdt_note *note)
{
	uint64_t moved = wanted->base && note->base ? wanted->base - note->base : 0;
	uint64_t offset, semaphore = 0;
	struct elf_place *place;

	if (strcmp(note->provider, wanted->provider) != 0 || strcmp(note->name, wanted->name) != 0)
		return 0;
	if (!offset_of(program, note->pc + moved, true, &offset) ||
	    (note->semaphore && !offset_of(program, note->semaphore + moved, false, &semaphore)))
		return err_set(
			program->err, ERR_INVALID,
			"%s: the note about '%.100s:%.100s' has an address outside of the program",
			program->path, note->provider, note->name);
	place = elf_place_add(program->found, offset);
	if (!place)
		return too_many(program, note->name);
	place->semaphore = semaphore;
	place->nr_args = sdt_args_parse(note->args, note->pc + moved, elf_place_resolve, program,
					place->args);
	return 0;
}

static int take_notes(struct program *program, const struct wanted *wanted, Elf_Data *notes)
{
	bool is_64 = gelf_getclass(program->elf) == ELFCLASS64;
	size_t at = 0, next, name, desc;
	struct sdt_note note;
	GElf_Nhdr head;

	for (; (next = gelf_getnote(notes, at, &head, &name, &desc)) > at; at = next) {
		const char *bytes = notes->d_buf;

		if (head.n_type != SDT_TYPE || head.n_namesz != sizeof(SDT_NAME) ||
		    memcmp(bytes + name, SDT_NAME, sizeof(SDT_NAME)) != 0 ||
		    !sdt_note_parse(bytes + desc, head.n_descsz, is_64, &note))
			continue;
		if (take_note(program, wanted, &note))
			return program->err->code;
	}
	return 0;
}

/* Return: 0 for no such section. */
static uint64_t address_of_section(const struct program *program, const char *name)
{
	Elf_Scn *section = NULL;
	GElf_Shdr head;
	size_t names;

	if (elf_getshdrstrndx(program->elf, &names) != 0)
		return 0;
	while ((section = elf_nextscn(program->elf, section))) {
		const char *own = gelf_getshdr(section, &head) ?
					  elf_strptr(program->elf, names, head.sh_name) :
					  NULL;

		if (own && strcmp(own, name) == 0)
			return head.sh_addr;
	}
	return 0;
}

int elf_find_usdt(int fd, const char *path, const char *provider, const char *name,
		  struct elf_places *ret, struct err *err)
{
	struct program program CLEANUP(program_fini) = { .path = path, .found = ret, .err = err };
	struct wanted wanted = { provider, name, 0 };
	Elf_Scn *section = NULL;
	GElf_Shdr head;

	if (program_open(&program, fd))
		return err->code;
	wanted.base = address_of_section(&program, ".stapsdt.base");
	while ((section = elf_nextscn(program.elf, section))) {
		Elf_Data *notes = gelf_getshdr(section, &head) && head.sh_type == SHT_NOTE ?
					  elf_getdata(section, NULL) :
					  NULL;

		if (notes && take_notes(&program, &wanted, notes))
			return err->code;
	}
	return ret->nr ? 0 :
			 err_set(err, ERR_NO_EVENT,
				 "%s has no USDT probe '%.100s:%.100s' (`readelf -n` lists what it "
				 "has)",
				 path, provider, name);
}
