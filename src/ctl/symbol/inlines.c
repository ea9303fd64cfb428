/* SPDX-License-Identifier: GPL-2.0-only */
#include "inlines.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/idmap.h"
#include "base/mem.h"

#define INLINES_DEPTH 64u /* of entries in entries */
#define INLINES_ENTRIES_MOST (1u << 24) /* of a unit: a damaged one may go round */

/** Code of a function, not of one inlined in it; or of a unit, at addresses of the module. */
struct inlines_range {
	uint64_t begin, end;
	Dwarf_Die function;
};

struct inlines_ranges {
	struct inlines_range *all; /* sorted */
	size_t nr, room;
};

/** A compilation unit: its functions are listed once, as a library can have 100,000. */
struct inlines_unit {
	struct idmap_node node;
	struct inlines_unit *next;
	Dwarf_Die die;
	struct inlines_ranges ranges;
	size_t entries;
};

/** @code: of all units; read if the module's table of them lacks an address. */
struct inlines {
	const struct libdw *lib;
	Dwfl_Module *module;
	struct idmap units_map;
	struct inlines_unit *units;
	struct inlines_ranges code;
	bool has_code;
};

struct inlines *inlines_new(const struct libdw *lib, Dwfl_Module *module)
{
	struct inlines *inlines = xalloc(sizeof(*inlines));

	inlines->lib = lib;
	inlines->module = module;
	idmap_init(&inlines->units_map);
	return inlines;
}

void inlines_free(struct inlines *inlines)
{
	struct inlines_unit *unit;

	if (!inlines)
		return;
	idmap_fini(&inlines->units_map);
	while ((unit = inlines->units)) {
		inlines->units = unit->next;
		free(unit->ranges.all);
		free(unit);
	}
	free(inlines->code.all);
	free(inlines);
}

/* --- units ---------------------------------------------------------------------------------- */

static void inlines_add(const struct libdw *lib, struct inlines_ranges *to, Dwarf_Die *die,
			uint64_t bias)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;

	while ((at = lib->dwarf_ranges(die, at, &base, &begin, &end)) > 0) {
		if (begin >= end || to->nr == INLINES_ENTRIES_MOST)
			continue;
		if (to->nr == to->room) {
			to->room = to->room ? 2 * to->room : 64;
			to->all = xrealloc(to->all, to->room * sizeof(*to->all));
		}
		to->all[to->nr++] = (struct inlines_range){ begin + bias, end + bias, *die };
	}
}

/* Functions are also in namespaces, classes and the functions that their classes are in. */
static void inlines_collect(const struct libdw *lib, struct inlines_unit *unit, Dwarf_Die *in,
			    unsigned int depth)
{
	Dwarf_Die die;
	int r;

	if (depth == INLINES_DEPTH)
		return;
	for (r = lib->dwarf_child(in, &die); r == 0; r = lib->dwarf_siblingof(&die, &die)) {
		int tag = lib->dwarf_tag(&die);

		if (unit->entries++ >= INLINES_ENTRIES_MOST)
			return;

		if (tag == DW_TAG_subprogram)
			inlines_add(lib, &unit->ranges, &die, 0);
		if (tag != DW_TAG_inlined_subroutine)
			inlines_collect(lib, unit, &die, depth + 1);
	}
}

static int inlines_compare(const void *a, const void *b)
{
	const struct inlines_range *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void inlines_sort(struct inlines_ranges *ranges)
{
	if (ranges->nr)
		qsort(ranges->all, ranges->nr, sizeof(*ranges->all), inlines_compare);
}

static struct inlines_unit *inlines_unit_of(struct inlines *inlines, const Dwarf_Die *die)
{
	uint64_t hash = (uintptr_t)die->addr * 0x9e3779b97f4a7c15u;
	struct idmap_node *node = idmap_find(&inlines->units_map, hash);
	struct inlines_unit *unit;

	for (; node; node = idmap_next(&inlines->units_map, node)) {
		unit = container_of(node, struct inlines_unit, node);
		if (unit->die.addr == die->addr)
			return unit;
	}
	unit = xalloc(sizeof(*unit));
	unit->die = *die;
	inlines_collect(inlines->lib, unit, &unit->die, 0);
	inlines_sort(&unit->ranges);
	unit->next = inlines->units;
	inlines->units = unit;
	idmap_add(&inlines->units_map, &unit->node, hash);
	return unit;
}

static struct inlines_range *inlines_range_of(const struct inlines_ranges *ranges, uint64_t pc)
{
	size_t low = 0, high = ranges->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges->all[middle].begin <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low && pc < ranges->all[low - 1].end ? &ranges->all[low - 1] : NULL;
}

/* --- addresses ------------------------------------------------------------------------------ */

static bool inlines_has(const struct libdw *lib, Dwarf_Die *die, uint64_t pc)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;

	while ((at = lib->dwarf_ranges(die, at, &base, &begin, &end)) > 0)
		if (pc >= begin && pc < end)
			return true;
	return false;
}

/* Whether the code of a unit, if that is known, has the address. */
static bool inlines_covers(struct inlines *inlines, Dwarf_Die *unit, uint64_t pc)
{
	Dwarf_Addr base, begin, end;

	return inlines_range_of(&inlines_unit_of(inlines, unit)->ranges, pc) ||
	       inlines_has(inlines->lib, unit, pc) ||
	       inlines->lib->dwarf_ranges(unit, 0, &base, &begin, &end) <= 0;
}

