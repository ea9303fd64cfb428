/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions that follow libltt's are found by tables as the dynamic linker finds them. */
#include <dlfcn.h>
#include <string.h>

#include "check.h"
#include "tracer/agent/host/next.h"

/* Some have an older version, a resolver, or are in no library. */
static const char *const names[] = {
	"fork",	 "stat",   "__xstat64",	  "pthread_create", "posix_spawn", "popen",
	"statx", "memcpy", "pthread_setname_np", "regexec",	    "realpath",    "gettimeofday",
	"close", "dlsym",  "ltt_there_is_none", "x",	    "timer_create", "setresgid",
};

static void check_as_dlsym(const char *name)
{
	void *slot = NULL, *wanted = dlsym(RTLD_NEXT, name);
	void *found = agent_next(&slot, name, NULL);

	if (!wanted)
		wanted = dlsym(RTLD_DEFAULT, name);
	if (found != wanted)
		printf("%s: %p by tables, %p by dlsym()\n", name, found, wanted);
	CHECK(found == wanted && slot == wanted);
}

static void check_all(void)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		check_as_dlsym(names[i]);
}

static void check_tables(const struct next_scope *scope)
{
	uint32_t hash = tables_hash("fork");
	unsigned int found = 0;

	CHECK(scope->nr >= 2 && scope->own < scope->nr);
	for (unsigned int i = scope->own + 1; i < scope->nr; i++)
		found += tables_find(&scope->objects[i], "fork", hash) != NULL;
	CHECK(found >= 1);
	CHECK(tables_hash("") == 5381 && tables_hash("printf") == 0x156b2bb8);
	CHECK(agent_next_is_behind("fork"));
}

static void check_without(void)
{
	CHECK(!agent_next_is_behind("fork"));
	check_all();
}

int main(void)
{
	struct next_scope scope;

	agent_next_begin(&scope);
	check_tables(&scope);
	check_all();
	agent_next_end();
	check_without();
	return 0;
}
