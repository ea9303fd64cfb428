/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyse/symbol/demangle.h"
#include "analyse/symbol/objects.h"
#include "analyse/symbol/symtable.h"
#include "base/idmap.h"
#include "base/lazy.h"
#include "base/mem.h"
#include "ctl/print/print.h"
#include "ctl/print/text.h"
#include "embed.h"
#include "io/elffile.h"
#include "inlines.h"
#include "ksymbols.h"
#include "show/show.h"

#define SYMBOLS_SEGMENTS 8u /* with code is one, seldom two */

enum symbol_trouble { TROUBLE_NONE, TROUBLE_MISSING, TROUBLE_REPLACED, TROUBLE_NO_ELF };

/** An object's file. @is_mapped: as of the object: addresses are offsets. @unnamed: addresses in it
 *  without a name. */
struct symbol_file {
	struct idmap_node node;
	struct symbol_file *next;
	char *path;
	uint8_t build_id[OBJECT_ID_MAX];
	uint32_t build_id_len;
	bool is_mapped;
	Dwfl *dwfl;
	Dwfl_Module *module; /* NULL: there are no names */
	struct inlines *inlines;
	enum symbol_trouble trouble;
	uint64_t unnamed;
	ElfW(Phdr) segments[SYMBOLS_SEGMENTS]; /* that are loaded, of a file that is there */
	uint32_t nr_segments;
};

struct symbol_row {
	struct idmap_node node;
	struct symbol_row *next;
	const struct symbol_file *file;
	uint64_t address;
	struct symbol symbol;
	char *demangled; /* or NULL */
	struct symbol_inline *inlined;
	char **inlined_demangled; /* as many; or NULL */
};

/** @err: libdw can't be loaded. @table: of the trace; or NULL. @table_error: why it isn't used. */
struct symbols {
	struct libdw lib;
	Dwfl_Callbacks callbacks;
	const struct show_options *options;
	struct symtable *table;
	int table_error;
	struct err err;
	struct idmap files_map, rows_map;
	struct symbol_file *files;
	struct symbol_row *rows;
	struct ksymbols *kernels;
	char *debug_path; /* of libdw; NULL: the usual one */
	bool is_uncounted;
};

struct symbols *symbols_new(const struct show_options *options, const char *trace)
{
	struct symbols *symbols = xalloc(sizeof(*symbols));

	symbols->options = options;
	symbols->table_error = trace ? symtable_read(trace, &symbols->table) : 0;
	idmap_init(&symbols->files_map);
	idmap_init(&symbols->rows_map);
	symbols->kernels = ksymbols_new();
	return symbols;
}

static void symbols_free_row(struct symbol_row *row)
{
	for (uint32_t i = 0; row->inlined_demangled && i < row->symbol.nr_inlined; i++)
		free(row->inlined_demangled[i]);
	free(row->inlined_demangled);
	free(row->inlined);
	free(row->demangled);
	free(row);
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
		symbols_free_row(row);
	}
	while ((file = symbols->files)) {
		symbols->files = file->next;
		inlines_free(file->inlines);
		if (file->dwfl)
			symbols->lib.dwfl_end(file->dwfl);
		free(file->path);
		free(file);
	}
	symtable_free(symbols->table);
	ksymbols_free(symbols->kernels);
	free(symbols->debug_path);
	free(symbols);
}

/* The file of a build id in the user's directory, as below /usr/lib/debug: of a program, or of its
 * names. */
static char *symbols_id_path(const char *dir, const uint8_t *id, uint32_t len, const char *suffix)
{
	char digits[2 * OBJECT_ID_MAX + 1] = "";

	for (uint32_t i = 1; i < len; i++)
		sprintf(digits + 2 * (i - 1), "%02x", id[i]);
	return xasprintf("%s/.build-id/%02x/%s%s", dir, id[0], digits, suffix);
}

static char *symbols_debug_path(const char *dir, const uint8_t *id, uint32_t len)
{
	return symbols_id_path(dir, id, len, ".debug");
}

static bool symbols_is_no_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

