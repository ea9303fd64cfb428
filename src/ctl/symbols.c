/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbols.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/idmap.h"
#include "base/lazy.h"
#include "base/mem.h"
#include "print.h"
#include "text.h"
#include "view/demangle.h"
#include "view/objects.h"
#include "view/show.h"

#define LIBDW_FUNCTIONS(X)             \
	X(dwfl_begin)                  \
	X(dwfl_build_id_find_elf)      \
	X(dwfl_end)                    \
	X(dwfl_lineinfo)               \
	X(dwfl_module_addrinfo)        \
	X(dwfl_module_build_id)        \
	X(dwfl_module_getelf)          \
	X(dwfl_module_getsrc)          \
	X(dwfl_module_report_build_id) \
	X(dwfl_report_begin)           \
	X(dwfl_report_elf)             \
	X(dwfl_report_end)             \
	X(dwfl_report_module)          \
	X(dwfl_standard_find_debuginfo)

struct libdw {
	LIBDW_FUNCTIONS(LAZY_POINTER)
};

enum symbol_trouble { TROUBLE_NONE, TROUBLE_MISSING, TROUBLE_REPLACED, TROUBLE_NO_ELF };

/** An object's file. @unnamed: addresses in it without a name. */
struct symbol_file {
	struct idmap_node node;
	struct symbol_file *next;
	char *path;
	uint8_t build_id[OBJECT_ID_MAX];
	uint32_t build_id_len;
	Dwfl *dwfl;
	Dwfl_Module *module; /* NULL: there are no names */
	enum symbol_trouble trouble;
	uint64_t unnamed;
};

struct symbol_row {
	struct idmap_node node;
	struct symbol_row *next;
	const struct symbol_file *file;
	uint64_t address;
	struct symbol symbol;
	char *demangled; /* or NULL */
};

/** @err: libdw can't be loaded. */
struct symbols {
	struct libdw lib;
	Dwfl_Callbacks callbacks;
	bool demangle;
	struct err err;
	struct idmap files_map, rows_map;
	struct symbol_file *files;
	struct symbol_row *rows;
};

struct symbols *symbols_new(bool demangle)
{
	struct symbols *symbols = xalloc(sizeof(*symbols));

	symbols->demangle = demangle;
	idmap_init(&symbols->files_map);
	idmap_init(&symbols->rows_map);
	return symbols;
}

void symbols_free(struct symbols *symbols)
{
	struct symbol_file *file;
	struct symbol_row *row;

	if (!symbols)
		return;
	idmap_fini(&symbols->files_map);
	idmap_fini(&symbols->rows_map);
	while ((row = symbols->rows)) {
		symbols->rows = row->next;
		free(row->demangled);
		free(row);
	}
	while ((file = symbols->files)) {
		symbols->files = file->next;
		if (file->dwfl)
			symbols->lib.dwfl_end(file->dwfl);
		free(file->path);
		free(file);
	}
	free(symbols);
}

/* Before the first file is read: a trace without addresses needs no library. */
static int symbols_library(struct symbols *symbols)
{
	static const char *const names[] = { LIBDW_FUNCTIONS(LAZY_NAME) };

	if (symbols->err.code || symbols->callbacks.find_elf)
		return symbols->err.code;
	if (lazy_load(LTT_LIBDW, names, ARRAY_SIZE(names), &symbols->lib, &symbols->err) != 0)
		return symbols->err.code;
	symbols->callbacks = (Dwfl_Callbacks){
		.find_elf = symbols->lib.dwfl_build_id_find_elf,
		.find_debuginfo = symbols->lib.dwfl_standard_find_debuginfo,
	};
	return 0;
}

/* --- files ------------------------------------------------------------------------------ */

/* A trace may name anything: a FIFO would block, a device may act, a relative path would be another
 * file. */
