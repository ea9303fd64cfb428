/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "spawn.h"

#include <errno.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "alone.h"
#include "next.h"
#include "proto/app.h"
#include "tracer/base/sys.h"

#define EXPORT __attribute__((visibility("default")))
#define NOT_STARTED (127 << 8) /* system()'s result for a shell that can't be started */

/* A function of libltt has a name of its own, too, as the usual one may refer to libc's. */
#define IN_PLACE_OF(result, name, params)                                                    \
	static void *next_##name;                                                            \
	result agent_##name params;                                                          \
	EXPORT __attribute__((alias("agent_" #name))) result AGENT_IN_PLACE_OF(name) params; \
	static result(*spawn_find_##name(void)) params                                       \
	{                                                                                    \
		return (result(*) params)agent_next(&next_##name, #name,                     \
						    (const void *)agent_##name);             \
	}                                                                                    \
	result agent_##name params

/* A program of which only threads or forks refer to libltt.a gets this file without the helper. */
#pragma weak agent_alone_depart_for

bool agent_spawn_again(int err)
{
	return err == EAGAIN && agent_alone_depart_for && agent_alone_depart_for(APP_REASON_LIMIT);
}

/* The calling thread starts libltt's, for which no room is made. */
static __thread bool spawns_own __attribute__((tls_model("initial-exec")));

#define ACTIONS const posix_spawn_file_actions_t

/* clang-format off */
IN_PLACE_OF(pid_t, fork, (void))
{
	pid_t (*libc)(void) = spawn_find_fork();
	pid_t pid;

	if (!libc) {
		errno = ENOSYS;
		return -1;
	}
	pid = libc();
	return pid < 0 && agent_spawn_again(errno) ? libc() : pid;
}

IN_PLACE_OF(int, pthread_create,
	    (pthread_t *ret, const pthread_attr_t *attr, void *(*fn)(void *), void *arg))
{
	int (*libc)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
		spawn_find_pthread_create();
	int err = libc ? libc(ret, attr, fn, arg) : ENOSYS;

	return !spawns_own && agent_spawn_again(err) ? libc(ret, attr, fn, arg) : err;
}

/* A sanitizer's runtime, which comes first in the search, has to know each thread. */
int agent_spawn_thread(pthread_t *ret, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	int err;

	spawns_own = true;
	err = pthread_create(ret, attr, fn, arg);
	spawns_own = false;
	return err;
}

IN_PLACE_OF(int, posix_spawn,
	    (pid_t *ret, const char *path, ACTIONS *actions, const posix_spawnattr_t *attr,
	     char *const argv[], char *const env[]))
{
	int (*libc)(pid_t *, const char *, ACTIONS *, const posix_spawnattr_t *, char *const[],
		    char *const[]) = spawn_find_posix_spawn();
	int err = libc ? libc(ret, path, actions, attr, argv, env) : ENOSYS;

	return agent_spawn_again(err) ? libc(ret, path, actions, attr, argv, env) : err;
}

IN_PLACE_OF(int, posix_spawnp,
	    (pid_t *ret, const char *file, ACTIONS *actions, const posix_spawnattr_t *attr,
	     char *const argv[], char *const env[]))
{
	int (*libc)(pid_t *, const char *, ACTIONS *, const posix_spawnattr_t *, char *const[],
		    char *const[]) = spawn_find_posix_spawnp();
	int err = libc ? libc(ret, file, actions, attr, argv, env) : ENOSYS;

	return agent_spawn_again(err) ? libc(ret, file, actions, attr, argv, env) : err;
}

IN_PLACE_OF(FILE *, popen, (const char *command, const char *mode))
{
	FILE *(*libc)(const char *, const char *) = spawn_find_popen();
	FILE *file;

	if (!libc) {
		errno = ENOSYS;
		return NULL;
	}
	file = libc(command, mode);
	if (!file && errno == ENOMEM) /* glibc's for each process that can't be made */
		errno = EAGAIN;
	return !file && agent_spawn_again(errno) ? libc(command, mode) : file;
}

IN_PLACE_OF(int, system, (const char *command))
{
	int (*libc)(const char *) = spawn_find_system();
	int saved = errno, status;

	if (!libc) {
		errno = ENOSYS;
		return -1;
	}
	errno = 0;
	status = libc(command);
	if ((status == NOT_STARTED || status == -1) && agent_spawn_again(errno))
		status = libc(command);
	if (errno == 0)
		errno = saved;
	return status;
}
/* clang-format on */

void agent_spawn_init(void)
{
	spawn_find_fork();
	spawn_find_pthread_create();
	spawn_find_posix_spawn();
	spawn_find_posix_spawnp();
	spawn_find_popen();
	spawn_find_system();
}
