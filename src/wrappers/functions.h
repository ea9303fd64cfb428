// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * functions.h - the choice of functions that are recorded, by name and size, made at their first
 * call in any thread, also in a signal's handler. Names are those of the symbol table of the file;
 * one of C++ is also matched without template arguments and parameters. Nothing is allocated but by
 * mmap(): the function may be an allocator's.
 *
 * The choice stays with the address, also if another library comes to be there.
 */
#ifndef WRAPPERS_FUNCTIONS_H
#define WRAPPERS_FUNCTIONS_H

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FUNCTIONS_ENVIRONMENT "LTT_FUNCTIONS"
#define FUNCTIONS_SIZE_ENVIRONMENT "LTT_FUNCTIONS_SIZE"
#define FUNCTIONS_KNOWN (1u << 16)  /* a power of two; others are recorded */
#define FUNCTIONS_PROBES 64u	    /* places of one function in the table */
#define FUNCTIONS_OBJECTS 256u	    /* with symbols */
#define FUNCTIONS_SYMBOLS (1u << 24) /* of an object */
#define FUNCTIONS_NAME 256u
#define FUNCTIONS_PATTERNS 32u
#define FUNCTIONS_FAR 8192u /* bytes between two events on one stack: fewer */

/** The symbols of a file. @at: indices + 1 by the hash of their addresses. */
struct functions_object {
	uintptr_t base;
	const ElfW(Sym) *symbols;
	const char *names;
	size_t nr, names_size;
	uint32_t *at, mask;
};

static struct {
	char text[4096], *patterns[FUNCTIONS_PATTERNS];
	unsigned int nr;
	bool has_choice, has_positive;
	uint64_t least_bytes;
	uint64_t known[FUNCTIONS_KNOWN]; /* address << 1 | is recorded */
	struct functions_object objects[FUNCTIONS_OBJECTS];
	unsigned int nr_objects;
#ifdef DLFO_STRUCT_HAS_EH_DBASE
	__typeof__(_dl_find_object) *find;
#endif
	int owner; /* the process that chooses: a fork may have copied it; 0: none */
} functions_of;

/* This thread chooses: calls by it meanwhile, as of a signal's handler, are not recorded. */
static __thread bool functions_choosing;

static void functions_start(void)
{
	const char *text = getenv(FUNCTIONS_ENVIRONMENT);
	const char *size = getenv(FUNCTIONS_SIZE_ENVIRONMENT);
	char *rest = functions_of.text, *pattern;

	if (text && strlen(text) < sizeof(functions_of.text))
		strcpy(functions_of.text, text);
	while ((pattern = strsep(&rest, ",")) && functions_of.nr < FUNCTIONS_PATTERNS) {
		if (!*pattern)
			continue;
		functions_of.has_positive |= *pattern != '!';
		functions_of.patterns[functions_of.nr++] = pattern;
	}
	functions_of.least_bytes = size ? strtoull(size, NULL, 10) : 0;
#ifdef DLFO_STRUCT_HAS_EH_DBASE
	functions_of.find = (__typeof__(functions_of.find))dlsym(RTLD_DEFAULT, "_dl_find_object");
#endif
	functions_of.has_choice = functions_of.nr || functions_of.least_bytes;
}

/* --- names of C++ ----------------------------------------------------------------------- */

/** A mangled name that is read, and the name that is made of it. */
struct functions_name {
	const char *at;
	char text[FUNCTIONS_NAME];
	size_t len, last; /* begin of the last part */
};

static void functions_add(struct functions_name *name, const char *part, size_t len)
{
	const char *between = name->len ? "::" : "";
	size_t all = strlen(between) + len;

	if (all >= sizeof(name->text) - name->len)
		return;
	memcpy(name->text + name->len, between, strlen(between));
	name->last = name->len + strlen(between);
	memcpy(name->text + name->last, part, len);
	name->len += all;
	name->text[name->len] = '\0';
}

/* A number and so many bytes. */
static bool functions_take_identifier(struct functions_name *name, bool is_part)
{
	size_t len = 0;

	while (*name->at >= '0' && *name->at <= '9' && len < (1u << 20))
		len = 10 * len + (size_t)(*name->at++ - '0');
	if (!len || strnlen(name->at, len) < len)
		return false;
	if (is_part)
		functions_add(name, name->at, len);
	name->at += len;
	return true;
}