/* Whether something other than a file is at DIR[/SUB]/NAME. */
static bool symbols_is_strange(const char *dir, const char *sub, const char *name)
{
	char *path AUTO_FREE = xasprintf("%s%s/%s", dir, sub, name);

	return symbols_is_no_file(path);
}

/* Whether libdw, for the debug file @link of the program @path, would open something else. */
static bool symbols_link_is_strange(const char *path, const char *link)
{
	const char *slash = strrchr(link, '/'), *end = strrchr(path, '/');
	const char *base = slash ? slash + 1 : link;
	char *dir AUTO_FREE = xstrdup(path);

	dir[end ? end - path : 0] = '\0';
	return symbols_is_strange(dir, "", link) || symbols_is_strange(dir, "/.debug", link) ||
	       symbols_is_strange(dir, "", base) || symbols_is_strange(dir, "/.debug", base) ||
	       (link[0] == '/' && symbols_is_strange("", "", link));
}

/* As that of a build id, in the user's directory. */
static bool symbols_id_is_strange(const struct symbols *symbols, Dwfl_Module *module)
{
	const char *dir = symbols->options->symbol_path;
	const unsigned char *bits;
	GElf_Addr at;
	int len = dir ? symbols->lib.dwfl_module_build_id(module, &bits, &at) : 0;
	char *path AUTO_FREE = len > 0 && (unsigned int)len <= OBJECT_ID_MAX ?
				       symbols_debug_path(dir, bits, (uint32_t)len) :
				       NULL;

	return path && symbols_is_no_file(path);
}

/* Whether libdw, for a program that is not at its path, would open something else there. */
static bool symbols_program_is_strange(const struct symbols *symbols,
				       const struct symbol_file *file)
{
	static const char *const suffixes[] = { "", ".debug" };
	const char *dir = symbols->options->symbol_path;
	bool is_strange = false;

	for (size_t i = 0; dir && i < ARRAY_SIZE(suffixes); i++) {
		char *path AUTO_FREE = symbols_id_path(dir, file->build_id, file->build_id_len,
						       suffixes[i]);

		is_strange |= symbols_is_no_file(path);
	}
	return is_strange;
}

/*
 * Debug files are found by libdw, which opens without a look whatever is at their place: also a
 * FIFO, which blocks. In a user's directory, or named by a damaged program, it can be anything.
 * @priv: struct symbols.
 */
static int symbols_find_debug(Dwfl_Module *module, void **priv, const char *name, Dwarf_Addr base,
			      const char *path, const char *link, GElf_Word crc, char **ret_path)
{
	const struct symbols *symbols = *priv;
	const char *slash = path ? strrchr(path, '/') : NULL;
	char *usual AUTO_FREE = path ? xasprintf("%s.debug", slash ? slash + 1 : path) : NULL;
	char *real AUTO_FREE = path ? realpath(path, NULL) : NULL;

	if (!symbols || symbols_id_is_strange(symbols, module) ||
	    (path && symbols_link_is_strange(path, link ? link : usual)) ||
	    (real && symbols_link_is_strange(real, link ? link : usual)))
		return -1;
	return symbols->lib.dwfl_standard_find_debuginfo(module, priv, name, base, path, link, crc,
							 ret_path);
}

/* Before the first file is read: a trace without addresses needs no library. */
static int symbols_library(struct symbols *symbols)
{
	static const char *const names[] = { LIBDW_FUNCTIONS(LAZY_NAME) };
	const char *given = symbols->options->symbol_path;
	char *dir AUTO_FREE = given ? realpath(given, NULL) : NULL;

	if (symbols->err.code || symbols->callbacks.find_elf)
		return symbols->err.code;
	if (lazy_load(LTT_LIBDW, names, ARRAY_SIZE(names), &symbols->lib, &symbols->err) != 0)
		return symbols->err.code;
	symbols->callbacks = (Dwfl_Callbacks){
		.find_elf = symbols->lib.dwfl_build_id_find_elf,
		.find_debuginfo = symbols_find_debug,
		.debuginfo_path = &symbols->debug_path,
	};
	if (dir)
		symbols->debug_path = xasprintf("%s::.debug:/usr/lib/debug", dir);
	return 0;
}

