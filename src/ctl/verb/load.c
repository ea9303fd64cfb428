/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * load.c - lttctl load [SESSION]: make sessions again that `save`, or LTTng, has written to files.
 * All files are read and checked before anything is made; of one that fails nothing is left behind.
 */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/connect.h"
#include "ctl/session/create.h"
#include "ctl/home.h"
#include "ctl/session/leftover.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/text.h"
#include "ctl/print/print.h"
#include "ctl/saved/files.h"
#include "ctl/saved/make.h"
#include "ctl/saved/output.h"
#include "ctl/saved/read.h"
#include "ctl/session/target.h"
#include "io/relayurl.h"

static struct {
	char *input_path, *name, *url;
	int all, force, keep_going, only_trusted, skip_existing;
} opt;

static const struct poptOption options[] = {
	OPTION_FLAG("all", 'a', &opt.all, "every session that is found (default)"),
	OPTION_FLAG("force", 'f', &opt.force, "destroy sessions of the same names first"),
	OPTION_TEXT("input-path", 'i', &opt.input_path,
		    "load from this file or directory; -: standard input", "PATH"),
	OPTION_FLAG("only-trusted", 0, &opt.only_trusted,
		    "from a directory and files that no other user can change"),
	OPTION_TEXT("override-name", 0, &opt.name, "the session gets this name", "NAME"),
	OPTION_TEXT("override-url", 0, &opt.url, "the trace goes there: file:///DIR, net://RELAY",
		    "URL"),
	OPTION_FLAG("keep-going", 0, &opt.keep_going, "load the rest if something can't be loaded"),
	OPTION_FLAG("skip-existing", 0, &opt.skip_existing, "leave out sessions whose names exist"),
	POPT_TABLEEND,
};

/* --- arguments ------------------------------------------------------------------------ */

/* The session to load; NULL: all. */
static const char *load_session(const struct ctl *ctl)
{
	const char *name = operand(ctl, 0);

	return name && strcmp(name, "-") != 0 ? name : NULL;
}

static const char *load_path(const struct ctl *ctl)
{
	return operand(ctl, 0) && !load_session(ctl) ? "-" : opt.input_path;
}

static int check_name_option(struct ctl *ctl)
{
	const char *wrong = opt.name ? name_check(opt.name) : NULL;

	if (wrong)
		return err_set(&ctl->err, ERR_INVALID, "the session name '%s' %s", opt.name, wrong);
	if (opt.name && !load_session(ctl))
		return err_set(&ctl->err, ERR_INVALID,
			       "--override-name needs the name of the session to load");
	return 0;
}

static int check_url(struct ctl *ctl)
{
	if (!opt.url || strncmp(opt.url, "file:///", 8) == 0 || relayurl_is_one(opt.url))
		return 0;
	return err_set(&ctl->err, ERR_INVALID,
		       "--override-url=%s: this is not a supported URL; use file:///DIR or "
		       "net://RELAY",
		       opt.url);
}

static enum status load_check(struct ctl *ctl)
{
	if (opt.all && load_session(ctl))
		err_set(&ctl->err, ERR_INVALID, "--all and a session name exclude each other");
	else if (operand(ctl, 0) && !load_session(ctl) && opt.input_path)
		err_set(&ctl->err, ERR_INVALID, "'-' and --input-path exclude each other");
	else if (opt.only_trusted && (!opt.input_path || load_session(ctl)))
		err_set(&ctl->err, ERR_INVALID,
			"--only-trusted needs --input-path with a directory, and no session name");
	else if (opt.force && opt.skip_existing)
		err_set(&ctl->err, ERR_INVALID, "--force and --skip-existing exclude each other");
	else if (check_name_option(ctl) == 0)
		check_url(ctl);
	return ctl->err.code ? STATUS_ERROR : STATUS_OK;
}

/* --- files ------------------------------------------------------------------------------ */

/*
 * Files that were read, an array of { file, sessions }; names of their sessions. A file is loaded
 * as a whole or not at all; others are loaded anyway.
 */
struct loading {
	struct json_object *files, *names;
	size_t nr_sessions, failed;
	bool is_searching; /* for a session that is named, in several files */
	bool incomplete;   /* something was left out */
	bool unsupported;  /* nothing worse has failed */
};

static void loading_fini(struct loading *loading)
{
	json_object_put(loading->files);
	json_object_put(loading->names);
}

