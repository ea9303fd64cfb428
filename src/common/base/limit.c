/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "limit.h"

#include <limits.h>
#include <sys/resource.h>

#include "macros.h"

unsigned int limit_raise(int which)
{
	struct rlimit limit;

	if (getrlimit(which, &limit) != 0)
		return 0;
	if (limit.rlim_cur < limit.rlim_max) {
		rlim_t before = limit.rlim_cur;

		limit.rlim_cur = limit.rlim_max;
		if (setrlimit(which, &limit) != 0)
			limit.rlim_cur = before;
	}
	return (unsigned int)MIN(limit.rlim_cur, (rlim_t)UINT_MAX);
}
