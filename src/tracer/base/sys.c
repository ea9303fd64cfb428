/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sys.h"

uint32_t sys_forbidden;
