/* SPDX-License-Identifier: GPL-2.0-only */
/* stats_list: the counts of events that are counted instead of recorded, also while recording. */
#include "cmd.h"

#include "sessiond/domain/kernel/kernel.h"
#include "sessiond/domain/user/user.h"

#define BUCKETS_BYTES 4096u /* encoded, all of them */

/* 0; and 2^(k-1) to 2^k - 1. */
static void add_bucket(struct encoder *enc, uint32_t k, uint64_t count)
{
	uint64_t first = k ? 1ull << (k - 1) : 0;
	const struct msg_bucket item = { first, k ? first + (first - 1) : 0, count };

	if (count)
		msg_bucket_add(enc, &item);
}

static void stats_list_show(const struct domain_counted *counted, void *data)
{
	const struct ltt_counts *sums = &counted->sums;
	struct msg_counted item = {
		.channel = counted->channel,
		.event = counted->event,
		.field = counted->field,
		.counting = counted->counting,
		.since_ns = counted->since_ns,
		.count = sums->count,
		.sum = sums->sum,
		.negative = sums->negative,
		.missed = sums->missed,
		.domain = counted->domain,
	};
	uint8_t buf[BUCKETS_BYTES];
	struct encoder enc;

	encoder_init(&enc, buf, sizeof(buf));
	for (uint32_t k = 0; k < LTT_COUNTS_BUCKETS; k++)
		add_bucket(&enc, k, sums->buckets[k]);
	item.buckets = encoder_list(&enc);
	item_counted(data, &item);
}

enum cmd_now cmd_stats_list(struct command *cmd, struct req_stats_list *req,
			    struct rep_stats_list *rep)
{
	(void)req, (void)rep;
	kernel_each_counted(cmd->sd->kernel, cmd->session, stats_list_show, cmd);
	user_each_counted(cmd->sd->user, cmd->session, stats_list_show, cmd);
	return CMD_DONE;
}