/* S_, S1_, T0_, A16_ */
static void functions_skip_number(struct functions_name *name)
{
	while (*name->at && *name->at != '_')
		name->at++;
	name->at += *name->at == '_';
}

/* Lm16E, LN1a1bE3E, LZ4mainE */
static void functions_skip_literal(struct functions_name *name)
{
	unsigned int nested = name->at[1] == 'N' ? 2 : 1;

	for (name->at += 1 + (nested == 2); *name->at && nested;) {
		if (nested == 2 && *name->at >= '0' && *name->at <= '9') {
			if (!functions_take_identifier(name, false))
				return;
			continue;
		}
		nested -= *name->at++ == 'E';
	}
}

/* Types up to the E that ends them. */
static bool functions_skip_types(struct functions_name *name)
{
	unsigned int depth = 1;

	while (depth && *name->at) {
		char c = *name->at;

		if (c == '0') {
			functions_skip_number(name);
		} else if (c >= '1' && c <= '9') {
			if (!functions_take_identifier(name, false))
				return false;
		} else if (c == 'L') {
			functions_skip_literal(name);
		} else if ((c == 'S' && (name->at[1] < 'a' || name->at[1] > 'z')) ||
			   (c == 'T' && (name->at[1] < 'a' || name->at[1] > 'z')) || c == 'A') {
			functions_skip_number(name);
		} else if ((c == 'S' || c == 'T' || c == 'D') && name->at[1]) {
			depth += c == 'D' && (name->at[1] == 't' || name->at[1] == 'T');
			name->at += 2;
		} else {
			depth += strchr("NIJXFZ", c) != NULL || (c == 'U' && name->at[1] == 'l');
			depth -= c == 'E';
			name->at++;
		}
	}
	return depth == 0;
}

static bool functions_take_operator(struct functions_name *name)
{
	static const char *const operators[] = {
		"nw new", "na new[]", "dl delete", "da delete[]", "pl+", "mi-", "ml*", "dv/", "rm%",
		"eq==", "ne!=", "lt<", "gt>", "le<=", "ge>=", "ss<=>", "ls<<", "rs>>", "aS=", "pL+=",
		"mI-=", "mL*=", "dV/=", "pp++", "mm--", "nt!", "aa&&", "oo||", "an&", "or|", "eo^",
		"co~", "cl()", "ix[]", "pt->", "de*", "ad&", "ng-", "cv",
	};
	char text[32] = "operator";

	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++) {
		if (strncmp(name->at, operators[i], 2) != 0)
			continue;
		strcat(text, operators[i] + 2);
		functions_add(name, text, strlen(text));
		name->at += 2;
		return operators[i][0] != 'c' || operators[i][1] != 'v';
	}
	return false;
}

/* std, and the abbreviations of types in it. */
static bool functions_take_std(struct functions_name *name)
{
	static const char *const types[] = { "tstd", "astd::allocator", "bstd::basic_string",
					     "sstd::string", "istd::istream", "ostd::ostream",
					     "dstd::iostream" };

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (name->at[1] != types[i][0])
			continue;
		functions_add(name, types[i] + 1, strlen(types[i] + 1));
		name->at += 2;
		return true;
	}
	return false;
}

/* Constructors and destructors have the name of their class. */
static void functions_take_special(struct functions_name *name)
{
	char text[FUNCTIONS_NAME] = "~";
	bool is_destructor = name->at[0] == 'D';

	strcpy(text + 1, name->text + name->last);
	functions_add(name, text + !is_destructor, strlen(text + !is_destructor));
	name->at += 2;
}

static bool functions_take_part(struct functions_name *name)
{
	char c = *name->at;

	if (c >= '0' && c <= '9')
		return functions_take_identifier(name, true);
	if (c == 'S')
		return functions_take_std(name);
	if (c == 'I')
		return name->at++, functions_skip_types(name);
	if (c == 'L')
		return name->at++, true;
	if (c == 'B')
		return name->at++, functions_take_identifier(name, false);
	if ((c == 'C' || c == 'D') && name->at[1] >= '0' && name->at[1] <= '9')
		return functions_take_special(name), true;
	return functions_take_operator(name);
}

