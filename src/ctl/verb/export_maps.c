/* SPDX-License-Identifier: GPL-2.0-only */
/* export_maps.c - lttctl export-maps: the values of map channels, as a script of SQL. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ctl/map/rows.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/session/target.h"

static struct {
	char *session, *format;
} opt;

static const struct poptOption options[] = {
	OPTION_SESSION(&opt.session),
	OPTION_TEXT("format", 0, &opt.format, "sqlite (default): a script of SQL for sqlite3",
		    "FORMAT"),
	POPT_TABLEEND,
};

static const char export_maps_tables[] =
	"BEGIN;\n"
	"CREATE TABLE map_channels(id INTEGER PRIMARY KEY, session TEXT, domain TEXT, name TEXT,"
	" value_type TEXT, max_key_count INTEGER, buffer_ownership TEXT, update_policy TEXT,"
	" dead_process_policy TEXT, key_count INTEGER, overflow INTEGER);\n"
	"CREATE TABLE map_values(map_channel_id INTEGER REFERENCES map_channels(id), key TEXT,"
	" owner TEXT, uid INTEGER, pid INTEGER, part INTEGER, value INTEGER);\n"
	"CREATE VIEW map_totals AS SELECT session, domain, name AS map_channel, key,"
	" sum(value) AS value FROM map_values JOIN map_channels ON id = map_channel_id"
	" GROUP BY id, key;\n";

/* A text of other bytes than printable ones of ASCII, which could control a terminal, by their
 * numbers. */
static void export_maps_text(FILE *out, const char *text)
{
	bool plain = true;

	for (const char *at = text; *at; at++)
		plain &= *at >= ' ' && *at <= '~';
	if (!plain) {
		fputs("CAST(x'", out);
		for (const char *at = text; *at; at++)
			fprintf(out, "%02x", (unsigned char)*at);
		fputs("' AS TEXT)", out);
		return;
	}
	fputc('\'', out);
	for (const char *at = text; *at; at++) {
		if (*at == '\'')
			fputc('\'', out);
		fputc(*at, out);
	}
	fputc('\'', out);
}

static void export_maps_channel(FILE *out, const char *session, struct json_object *map, size_t id)
{
	static const char *const words[] = { "ownership", "update", "dead" };

	fprintf(out, "INSERT INTO map_channels VALUES(%zu, ", id);
	export_maps_text(out, session);
	fprintf(out, ", '%s', ", json_str(map, "domain"));
	export_maps_text(out, json_str(map, "name"));
	fprintf(out, ", '%s', %llu", json_str(map, "value_type"),
		(unsigned long long)json_num(map, "max_keys"));
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		fprintf(out, ", '%s'", json_str(map, words[i]));
	fprintf(out, ", %llu, %lld);\n", (unsigned long long)json_num(map, "key_count"),
		(long long)json_num(map, "overflow"));
}

/* A member that is missing is NULL. */
static void export_maps_number(FILE *out, struct json_object *value, const char *name)
{
	struct json_object *number;

	if (json_object_object_get_ex(value, name, &number))
		fprintf(out, ", %lld", (long long)json_object_get_int64(number));
	else
		fputs(", NULL", out);
}

static void export_maps_value(FILE *out, struct json_object *value, size_t id)
{
	fprintf(out, "INSERT INTO map_values VALUES(%zu, ", id);
	export_maps_text(out, json_str(value, "map_key"));
	fprintf(out, ", '%s'", json_str(value, "owner"));
	export_maps_number(out, value, "uid");
	export_maps_number(out, value, "pid");
	export_maps_number(out, value, "part");
	export_maps_number(out, value, "value");
	fputs(");\n", out);
}

static enum status export_maps_check(struct ctl *ctl)
{
	if (!opt.format || strcmp(opt.format, "sqlite") == 0)
		return STATUS_OK;
	err_set(&ctl->err, ERR_INVALID, "--format=%s: this is not sqlite, the only format",
		opt.format);
	return STATUS_ERROR;
}

/* The parts of a key, or one row for a key whose value is 0. */
static void export_maps_values(FILE *out, struct json_object *map, struct json_object *keys,
			       size_t id)
{
	for (size_t i = 0; i < json_len(map, "values"); i++)
		export_maps_value(out, json_at(map, "values", i), id);
	for (size_t i = 0; i < json_len(keys, "values"); i++)
		if (!json_num(json_at(keys, "values", i), "value"))
			export_maps_value(out, json_at(keys, "values", i), id);
}

static char *export_maps_script;

static void export_maps_write(FILE *out, const char *session, struct json_object *maps,
			      struct json_object *keys)
{
	fputs(export_maps_tables, out);
	for (size_t i = 0; i < json_object_array_length(maps); i++) {
		struct json_object *map = json_object_array_get_idx(maps, i);

		export_maps_channel(out, session, map, i + 1);
		export_maps_values(out, map, json_object_array_get_idx(keys, i), i + 1);
	}
	fputs("COMMIT;\n", out);
}

static enum status export_maps_run(struct ctl *ctl)
{
	const struct map_choice parts = { .per = MAP_PER_PART }, owners = { .per = MAP_PER_OWNER };
	char *session AUTO_FREE = target_session(ctl, opt.session);
	struct json_object *maps AUTO_RECORD = NULL, *keys AUTO_RECORD = NULL;
	size_t len = 0;
	FILE *out;

	if (!session)
		return STATUS_ERROR;
	if (map_fetch(ctl, session, &parts, &maps) != 0 ||
	    map_fetch(ctl, session, &owners, &keys) != 0) {
		target_suggest(ctl, session, NULL, NULL);
		return STATUS_ERROR;
	}
	out = open_memstream(&export_maps_script, &len);
	if (out)
		export_maps_write(out, session, maps, keys);
	if (!out || fclose(out) != 0) {
		err_errno(&ctl->err, ERR_NO_MEMORY, ENOMEM, "no memory for the script");
		return STATUS_ERROR;
	}
	ctl->record = json_object_new_object();
	json_set_str(ctl->record, "session", session);
	json_set_str(ctl->record, "sql", export_maps_script);
	return STATUS_OK;
}

/* It has printable characters and ends of lines alone. */
static void export_maps_print(FILE *out, struct json_object *record)
{
	(void)record;
	fputs(export_maps_script, out);
}

const struct verb verb_export_maps = {
	.name = "export-maps",
	.operands = "",
	.help = "Print the values of map channels as a script of SQL",
	.options = options,
	.daemon = DAEMON_NEEDED,
	.check = export_maps_check,
	.run = export_maps_run,
	.text = export_maps_print,
};