static void inlines_read_code(struct inlines *inlines)
{
	Dwarf_Addr bias;
	Dwarf_Die *unit = NULL;

	inlines->has_code = true;
	while ((unit = inlines->lib->dwfl_module_nextcu(inlines->module, unit, &bias)))
		inlines_add(inlines->lib, &inlines->code, unit, bias);
	inlines_sort(&inlines->code);
}

/*
 * The module's table of units (.debug_aranges) is libdw's. Compilers of the LLVM family write none,
 * and that of a Go program has its units of C alone: for libdw, the last of them has the rest of
 * the code. Return: NULL: the address is in none.
 */
static Dwarf_Die *inlines_unit_at(struct inlines *inlines, uint64_t address, Dwarf_Addr *ret_bias)
{
	const struct libdw *lib = inlines->lib;
	Dwarf_Die *unit = lib->dwfl_module_addrdie(inlines->module, address, ret_bias);
	struct inlines_range *range;

	if (unit && inlines_covers(inlines, unit, address - *ret_bias))
		return unit;
	if (!inlines->has_code)
		inlines_read_code(inlines);
	range = inlines_range_of(&inlines->code, address);
	if (!range)
		return NULL;
	/* the bias of a module's DWARF is that of all of its units */
	unit = lib->dwfl_module_nextcu(inlines->module, NULL, ret_bias);
	return unit ? &range->function : NULL;
}

void inlines_line(struct inlines *inlines, uint64_t address, struct symbol *symbol)
{
	const struct libdw *lib = inlines->lib;
	Dwarf_Addr bias = 0;
	Dwarf_Die *unit = inlines_unit_at(inlines, address, &bias);
	Dwarf_Line *line = unit ? lib->dwarf_getsrc_die(unit, address - bias) : NULL;
	int number = 0;

	if (!line)
		return;
	symbol->file = lib->dwarf_linesrc(line, NULL, NULL);
	if (lib->dwarf_lineno(line, &number) == 0 && number > 0)
		symbol->line = (uint32_t)number;
}

/* Step into the block or inlined function in @die that has the address. */
static bool inlines_step(const struct libdw *lib, Dwarf_Die *die, uint64_t pc)
{
	Dwarf_Die child;
	int r;

	for (r = lib->dwarf_child(die, &child); r == 0; r = lib->dwarf_siblingof(&child, &child)) {
		int tag = lib->dwarf_tag(&child);

		if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
		     tag == DW_TAG_try_block || tag == DW_TAG_catch_block) &&
		    inlines_has(lib, &child, pc)) {
			*die = child;
			return true;
		}
	}
	return false;
}

static const char *inlines_name(const struct libdw *lib, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name = NULL;

	if (lib->dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) ||
	    lib->dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
		name = lib->dwarf_formstring(&attr);
	if (!name || !*name)
		name = lib->dwarf_diename(die);
	return name && *name ? name : "?";
}

static uint64_t inlines_number(const struct libdw *lib, Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word number;

	return lib->dwarf_attr_integrate(die, name, &attr) &&
			       lib->dwarf_formudata(&attr, &number) == 0 ?
		       number :
		       0;
}

/* Where @inlined, of the unit, was called. */
static void inlines_caller(const struct libdw *lib, Dwarf_Die *unit, Dwarf_Die *inlined,
			   const char **ret_file, uint32_t *ret_line)
{
	uint64_t number = inlines_number(lib, inlined, DW_AT_call_file);
	uint64_t line = inlines_number(lib, inlined, DW_AT_call_line);
	Dwarf_Files *files;
	size_t nr;

	*ret_file = lib->dwarf_getsrcfiles(unit, &files, &nr) == 0 && number < nr ?
			    lib->dwarf_filesrc(files, number, NULL, NULL) :
			    NULL;
	*ret_line = *ret_file && line <= UINT32_MAX ? (uint32_t)line : 0;
}

uint32_t inlines_find(struct inlines *inlines, uint64_t address, struct symbol *symbol,
		      struct symbol_inline ret[SYMBOL_INLINED_MOST])
{
	const struct libdw *lib = inlines->lib;
	Dwarf_Die all[SYMBOL_INLINED_MOST], die;
	Dwarf_Addr bias = 0;
	Dwarf_Die *unit = inlines_unit_at(inlines, address, &bias);
	struct inlines_range *range =
		unit ? inlines_range_of(&inlines_unit_of(inlines, unit)->ranges, address - bias) :
		       NULL;
	uint32_t nr = 0;

	if (!range)
		return 0;
	die = range->function;
	for (unsigned int i = 0; i < 2 * INLINES_DEPTH && nr < SYMBOL_INLINED_MOST; i++) {
		if (!inlines_step(lib, &die, address - bias))
			break;
		if (lib->dwarf_tag(&die) == DW_TAG_inlined_subroutine)
			all[nr++] = die;
	}
	for (uint32_t i = 0; i < nr; i++) {
		Dwarf_Die *inlined = &all[nr - 1 - i];

		ret[i].function = inlines_name(lib, inlined);
		ret[i].file = symbol->file;
		ret[i].line = symbol->line;
		inlines_caller(lib, unit, inlined, &symbol->file, &symbol->line);
	}
	return nr;
}