/* --- files ------------------------------------------------------------------------------ */

/* A trace may name anything: a FIFO would block, a device may act. */
static int symbols_open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
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

/* Debug files of the module are found by libdw. */
static Dwfl_Module *symbols_prepare(struct symbols *symbols, Dwfl_Module *module)
{
	void **priv = NULL;

	symbols->lib.dwfl_module_info(module, &priv, NULL, NULL, NULL, NULL, NULL, NULL);
	if (priv)
		*priv = symbols;
	return module;
}

static void symbols_read_segments(struct symbol_file *file, int fd)
{
	struct elffile elf;
	ElfW(Phdr) segment;

	file->nr_segments = 0;
	if (elffile_open(fd, &elf) != 0)
		return;
	for (unsigned int i = 0; elffile_segment(&elf, i, &segment); i++)
		if (segment.p_type == PT_LOAD && file->nr_segments < SYMBOLS_SEGMENTS)
			file->segments[file->nr_segments++] = segment;
}

/* Return: the address of an offset in the file; the offset, if no segment has it. */
static uint64_t symbols_address(const struct symbol_file *file, uint64_t offset)
{
	if (!file->is_mapped)
		return offset;
	for (uint32_t i = 0; i < file->nr_segments; i++)
		if (offset - file->segments[i].p_offset < file->segments[i].p_filesz)
			return offset - file->segments[i].p_offset + file->segments[i].p_vaddr;
	return offset;
}

/* Return: the module of the file at @path, if it is the recorded one. */
static Dwfl_Module *symbols_try(struct symbols *symbols, struct symbol_file *file, const char *path)
{
	const struct libdw *lib = &symbols->lib;
	int fd = symbols_open_file(path);
	Dwfl_Module *module;

	if (fd < 0)
		return NULL;
	symbols_read_segments(file, fd);
	lib->dwfl_report_begin(file->dwfl);
	module = lib->dwfl_report_elf(file->dwfl, file->path, path, fd, 0, true);
	if (!module) {
		close(fd);
		file->trouble = TROUBLE_NO_ELF;
		return NULL;
	}
	if (symbols_is_recorded_one(lib, module, file)) {
		file->trouble = TROUBLE_NONE;
		return symbols_prepare(symbols, module);
	}
	file->trouble = TROUBLE_REPLACED;
	return NULL;
}

/* A debug file is used beside the program (see debug_path), which has names of its own, and in
 * place of one that is not there. */
static Dwfl_Module *symbols_by_path(struct symbols *symbols, struct symbol_file *file)
{
	const char *dir = symbols->options->symbol_path, *root = symbols->options->sysroot;
	const char *slash = strrchr(file->path, '/');
	char *paths[] = {
		dir ? xasprintf("%s%s", dir, file->path) : NULL,
		dir ? xasprintf("%s/%s", dir, slash ? slash + 1 : file->path) : NULL,
		xasprintf("%s%s", root ? root : "", file->path),
		dir && file->build_id_len ?
			symbols_debug_path(dir, file->build_id, file->build_id_len) :
			NULL,
	};
	Dwfl_Module *module = NULL;

	file->trouble = TROUBLE_MISSING;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		/* a path that is not whole would be another file here */
		if (paths[i] && !module && file->path[0] == '/')
			module = symbols_try(symbols, file, paths[i]);
		free(paths[i]);
	}
	return module;
}