/* Return: "space::type::function", of a name that the compiler of C++ made; NULL: it is none. */
static const char *functions_plain(struct functions_name *name, const char *mangled)
{
	bool nested;

	name->len = name->last = 0;
	name->at = mangled + 2;
	if (strncmp(mangled, "_Z", 2) != 0)
		return NULL;
	while (*name->at == 'Z') /* local to a function, as lambdas are: that one */
		name->at++;
	nested = *name->at == 'N';
	if (nested)
		for (name->at++; *name->at && strchr("rVKRO", *name->at);)
			name->at++;
	if (!nested && *name->at == 'S' && !functions_take_part(name))
		return NULL;
	while (*name->at && *name->at != 'E')
		if (!functions_take_part(name) || !nested)
			break;
	return name->len ? name->text : NULL;
}

/* --- symbols ---------------------------------------------------------------------------- */

static uint32_t functions_hash(uintptr_t address)
{
	return (uint32_t)((address * 0x9e3779b97f4a7c15u) >> 32);
}

/* The table is an mmap() of zeros. */
static void functions_index(struct functions_object *object)
{
	uint32_t size = 64;
	void *at;

	while (size < 2 * object->nr)
		size *= 2;
	at = mmap(NULL, size * sizeof(*object->at), PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return;
	object->at = at;
	object->mask = size - 1;
	for (size_t i = 0; i < object->nr; i++) {
		uint32_t place = functions_hash(object->symbols[i].st_value);

		if ((object->symbols[i].st_info & 0xf) != STT_FUNC || !object->symbols[i].st_shndx)
			continue;
		while (object->at[place & object->mask])
			place++;
		object->at[place & object->mask] = (uint32_t)i + 1;
	}
}

static bool functions_is_inside(const ElfW(Shdr) *section, size_t bytes)
{
	return section->sh_offset <= bytes && section->sh_size <= bytes - section->sh_offset;
}

static void functions_take_symbols(struct functions_object *object, const char *file, size_t bytes,
				   const ElfW(Shdr) *sections, unsigned int nr, uint32_t type)
{
	for (unsigned int i = 0; i < nr && !object->at; i++) {
		const ElfW(Shdr) *symbols = &sections[i], *names;

		if (symbols->sh_type != type || symbols->sh_link >= nr ||
		    symbols->sh_offset % sizeof(ElfW(Addr)))
			continue;
		names = &sections[symbols->sh_link];
		if (!functions_is_inside(symbols, bytes) || !functions_is_inside(names, bytes) ||
		    !names->sh_size || file[names->sh_offset + names->sh_size - 1] ||
		    symbols->sh_size / sizeof(ElfW(Sym)) > FUNCTIONS_SYMBOLS)
			continue;
		object->symbols = (const void *)(file + symbols->sh_offset);
		object->nr = symbols->sh_size / sizeof(ElfW(Sym));
		object->names = file + names->sh_offset;
		object->names_size = names->sh_size;
		functions_index(object);
	}
}

/* A file that is damaged, or stripped, has no symbols. */
static void functions_read(struct functions_object *object, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ElfW(Ehdr) *head;
	const char *file;
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && (size_t)st.st_size >= sizeof(*head) &&
	    (file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) != MAP_FAILED) {
		size_t bytes = (size_t)st.st_size;

		head = (const void *)file;
		if (memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 && head->e_shoff <= bytes &&
		    head->e_shoff % sizeof(ElfW(Addr)) == 0 &&
		    head->e_shnum <= (bytes - head->e_shoff) / sizeof(ElfW(Shdr))) {
			const ElfW(Shdr) *sections = (const void *)(file + head->e_shoff);

			functions_take_symbols(object, file, bytes, sections, head->e_shnum,
					       SHT_SYMTAB);
			functions_take_symbols(object, file, bytes, sections, head->e_shnum,
					       SHT_DYNSYM);
		}
		if (!object->at)
			munmap((void *)(uintptr_t)file, bytes);
	}
	close(fd);
}

