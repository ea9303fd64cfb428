/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rights.h"

#include <errno.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/fsuid.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "alone.h"
#include "leave.h"
#include "seccomp.h"
#include "tracer/base/numbers.h"
#include "tracer/base/sys.h"
#include "tracer/ring/context.h"
#include "tracer/ring/sys.h"

#ifndef SYS_landlock_restrict_self
#define SYS_landlock_restrict_self 446
#endif

#define EXPORT __attribute__((visibility("default")))
#define UNCHANGED UINT32_MAX /* the argument that only reads a value */

static bool option_changes_thread(int option, long a)
{
	switch (option) {
	case PR_SET_NO_NEW_PRIVS:
	case PR_SET_KEEPCAPS:
	case PR_SET_SECUREBITS:
	case PR_CAPBSET_DROP:
	case PR_SET_SPECULATION_CTRL:
		return true;
	case PR_CAP_AMBIENT:
		return a != PR_CAP_AMBIENT_IS_SET;
	default:
		return false;
	}
}

static bool call_changes_thread(long nr, long a, long b)
{
	switch (nr) {
	case SYS_setuid:
	case SYS_setgid:
	case SYS_setreuid:
	case SYS_setregid:
	case SYS_setresuid:
	case SYS_setresgid:
	case SYS_setgroups:
#ifdef SYS_setuid32
	case SYS_setuid32:
	case SYS_setgid32:
	case SYS_setreuid32:
	case SYS_setregid32:
	case SYS_setresuid32:
	case SYS_setresgid32:
	case SYS_setgroups32:
#endif
	case SYS_capset:
	case SYS_landlock_restrict_self:
#ifdef SYS_iopl
	case SYS_iopl:
	case SYS_ioperm:
#endif
		return true;
	case NR_SETFSUID:
	case NR_SETFSGID:
	case SYS_personality:
		return (uint32_t)a != UNCHANGED;
	case SYS_keyctl:
		return a == KEYCTL_JOIN_SESSION_KEYRING;
	case SYS_prctl:
		return option_changes_thread((int)a, b);
	default:
		return false;
	}
}

/* Whether the call installs a filter. Outputs: its mode, flags and program. */
static bool installs_filter(long nr, long a, long b, long c, unsigned int *ret_mode,
			    unsigned int *ret_flags, const void **ret_program)
{
	if (nr == SYS_prctl && a == PR_SET_SECCOMP) {
		*ret_mode = (unsigned int)b;
		*ret_flags = 0;
		*ret_program = (const void *)c;
		return true;
	}
	if (nr != SYS_seccomp || (a != SECCOMP_SET_MODE_FILTER && a != SECCOMP_SET_MODE_STRICT))
		return false;
	*ret_mode = a == SECCOMP_SET_MODE_FILTER ? SECCOMP_MODE_FILTER : SECCOMP_MODE_STRICT;
	*ret_flags = (unsigned int)b;
	*ret_program = (const void *)c;
	return true;
}

long agent_rights_call(long nr, long a, long b, long c, long d, long e)
{
	struct agent_filter filter = { 0 };
	const void *program;
	unsigned int mode, flags;
	uint64_t mask;
	bool changes, suspended;
	long err;

	if (installs_filter(nr, a, b, c, &mode, &flags, &program)) {
		agent_leave_expect();
		filter = agent_filter_expect(mode, flags, program);
		changes = filter.suspends;
	} else {
		changes = call_changes_thread(nr, a, b);
	}
	suspended = changes && agent_alone_suspend(&mask);
	err = ring_syscall5(nr, a, b, c, d, e);
	if (filter.forbids && err >= 0)
		agent_filter_forbid(filter.forbids);
	if (suspended)
		agent_alone_resume(mask);
	return err;
}

/* As libc returns it. */
static int with_errno(long err)
{
	if (err >= 0 || err < -4095)
		return (int)err;
	errno = (int)-err;
	return -1;
}

/* All are in registers, also those that a caller of prctl(option, ...) does not pass. */
int agent_prctl(int option, long a, long b, long c, long d)
{
	int ret = with_errno(agent_rights_call(SYS_prctl, option, a, b, c, d));

	if (option == PR_SET_NAME && ret == 0)
		context_set_name(pthread_self(), (const char *)a);
	return ret;
}

int agent_capset(void *header, const void *data)
{
	return with_errno(agent_rights_call(SYS_capset, (long)header, (long)data, 0, 0, 0));
}

int agent_setfsuid(uid_t user)
{
	return with_errno(agent_rights_call(NR_SETFSUID, (long)user, 0, 0, 0, 0));
}

int agent_setfsgid(gid_t group)
{
	return with_errno(agent_rights_call(NR_SETFSGID, (long)group, 0, 0, 0, 0));
}

int agent_personality(unsigned long persona)
{
	return with_errno(agent_rights_call(SYS_personality, (long)persona, 0, 0, 0, 0));
}

/* Not declared by libc, but by libcap. */
int AGENT_IN_PLACE_OF(capset)(void *header, const void *data);

#define SAME_AS(function) EXPORT __attribute__((alias(#function)))
#define QUOTED(name) #name
#define LABEL(name) QUOTED(name)

/* libc's header declares another type. */
SAME_AS(agent_prctl)
int rights_prctl(int option, long a, long b, long c,
		 long d) __asm__(LABEL(AGENT_IN_PLACE_OF(prctl)));

SAME_AS(agent_capset) int AGENT_IN_PLACE_OF(capset)(void *header, const void *data);
SAME_AS(agent_setfsuid) int AGENT_IN_PLACE_OF(setfsuid)(uid_t user);
SAME_AS(agent_setfsgid) int AGENT_IN_PLACE_OF(setfsgid)(gid_t group);
SAME_AS(agent_personality) int AGENT_IN_PLACE_OF(personality)(unsigned long persona);

#ifdef SYS_iopl
EXPORT int AGENT_IN_PLACE_OF(iopl)(int level)
{
	return with_errno(agent_rights_call(SYS_iopl, level, 0, 0, 0, 0));
}

EXPORT int AGENT_IN_PLACE_OF(ioperm)(unsigned long from, unsigned long number, int on)
{
	return with_errno(agent_rights_call(SYS_ioperm, (long)from, (long)number, on, 0, 0));
}
#endif
