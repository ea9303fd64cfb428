/* SPDX-License-Identifier: GPL-2.0-only */
#include "kmod.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libkmod.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/lazy.h"
#include "base/log.h"
#include "base/macros.h"
#include "ksyms.h"

#define LOCKDOWN_FILE "/sys/kernel/security/lockdown" /* "none [integrity] confidentiality" */
#define FIRST_USERS 0xeffffffdu /* the namespace in which a system begins: enum init_ns_ino */

static int real_call(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg);
}

void kmod_init(struct kmod *kmod, const char *why)
{
	kmod->fd = kmod->kallsyms = kmod->modules = -1;
	kmod->call = real_call;
	snprintf(kmod->why, sizeof(kmod->why), "%s", why);
}

void kmod_fini(struct kmod *kmod)
{
	kmod->fd = close_fd(kmod->fd);
	kmod->kallsyms = close_fd(kmod->kallsyms);
	kmod->modules = close_fd(kmod->modules);
}

int kmod_call(const struct kmod *kmod, int fd, unsigned long request, void *arg)
{
	int ret = kmod->call(fd, request, arg);

	return ret < 0 ? -errno : ret;
}

enum ltt_clock_kind kmod_clock(const struct kmod *kmod, enum ltt_clock_kind fallback)
{
	struct ltt_kmod_hello hello = { .size = sizeof(hello) };

	if (kmod->fd < 0 || kmod_call(kmod, kmod->fd, LTT_KMOD_HELLO, &hello) < 0)
		return fallback;
	return hello.clock == LTT_CLOCK_CYCLES ? LTT_CLOCK_CYCLES : LTT_CLOCK_MONOTONIC;
}

bool kmod_has(const struct kmod *kmod, uint32_t feature)
{
	struct ltt_kmod_hello hello = { .size = sizeof(hello) };

	return kmod->fd >= 0 && kmod_call(kmod, kmod->fd, LTT_KMOD_HELLO, &hello) == 0 &&
	       hello.features & feature;
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
	kmod->fd = close_fd(kmod->fd);
}

void kmod_take(struct kmod *kmod, int device, enum ltt_clock_kind clock)
{
	kmod->fd = device;
	kmod_check_version(kmod);
	if (kmod->fd >= 0 && kmod_clock(kmod, clock) != clock) {
		snprintf(kmod->why, sizeof(kmod->why),
			 "the kernel module was loaded with another clock than the session "
			 "daemon's: start the daemon again, or run `rmmod ltt`, and `modprobe "
			 "ltt_instr clock=%s`",
			 clock == LTT_CLOCK_CYCLES ? "cycles" : "monotonic");
		kmod->fd = close_fd(kmod->fd);
	}
	kmod->awaited = kmod->fd < 0;
}

