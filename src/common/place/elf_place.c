/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "elf_place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/elffile.h"

#if defined(__aarch64__)
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_X86_64
#endif

/** A section and its bytes. */
struct contents {
	char *bytes;
	size_t size;
};

/** A table of symbols, with their names. */
struct table {
	struct contents symbols, names;
};

/** A program that is being read. @tables: for linking at run time, and all; read when they are
 *  needed for the first time. */
struct program {
	struct elffile file;
	const char *path;
	struct elf_places *found;
	struct table tables[2];
	bool has_tables;
	struct err *err;
};

/** The function or USDT probe that is searched for. */
struct wanted {
	const char *provider, *name; /* @provider: of a probe */
	uint64_t base;		     /* address of .stapsdt.base; 0: there is none */
};

static void contents_fini(struct contents *contents)
{
	free(contents->bytes);
}

static void program_fini(struct program *program)
{
	for (size_t i = 0; i < ARRAY_SIZE(program->tables); i++) {
		contents_fini(&program->tables[i].symbols);
		contents_fini(&program->tables[i].names);
	}
}

void elf_places_fini(struct elf_places *places)
{
	free(places->all);
	*places = (struct elf_places){ 0 };
}

static int program_open(struct program *program, int fd)
{
	const ElfW(Ehdr) *head = &program->file.head;
	int code = elffile_open(fd, &program->file);

	if (code < 0)
		return err_set(program->err, ERR_INVALID, "%s is not a program or library",
			       program->path);
	if (code == ELFFILE_FOREIGN || head->e_machine != MACHINE ||
	    (head->e_type != ET_EXEC && head->e_type != ET_DYN))
		return err_set(program->err, ERR_INVALID,
			       "%s is not a program or library for this architecture",
			       program->path);
	return 0;
}

/* The bytes of a section; none if the file is malformed. Return: 0 or the code in program->err. */
static int program_read(const struct program *program, const ElfW(Shdr) * section,
			struct contents *ret)
{
	int code = elffile_contents(&program->file, section, &ret->bytes, &ret->size);

	return code == -ENOMEM ? err_memory(program->err) : 0;
}

/* From an address of the program to where that is in its file. @code: it can be run. */
static bool offset_of(const struct program *program, uint64_t address, bool code, uint64_t *ret)
{
	ElfW(Phdr) part;

	for (unsigned int i = 0; elffile_segment(&program->file, i, &part); i++)
		if (part.p_type == PT_LOAD && (!code || part.p_flags & PF_X) &&
		    address >= part.p_vaddr && address - part.p_vaddr < part.p_filesz) {
			*ret = address - part.p_vaddr + part.p_offset;
			return true;
		}
	return false;
}

/* Once for each place, even if several symbols or notes name it. NULL: the code is in
 * program->err. @name: of the function or probe. */
static struct elf_place *elf_place_add(struct program *program, uint64_t offset, const char *name)
{
	struct elf_places *found = program->found;
	struct elf_place *all;

	for (size_t i = 0; i < found->nr; i++)
		if (found->all[i].offset == offset)
			return &found->all[i];
	if (found->nr == ELF_MAX_PLACES) {
		err_set(program->err, ERR_INVALID, "%s: '%.200s' is at more than %u places",
			program->path, name, ELF_MAX_PLACES);
		return NULL;
	}
	all = realloc(found->all, (found->nr + 1) * sizeof(*all));
	if (!all) {
		err_memory(program->err);
		return NULL;
	}
	found->all = all;
	all[found->nr] = (struct elf_place){ .offset = offset };
	return &all[found->nr++];
}

/* --- symbols ------------------------------------------------------------------------- */

/** Return: non-zero ends the search, and is handed on. */
typedef int (*each_symbol)(struct program *program, const ElfW(Sym) * symbol, const char *name,
			   void *data);

static int program_read_table(struct program *program, const ElfW(Shdr) * section,
			      struct table *ret)
{
	ElfW(Shdr) names;

	if (ret->symbols.bytes || section->sh_entsize != sizeof(ElfW(Sym)) ||
	    !elffile_section(&program->file, section->sh_link, &names) ||
	    names.sh_type != SHT_STRTAB)
		return 0;
	if (program_read(program, section, &ret->symbols) != 0 || !ret->symbols.bytes)
		return program->err->code;
	return program_read(program, &names, &ret->names);
}

/* That for linking at run time, too: the other is stripped off often. */
static int program_read_tables(struct program *program)
{
	ElfW(Shdr) section;

	if (program->has_tables)
		return 0;
	for (unsigned int i = 0; elffile_section(&program->file, i, &section); i++)
		if ((section.sh_type == SHT_DYNSYM || section.sh_type == SHT_SYMTAB) &&
		    program_read_table(program, &section,
				       &program->tables[section.sh_type == SHT_SYMTAB]) != 0)
			return program->err->code;
	program->has_tables = true;
	return 0;
}

static int elf_place_each_of(struct program *program, const struct table *table, each_symbol fn,
			     void *data)
{
	size_t nr = table->names.bytes ? table->symbols.size / sizeof(ElfW(Sym)) : 0;
	ElfW(Sym) symbol;
	int ret = 0;

	for (size_t i = 0; i < nr && !ret; i++) {
		memcpy(&symbol, table->symbols.bytes + i * sizeof(symbol), sizeof(symbol));
		if (symbol.st_shndx != SHN_UNDEF && symbol.st_name < table->names.size)
			ret = fn(program, &symbol, table->names.bytes + symbol.st_name, data);
	}
	return ret;
}

