/* SPDX-License-Identifier: GPL-2.0-only */
/* show_maps.c - lttctl show-maps: the values of map channels. */
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/map/rows.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/table.h"
#include "ctl/print/text.h"
#include "ctl/session/target.h"
#include "ctl/words.h"

/** Numbers of an option that may be repeated. */
struct show_maps_numbers {
	uint32_t *numbers;
	size_t nr;
};

static struct {
	char *session, *per, *sort_by, *sort_order, *limit;
	char **channels, **types, **uids, **pids, **parts, **cpus, **keys, **globs;
	int all_uids, all_pids, shared, system, changed;
} opt;

static struct show_maps_numbers uids, pids, parts;
static struct map_choice choice;

static const struct poptOption options[] = {
	OPTION_SESSION(&opt.session),
	OPTION_LIST_OF("channel", 'c', &opt.channels, "only this map channel", "NAME"),
	OPTION_LIST_OF("type", 't', &opt.types, "only of this domain: user or kernel", "DOMAIN"),
	OPTION_TEXT("per", 0, &opt.per,
		    "a value for each key (channel, default), and owner, cpu or part", "UNIT"),
	OPTION_LIST_OF("uid", 0, &opt.uids, "only values of this user", "USER"),
	OPTION_FLAG("all-uids", 0, &opt.all_uids, "only values of users"),
	OPTION_LIST_OF("pid", 0, &opt.pids, "only values of this process", "PID"),
	OPTION_FLAG("all-pids", 0, &opt.all_pids, "only values of processes"),
	OPTION_FLAG("shared", 0, &opt.shared, "only sums of processes that have ended"),
	OPTION_FLAG("system", 0, &opt.system, "only values of the kernel"),
	OPTION_LIST_OF("part-id", 0, &opt.parts, "only this part of each owner's values", "ID"),
	OPTION_LIST_OF("cpu-id", 0, &opt.cpus, "only the part of this CPU", "ID"),
	OPTION_LIST_OF("key", 0, &opt.keys, "only this key", "KEY"),
	OPTION_LIST_OF("key-glob", 0, &opt.globs, "only keys that match", "PATTERN"),
	OPTION_FLAG("non-init-values", 0, &opt.changed, "only values that are not 0"),
	OPTION_TEXT("sort-by", 0, &opt.sort_by, "key (default) or value", "WHAT"),
	OPTION_TEXT("sort-order", 0, &opt.sort_order, "asc (default) or desc", "ORDER"),
	OPTION_TEXT("limit", 0, &opt.limit, "at most N values of a map channel", "N"),
	POPT_TABLEEND,
};

static int show_maps_bad(struct ctl *ctl, const char *option, const char *text, const char *wanted)
{
	return err_set(&ctl->err, ERR_INVALID, "--%s=%s: this is not %s", option, text, wanted);
}

static size_t show_maps_nr(char *const *list)
{
	size_t nr = 0;

	while (list && list[nr])
		nr++;
	return nr;
}

static int show_maps_take_numbers(struct ctl *ctl, const char *option, char *const *list,
				  struct show_maps_numbers *ret)
{
	uint64_t number;

	ret->numbers =
		xrealloc(ret->numbers, (ret->nr + show_maps_nr(list) + 1) * sizeof(*ret->numbers));
	for (; list && *list; list++) {
		const struct passwd *user = ret == &uids ? getpwnam(*list) : NULL;

		if (user)
			number = user->pw_uid;
		else if (parse_u64(*list, &number) != 0 || number > UINT32_MAX)
			return show_maps_bad(ctl, option, *list,
					     ret == &uids ? "a user of this machine" : "a number");
		ret->numbers[ret->nr++] = (uint32_t)number;
	}
	return 0;
}

static int show_maps_take_types(struct ctl *ctl)
{
	for (char **type = opt.types; type && *type; type++) {
		int number = words_number(&words_domain, *type);

		if (number < 0)
			return show_maps_bad(ctl, "type", *type, "user or kernel");
		choice.domains[number] = true;
	}
	return 0;
}

