/* SPDX-License-Identifier: GPL-2.0-only */
/* kmod_load.h - loading the kernel module, with libkmod. */
#ifndef DOMAIN_KERNEL_KMOD_LOAD_H
#define DOMAIN_KERNEL_KMOD_LOAD_H

#include <stddef.h>

#include "base/macros.h"

/** Return: 0, or negative errno, with a sentence in @why. */
int kmod_load(char *why, size_t len) MUST_CHECK;

#endif
