/* SPDX-License-Identifier: GPL-2.0-only */
/* add_map_channel.c - lttctl add-map-channel: create a map channel, in which triggers count. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/connect.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/session/target.h"
#include "ctl/words.h"

static struct {
	char *session, *type, *value, *keys, *ownership, *update, *dead;
} opt;

static struct ltt_ctl_map_options map;

static const struct poptOption options[] = {
	OPTION_TEXT("type", 't', &opt.type, "whose events it counts: user or kernel", "DOMAIN"),
	OPTION_SESSION(&opt.session),
	OPTION_TEXT("value-type", 0, &opt.value,
		    "signed-int-32, signed-int-64 or signed-int-max (default)", "TYPE"),
	OPTION_TEXT("max-key-count", 0, &opt.keys, "most keys (4096)", "N"),
	OPTION_TEXT("buffer-ownership", 0, &opt.ownership,
		    "values of each user (default) or process", "OWNER"),
	OPTION_TEXT("update-policy", 0, &opt.update,
		    "an event increments a key once: per-event (default); or per-rule-match",
		    "POLICY"),
	OPTION_TEXT("dead-process-policy", 0, &opt.dead,
		    "values of processes that have ended: sum-into-shared (default) or drop",
		    "POLICY"),
	POPT_TABLEEND,
};

/* @ret: untouched without @text. */
static int add_map_take_word(struct ctl *ctl, const char *option, const char *text,
			     const struct words *words, const char *wanted, int *ret)
{
	int number = text ? words_number(words, text) : *ret;

	if (number < 0)
		return err_set(&ctl->err, ERR_INVALID, "--%s=%s: this is not %s", option, text,
			       wanted);
	*ret = number;
	return 0;
}

static int add_map_take_words(struct ctl *ctl)
{
	int domain = 0, value = 0, owner = 0, update = 0, dead = 0;

	if (!opt.type)
		return err_set(&ctl->err, ERR_INVALID, "missing --type: use user or kernel");
	if (add_map_take_word(ctl, "type", opt.type, &words_domain, "user or kernel", &domain) ||
	    add_map_take_word(ctl, "value-type", opt.value, &words_map_value,
			      "signed-int-32, signed-int-64 or signed-int-max", &value) ||
	    add_map_take_word(ctl, "buffer-ownership", opt.ownership, &words_owner,
			      "user or process", &owner) ||
	    add_map_take_word(ctl, "update-policy", opt.update, &words_map_update,
			      "per-event or per-rule-match", &update) ||
	    add_map_take_word(ctl, "dead-process-policy", opt.dead, &words_map_dead,
			      "drop or sum-into-shared", &dead))
		return ctl->err.code;
	map.domain = (enum ltt_ctl_domain)domain;
	map.value_type = (enum ltt_ctl_map_type)value;
	map.ownership = (enum ltt_ctl_owner)owner;
	map.update = (enum ltt_ctl_map_update)update;
	map.dead = (enum ltt_ctl_map_dead)dead;
	return 0;
}

static enum status add_map_check(struct ctl *ctl)
{
	uint64_t keys = 0;

	ltt_ctl_map_options_init(&map);
	if (add_map_take_words(ctl) != 0)
		return STATUS_ERROR;
	if (opt.keys && (parse_u64(opt.keys, &keys) != 0 || !keys || keys > UINT32_MAX))
		err_set(&ctl->err, ERR_INVALID,
			"--max-key-count=%s: this is not a number of keys, at least 1", opt.keys);
	map.max_keys = (uint32_t)keys;
	map.name = operand(ctl, 0);
	return ctl->err.code ? STATUS_ERROR : STATUS_OK;
}

static enum status add_map_run(struct ctl *ctl)
{
	char *session AUTO_FREE = target_session(ctl, opt.session);
	char *name AUTO_FREE = NULL;

	if (!session)
		return STATUS_ERROR;
	map.session = session;
	if (ctl_done(ctl, ltt_ctl_add_map(ctl->library, &map, &name), &ctl->err) != 0) {
		target_suggest(ctl, session, NULL, NULL);
		return STATUS_ERROR;
	}
	ctl->record = json_object_new_object();
	json_set_str(ctl->record, "session", session);
	json_set_str(ctl->record, "domain", json_domain(map.domain));
	json_set_str(ctl->record, "map_channel", name);
	return STATUS_OK;
}

const struct verb verb_add_map_channel = {
	.name = "add-map-channel",
	.operands = "[CHANNEL]",
	.help = "Add a map channel, in which triggers count events by keys",
	.options = options,
	.daemon = DAEMON_STARTED,
	.max_operands = 1,
	.check = add_map_check,
	.run = add_map_run,
	.form = "Map channel {map_channel} added to session {session}; 'lttctl add-trigger "
		"--action=incr-map-value' increments its values\n",
};