static int show_maps_take_words(struct ctl *ctl)
{
	static const char *const units[] = { "channel", "owner", "cpu", "part" };
	const struct words per = { units, ARRAY_SIZE(units) };
	int number = opt.per ? words_number(&per, opt.per) : MAP_PER_CHANNEL;

	if (number < 0)
		return show_maps_bad(ctl, "per", opt.per, "channel, owner, cpu or part");
	choice.per = (enum map_per)number;
	choice.by_value = opt.sort_by && strcmp(opt.sort_by, "value") == 0;
	if (opt.sort_by && !choice.by_value && strcmp(opt.sort_by, "key") != 0)
		return show_maps_bad(ctl, "sort-by", opt.sort_by, "key or value");
	choice.descending = opt.sort_order && strcmp(opt.sort_order, "desc") == 0;
	if (opt.sort_order && !choice.descending && strcmp(opt.sort_order, "asc") != 0)
		return show_maps_bad(ctl, "sort-order", opt.sort_order, "asc or desc");
	if (opt.limit && (parse_u64(opt.limit, &choice.limit) != 0 || !choice.limit))
		return show_maps_bad(ctl, "limit", opt.limit, "a number of values, at least 1");
	return 0;
}

static enum status show_maps_check(struct ctl *ctl)
{
	if (show_maps_take_types(ctl) || show_maps_take_words(ctl) ||
	    show_maps_take_numbers(ctl, "uid", opt.uids, &uids) ||
	    show_maps_take_numbers(ctl, "pid", opt.pids, &pids) ||
	    show_maps_take_numbers(ctl, "part-id", opt.parts, &parts) ||
	    show_maps_take_numbers(ctl, "cpu-id", opt.cpus, &parts))
		return STATUS_ERROR;
	choice.channels = (const char *const *)opt.channels;
	choice.keys = (const char *const *)opt.keys;
	choice.globs = (const char *const *)opt.globs;
	choice.uids = uids.numbers;
	choice.nr_uids = uids.nr;
	choice.pids = pids.numbers;
	choice.nr_pids = pids.nr;
	choice.parts = parts.numbers;
	choice.nr_parts = parts.nr;
	choice.all_uids = opt.all_uids;
	choice.all_pids = opt.all_pids;
	choice.shared = opt.shared;
	choice.system = opt.system;
	choice.changed = opt.changed;
	return STATUS_OK;
}

static enum status show_maps_run(struct ctl *ctl)
{
	char *session AUTO_FREE = target_session(ctl, opt.session);
	struct json_object *maps = NULL;

	if (!session)
		return STATUS_ERROR;
	if (map_fetch(ctl, session, &choice, &maps) != 0) {
		target_suggest(ctl, session, NULL, NULL);
		return STATUS_ERROR;
	}
	ctl->record = json_object_new_object();
	json_set_str(ctl->record, "session", session);
	json_set(ctl->record, "map_channels", maps);
	return STATUS_OK;
}

#define OWNER \
	"[{owner=user}user {uid}|{owner=process}process {pid}|{owner=shared}ended processes|kernel]"

static void show_maps_text(FILE *out, struct json_object *record)
{
	const bool owner = choice.per == MAP_PER_OWNER || choice.per == MAP_PER_PART;
	const bool part = choice.per == MAP_PER_CPU || choice.per == MAP_PER_PART;

	if (!json_len(record, "map_channels"))
		text_form(out, record,
			  "Session {session} has no such map channel; 'lttctl add-map-channel' "
			  "adds one\n");
	for (size_t i = 0; i < json_len(record, "map_channels"); i++) {
		struct json_object *map = json_at(record, "map_channels", i);
		struct table table = { .columns = owner && part ? "llrr" :
						  owner		? "llr" :
						  part		? "lrr" :
								  "lr" };

		text_form(
			out, map,
			"Map channel {name} ({domain}): {key_count} of {max_keys} keys, {value_type}"
			"[{!rule_count}; no trigger increments it|]\n");
		table_cell(&table, "KEY");
		if (owner)
			table_cell(&table, "OWNER");
		if (part)
			table_cell(&table, "PART");
		table_cell(&table, "VALUE");
		for (size_t j = 0; j < json_len(map, "values"); j++) {
			struct json_object *value = json_at(map, "values", j);

			table_form(&table, value, "{map_key}");
			if (owner)
				table_form(&table, value, OWNER);
			if (part)
				table_form(&table, value, "{part}");
			table_form(&table, value, "{value}[{?wrapped} (wrapped)|]");
		}
		table_print(out, &table);
		text_form(
			out, map,
			"[{overflow:n?} increments of further keys, for which the map channel has "
			"no room (--max-key-count)\n|]");
	}
}

const struct verb verb_show_maps = {
	.name = "show-maps",
	.operands = "",
	.help = "Show the values of map channels",
	.options = options,
	.paged = true,
	.daemon = DAEMON_NEEDED,
	.check = show_maps_check,
	.run = show_maps_run,
	.text = show_maps_text,
};
