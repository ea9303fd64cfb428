/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* count_message.c - messages of a daemon about counting; see message.h. */
#include <errno.h>
#include <string.h>

#include "counts.h"
#include "tracer/base/env.h"
#include "link.h"
#include "message.h"
#include "tracer/base/sys.h"
#include "thread.h"
#include "proto/app.h"
#include "tracer/ring/admit.h"
#include "tracer/ring/prepare.h"

static int on_counts(struct agent_link *link, struct decoder *dec)
{
	struct msg_app_counts m;
	int err;

	if (msg_app_counts_decode(dec, &m) < 0)
		return -EBADMSG;
	agent_lock();
	err = agent_counts_add(link->index, link->round, &m);
	agent_unlock();
	sys_close(m.memory);
	agent_counts_reap();
	if (err)
		tracer_debug("memory %llu is not counted in: %s", (unsigned long long)m.counts,
			     strerror(-err));
	return 0;
}

static int on_count(struct agent_link *link, struct decoder *dec)
{
	struct msg_app_count m;
	struct msg_app_counting counting;
	uint32_t filter;

	if (msg_app_count_decode(dec, &m) < 0)
		return -EBADMSG;
	if (!admit_filter(m.filter.data, m.filter.len, m.filter_contexts, &filter)) {
		tracer_debug("can't use a filter: it is invalid, or there is no memory");
		return 0;
	}
	agent_lock();
	while (msg_app_counting_next(&m.countings, &counting))
		agent_count(link->index, link->round, &counting, preparation(filter, 0));
	admit_unref(filter);
	agent_unlock();
	agent_counts_reap();
	return 0;
}

static int on_uncount(struct agent_link *link, struct decoder *dec)
{
	struct msg_app_uncount m;
	struct msg_app_counting counting;

	if (msg_app_uncount_decode(dec, &m) < 0)
		return -EBADMSG;
	agent_lock();
	while (msg_app_counting_next(&m.countings, &counting))
		agent_uncount(link->index, &counting);
	agent_unlock();
	agent_counts_reap();
	return 0;
}

static int on_counts_drop(struct agent_link *link, struct decoder *dec)
{
	struct msg_app_counts_drop m;

	if (msg_app_counts_drop_decode(dec, &m) < 0)
		return -EBADMSG;
	agent_lock();
	agent_counts_drop(link->index, m.counts);
	agent_unlock();
	agent_counts_reap();
	return 0;
}

int agent_count_message(struct agent_link *link, uint16_t type, struct decoder *dec)
{
	switch (type) {
	case MSG_app_counts:
		return on_counts(link, dec);
	case MSG_app_count:
		return on_count(link, dec);
	case MSG_app_uncount:
		return on_uncount(link, dec);
	case MSG_app_counts_drop:
		return on_counts_drop(link, dec);
	default:
		return agent_fired_message(link, type, dec);
	}
}
