/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base/log.h"
#include "base/macros.h"
#include "confine_calls.h"
#include "rootpath.h"

/* --- capabilities ------------------------------------------------------------------
 * Set by system calls, as libcap would be one more library in each daemon. */

struct caps {
	uint64_t effective, permitted;
};

static int get_caps(struct caps *ret)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data) < 0)
		return -errno;
	ret->effective = data[0].effective | (uint64_t)data[1].effective << 32;
	ret->permitted = data[0].permitted | (uint64_t)data[1].permitted << 32;
	return 0;
}

static int set_caps(const struct caps *caps)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2] = {
		{ (uint32_t)caps->effective, (uint32_t)caps->permitted, 0 },
		{ (uint32_t)(caps->effective >> 32), (uint32_t)(caps->permitted >> 32), 0 },
	};

	return syscall(SYS_capset, &head, data) < 0 ? -errno : 0;
}

/* Limit the bounding set: the capabilities of root's programs that this daemon starts. */
static int limit_bound(const struct caps *have, uint64_t keep)
{
	if (!(have->effective & CONFINE_CAP(CAP_SETPCAP)))
		return 0; /* changing the bounding set needs CAP_SETPCAP */
	for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (!(keep & CONFINE_CAP(cap)) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			return -errno;
	return 0;
}

static int drop_caps(const struct confine *to)
{
	uint64_t permitted = to->permitted;
	struct caps caps = { 0 }, less;
	int ret = get_caps(&caps);

#ifdef LTT_SANITIZED
	permitted |= CONFINE_CAP(CAP_SYS_PTRACE); /* LeakSanitizer traces its own threads */
#endif
	if (ret < 0)
		return ret;
	less.permitted = caps.permitted & permitted;
	less.effective = caps.effective & permitted & (to->effective | ~to->permitted);
	ret = limit_bound(&caps, permitted);
	if (ret < 0 || (less.permitted == caps.permitted && less.effective == caps.effective))
		return ret;
	return set_caps(&less);
}

/* Have these in effect, too. Return: whether that has changed @before. */
static bool caps_raise(uint64_t needed, struct caps *before)
{
	struct caps more;

	if (get_caps(before) < 0)
		return false;
	more = *before;
	more.effective |= before->permitted & needed;
	return more.effective != before->effective && set_caps(&more) == 0;
}

int confine_open(const char *path, int how)
{
	uint64_t needed = CONFINE_CAP(CAP_DAC_OVERRIDE);
	struct caps caps = { 0 };
	bool raised;
	int fd;

	if (rootpath_is(path)) /* that directory is for processes that may trace the process */
		needed |= CONFINE_CAP(CAP_SYS_PTRACE);
	raised = caps_raise(needed, &caps);
	fd = rootpath_open(path, how | (how & O_PATH ? 0 : O_NONBLOCK | O_NOCTTY));
	if (raised && set_caps(&caps) < 0) {
		log_warn("can't drop capabilities again: %s is not opened", path);
		close_fd(fd);
		return -EPERM;
	}
	return fd;
}

int confine_with(uint64_t needed, int (*run)(void *data), void *data)
{
	struct caps caps = { 0 };
	bool raised = caps_raise(needed, &caps);
	int ret = run(data);

	if (raised && set_caps(&caps) < 0)
		log_warn("can't drop capabilities again");
	return ret;
}

int confine_watch(int notify, const char *folder, uint32_t events)
{
	struct caps caps = { 0 };
	bool raised = caps_raise(CONFINE_CAP(CAP_DAC_OVERRIDE), &caps);
	int watch = inotify_add_watch(notify, folder, events);

	if (watch < 0)
		watch = -errno;
	if (raised && set_caps(&caps) < 0)
		log_warn("can't drop capabilities again after watching %s", folder);
	return watch;
}

void confine(const struct confine *to)
{
	const char *what = "drop capabilities";
	int ret = drop_caps(to);

	if (ret == 0) {
		what = "set no_new_privs";
		ret = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;
	}
	if (ret == 0) {
		what = "limit the system calls";
		ret = confine_calls(to->role);
	}
	if (ret < 0)
		log_warn("can't %s: %s; continuing with more privileges than needed", what,
			 strerror(-ret));
}
