/* SPDX-License-Identifier: GPL-2.0-only */
#include "kmod.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/log.h"
#include "kmod_load.h"

static int real_call(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg);
}

void kmod_init(struct kmod *kmod, const char *why)
{
	kmod->fd = -1;
	kmod->call = real_call;
	snprintf(kmod->why, sizeof(kmod->why), "%s", why);
}

void kmod_fini(struct kmod *kmod)
{
	kmod->fd = close_fd(kmod->fd);
}

int kmod_call(const struct kmod *kmod, int fd, unsigned long request, void *arg)
{
	int ret = kmod->call(fd, request, arg);

	return ret < 0 ? -errno : ret;
}

static int open_device(struct kmod *kmod)
{
	kmod->fd = open(LTT_KMOD_DEVICE, O_RDWR | O_CLOEXEC);
	return kmod->fd < 0 ? -errno : 0;
}

static void kmod_check_version(struct kmod *kmod)
{
	struct ltt_kmod_hello hello = { .size = sizeof(hello) };
	int ret = kmod_call(kmod, kmod->fd, LTT_KMOD_HELLO, &hello);

	if (ret == 0 && hello.abi == LTT_KMOD_ABI)
		return;
	if (ret < 0)
		snprintf(kmod->why, sizeof(kmod->why), "%s is not the kernel module's: %s",
			 LTT_KMOD_DEVICE, strerror(-ret));
	else
		snprintf(kmod->why, sizeof(kmod->why),
			 "the kernel module has protocol version %u and this daemon version %u: "
			 "install both from the same release, then `rmmod ltt` and start the "
			 "daemon again",
			 hello.abi, LTT_KMOD_ABI);
	kmod_fini(kmod);
}

/* The module is loaded, by this daemon or before, but its device can't be opened. */
static void explain_device(struct kmod *kmod, int error)
{
	if (error == -EPERM || error == -EACCES)
		snprintf(kmod->why, sizeof(kmod->why),
			 "the kernel does not let this daemon open %s, as in a container: start "
			 "ltt-sessiond on the host, or give the container CAP_SYS_ADMIN and the "
			 "device",
			 LTT_KMOD_DEVICE);
	else
		snprintf(kmod->why, sizeof(kmod->why),
			 "the kernel module is loaded, but %s can't be opened (%s): in a "
			 "container, give it the device",
			 LTT_KMOD_DEVICE, strerror(-error));
}

void kmod_open(struct kmod *kmod)
{
	int ret;

	if (geteuid() != 0) {
		snprintf(kmod->why, sizeof(kmod->why),
			 "this session daemon is user %u's, and only root's can trace the kernel: "
			 "run lttctl as root (`sudo lttctl ...`)",
			 geteuid());
		return;
	}
	ret = open_device(kmod);
	if (ret == -ENOENT || ret == -ENXIO || ret == -ENODEV) {
		if (kmod_load(kmod->why, sizeof(kmod->why)) < 0)
			return;
		ret = open_device(kmod);
	}
	if (ret < 0)
		explain_device(kmod, ret);
	else
		kmod_check_version(kmod);
}
