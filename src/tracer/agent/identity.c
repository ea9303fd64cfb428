/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * identity.c - the calls that change a thread's users, groups or name, which libltt defines in
 * place of libc's: each is libc's own, and contexts are read anew afterwards. libc's change all
 * threads of the process, by signals; one by syscall() (syscall.c) changes the calling thread.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/types.h>
#include <unistd.h>

#include "identity.h"
#include "tracer/base/sys.h"
#include "tracer/ring/context.h"

#define EXPORT __attribute__((visibility("default")))

enum { SETUID, SETGID, SETEUID, SETEGID, SETREUID, SETREGID, SETRESUID, SETRESGID, SETNAME, NR };

static void *identity_libc[NR]; /* libc's functions */

/* Again if libc's was not found before. Two threads that do it at once store the same. */
static void *identity_find(int which)
{
	static const char *const names[NR] = { "setuid",    "setgid",	 "seteuid",
					       "setegid",   "setreuid",	 "setregid",
					       "setresuid", "setresgid", "pthread_setname_np" };
	void *found = __atomic_load_n(&identity_libc[which], __ATOMIC_RELAXED);

	if (!found) {
		found = dlsym(RTLD_NEXT, names[which]);
		__atomic_store_n(&identity_libc[which], found, __ATOMIC_RELAXED);
	}
	return found;
}

void agent_identity_init(void)
{
	for (int which = 0; which < NR; which++)
		identity_find(which);
}

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
#define IN_PLACE_OF(number, name, types, params, names)                         \
	EXPORT int AGENT_IN_PLACE_OF(name) params                               \
	{                                                                       \
		int(*libc) types = (int(*) types)identity_find(number);         \
                                                                                \
		return libc ? identity_changed(libc names) : identity_absent(); \
	}

/* clang-format off */
IN_PLACE_OF(SETUID, setuid, (uid_t), (uid_t user), (user))
IN_PLACE_OF(SETGID, setgid, (gid_t), (gid_t group), (group))
IN_PLACE_OF(SETEUID, seteuid, (uid_t), (uid_t user), (user))
IN_PLACE_OF(SETEGID, setegid, (gid_t), (gid_t group), (group))
IN_PLACE_OF(SETREUID, setreuid, (uid_t, uid_t), (uid_t real, uid_t effective), (real, effective))
IN_PLACE_OF(SETREGID, setregid, (gid_t, gid_t), (gid_t real, gid_t effective), (real, effective))
IN_PLACE_OF(SETRESUID, setresuid, (uid_t, uid_t, uid_t),
	    (uid_t real, uid_t effective, uid_t saved), (real, effective, saved))
IN_PLACE_OF(SETRESGID, setresgid, (gid_t, gid_t, gid_t),
	    (gid_t real, gid_t effective, gid_t saved), (real, effective, saved))
/* clang-format on */

EXPORT int AGENT_IN_PLACE_OF(pthread_setname_np)(pthread_t thread, const char *name)
{
	int (*libc)(pthread_t, const char *) =
		(int (*)(pthread_t, const char *))identity_find(SETNAME);
	int err = libc ? libc(thread, name) : ENOSYS;

	if (!err)
		context_set_name(thread, name);
	return err;
}