/* The failure in ctl->err is printed, unless it is the last one. */
static void load_failed(struct ctl *ctl, struct loading *loading, bool last)
{
	loading->unsupported =
		ctl->err.code == ERR_UNSUPPORTED && (loading->unsupported || !loading->failed);
	loading->failed++;
	if (last && loading->failed == 1)
		return;
	print_error(ctl, "%s", ctl->err.text);
	ctl->err = (struct err){ 0 };
}

/* Return: 0; else the file is not loaded: the code in ctl->err. */
static int report_problems(struct ctl *ctl, struct loading *loading, struct problems *problems,
			   struct json_object *group)
{
	size_t nr = problems->nr + problems->omitted;
	bool fatal =
		!opt.keep_going && !(loading->is_searching && json_len(group, "sessions") == 0);

	for (size_t i = 0; i < problems->nr; i++) {
		json_append(ctl->record, "not_loaded", json_object_new_string(problems->texts[i]));
		if (fatal)
			print_error(ctl, "%s", problems->texts[i]);
		else
			print_warning(ctl, "%s (left out)", problems->texts[i]);
	}
	if (problems->omitted)
		print_note(ctl, "%s: %zu more problems are not listed", problems->file,
			   problems->omitted);
	loading->incomplete |= nr != 0;
	if (!nr || !fatal)
		return 0;
	return err_set(&ctl->err, problems->invalid ? ERR_INVALID : ERR_UNSUPPORTED,
		       "%s: nothing of it is loaded, because of %zu problem%s; --keep-going loads "
		       "the rest",
		       problems->file, nr, nr == 1 ? "" : "s");
}

/* Sessions that are wanted; of a name the first: the user's files are read before the system's. */
static void take_sessions(struct ctl *ctl, struct loading *loading, struct json_object *sessions,
			  struct json_object *group)
{
	const char *wanted = load_session(ctl);

	for (size_t i = 0; i < json_object_array_length(sessions); i++) {
		struct json_object *session = json_object_array_get_idx(sessions, i);
		const char *name = json_str(session, "name");

		if ((wanted && strcmp(name, wanted) != 0) || json_get(loading->names, name))
			continue;
		json_set_bool(loading->names, name, true);
		json_set_str(session, SAVED_FILE, json_str(group, "file"));
		json_set_str(session, SAVED_NAME, json_str(session, "name"));
		json_append(group, "sessions", json_object_get(session));
	}
}

static int load_file(struct ctl *ctl, int trusted_dir, const char *file, struct loading *loading)
{
	struct problems problems CLEANUP(
		problems_fini) = { .file = strcmp(file, "-") == 0 ? "standard input" : file };
	struct json_object *sessions AUTO_RECORD = NULL, *group AUTO_RECORD = NULL;
	char *text AUTO_FREE = NULL;
	size_t len;

	if (files_read(trusted_dir, file, &text, &len, &ctl->err) != 0)
		return ctl->err.code;
	sessions = saved_read(text, len, &problems);
	group = json_object_new_object();
	JSON_COPY(group, &problems, file);
	take_sessions(ctl, loading, sessions, group);
	if (report_problems(ctl, loading, &problems, group) != 0)
		return ctl->err.code;
	loading->nr_sessions += json_len(group, "sessions");
	if (json_len(group, "sessions"))
		json_object_array_add(loading->files, TAKE(group));
	return 0;
}

static int load_files(struct ctl *ctl, struct loading *loading)
{
	struct names files CLEANUP(names_fini) = { 0 };
	int trusted AUTO_FD = -1;

	if (opt.only_trusted)
		trusted = files_open_trusted(opt.input_path, &files, &ctl->err);
	else if (files_find(load_path(ctl), load_session(ctl), &files, &ctl->err) != 0)
		return ctl->err.code;
	if (opt.only_trusted && trusted < 0)
		return ctl->err.code;
	loading->is_searching = load_session(ctl) && files.nr > 1;
	for (size_t i = 0; i < files.nr; i++)
		if (load_file(ctl, trusted, files.names[i], loading) != 0)
			load_failed(ctl, loading, i + 1 == files.nr && !loading->nr_sessions);
	return ctl->err.code;
}

/* --- changes by options --------------------------------------------------------------- */