/* Where debug files are kept by their build ids, or from a debuginfod of the user. */
static Dwfl_Module *symbols_by_build_id(struct symbols *symbols, struct symbol_file *file,
					const struct object *object)
{
	const struct libdw *lib = &symbols->lib;
	uint64_t base = object->is_pic ? 0 : object->base;
	Dwfl_Module *module;
	GElf_Addr bias;

	lib->dwfl_report_begin(file->dwfl);
	module = lib->dwfl_report_module(file->dwfl, file->path, base, base + object->size);
	if (!module || !file->build_id_len || symbols_program_is_strange(symbols, file) ||
	    lib->dwfl_module_report_build_id(module, file->build_id, file->build_id_len, 0) != 0 ||
	    !lib->dwfl_module_getelf(module, &bias))
		return NULL;
	file->trouble = TROUBLE_NONE;
	return symbols_prepare(symbols, module);
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
	file->module = symbols_by_path(symbols, file);
	if (!file->module)
		file->module = symbols_by_build_id(symbols, file, object);
	lib->dwfl_report_end(file->dwfl, NULL, NULL);
}

static struct symbol_file *symbols_file(struct symbols *symbols, const struct object *object)
{
	uint64_t hash = idmap_hash_text(object->path);
	struct idmap_node *node = idmap_find(&symbols->files_map, hash);
	struct symbol_file *file;

	for (; node; node = idmap_next(&symbols->files_map, node)) {
		file = container_of(node, struct symbol_file, node);
		if (strcmp(file->path, object->path) == 0 && file->is_mapped == object->is_mapped &&
		    file->build_id_len == object->build_id_len &&
		    memcmp(file->build_id, object->build_id, object->build_id_len) == 0)
			return file;
	}
	file = xalloc(sizeof(*file));
	file->path = xstrdup(object->path);
	file->is_mapped = object->is_mapped;
	file->build_id_len = object->build_id_len;
	memcpy(file->build_id, object->build_id, object->build_id_len);
	file->next = symbols->files;
	symbols->files = file;
	idmap_add(&symbols->files_map, &file->node, hash);
	symbols_load(symbols, file, object);
	return file;
}

/* --- addresses ------------------------------------------------------------------------------ */

static void symbols_find_inlined(struct symbol_file *file, struct symbol_row *row)
{
	struct symbol_inline all[SYMBOL_INLINED_MOST];
	struct symbol *symbol = &row->symbol;

	symbol->nr_inlined =
		inlines_find(file->inlines, symbols_address(file, row->address), symbol, all);
	if (!symbol->nr_inlined)
		return;
	row->inlined = xalloc(symbol->nr_inlined * sizeof(*row->inlined));
	memcpy(row->inlined, all, symbol->nr_inlined * sizeof(*row->inlined));
	symbol->inlined = row->inlined;
}

static void symbols_find(const struct libdw *lib, struct symbol_file *file, struct symbol_row *row)
{
	struct symbol *ret = &row->symbol;
	uint64_t address = symbols_address(file, row->address);
	GElf_Off offset = 0;
	GElf_Sym sym;

	if (!file->module)
		return;
	if (!file->inlines)
		file->inlines = inlines_new(lib, file->module);
	ret->function =
		lib->dwfl_module_addrinfo(file->module, address, &offset, &sym, NULL, NULL, NULL);
	if (ret->function && sym.st_shndx == SHN_ABS) /* as versions are: no address */
		ret->function = NULL;
	inlines_line(file->inlines, address, ret);
	if (ret->function)
		ret->offset = offset;
	if (ret->function && ret->file)
		symbols_find_inlined(file, row);
}

static void symbols_demangle(struct symbol_row *row)
{
	struct symbol *symbol = &row->symbol;

	if (symbol->function)
		row->demangled = demangle(symbol->function);
	if (row->demangled)
		symbol->function = row->demangled;
	if (!symbol->nr_inlined)
		return;
	if (!row->inlined) { /* it is the table's */
		row->inlined = xalloc(symbol->nr_inlined * sizeof(*row->inlined));
		memcpy(row->inlined, symbol->inlined, symbol->nr_inlined * sizeof(*row->inlined));
		symbol->inlined = row->inlined;
	}
	row->inlined_demangled = xalloc(symbol->nr_inlined * sizeof(*row->inlined_demangled));
	for (uint32_t i = 0; i < symbol->nr_inlined; i++) {
		row->inlined_demangled[i] = demangle(row->inlined[i].function);
		if (row->inlined_demangled[i])
			row->inlined[i].function = row->inlined_demangled[i];
	}
}

