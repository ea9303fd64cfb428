/* SPDX-License-Identifier: GPL-2.0-only */
#include "wrap.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <ltt/control.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/elf.h"
#include "ctl/own.h"
#include "ctl/names.h"
#include "run.h"
#include "read/view.h"

static const char *const wrappers[] = {
	"libc", "pthread", "dl", "cyg-profile", "cyg-profile-fast", NULL,
};

static bool known(const char *name)
{
	for (size_t i = 0; wrappers[i]; i++)
		if (strcmp(wrappers[i], name) == 0)
			return true;
	return false;
}

/* The library that came with this lttctl, else the one that the linker finds. */
static char *wrap_library(unsigned int bits, const char *file)
{
	char *dir AUTO_FREE = own_library_dir_for(bits, file);

	return dir ? xasprintf("%s/%s", dir, file) : xstrdup(file);
}

static unsigned int bits_of(const char *program)
{
	char *path AUTO_FREE = run_find(program);
	struct elf_facts facts = { 0 };

	return elf_read(path, &facts) == 0 ? facts.bits : 8 * sizeof(void *);
}

/* @list becomes longer; @what is taken over. */
static void wrap_append(char **list, char *what)
{
	char *longer = xasprintf("%s%s%s", *list ? *list : "", *list ? ":" : "", what);

	free(*list);
	free(what);
	*list = longer;
}

/* A sanitizer's runtime ends a program in which it is not the first library. */
static bool must_be_first(const char *library)
{
	const char *slash = strrchr(library, '/');
	const char *name = slash ? slash + 1 : library;

	return glob_match("lib*san.so*", name) || glob_match("libclang_rt.*san*.so*", name);
}

/* Append those of the user's libraries that are to be in front of the wrappers, or the others. */
static void append_users(char **list, bool front)
{
	const char *old = getenv("LD_PRELOAD");
	char *copy AUTO_FREE = xstrdup(old ? old : "");
	char *rest = copy, *library;

	while ((library = strsep(&rest, " :")))
		if (*library && must_be_first(library) == front)
			wrap_append(list, xstrdup(library));
}

static int unknown_wrapper(struct err *err, const char *name)
{
	const char *near = nearest_word(name, wrappers);

	return err_set(err, ERR_INVALID, "there is no wrapper '%s'%s%s%s", name,
		       near ? "; did you mean '" : "", near ? near : "",
		       near ? "'?" :
			      "; there are libc, pthread, dl, cyg-profile and cyg-profile-fast");
}

/*
 * libltt comes first, so that the program calls its vfork() and not libc's. The wrappers come
 * before the user's libraries: an allocator among these would hide them. That of dlclose()'s events
 * comes before those that have a dlclose() as well, as it records its caller.
 */
char *wrap_environment(struct ctl *ctl, const char *program, const char *list)
{
	const unsigned int bits = bits_of(program);
	struct names names CLEANUP(names_fini) = { 0 };
	char *libraries AUTO_FREE = NULL;

	if (list)
		names_split(list, &names);
	append_users(&libraries, true);
	wrap_append(&libraries, wrap_library(bits, "libltt.so.1"));
	for (size_t i = 0; i < names.nr; i++) {
		if (!known(names.names[i])) {
			unknown_wrapper(&ctl->err, names.names[i]);
			return NULL;
		}
		if (strcmp(names.names[i], "dl") == 0)
			wrap_append(&libraries, wrap_library(bits, "libltt-dl.so"));
	}
	for (size_t i = 0; i < names.nr; i++) {
		char *file AUTO_FREE = xasprintf("libltt-%s.so", names.names[i]);

		if (strcmp(names.names[i], "dl") != 0)
			wrap_append(&libraries, wrap_library(bits, file));
	}
	append_users(&libraries, false);
	return xasprintf("LD_PRELOAD=%s", libraries);
}

/* The linker of another C library ends a program whose preloaded libraries need glibc. */
bool wrap_can_load(const char *program)
{
	char *path AUTO_FREE = run_find(program);
	struct elf_facts facts = { .dynamic = true };

	return elf_read(path, &facts) != 0 || facts.foreign || !facts.dynamic ||
	       elf_has_glibc(&facts);
}

char *wrap_depth_environment(struct ctl *ctl, const char *depth)
{
	uint64_t nr = WRAP_DEPTH;

	if (depth && (parse_u64(depth, &nr) != 0 || !nr || nr > WRAP_DEPTH_MOST)) {
		err_set(&ctl->err, ERR_INVALID,
			"--call-site=%s: this is not a number of calls, 1 to %u", depth,
			WRAP_DEPTH_MOST);
		return NULL;
	}
	return xasprintf(WRAP_DEPTH_VARIABLE "=%u", (unsigned int)nr);
}

#define ASAN_ORDER "verify_asan_link_order"

char *wrap_sanitizer_environment(void)
{
	const char *old = getenv("ASAN_OPTIONS");

	if (old && strstr(old, ASAN_ORDER))
		return NULL;
	return xasprintf("ASAN_OPTIONS=%s%s" ASAN_ORDER "=0", old ? old : "",
			 old && *old ? ":" : "");
}

