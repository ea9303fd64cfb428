/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "env.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYSTEM_RUNDIR "/run/ltt"

struct tracer_env tracer_env;

size_t tracer_join(char *to, size_t size, ...)
{
	size_t all = 0;
	const char *text;
	va_list args;

	va_start(args, size);
	while ((text = va_arg(args, const char *)))
		for (; *text; text++, all++)
			if (all + 1 < size)
				to[all] = *text;
	va_end(args);
	to[all < size ? all : size - 1] = '\0';
	return all;
}

static bool is_set(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value && strcmp(value, "0") != 0;
}

static int env_timeout_ms(void)
{
	const char *value = secure_getenv("LTT_REGISTER_TIMEOUT");
	long ms = value ? strtol(value, NULL, 10) : 0;

	if (ms < 0)
		return -1;
	return ms > 3600000 ? 3600000 : (int)ms;
}

/* A relative path is one of the directory that the program was started in. */
static void add_dir(const char *base, const char *rest)
{
	char *dir = tracer_env.dir[tracer_env.nr_dirs];
	char here[AGENT_PATH_MAX] = "";
	const char *slash = "";

	if (base[0] != '/') {
		if (!getcwd(here, sizeof(here)))
			return;
		slash = "/";
	}
	if (tracer_join(dir, AGENT_PATH_MAX, here, slash, base, rest, NULL) >= AGENT_PATH_MAX)
		return;
	if (tracer_env.nr_dirs > 0 && strcmp(dir, tracer_env.dir[0]) == 0)
		return;
	tracer_env.nr_dirs++;
}

static void add_user_dir(void)
{
	const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
	const char *home = secure_getenv("LTT_HOME");

	if (!home || !*home)
		home = secure_getenv("HOME");
	if (runtime && *runtime)
		add_dir(runtime, "/ltt");
	else if (home && *home)
		add_dir(home, "/.ltt/run");
}

static void read_scopes(void)
{
	const char *value = secure_getenv("LTT_SCOPE");
	size_t len = value ? strlen(value) : 0;

	if (len >= sizeof(tracer_env.scopes))
		value += len + 1 - sizeof(tracer_env.scopes);
	tracer_join(tracer_env.scopes, sizeof(tracer_env.scopes), value ? value : "", NULL);
}

void tracer_env_read(void)
{
	const char *rundir = secure_getenv("LTT_RUNDIR");

	tracer_env.disabled = is_set("LTT_APP_DISABLE");
	tracer_env.debug = is_set("LTT_DEBUG");
	tracer_env.register_timeout_ms = env_timeout_ms();
	read_scopes();
	tracer_env.nr_dirs = 0;
	tracer_env.chosen = rundir && *rundir;
	if (tracer_env.chosen) {
		add_dir(rundir, "");
		return;
	}
	add_dir(SYSTEM_RUNDIR, "");
	add_user_dir();
}

void tracer_debug(const char *format, ...)
{
	char line[512];
	int saved = errno;
	int head;
	int len;
	va_list args;

	if (!tracer_env.debug)
		return;
	head = snprintf(line, sizeof(line), "libltt[%d]: ", (int)getpid());
	va_start(args, format);
	len = vsnprintf(line + head, sizeof(line) - (size_t)head - 1, format, args);
	va_end(args);
	len = len < 0 ? head : head + len;
	if (len > (int)sizeof(line) - 2)
		len = (int)sizeof(line) - 2;
	line[len++] = '\n';
	if (write(STDERR_FILENO, line, (size_t)len) < 0)
		len = 0;
	errno = saved;
}
