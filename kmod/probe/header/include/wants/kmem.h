/* SPDX-License-Identifier: GPL-2.0-only */
/* struct kmem_cache, whose header has inline helpers on types that are private to mm/: they
 * are parsed, and never called. */
#if __has_include(<linux/slub_def.h>)
#include <linux/slab.h>
struct slab {
	unsigned int objects;
};
#define slab_address(slab) NULL
#include <linux/slub_def.h>
#undef slab_address
#endif