static int search_symbols(struct program *program, each_symbol fn, void *data)
{
	int ret = program_read_tables(program);

	for (size_t i = 0; i < ARRAY_SIZE(program->tables) && !ret; i++)
		ret = elf_place_each_of(program, &program->tables[i], fn, data);
	return ret;
}

static int take_function(struct program *program, const ElfW(Sym) * symbol, const char *name,
			 void *data)
{
	const struct wanted *wanted = data;
	uint64_t offset;

	if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || strcmp(name, wanted->name) != 0 ||
	    !offset_of(program, symbol->st_value, true, &offset))
		return 0;
	return elf_place_add(program, offset, name) ? 0 : program->err->code;
}

int elf_find_function(int fd, const char *path, const char *symbol, struct elf_places *ret,
		      struct err *err)
{
	struct program program CLEANUP(program_fini) = { .path = path, .found = ret, .err = err };
	struct wanted wanted = { .name = symbol };

	if (program_open(&program, fd) || search_symbols(&program, take_function, &wanted))
		return err->code;
	return ret->nr ? 0 :
			 err_set(err, ERR_NO_EVENT,
				 "%s has no function '%.200s' (`nm -C` and `nm -D` list what it "
				 "has)",
				 path, symbol);
}

/* --- notes --------------------------------------------------------------------------- */

/** A symbol that an argument of a probe names. */
struct variable {
	const char *name;
	uint64_t address;
	bool found;
};

static int is_variable(struct program *program, const ElfW(Sym) * symbol, const char *name,
		       void *data)
{
	struct variable *variable = data;

	(void)program;
	if (strcmp(name, variable->name) != 0)
		return 0;
	variable->address = symbol->st_value;
	variable->found = true;
	return 1;
}

static bool elf_place_resolve(void *data, const char *symbol, uint64_t *ret)
{
	struct variable variable = { .name = symbol };

	(void)search_symbols(data, is_variable, &variable);
	*ret = variable.address;
	return variable.found;
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
	place = elf_place_add(program, offset, note->name);
	if (!place)
		return program->err->code;
	place->semaphore = semaphore;
	place->nr_args = sdt_args_parse(note->args, note->pc + moved, elf_place_resolve, program,
					place->args);
	return program->err->code; /* of elf_place_resolve() */
}

static uint64_t padded(uint64_t n, size_t align)
{
	return (n + align - 1) / align * align;
}

/* The next note at *at. Return: false: there is none, or it does not end. */
static bool next_note(const struct contents *notes, size_t align, size_t *at, ElfW(Nhdr) * ret,
		      const char **ret_name, const char **ret_desc)
{
	uint64_t name = *at + sizeof(*ret), desc, end;

	if (name > notes->size)
		return false;
	memcpy(ret, notes->bytes + *at, sizeof(*ret));
	desc = padded(name + ret->n_namesz, align);
	end = desc + ret->n_descsz;
	if (end > notes->size)
		return false;
	*ret_name = notes->bytes + name;
	*ret_desc = notes->bytes + desc;
	*at = (size_t)MIN(padded(end, align), notes->size);
	return true;
}

static int take_notes(struct program *program, const struct wanted *wanted,
		      const ElfW(Shdr) * section)
{
	struct contents notes CLEANUP(contents_fini) = { 0 };
	const char *name, *desc;
	struct sdt_note note;
	ElfW(Nhdr) head;
	size_t at = 0;

	if (program_read(program, section, &notes) != 0)
		return program->err->code;
	while (next_note(&notes, section->sh_addralign == 8 ? 8 : 4, &at, &head, &name, &desc))
		if (head.n_type == SDT_TYPE && head.n_namesz == sizeof(SDT_NAME) &&
		    memcmp(name, SDT_NAME, sizeof(SDT_NAME)) == 0 &&
		    sdt_note_parse(desc, head.n_descsz, sizeof(void *) == 8, &note) &&
		    take_note(program, wanted, &note) != 0)
			return program->err->code;
	return 0;
}

/* Return: 0 for no such section. */
static uint64_t address_of_section(const struct program *program, const char *name)
{
	ElfW(Shdr) section;

	for (unsigned int i = 0; elffile_section(&program->file, i, &section); i++)
		if (elffile_is_named(&program->file, &section, name))
			return section.sh_addr;
	return 0;
}

int elf_find_usdt(int fd, const char *path, const char *provider, const char *name,
		  struct elf_places *ret, struct err *err)
{
	struct program program CLEANUP(program_fini) = { .path = path, .found = ret, .err = err };
	struct wanted wanted = { .provider = provider, .name = name };
	ElfW(Shdr) section;

	if (program_open(&program, fd))
		return err->code;
	wanted.base = address_of_section(&program, ".stapsdt.base");
	for (unsigned int i = 0; elffile_section(&program.file, i, &section); i++)
		if (section.sh_type == SHT_NOTE && take_notes(&program, &wanted, &section))
			return err->code;
	return ret->nr ? 0 :
			 err_set(err, ERR_NO_EVENT,
				 "%s has no USDT probe '%.100s:%.100s' (`readelf -n` lists what it "
				 "has)",
				 path, provider, name);
}
