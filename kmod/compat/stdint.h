/* SPDX-License-Identifier: GPL-2.0-only */
/* stdint.h - for the headers in abi/, which know no kernel. */
#ifndef KMOD_STDINT_H
#define KMOD_STDINT_H

#include <linux/types.h>

#endif