/* dladdr1() waits for a thread that loads a library and may wait for this one. */
static const struct link_map *functions_map_of(uintptr_t address)
{
	struct link_map *map = NULL;
	Dl_info info;
#ifdef DLFO_STRUCT_HAS_EH_DBASE
	struct dl_find_object found;

	if (functions_of.find)
		return functions_of.find((void *)address, &found) == 0 ? found.dlfo_link_map : NULL;
#endif
	return dladdr1((void *)address, &info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

/* Return: NULL: unknown, or one of too many. */
static const struct functions_object *functions_object_of(uintptr_t address)
{
	struct functions_object *object;
	const struct link_map *map = functions_map_of(address);

	if (!map)
		return NULL;
	for (unsigned int i = 0; i < functions_of.nr_objects; i++)
		if (functions_of.objects[i].base == map->l_addr)
			return &functions_of.objects[i];
	if (functions_of.nr_objects == FUNCTIONS_OBJECTS)
		return NULL;
	object = &functions_of.objects[functions_of.nr_objects++];
	object->base = map->l_addr;
	functions_read(object, *map->l_name ? map->l_name : "/proc/self/exe");
	return object;
}

static const ElfW(Sym) *functions_symbol(const struct functions_object *object, uintptr_t address)
{
	uint32_t place = functions_hash(address - object->base), i;

	for (; object->at && (i = object->at[place & object->mask]); place++)
		if (object->symbols[i - 1].st_value == address - object->base)
			return &object->symbols[i - 1];
	return NULL;
}

/* --- the choice --------------------------------------------------------------------------- */

/* `*`: any run of bytes. */
static bool functions_glob(const char *pattern, const char *text)
{
	const char *star = NULL, *behind = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			behind = text;
		} else if (*pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star;
			text = ++behind;
		} else {
			return false;
		}
	}
	return pattern[strspn(pattern, "*")] == '\0';
}

static bool functions_matches(const char *pattern, const char *symbol, const char *plain)
{
	return functions_glob(pattern, symbol) || (plain && functions_glob(pattern, plain));
}

/* A function without a symbol matches no pattern, and is large enough. */
static bool functions_choose(uintptr_t address)
{
	const struct functions_object *object = functions_object_of(address);
	const ElfW(Sym) *symbol = object ? functions_symbol(object, address) : NULL;
	bool chosen = !functions_of.has_positive;
	struct functions_name name;
	const char *text, *plain;

	if (!symbol || symbol->st_name >= object->names_size)
		return chosen;
	if (symbol->st_size && symbol->st_size < functions_of.least_bytes)
		return false;
	text = object->names + symbol->st_name;
	plain = functions_plain(&name, text);
	for (unsigned int i = 0; i < functions_of.nr; i++) {
		const char *pattern = functions_of.patterns[i];

		if (functions_matches(pattern + (*pattern == '!'), text, plain))
			chosen = *pattern != '!';
	}
	return chosen;
}

static void functions_lock(void)
{
	const int own = getpid();
	int owner = 0;

	while (!__atomic_compare_exchange_n(&functions_of.owner, &owner, own, false,
					    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		if (owner == own) {
			sched_yield();
			owner = 0;
		}
	}
}

static bool functions_learn(uintptr_t address, uint64_t *slot)
{
	const int error = errno;
	uint64_t none = 0;
	bool chosen;

	if (functions_choosing)
		return false;
	functions_choosing = true;
	functions_lock();
	chosen = functions_choose(address);
	__atomic_store_n(&functions_of.owner, 0, __ATOMIC_RELEASE);
	functions_choosing = false;
	errno = error;
	/* another function may have got the slot: the next call of this one finds another */
	__atomic_compare_exchange_n(slot, &none, (uint64_t)address << 1 | chosen, false,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return chosen;
}

/* Whether calls of the function are recorded. */
static inline bool functions_is_chosen(const void *function)
{
	uintptr_t address = (uintptr_t)function;
	uint32_t place = functions_hash(address);

	if (__builtin_expect(!functions_of.has_choice, 1))
		return true;
	for (unsigned int i = 0; i < FUNCTIONS_PROBES; i++) {
		uint64_t *slot = &functions_of.known[(place + i) % FUNCTIONS_KNOWN];
		uint64_t known = __atomic_load_n(slot, __ATOMIC_RELAXED);

		if (known >> 1 == address)
			return known & 1;
		if (!known)
			return functions_learn(address, slot);
	}
	return true;
}

/* --- stacks ------------------------------------------------------------------------------- */

static __thread uintptr_t functions_frame; /* of the last event */

/* Whether an event is far from the one before, which was at @ret_before. */
static inline __attribute__((always_inline)) bool functions_leave_stack(uintptr_t frame,
									uintptr_t *ret_before)
{
	uintptr_t before = *ret_before = functions_frame;

	functions_frame = frame;
	return __builtin_expect(frame - before + FUNCTIONS_FAR > 2 * FUNCTIONS_FAR, 0) && before;
}

#endif
