/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* guest_count_message.c - what a daemon says of counting; see guest_message.h. */
#include <errno.h>
#include <string.h>

#include "guest_counts.h"
#include "guest_env.h"
#include "guest_link.h"
#include "guest_message.h"
#include "guest_sys.h"
#include "guest_thread.h"
#include "proto/app.h"

static int on_counts(struct guest_link *link, struct decoder *dec)
{
	struct msg_app_counts m;
	int err;

	if (msg_app_counts_decode(dec, &m) < 0)
		return -EBADMSG;
	guest_lock();
	err = guest_counts_add(link->index, link->round, &m);
	guest_unlock();
	guest_close(m.memory);
	guest_counts_reap();
	if (err)
		guest_debug("memory %llu is not counted in: %s", (unsigned long long)m.counts,
			    strerror(-err));
	return 0;
}

static int on_count(struct guest_link *link, struct decoder *dec)
{
	struct msg_app_count m;
	struct msg_app_counting counting;

	if (msg_app_count_decode(dec, &m) < 0)
		return -EBADMSG;
	guest_lock();
	while (msg_app_counting_next(&m.countings, &counting))
		guest_count(link->index, link->round, &counting);
	guest_unlock();
	return 0;
}

static int on_uncount(struct guest_link *link, struct decoder *dec)
{
	struct msg_app_uncount m;
	struct msg_app_counting counting;

	if (msg_app_uncount_decode(dec, &m) < 0)
		return -EBADMSG;
	guest_lock();
	while (msg_app_counting_next(&m.countings, &counting))
		guest_uncount(link->index, &counting);
	guest_unlock();
	guest_counts_reap();
	return 0;
}

static int on_counts_drop(struct guest_link *link, struct decoder *dec)
{
	struct msg_app_counts_drop m;

	if (msg_app_counts_drop_decode(dec, &m) < 0)
		return -EBADMSG;
	guest_lock();
	guest_counts_drop(link->index, m.counts);
	guest_unlock();
	guest_counts_reap();
	return 0;
}

int guest_count_message(struct guest_link *link, uint16_t type, struct decoder *dec)
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
	default: /* from a newer daemon; what it needs us to know it negotiates */
		return 0;
	}
}
