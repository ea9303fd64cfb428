/* SPDX-License-Identifier: GPL-2.0-only */
/* stdint.h - replaces <stdint.h> for the headers in abi/, which user space shares. */
#ifndef KMOD_STDINT_H
#define KMOD_STDINT_H

#include <linux/types.h>

#endif