bool kmod_locked_down(void)
{
	char text[128];
	AUTO_FD int fd = open(LOCKDOWN_FILE, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	text[MAX(n, 0)] = '\0';
	return strstr(text, "[confidentiality]");
}

const char *kmod_refusal(int error)
{
	if (error == EPERM && kmod_locked_down())
		return "the kernel is locked down, which forbids to read its memory or record its "
		       "events: boot it without lockdown=confidentiality";
	return strerror(error);
}

/* The module is loaded, by this daemon or before, but its device can't be opened. */
static void explain_device(struct kmod *kmod, int error)
{
	if (error == -EPERM && kmod_locked_down())
		snprintf(kmod->why, sizeof(kmod->why), "%s", kmod_refusal(EPERM));
	else if (error == -EPERM || error == -EACCES)
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

/* Of the group that may use root's daemon. */
static bool kmod_is_member(void)
{
	const struct group *group = getgrnam("tracing");
	gid_t groups[1024];
	int nr = getgroups(ARRAY_SIZE(groups), groups);
	bool member = group && getegid() == group->gr_gid;

	for (int i = 0; group && i < nr; i++)
		member = member || groups[i] == group->gr_gid;
	return member;
}

static void explain_user(struct kmod *kmod)
{
	snprintf(kmod->why, sizeof(kmod->why),
		 "this session daemon is user %u's, and only root's can trace the kernel: %s",
		 geteuid(),
		 kmod_is_member() ?
			 "end this one (`lttctl shutdown`), and start root's, which serves you as a "
			 "member of the group 'tracing' (`sudo ltt-sessiond -b`)" :
			 "run lttctl as root (`sudo lttctl ...`)");
}

/* Whether it is forbidden for any module. */
static bool kmod_is_forbidden(struct kmod *kmod)
{
	struct stat st;

	if (stat("/proc/self/ns/user", &st) == 0 && st.st_ino != FIRST_USERS)
		snprintf(kmod->why, sizeof(kmod->why),
			 "this is a container with users of its own, whose root can't trace the "
			 "kernel: start ltt-sessiond on the host");
	else if (kmod_locked_down())
		snprintf(kmod->why, sizeof(kmod->why), "%s", kmod_refusal(EPERM));
	else if (prctl(PR_CAPBSET_READ, CAP_SYS_MODULE, 0, 0, 0) == 0)
		snprintf(kmod->why, sizeof(kmod->why),
			 "this daemon may not load the kernel module, as in a container: start "
			 "ltt-sessiond on the host, or run `modprobe ltt` there and give the "
			 "container CAP_SYS_ADMIN and %s",
			 LTT_KMOD_DEVICE);
	else
		return false;
	return true;
}

void kmod_open(struct kmod *kmod, enum ltt_clock_kind clock)
{
	struct err err = { 0 };
	int ret;

	if (geteuid() != 0) {
		explain_user(kmod);
		return;
	}
	kmod->awaited = true;
	if (ksyms_prepare(&err) == 0)
		kmod->kallsyms = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	else
		log_warn("addresses of the kernel will have no names: %s", err.text);
	kmod->modules = ksyms_watch();
	ret = open_device(kmod);
	if (ret == -ENOENT || ret == -ENXIO || ret == -ENODEV) {
		if (kmod_is_forbidden(kmod) ||
		    kmod_load(clock, kmod->why, sizeof(kmod->why)) < 0)
			return;
		ret = open_device(kmod);
	}
	if (ret < 0)
		explain_device(kmod, ret);
	else
		kmod_check_version(kmod);
	kmod->awaited = kmod->fd < 0;
}

#ifndef HAVE_KMOD

int kmod_load(enum ltt_clock_kind clock, char *why, size_t len)
{
	(void)clock;
	snprintf(why, len,
		 "the kernel module is not loaded, and this build can't load it (it is without "
		 "libkmod): run `modprobe ltt`");
	return -ENOSYS;
}

#else

#define LIBKMOD_FUNCTIONS(X)               \
	X(kmod_list_next)                  \
	X(kmod_module_get_module)          \
	X(kmod_module_new_from_lookup)     \
	X(kmod_module_probe_insert_module) \
	X(kmod_module_unref)               \
	X(kmod_module_unref_list)          \
	X(kmod_new)                        \
	X(kmod_set_log_priority)           \
	X(kmod_unref)

static struct libkmod {
	LIBKMOD_FUNCTIONS(LAZY_POINTER)
} libkmod;

static struct kmod_ctx *drop_ctx(struct kmod_ctx *ctx)
{
	return ctx ? libkmod.kmod_unref(ctx) : NULL;
}

static void cleanup_ctx(struct kmod_ctx **ctx)
{
	drop_ctx(*ctx);
}

static void cleanup_list(struct kmod_list **list)
{
	libkmod.kmod_module_unref_list(*list);
}

/* The kernel's reason to reject a module. */
static void kmod_load_explain(int error, char *why, size_t len)
{
	switch (error) {
	case -EKEYREJECTED:
	case -ENOKEY:
	case -EBADMSG:
		snprintf(why, len,
			 "the kernel accepts signed modules only (Secure Boot), and ltt.ko is not "
			 "signed with a key that it trusts: sign it (with DKMS: `mokutil --import "
			 "/var/lib/dkms/mok.pub`, then reboot), or switch Secure Boot off");
		return;
	case -EPERM:
		snprintf(why, len,
			 "this daemon may not load modules, as in a container or under kernel "
			 "lockdown: run `modprobe ltt` on the host");
		return;
	case -ENOEXEC:
		snprintf(
			why, len,
			"ltt.ko was built for another kernel: build it for this one (`make kmod`, or "
			"`dkms autoinstall`), then run `modprobe ltt`");
		return;
	}
	snprintf(why, len, "the kernel rejected the module ltt: %s; its log (`dmesg`) may show why",
		 strerror(-error));
}

static void explain_missing(char *why, size_t len)
{
	struct utsname kernel;

	uname(&kernel);
	snprintf(why, len,
		 "there is no module ltt for this kernel (%s): build and install it (DKMS, or "
		 "`make kmod`; see doc/kernel.md), then run `modprobe ltt`",
		 kernel.release);
}

/* Return: 0, or as libkmod. @options: NULL: none. */
static int kmod_insert_one(struct kmod_ctx *ctx, const char *name, const char *options)
{
	struct kmod_list *list __attribute__((cleanup(cleanup_list))) = NULL;
	int ret = -ENOENT;

	if (libkmod.kmod_module_new_from_lookup(ctx, name, &list) < 0)
		return -ENOENT;
	for (struct kmod_list *at = list; at; at = libkmod.kmod_list_next(list, at)) {
		struct kmod_module *module = libkmod.kmod_module_get_module(at);

		ret = libkmod.kmod_module_probe_insert_module(module, 0, options, NULL, NULL, NULL);
		libkmod.kmod_module_unref(module);
		if (ret < 0)
			break;
	}
	return ret;
}

/* The options belong to the module that is named, not to those that it needs. One that is loaded
 * stays as it is. */
static int kmod_insert(enum ltt_clock_kind clock, char *why, size_t len)
{
	struct kmod_ctx *ctx __attribute__((cleanup(cleanup_ctx))) = libkmod.kmod_new(NULL, NULL);
	struct kmod_list *list __attribute__((cleanup(cleanup_list))) = NULL;
	int ret;

	if (ctx)
		libkmod.kmod_set_log_priority(ctx, 0); /* this function reports it itself */
	if (!ctx || libkmod.kmod_module_new_from_lookup(ctx, "ltt", &list) < 0 || !list) {
		explain_missing(why, len);
		return -ENOENT;
	}
	ret = kmod_insert_one(ctx, "ltt_instr",
			      clock == LTT_CLOCK_CYCLES ? "clock=cycles" : "clock=monotonic");
	if (ret == 0)
		ret = kmod_insert_one(ctx, "ltt", NULL);
	if (ret == -ENOENT)
		snprintf(why, len,
			 "the module ltt, or ltt_instr, which it needs, is missing or does not fit "
			 "this kernel: install both from one release (DKMS, or `make kmod`), then "
			 "run `modprobe ltt`");
	else if (ret != 0)
		kmod_load_explain(ret, why, len);
	return ret > 0 ? -EPERM : ret;
}

int kmod_load(enum ltt_clock_kind clock, char *why, size_t len)
{
	static const char *const names[] = { LIBKMOD_FUNCTIONS(LAZY_NAME) };
	struct err err = { 0 };

	if (lazy_load(LTT_LIBKMOD, names, ARRAY_SIZE(names), &libkmod, &err) == 0)
		return kmod_insert(clock, why, len);
	snprintf(why, len, "the kernel module is not loaded, and %s; or run `modprobe ltt`",
		 err.text);
	return -ENOSYS;
}

#endif