/* The key of a file in the trace's table. */
static const uint8_t *symbols_table_id(const struct symbol_file *file, uint32_t *ret_len)
{
	size_t len = strlen(file->path), most = MIN(len, (size_t)OBJECT_ID_MAX);

	*ret_len = file->is_mapped ? (uint32_t)most : file->build_id_len;
	return file->is_mapped ? (const uint8_t *)file->path + len - most : file->build_id;
}

/* Of a file that the kernel has mapped it is not known whether the one at its path is the same. */
static void symbols_find_row(struct symbols *symbols, struct symbol_file *file,
			     struct symbol_row *row)
{
	uint32_t len;
	const uint8_t *id = symbols_table_id(file, &len);

	if (symbols->table && file->is_mapped &&
	    symtable_find(symbols->table, id, len, row->address, &row->symbol))
		return;
	symbols_find(&symbols->lib, file, row);
	if (symbols->table && !file->is_mapped && (!row->symbol.function || !row->symbol.file))
		(void)!symtable_find(symbols->table, id, len, row->address, &row->symbol);
}

void symbols_name(void *priv, const struct object *object, uint64_t address, struct symbol *ret)
{
	struct symbols *symbols = priv;
	struct symbol_row *row = NULL;
	struct symbol_file *file;
	struct idmap_node *node;
	uint64_t hash;

	if (object->is_kernel) {
		ksymbols_name(symbols->kernels, object, address, ret);
		return;
	}
	file = symbols_file(symbols, object);
	hash = (uintptr_t)file * 31 + address;
	node = idmap_find(&symbols->rows_map, hash);
	for (; node; node = idmap_next(&symbols->rows_map, node)) {
		row = container_of(node, struct symbol_row, node);
		if (row->file == file && row->address == address)
			break;
	}
	if (!node) {
		row = xalloc(sizeof(*row));
		row->file = file;
		row->address = row->symbol.offset = address;
		symbols_find_row(symbols, file, row);
		if (!symbols->options->mangled)
			symbols_demangle(row);
		row->next = symbols->rows;
		symbols->rows = row;
		idmap_add(&symbols->rows_map, &row->node, hash);
		file->unnamed += !row->symbol.function && !symbols->is_uncounted;
	}
	*ret = row->symbol;
}

/* --- the trace's table ----------------------------------------------------------------------- */

static bool symbols_is_word(const char *text)
{
	return !strpbrk(text, "\t\n");
}

/* The lines of a file begin with its build id. */
static void symbols_write_file(FILE *to, const struct symbol_file *file)
{
	uint32_t len;
	const uint8_t *id = symbols_table_id(file, &len);

	fputs("file ", to);
	for (uint32_t i = 0; i < len; i++)
		fprintf(to, "%02x", id[i]);
	fputc('\n', to);
}

static const char *symbols_file_word(const char *file)
{
	return file && symbols_is_word(file) ? file : "";
}

/* Return: how many bytes a row has at most. */
static size_t symbols_row_bytes(const struct symbol *symbol)
{
	size_t bytes = 256 + strlen(symbol->function) + strlen(symbols_file_word(symbol->file));

	for (uint32_t i = 0; i < symbol->nr_inlined; i++)
		bytes += 16 + strlen(symbol->inlined[i].function) +
			 strlen(symbols_file_word(symbol->inlined[i].file));
	return bytes;
}

/* Return: false: there is no room. */
static bool symbols_write_row(FILE *to, const struct symbol_row *row)
{
	const struct symbol *symbol = &row->symbol;
	const struct symbol_inline *inlined = symbol->inlined;

	if (ftell(to) + (long)symbols_row_bytes(symbol) > SYMTABLE_BYTES_MOST)
		return false;
	fprintf(to, "%" PRIx64 " %" PRIx64 " %" PRIx32 "\t%s\t%s\n", row->address, symbol->offset,
		symbol->line, symbol->function, symbols_file_word(symbol->file));
	for (uint32_t i = 0; i < symbol->nr_inlined; i++, inlined++)
		fprintf(to, "+%" PRIx32 "\t%s\t%s\n", inlined->line, inlined->function,
			symbols_file_word(inlined->file));
	return true;
}

