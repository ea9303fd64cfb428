/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmod.h - the kernel module as the session daemon sees it: its device, opened (and the
 * module loaded) once, while the daemon still has the rights. Or a sentence that says
 * why it can't be had and what to do. Owned by the daemon.
 */
#ifndef DOMAIN_KERNEL_KMOD_H
#define DOMAIN_KERNEL_KMOD_H

#include <stdint.h>

#include "base/macros.h"
#include "ltt_kmod.h"

struct kmod {
	int fd;	       /* /dev/ltt; -1: not there */
	char why[320]; /* it is not; a whole sentence */
	/** ioctl(2); the tests' own. Return: 0 or more; -1 with errno. */
	int (*call)(int fd, unsigned long request, void *arg);
};

/** Nothing is there yet, because of @why. */
void kmod_init(struct kmod *kmod, const char *why);
/** Open the device; load the module where there is none. Blocks for some milliseconds. */
void kmod_open(struct kmod *kmod);
void kmod_fini(struct kmod *kmod);

/** Ask. Return: 0 or more, or negative errno. */
int kmod_call(const struct kmod *kmod, int fd, unsigned long request, void *arg) MUST_CHECK;

#endif
