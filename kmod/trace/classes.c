// SPDX-License-Identifier: GPL-2.0-only
#include "classes.h"

#include "event.h"

void classes_init(struct classes *classes)
{
	xa_init(&classes->by_id);
}

void classes_fini(struct classes *classes)
{
	xa_destroy(&classes->by_id);
}

int classes_add(struct classes *classes, u32 id, const struct event *event)
{
	return xa_err(xa_store(&classes->by_id, id, (void *)event, GFP_KERNEL_ACCOUNT));
}

const struct event *classes_find(const struct classes *classes, u32 id)
{
	return xa_load((struct xarray *)&classes->by_id, id);
}