static int symbols_open_file(const char *path)
{
	int fd = path[0] == '/' ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool symbols_is_recorded_one(const struct libdw *lib, Dwfl_Module *module,
				    const struct symbol_file *file)
{
	const unsigned char *bits;
	GElf_Addr at;
	int len = lib->dwfl_module_build_id(module, &bits, &at);

	return !file->build_id_len || (len == (int)file->build_id_len &&
				       memcmp(bits, file->build_id, file->build_id_len) == 0);
}

static Dwfl_Module *symbols_by_path(const struct libdw *lib, struct symbol_file *file)
{
	int fd = symbols_open_file(file->path);
	Dwfl_Module *module;

	if (fd < 0) {
		file->trouble = TROUBLE_MISSING;
		return NULL;
	}
	module = lib->dwfl_report_elf(file->dwfl, file->path, file->path, fd, 0, true);
	if (!module) {
		close(fd);
		file->trouble = TROUBLE_NO_ELF;
		return NULL;
	}
	if (symbols_is_recorded_one(lib, module, file))
		return module;
	file->trouble = TROUBLE_REPLACED;
	return NULL;
}

/* Where debug files are kept by their build ids, or from a debuginfod of the user. */
static Dwfl_Module *symbols_by_build_id(const struct libdw *lib, struct symbol_file *file,
					const struct object *object)
{
	uint64_t base = object->is_pic ? 0 : object->base;
	Dwfl_Module *module;
	GElf_Addr bias;

	lib->dwfl_report_begin(file->dwfl);
	module = lib->dwfl_report_module(file->dwfl, file->path, base, base + object->size);
	if (!module || !file->build_id_len ||
	    lib->dwfl_module_report_build_id(module, file->build_id, file->build_id_len, 0) != 0 ||
	    !lib->dwfl_module_getelf(module, &bias))
		return NULL;
	file->trouble = TROUBLE_NONE;
	return module;
}

static void symbols_load(struct symbols *symbols, struct symbol_file *file,
			 const struct object *object)
{
	const struct libdw *lib = &symbols->lib;

	if (symbols_library(symbols) != 0)
		return;
	file->dwfl = lib->dwfl_begin(&symbols->callbacks);
	if (!file->dwfl) {
		file->trouble = TROUBLE_NO_ELF;
		return;
	}
	lib->dwfl_report_begin(file->dwfl);
	file->module = symbols_by_path(lib, file);
	if (!file->module)
		file->module = symbols_by_build_id(lib, file, object);
	lib->dwfl_report_end(file->dwfl, NULL, NULL);
}

static struct symbol_file *symbols_file(struct symbols *symbols, const struct object *object)
{
	uint64_t hash = idmap_hash_text(object->path);
	struct idmap_node *node = idmap_find(&symbols->files_map, hash);
	struct symbol_file *file;

	for (; node; node = idmap_next(&symbols->files_map, node)) {
		file = container_of(node, struct symbol_file, node);
		if (strcmp(file->path, object->path) == 0 &&
		    file->build_id_len == object->build_id_len &&
		    memcmp(file->build_id, object->build_id, object->build_id_len) == 0)
			return file;
	}
	file = xalloc(sizeof(*file));
	file->path = xstrdup(object->path);
	file->build_id_len = object->build_id_len;
	memcpy(file->build_id, object->build_id, object->build_id_len);
	file->next = symbols->files;
	symbols->files = file;
	idmap_add(&symbols->files_map, &file->node, hash);
	symbols_load(symbols, file, object);
	return file;
}

/* --- addresses ------------------------------------------------------------------------------ */

static void symbols_find(const struct libdw *lib, const struct symbol_file *file, uint64_t address,
			 struct symbol *ret)
{
	GElf_Off offset = 0;
	GElf_Sym sym;
	Dwfl_Line *line;
	int number = 0;

	if (!file->module)
		return;
	ret->function =
		lib->dwfl_module_addrinfo(file->module, address, &offset, &sym, NULL, NULL, NULL);
	line = lib->dwfl_module_getsrc(file->module, address);
	if (line)
		ret->file = lib->dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL);
	if (ret->function)
		ret->offset = offset;
	ret->line = number > 0 ? (uint32_t)number : 0;
}

void symbols_name(void *priv, const struct object *object, uint64_t address, struct symbol *ret)
{
	struct symbols *symbols = priv;
	struct symbol_file *file = symbols_file(symbols, object);
	uint64_t hash = (uintptr_t)file * 31 + address;
	struct idmap_node *node = idmap_find(&symbols->rows_map, hash);
	struct symbol_row *row = NULL;

	for (; node; node = idmap_next(&symbols->rows_map, node)) {
		row = container_of(node, struct symbol_row, node);
		if (row->file == file && row->address == address)
			break;
	}
	if (!node) {
		row = xalloc(sizeof(*row));
		row->file = file;
		row->address = row->symbol.offset = address;
		symbols_find(&symbols->lib, file, address, &row->symbol);
		if (symbols->demangle && row->symbol.function)
			row->demangled = demangle(row->symbol.function);
		if (row->demangled)
			row->symbol.function = row->demangled;
		row->next = symbols->rows;
		symbols->rows = row;
		idmap_add(&symbols->rows_map, &row->node, hash);
		file->unnamed += !row->symbol.function;
	}
	*ret = row->symbol;
}

/* --- the user --------------------------------------------------------------------------- */

/* Debian's package of a file. @buf: "" if it is in none. */
static void symbols_find_package(const char *path, char *buf, size_t len)
{
	static const char harmless[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
		"/._+-";
	char *command AUTO_FREE = xasprintf("dpkg-query -S %s 2>/dev/null", path);
	FILE *from = NULL;

	buf[0] = '\0';
	if (path[0] == '/' && path[strspn(path, harmless)] == '\0')
		from = popen(command, "re");
	if (from && !fgets(buf, (int)len, from))
		buf[0] = '\0';
	if (from)
		pclose(from);
	buf[strcspn(buf, ":\n")] = '\0';
}

static void symbols_report_file(const struct symbol_file *file, struct ctl *ctl)
{
	static const char *const words[] = {
		[TROUBLE_MISSING] = "is not on this machine",
		[TROUBLE_REPLACED] = "is not the recorded one: it has another build id",
		[TROUBLE_NO_ELF] = "is no program or library that can be read",
	};
	char nr[TEXT_BYTES], package[256];

	text_count(nr, file->unnamed);
	if (file->trouble != TROUBLE_NONE) {
		print_note(ctl, "%s %s; addresses in it without a name: %s", file->path,
			   words[file->trouble], nr);
		return;
	}
	symbols_find_package(file->path, package, sizeof(package));
	print_note(ctl, "%s has no symbols for %s addresses; %s%s%s%s%s or set DEBUGINFOD_URLS",
		   file->path, nr, *package ? "install " : "install its debug symbols", package,
		   *package ? "-dbgsym (or " : "", *package ? package : "",
		   *package ? "-dbg)" : "");
}

void symbols_report(const struct symbols *symbols, struct ctl *ctl)
{
	if (symbols->err.code) {
		print_warning(ctl, "addresses are shown without names: %s", symbols->err.text);
		return;
	}
	for (const struct symbol_file *file = symbols->files; file; file = file->next)
		if (file->unnamed)
			symbols_report_file(file, ctl);
}
