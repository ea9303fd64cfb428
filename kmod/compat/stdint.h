/* SPDX-License-Identifier: GPL-2.0-only */
/* stdint.h - for the headers in abi/, which do not depend on the kernel. */
#ifndef KMOD_STDINT_H
#define KMOD_STDINT_H

#include <linux/types.h>

#endif
