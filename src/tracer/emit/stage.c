// SPDX-License-Identifier: LGPL-2.1-or-later
/* Memory for payloads that are too big for the stack of a call site. */
#include "emit.h"
#include "ltt_ring.h"
#include "tracer/ring/spare.h"
#include "tracer/site/registry.h"

void *ltt_stage(struct ltt_site *site, size_t len)
{
	void *memory = NULL;

	if (emit_is_muted())
		return NULL;
	if (len <= LTT_RING_MAX_RECORD)
		memory = spare_take(SPARE_PAYLOAD);
	if (!memory)
		emit_lost_oversize(site);
	return memory;
}

void ltt_unstage(void *staged)
{
	spare_release(staged);
}