static int override_url(struct ctl *ctl, struct json_object *session)
{
	bool relay = relayurl_is_one(opt.url);
	bool was_relay = *json_str(session, "url") || json_num(session, "live_us");

	if (!relay && json_num(session, "live_us"))
		return err_set(&ctl->err, ERR_INVALID,
			       "--override-url: session '%s' is live, and viewers follow it at a "
			       "relay: name one, as in net://RELAY",
			       json_str(session, "name"));
	if (relay && json_flag(session, "snapshots"))
		return err_set(&ctl->err, ERR_UNSUPPORTED,
			       "--override-url: snapshots can't be sent to a relay yet: name a "
			       "directory for session '%s'",
			       json_str(session, "name"));
	json_set_str(session, "output_parent", "");
	json_set_str(session, "output", relay ? "" : opt.url + 7);
	json_set_str(session, "url", relay ? opt.url : "");
	if (relay && !was_relay) {
		json_set_num(session, "spool_size", OUTPUT_SPOOL_BYTES);
		json_set_num(session, "max_size", 0);
	}
	if (!relay) {
		json_set_num(session, "spool_size", 0);
		json_set_bool(session, "compress", false);
		json_set_bool(session, "relay_clear", false);
	}
	return 0;
}

static int apply_options(struct ctl *ctl, struct loading *loading)
{
	if (opt.url && !relayurl_is_one(opt.url) && loading->nr_sessions > 1)
		return err_set(&ctl->err, ERR_INVALID,
			       "--override-url: %zu sessions can't write to one directory; name "
			       "the session to load",
			       loading->nr_sessions);
	for (size_t i = 0; i < json_object_array_length(loading->files); i++) {
		struct json_object *group = json_object_array_get_idx(loading->files, i);

		for (size_t k = 0; k < json_len(group, "sessions"); k++) {
			struct json_object *session = json_at(group, "sessions", k);

			if (opt.url && override_url(ctl, session) != 0)
				return ctl->err.code;
			if (opt.name)
				json_set_str(session, "name", opt.name);
		}
	}
	return 0;
}

/* Whether the caller has a session of that name: root sees those of other users, too. */
static int find_own(struct ctl *ctl, const char *name, bool *ret)
{
	struct ltt_ctl_sessions *list;

	if (ctl_done(ctl, ltt_ctl_find(ctl->library, name, &list), &ctl->err) != 0)
		return ctl->err.code;
	*ret = false;
	for (size_t i = 0; i < list->nr; i++)
		*ret |= list->sessions[i]->uid == geteuid();
	ltt_ctl_sessions_free(list);
	return 0;
}

/* Sessions that exist: destroyed, left out, or a failure before anything is made. */
static int meet_existing(struct ctl *ctl, struct json_object *sessions)
{
	for (size_t i = 0; i < json_object_array_length(sessions);) {
		const char *name = json_str(json_object_array_get_idx(sessions, i), "name");
		bool found;

		if (find_own(ctl, name, &found) != 0)
			return ctl->err.code;
		if (found && opt.skip_existing) {
			json_object_array_del_idx(sessions, i, 1);
			continue;
		}
		if (found && !opt.force)
			return err_set(&ctl->err, ERR_SESSION_EXISTS,
				       "session '%s' exists already; use --force to destroy it "
				       "first, or --override-name",
				       name);
		i++;
	}
	return 0;
}

/* Not before the new one is accepted. */
static int destroy_existing(struct ctl *ctl, struct json_object *session)
{
	const char *name = json_str(session, "name");
	bool found = false;

	if (opt.force && find_own(ctl, name, &found) != 0)
		return ctl->err.code;
	if (found && !opt.keep_going && make_trial(ctl, session) != 0)
		return ctl->err.code;
	name = json_str(session, "name");
	return found ? ctl_done(ctl, ltt_ctl_destroy(ctl->library, name, 0, NULL), &ctl->err) : 0;
}

/* --- the verb -------------------------------------------------------------------------------- */

static int make_all(struct making *making, struct json_object *sessions)
{
	struct ctl *ctl = making->ctl;

	for (size_t i = 0; i < json_object_array_length(sessions); i++) {
		struct json_object *session = json_object_array_get_idx(sessions, i);

		if (destroy_existing(ctl, session) == 0 && make_session(making, session) == 0)
			continue;
		if (!opt.keep_going || !ctl_is_connected(ctl))
			return ctl->err.code;
		print_warning(ctl, "%s (the session is left out)", ctl->err.text);
		ctl->err = (struct err){ 0 };
		making->incomplete = true;
	}
	return make_start(making);
}