static bool symbols_has_place(const struct symbol_row *row)
{
	const char *function = row->symbol.function;
	uint32_t len;

	for (uint32_t i = 0; i < row->symbol.nr_inlined; i++)
		if (!symbols_is_word(row->symbol.inlined[i].function))
			return false;
	symbols_table_id(row->file, &len);
	return len && function && *function && symbols_is_word(function);
}

/* Rows are in the order of files then. */
static int symbols_compare(const void *a, const void *b)
{
	const struct symbol_row *x = *(const struct symbol_row *const *)a;
	const struct symbol_row *y = *(const struct symbol_row *const *)b;

	if (x->file != y->file)
		return (uintptr_t)x->file < (uintptr_t)y->file ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

static void symbols_write_rows(const struct symbols *symbols, FILE *to, struct embedded *ret)
{
	const struct symbol_row **rows AUTO_FREE = NULL;
	const struct symbol_file *file = NULL;
	size_t nr = 0, lines = 1;

	for (const struct symbol_row *row = symbols->rows; row; row = row->next)
		nr += symbols_has_place(row);
	rows = xalloc((nr + 1) * sizeof(struct symbol_row *));
	nr = 0;
	for (const struct symbol_row *row = symbols->rows; row; row = row->next)
		if (symbols_has_place(row))
			rows[nr++] = row;
	qsort(rows, nr, sizeof(struct symbol_row *), symbols_compare);
	fputs(SYMTABLE_MAGIC, to);
	for (size_t i = 0; i < nr; i++) {
		if (lines + 2 + rows[i]->symbol.nr_inlined > SYMTABLE_LINES_MOST)
			break;
		if (rows[i]->file != file) {
			file = rows[i]->file;
			symbols_write_file(to, file);
			lines++;
		}
		if (!symbols_write_row(to, rows[i]))
			break;
		ret->names++;
		lines += 1 + rows[i]->symbol.nr_inlined;
	}
	ret->left_out = nr - ret->names;
}

/* A table that is there already stays until this one is whole. */
int symbols_write(const struct symbols *symbols, const char *dir, struct embedded *ret,
		  struct err *err)
{
	char *path AUTO_FREE = xasprintf("%s/" SYMTABLE_FILE, dir);
	char *new AUTO_FREE = xasprintf("%s/" SYMTABLE_FILE ".new", dir);
	FILE *to;
	int error = 0;

	unlink(new);
	to = fopen(new, "wxe");
	if (!to)
		return err_errno(err, ERR_OUTPUT, errno, "can't write %s", path);
	symbols_write_rows(symbols, to, ret);
	if (ferror(to) | (fclose(to) != 0) || rename(new, path) != 0) {
		error = errno;
		unlink(new);
		return err_errno(err, ERR_OUTPUT, error, "can't write %s", path);
	}
	return 0;
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

void symbols_count(struct symbols *symbols, bool counts)
{
	symbols->is_uncounted = !counts;
}

void symbols_report(const struct symbols *symbols, struct ctl *ctl)
{
	if (symbols->table_error)
		print_warning(ctl, "the names that the trace carries are not used: its file " SYMTABLE_FILE
				   " %s%s",
			      symbols->table_error == -EPROTO || symbols->table_error == -EFBIG ?
				      "is damaged" :
				      "can't be read: ",
			      symbols->table_error == -EPROTO || symbols->table_error == -EFBIG ?
				      "" :
				      strerror(-symbols->table_error));
	ksymbols_report(symbols->kernels, ctl);
	if (symbols->err.code) {
		print_warning(ctl, "addresses are shown without names: %s", symbols->err.text);
		return;
	}
	for (const struct symbol_file *file = symbols->files; file; file = file->next)
		if (file->unnamed)
			symbols_report_file(file, ctl);
}
