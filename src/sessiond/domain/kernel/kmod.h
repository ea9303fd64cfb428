/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmod.h - the session daemon's access to the kernel module: its device, which is opened (and the
 * module loaded) once, while the daemon still has the privileges; or a sentence with the reason why
 * it is not available, and the remedy. Owned by the daemon.
 */
#ifndef DOMAIN_KERNEL_KMOD_H
#define DOMAIN_KERNEL_KMOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "ltt_kmod.h"
#include "ltt_ring.h"

struct kmod {
	int fd;	       /* /dev/ltt; -1: not available */
	char why[320]; /* reason why it is not available; a sentence */
	/* For the names of the kernel's functions (ksyms.h); -1: not available. */
	int kallsyms, modules;
	bool awaited; /* root may pass the device of a module that is loaded later */
	/** ioctl(2), which tests replace. Return: 0 or more; -1 with errno. */
	int (*call)(int fd, unsigned long request, void *arg);
};

/** The module is not available, because of @why. */
void kmod_init(struct kmod *kmod, const char *why);
/** Open the device; load the module with this clock if it is not loaded. Blocks for some
 *  milliseconds. */
void kmod_open(struct kmod *kmod, enum ltt_clock_kind clock);
/** Take the device of a module that was loaded later, if the module has the daemon's clock.
 *  Otherwise it stays not available, and kmod->why has the reason. */
void kmod_take(struct kmod *kmod, int device, enum ltt_clock_kind clock);
void kmod_fini(struct kmod *kmod);

/** Run the ioctl. Return: 0 or more, or negative errno. */
int kmod_call(const struct kmod *kmod, int fd, unsigned long request, void *arg) MUST_CHECK;


/** Whether the module has a feature, of enum ltt_kmod_features. */
bool kmod_has(const struct kmod *kmod, uint32_t feature);
/** The clock that the module has chosen; @fallback: there is no module, or it has none. */
enum ltt_clock_kind kmod_clock(const struct kmod *kmod, enum ltt_clock_kind fallback);

/** Whether the kernel is locked down so that it can't be traced. */
bool kmod_locked_down(void);
/** The end of a sentence about a request that was rejected with this (positive) error. */
const char *kmod_refusal(int error);

/* Loading the kernel module, with libkmod. */

/** Return: 0, or negative errno, with a sentence in @why. */
int kmod_load(enum ltt_clock_kind clock, char *why, size_t len) MUST_CHECK;

#endif