/* A session that is loaded by its name becomes the current one. */
static void load_remember(struct ctl *ctl)
{
	struct json_object *o = json_at(ctl->record, "sessions", 0);
	struct err err = { 0 };

	if (load_session(ctl) && o && home_set(HOME_SESSION, json_str(o, "session"), &err) != 0)
		print_warning(ctl, "the session is not remembered as the current one: %s",
			      err.text);
}

/* The sessions of a file. Return: 0 or the code in ctl->err: nothing of it is left then. */
static int load_group(struct ctl *ctl, struct loading *loading, struct json_object *group)
{
	struct making making CLEANUP(make_fini) = { .ctl = ctl, .keep_going = opt.keep_going };
	struct json_object *sessions = json_get(group, "sessions");

	if (meet_existing(ctl, sessions) != 0)
		return ctl->err.code;
	if (make_all(&making, sessions) != 0) {
		make_undo(&making);
		return ctl->err.code;
	}
	make_report(&making, json_get(ctl->record, "sessions"));
	loading->incomplete |= making.incomplete;
	return 0;
}

static enum status load_groups(struct ctl *ctl, struct loading *loading)
{
	size_t nr = json_object_array_length(loading->files);

	for (size_t i = 0; i < nr && (i == 0 || ctl_is_connected(ctl)); i++)
		if (load_group(ctl, loading, json_object_array_get_idx(loading->files, i)) != 0)
			load_failed(ctl, loading, i + 1 == nr);
	load_remember(ctl);
	if (loading->failed)
		err_set(&ctl->err, loading->unsupported ? ERR_UNSUPPORTED : ERR_INVALID,
			"%zu file%s not loaded", loading->failed,
			loading->failed == 1 ? " was" : "s were");
	if (ctl->err.code || loading->incomplete)
		return ctl->err.code ? STATUS_ERROR : STATUS_WARNING;
	if (!load_session(ctl) && !ctl->no_sessiond &&
	    ctl_is_connected(ctl)) /* not one that the daemon itself has started */
		leftover_loaded(ctl);
	return STATUS_OK;
}

static enum status none_found(struct ctl *ctl)
{
	char *own AUTO_FREE = load_path(ctl) ? NULL : files_own_dir(&ctl->err);

	if (!load_path(ctl) && !own)
		return STATUS_ERROR;
	if (load_session(ctl) || !load_path(ctl))
		err_set(&ctl->err, ERR_NO_SESSION, "there is no saved session%s%s%s in %s%s",
			load_session(ctl) ? " '" : "", load_session(ctl) ? load_session(ctl) : "",
			load_session(ctl) ? "'" : "", own ? own : load_path(ctl),
			own ? ", nor in the system's configuration" : "");
	else
		print_note(ctl, "there is no saved session in %s", load_path(ctl));
	return ctl->err.code ? STATUS_ERROR : STATUS_OK;
}

static enum status load_run(struct ctl *ctl)
{
	struct loading loading CLEANUP(loading_fini) = { .files = json_object_new_array(),
							 .names = json_object_new_object() };

	ctl->record = json_object_new_object();
	json_set(ctl->record, "sessions", json_object_new_array());
	if (load_files(ctl, &loading) != 0)
		return STATUS_ERROR;
	if (!loading.nr_sessions && !loading.failed)
		return none_found(ctl);
	if (loading.nr_sessions &&
	    (apply_options(ctl, &loading) != 0 || ctl_connect(ctl, DAEMON_STARTED) != 0))
		return STATUS_ERROR;
	return load_groups(ctl, &loading);
}

static void load_text(FILE *out, struct json_object *record)
{
	text_forms(out, record, "sessions",
		   "Session {session} loaded[{?recording}, and started]\n"
		   "[Traces will be output to {output?}\n]");
}

const struct verb verb_load = {
	.name = "load",
	.operands = "[SESSION | -]",
	.help = "Make sessions again that were saved",
	.options = options,
	.daemon = DAEMON_UNUSED, /* load_run() connects once the files are read */
	.max_operands = 1,
	.check = load_check,
	.run = load_run,
	.text = load_text,
};
