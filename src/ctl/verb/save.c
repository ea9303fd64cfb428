/* SPDX-License-Identifier: GPL-2.0-only */
/* save.c - lttctl save [SESSION]: write sessions to files, from which `load` makes them again. */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "ctl/connect.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/text.h"
#include "ctl/print/print.h"
#include "ctl/saved/fetch.h"
#include "ctl/saved/files.h"
#include "ctl/saved/write.h"
#include "ctl/session/target.h"

static struct {
	char *output_path;
	int all, force, schema, no_triggers;
} opt;

static const struct poptOption options[] = {
	OPTION_FLAG("all", 'a', &opt.all, "every session (default)"),
	OPTION_FLAG("force", 'f', &opt.force, "replace files that exist"),
	OPTION_TEXT("output-path", 'o', &opt.output_path,
		    "write to this directory; -: print all of them", "DIR"),
	OPTION_FLAG("no-triggers", 0, &opt.no_triggers, "leave out the triggers of the sessions"),
	OPTION_FLAG("schema", 0, &opt.schema, "print the XML schema of the files"),
	POPT_TABLEEND,
};

/* --- the verb ------------------------------------------------------------------------------ */

static bool is_printed(const struct ctl *ctl)
{
	return (opt.output_path && strcmp(opt.output_path, "-") == 0) ||
	       (operand(ctl, 0) && strcmp(operand(ctl, 0), "-") == 0);
}

/* Whether all sessions are saved. */
static bool save_all(const struct ctl *ctl)
{
	return !operand(ctl, 0) || strcmp(operand(ctl, 0), "-") == 0;
}

static enum status save_check(struct ctl *ctl)
{
	if (opt.all && !save_all(ctl))
		err_set(&ctl->err, ERR_INVALID, "--all and a session name exclude each other");
	else if (operand(ctl, 0) && strcmp(operand(ctl, 0), "-") == 0 && opt.output_path &&
		 !is_printed(ctl))
		err_set(&ctl->err, ERR_INVALID, "'-' and --output-path exclude each other");
	return ctl->err.code ? STATUS_ERROR : STATUS_OK;
}

/* Names of the sessions to save; an array. NULL: ctl->err is set. */
static struct json_object *save_names(struct ctl *ctl)
{
	struct json_object *sessions AUTO_RECORD = NULL;
	struct json_object *names;

	if (!save_all(ctl)) {
		names = json_object_new_array();
		json_object_array_add(names, json_object_new_string(operand(ctl, 0)));
		return names;
	}
	if (target_sessions(ctl, &sessions, &ctl->err) != 0)
		return NULL;
	names = json_object_new_array();
	for (size_t i = 0; i < json_object_array_length(sessions); i++) {
		struct json_object *session = json_object_array_get_idx(sessions, i);
		const char *name = json_str(session, "name");

		if (strcmp(json_str(session, "state"), "destroying") == 0)
			continue;
		if (target_find(sessions, name) == session)
			json_object_array_add(names, json_object_new_string(name));
		else
			print_warning(ctl,
				      "a session '%s' of user %" PRIu64
				      " is not saved: another user has one of this name",
				      name, json_num(session, "uid"));
	}
	return names;
}

static int save_file(struct ctl *ctl, const char *dir, struct json_object *session)
{
	const char *name = json_str(session, "name");
	struct json_object *one AUTO_RECORD = json_object_new_array(), *o;
	char *text AUTO_FREE = NULL, *path AUTO_FREE = NULL;

	json_object_array_add(one, json_object_get(session));
	text = saved_write(one, &ctl->err);
	if (!text || files_write(dir, name, text, opt.force, &path, &ctl->err) != 0)
		return ctl->err.code;
	o = target_record(ctl, name);
	json_set_str(o, "file", path);
	return 0;
}

