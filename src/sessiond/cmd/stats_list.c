/* SPDX-License-Identifier: GPL-2.0-only */
/* stats_list: the counts of events that are counted instead of recorded, also while recording. */
#include "cmd.h"


#define BUCKETS_BYTES 4096u /* encoded, all of them */
#define VALUES_BYTES 2048u  /* of a key, with labels */

/* 0; and 2^(k-1) to 2^k - 1. */
static void add_bucket(struct encoder *enc, uint32_t k, uint64_t count)
{
	uint64_t first = k ? 1ull << (k - 1) : 0;
	const struct msg_bucket item = { first, k ? first + (first - 1) : 0, count };

	if (count)
		msg_bucket_add(enc, &item);
}

/* @buf: BUCKETS_BYTES. */
static struct list stats_list_buckets(const struct ltt_counts *sums, uint8_t *buf)
{
	struct encoder enc;

	encoder_init(&enc, buf, BUCKETS_BYTES);
	for (uint32_t k = 0; k < LTT_COUNTS_BUCKETS; k++)
		add_bucket(&enc, k, sums->buckets[k]);
	return encoder_list(&enc);
}

static void stats_list_show(const struct domain_counted *counted, void *data)
{
	const struct ltt_counts *sums = &counted->sums;
	uint8_t buf[BUCKETS_BYTES];
	const struct msg_counted item = {
		.channel = counted->channel,
		.event = counted->event,
		.field = counted->field,
		.counting = counted->counting,
		.since_ns = counted->since_ns,
		.count = sums->count,
		.sum = sums->sum,
		.negative = sums->negative,
		.missed = sums->missed,
		.buckets = stats_list_buckets(sums, buf),
		.domain = counted->domain,
		.by = counted->by ? counted->by : "",
		.overflow = counted->overflow,
		.at_least = counted->at_least,
	};

	item_counted(data, &item);
}

static struct list stats_list_values(const struct domain_counted_key *key, uint8_t *buf, size_t len)
{
	struct encoder enc;

	encoder_init(&enc, buf, len);
	for (uint32_t i = 0; i < key->nr; i++) {
		const struct domain_key_value *value = &key->values[i];
		const struct msg_key_value item = {
			.kind = (uint8_t)value->kind,
			.number = (int64_t)value->number,
			.text = value->text ? value->text : "",
		};

		msg_key_value_add(&enc, &item);
	}
	return encoder_list(&enc);
}

static void stats_list_show_key(const struct domain_counted_key *key, void *data)
{
	uint8_t buf[BUCKETS_BYTES], values[VALUES_BYTES];
	const struct msg_counted_key item = {
		.values = stats_list_values(key, values, sizeof(values)),
		.count = key->sums.count,
		.sum = key->sums.sum,
		.negative = key->sums.negative,
		.buckets = stats_list_buckets(&key->sums, buf),
	};

	item_counted_key(data, &item);
}

/* Also where no process has the event now, so that no count of it is known. */
static bool stats_list_is_incomplete(const struct session *session)
{
	const struct channel *channel;
	const struct rule *rule;

	list_for_each(channel, &session->channels, node)
		list_for_each(rule, &channel->rules, node)
			if (rule->counted_before)
				return true;
	return false;
}

enum cmd_now cmd_stats_list(struct command *cmd, struct req_stats_list *req,
			    struct rep_stats_list *rep)
{
	static const struct domain_counted_ops ops = { stats_list_show, stats_list_show_key };

	(void)req;
	rep->at_least = stats_list_is_incomplete(cmd->session);
	domains_each_counted(&cmd->sd->domains, cmd->session, &ops, cmd);
	return CMD_DONE;
}
