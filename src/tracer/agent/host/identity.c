/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * identity.c - the calls that change a thread's users, groups or name, which libltt defines in
 * place of libc's: each is libc's own, and contexts are read anew afterwards. libc's change all
 * threads of the process, by signals; one by syscall() (syscall.c) changes the calling thread.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/types.h>
#include <unistd.h>

#include "identity.h"
#include "next.h"
#include "tracer/base/sys.h"
#include "tracer/ring/context.h"

#define EXPORT __attribute__((visibility("default")))

static int identity_changed(int result)
{
	context_users_changed();
	return result;
}

static int identity_absent(void)
{
	errno = ENOSYS;
	return -1;
}

/* @types and @names of the parameters, in parentheses. */
#define IN_PLACE_OF(name, types, params, names)                                                \
	EXPORT int AGENT_IN_PLACE_OF(name) params;                                             \
	static void *next_##name;                                                              \
	static void *identity_find_##name(void)                                                \
	{                                                                                      \
		return agent_next(&next_##name, #name, (const void *)AGENT_IN_PLACE_OF(name)); \
	}                                                                                      \
	EXPORT int AGENT_IN_PLACE_OF(name) params                                              \
	{                                                                                      \
		int(*libc) types = (int(*) types)identity_find_##name();                       \
                                                                                               \
		return libc ? identity_changed(libc names) : identity_absent();                \
	}

/* clang-format off */
IN_PLACE_OF(setuid, (uid_t), (uid_t user), (user))
IN_PLACE_OF(setgid, (gid_t), (gid_t group), (group))
IN_PLACE_OF(seteuid, (uid_t), (uid_t user), (user))
IN_PLACE_OF(setegid, (gid_t), (gid_t group), (group))
IN_PLACE_OF(setreuid, (uid_t, uid_t), (uid_t real, uid_t effective), (real, effective))
IN_PLACE_OF(setregid, (gid_t, gid_t), (gid_t real, gid_t effective), (real, effective))
IN_PLACE_OF(setresuid, (uid_t, uid_t, uid_t),
	    (uid_t real, uid_t effective, uid_t saved), (real, effective, saved))
IN_PLACE_OF(setresgid, (gid_t, gid_t, gid_t),
	    (gid_t real, gid_t effective, gid_t saved), (real, effective, saved))
/* clang-format on */

EXPORT int AGENT_IN_PLACE_OF(pthread_setname_np)(pthread_t thread, const char *name);
static void *next_setname;

static void *find_setname(void)
{
	return agent_next(&next_setname, "pthread_setname_np",
			  (const void *)AGENT_IN_PLACE_OF(pthread_setname_np));
}

EXPORT int AGENT_IN_PLACE_OF(pthread_setname_np)(pthread_t thread, const char *name)
{
	int (*libc)(pthread_t, const char *) = (int (*)(pthread_t, const char *))find_setname();
	int err = libc ? libc(thread, name) : ENOSYS;

	if (!err)
		context_set_name(thread, name);
	return err;
}

void agent_identity_init(void)
{
	identity_find_setuid();
	identity_find_setgid();
	identity_find_seteuid();
	identity_find_setegid();
	identity_find_setreuid();
	identity_find_setregid();
	identity_find_setresuid();
	identity_find_setresgid();
	find_setname();
}