/* --- wrappers that were not called ----------------------------------------------------- */

/* A program that records so much for so long is not examined: it would take seconds. */
#define EXAMINED_BYTES (1u << 30)

/* "ltt_cyg_profile:" */
static char *provider_of(const char *name)
{
	char *provider = xasprintf("ltt_%s:", name);

	for (char *c = provider; *c; c++)
		*c = *c == '-' ? '_' : *c;
	return provider;
}

/* Whether one of the patterns may match an event of the provider. */
static bool may_match(const char *events, const char *provider)
{
	struct names patterns CLEANUP(names_fini) = { 0 };
	bool may = !events;

	names_split(events ? events : "", &patterns);
	for (size_t i = 0; i < patterns.nr && !may; i++) {
		size_t plain = strcspn(patterns.names[i], "*");
		size_t len = MIN(plain, strlen(provider));

		may = strncmp(patterns.names[i], provider, len) == 0 &&
		      (patterns.names[i][plain] || plain > len);
	}
	return may;
}

/* Return: whether the trace has no event of the provider; false if that is not known. */
static bool has_none(const char *trace, const char *provider)
{
	char *names AUTO_FREE = xasprintf("%s*", provider);
	const struct view_select select = { .names = names, .limit = 1 };
	const struct view_summary *summary;
	struct view *view;
	bool none;

	if (view_open(trace, NULL, NULL, &view) < 0)
		return false;
	none = view_scan(view, &select) == 0 && view_summary(view, &summary) == 0 &&
	       summary->events == 0 && summary->problems == 0;
	view_free(view);
	return none;
}

struct json_object *wrap_find_uncalled(const char *list, const char *events, const char *trace,
				       uint64_t bytes)
{
	struct json_object *uncalled = json_object_new_array();
	struct names names CLEANUP(names_fini) = { 0 };

	names_split(list, &names);
	for (size_t i = 0; i < names.nr && bytes < EXAMINED_BYTES; i++) {
		char *provider AUTO_FREE = provider_of(names.names[i]);

		if (may_match(events, provider) && has_none(trace, provider))
			json_object_array_add(uncalled, json_object_new_string(names.names[i]));
	}
	return uncalled;
}

/* A function that the wrapper defines, too: the program's own one hides it. */
static const char *hiding_function(const char *wrapper)
{
	return strcmp(wrapper, "libc") == 0    ? "malloc" :
	       strcmp(wrapper, "pthread") == 0 ? "pthread_mutex_lock" :
	       strcmp(wrapper, "dl") == 0      ? "dlopen" :
						 "__cyg_profile_func_enter";
}

/* "\\:" for ":", as a path has it in a location. */
static char *wrap_escape_colons(const char *path)
{
	char *escaped = xalloc(2 * strlen(path) + 1), *to = escaped;

	for (; *path; *to++ = *path++)
		if (*path == ':')
			*to++ = '\\';
	return escaped;
}

static bool defines(const char *path, const char *function)
{
	char *escaped AUTO_FREE = wrap_escape_colons(path);
	char *location AUTO_FREE = xasprintf("function:%s:%s", escaped, function);
	struct ltt_ctl *unconnected = ltt_ctl_new();
	struct ltt_ctl_places *places = NULL;
	bool found = unconnected && ltt_ctl_find_places(unconnected, location, &places) == 0;

	ltt_ctl_places_free(places);
	ltt_ctl_free(unconnected);
	return found;
}

/* Whether the dynamic linker ignores LD_PRELOAD for it: it gets privileges from its file. */
static bool is_secure(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 &&
	       ((st.st_mode & S_ISUID && st.st_uid != geteuid()) ||
		(st.st_mode & S_ISGID && st.st_gid != getegid()) ||
		(geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0));
}

void wrap_explain_uncalled(FILE *out, const char *program, const char *wrapper)
{
	char *path AUTO_FREE = run_find(program);
	const char *function = hiding_function(wrapper);
	struct elf_facts facts = { .dynamic = true };
	const char *remedy;
	char *obstacle AUTO_FREE =
		elf_read(path, &facts) == 0 ? elf_obstacle(&facts, &remedy) : NULL;

	fprintf(out, "The program has called no function that --wrap=%s records", wrapper);
	if (obstacle)
		fprintf(out,
			": it %s,\nso that no library can be loaded into it. %s, or record what the "
			"kernel does\nfor it: lttctl record -k -- ...\n",
			obstacle, remedy);
	else if (is_secure(path))
		fputs(": it has privileges of its file (setuid,\nor capabilities), so that LD_PRELOAD "
		      "is ignored. Record it as the user that it runs as:\nsudo lttctl record ...\n",
		      out);
	else if (facts.dynamic && defines(path, function))
		fprintf(out,
			": it has its own %s(), which hides\nthe wrapper's. Build it with libc's, or "
			"let the kernel record the calls:\nlttctl enable-event -k NAME "
			"--userspace-probe=%s:%s\n",
			function, path, function);
	else
		fprintf(out, " by way of the\nlibrary. 'lttctl doctor -- %s' shows details.\n",
			program);
}