/* Without control characters, which a terminal might obey: they are written as references. */
static void print_document(const char *text)
{
	for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
		if (*at == 0x7f)
			fputs("&#x7F;", stdout);
		else if (at[0] == 0xc2 && at[1] < 0xa0)
			printf("&#x%X;", *++at);
		else
			putchar(*at);
	}
}

/* As text, it is no record to be printed line by line. */
static int save_document(struct ctl *ctl, const char *text)
{
	if (!text)
		return ctl->err.code;
	if (ctl->json)
		json_set_str(ctl->record, "document", text);
	else if (!ctl->quiet)
		print_document(text);
	return 0;
}

static int save_print(struct ctl *ctl, struct json_object *sessions)
{
	char *text AUTO_FREE = saved_write(sessions, &ctl->err);

	return save_document(ctl, text);
}

/* In files of their own: a session that can't be saved does not hinder the others. */
static enum status save_files(struct ctl *ctl, struct json_object *sessions)
{
	char *own AUTO_FREE = opt.output_path ? NULL : files_own_dir(&ctl->err);
	const char *dir = opt.output_path ? opt.output_path : own;
	size_t nr = json_object_array_length(sessions);
	enum status status = STATUS_OK;

	for (size_t i = 0; dir && i < nr; i++) {
		if (save_file(ctl, dir, json_object_array_get_idx(sessions, i)) == 0)
			continue;
		status = STATUS_ERROR;
		if (i + 1 == nr)
			break;
		print_error(ctl, "%s", ctl->err.text);
		ctl->err = (struct err){ 0 };
	}
	return dir ? status : STATUS_ERROR;
}

static enum status save_schema(struct ctl *ctl)
{
	char *text AUTO_FREE = saved_schema(&ctl->err);

	ctl->record = json_object_new_object();
	return save_document(ctl, text) == 0 ? STATUS_OK : STATUS_ERROR;
}

static enum status save_run(struct ctl *ctl)
{
	struct json_object *names AUTO_RECORD = NULL, *sessions AUTO_RECORD = NULL;

	if (opt.schema)
		return save_schema(ctl);
	if (ctl_connect(ctl, DAEMON_NEEDED) != 0)
		return STATUS_ERROR;
	names = save_names(ctl);
	if (!names)
		return STATUS_ERROR;
	ctl->record = json_object_new_object();
	json_set(ctl->record, "sessions", json_object_new_array());
	sessions = json_object_new_array();
	for (size_t i = 0; i < json_object_array_length(names); i++) {
		const char *name = json_object_get_string(json_object_array_get_idx(names, i));
		struct json_object *session = saved_fetch(ctl, name);

		if (!session && save_all(ctl) && ctl->err.code == ERR_NO_SESSION) {
			ctl->err = (struct err){ 0 }; /* destroyed meanwhile */
			continue;
		}
		if (!session) {
			target_suggest(ctl, name, NULL, NULL);
			return STATUS_ERROR;
		}
		json_object_array_add(sessions, session);
		if (!opt.no_triggers && saved_fetch_triggers(ctl, session) != 0)
			return STATUS_ERROR;
	}
	if (json_object_array_length(sessions) == 0) {
		err_set(&ctl->err, ERR_NO_SESSION, "there is no session to save");
		return STATUS_ERROR;
	}
	if (is_printed(ctl))
		return save_print(ctl, sessions) == 0 ? STATUS_OK : STATUS_ERROR;
	return save_files(ctl, sessions);
}

static void save_text(FILE *out, struct json_object *record)
{
	text_forms(out, record, "sessions", "Session {session} saved to {file}\n");
}

const struct verb verb_save = {
	.name = "save",
	.operands = "[SESSION | -]",
	.help = "Save sessions to files, for 'lttctl load'",
	.options = options,
	.daemon = DAEMON_UNUSED, /* save_run() connects, unless only the schema is printed */
	.max_operands = 1,
	.check = save_check,
	.run = save_run,
	.text = save_text,
};
