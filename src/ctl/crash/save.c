/* SPDX-License-Identifier: GPL-2.0-only */
#include "save.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <ltt/control.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/connect.h"
#include "ctl/print/json.h"
#include "ctl/record/crashes.h"
#include "io/paths.h"
#include "state.h"

#define INPUT_BYTES (3u * PATH_MAX)
#define RETRY_NS 100000000
#define RETRIES 150u /* 15 s: a killed daemon is replaced; another snapshot is written */

/* --- the facts --------------------------------------------------------------------------- */

/** struct crash_facts - as ltt-crash has written them (crash/save.c), in this order.
 *  @core: path of the handler of the core, or of its file; "": none. */
struct crash_facts {
	char text[INPUT_BYTES];
	const char *pid, *tid, *signal, *uid, *time_ns, *duration_ns, *name, *exe, *core;
};

static uint64_t save_number(const char *text)
{
	uint64_t number;

	return parse_u64(text, &number) == 0 ? number : 0;
}

static int save_read_facts(struct crash_facts *ret)
{
	const char **const fields[] = { &ret->pid,  &ret->tid,	   &ret->signal,
					&ret->uid,  &ret->time_ns, &ret->duration_ns,
					&ret->name, &ret->exe,	   &ret->core };
	size_t len = fread(ret->text, 1, sizeof(ret->text), stdin);
	char *at = ret->text, *end = ret->text + len, *zero;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		zero = memchr(at, '\0', (size_t)(end - at));
		if (!zero)
			return -EINVAL;
		*fields[i] = at;
		at = zero + 1;
	}
	return save_number(ret->pid) && save_number(ret->tid) && save_number(ret->signal) ? 0 :
											    -EINVAL;
}

static struct json_object *save_program(const struct crash_facts *facts)
{
	struct json_object *o = json_object_new_object(), *crash = json_object_new_object();

	json_append(o, "command", json_object_new_string(*facts->exe ? facts->exe : facts->name));
	json_set_num(o, "exit_status", 128 + save_number(facts->signal));
	json_set_num(o, "signal", save_number(facts->signal));
	json_set_num(o, "duration_ns", save_number(facts->duration_ns));
	json_set_num(crash, "pid", save_number(facts->pid));
	json_set_num(crash, "tid", save_number(facts->tid));
	json_set(o, "crash", crash);
	return o;
}

static struct json_object *save_machine(const struct crash_facts *facts, uint64_t joined)
{
	struct json_object *o = json_object_new_object();

	json_set_num(o, "uid", save_number(facts->uid));
	json_set_str(o, "name", facts->name);
	json_set_str(o, "core", facts->core);
	json_set_num(o, "joined", joined);
	json_set_time(o, "time_ns", (int64_t)save_number(facts->time_ns));
	return o;
}

/* A name of the directory; the process has chosen @facts->name. Allocated. */
static char *save_name(const struct crash_facts *facts)
{
	char *name = xasprintf(CRASH_NAME_BEGIN "%.32s-%" PRIu64 "-sig%" PRIu64, facts->name,
			       save_number(facts->pid), save_number(facts->signal));

	for (char *c = name; *c; c++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.",
			    *c))
			*c = '_';
	return name;
}

/* --- the daemon ---------------------------------------------------------------------------- */

static void save_pause(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = RETRY_NS }, NULL);
}

/* Not that of another user, to which root has access. */
static bool save_has_socket(const char *rundir)
{
	char *path AUTO_FREE = xasprintf("%s/client.sock", rundir);
	struct stat st;

	return stat(path, &st) == 0 && (st.st_uid == 0 || st.st_uid == geteuid()) &&
	       access(path, W_OK) == 0;
}

/* Most users have no session daemon: for these, nothing is written into their homes. */
static bool save_has_daemon(void)
{
	char *own AUTO_FREE = paths_rundir();

	return (own && save_has_socket(own)) ||
	       (!getenv("LTT_RUNDIR") && save_has_socket(PATHS_SYSTEM_RUNDIR));
}

/* A daemon that was killed is replaced by others, or not at all: none is started here. */
static int save_connect(struct ctl *ctl, struct err *ret)
{
	ctl->no_sessiond = true;
	for (unsigned int i = 0; i < RETRIES; i++) {
		*ret = (struct err){ 0 };
		if (ctl_open(ctl, false, ret) == 0 || ret->code != ERR_NO_DAEMON)
			return ret->code;
		save_pause();
	}
	return ret->code;
}

/* --- sessions -------------------------------------------------------------------------------- */

/* Those of `lttctl record` have a scope, and are saved by it. */
static bool save_is_wanted(struct ctl *ctl, const struct ltt_ctl_session *session)
{
	struct ltt_ctl_session_status *status;
	bool wanted = false;

	if (session->uid != geteuid() || session->state != LTT_CTL_RECORDING || *session->scope ||
	    ltt_ctl_status(ctl->library, session->name, &status) != 0)
		return false;
	for (size_t i = 0; i < status->nr_channels; i++) {
		const struct ltt_ctl_channel *channel = status->channels[i];

		wanted |= channel->domain == LTT_CTL_USER &&
			  (channel->overwrite || session->snapshots);
	}
	ltt_ctl_status_free(status);
	return wanted;
}

/* The directory of the session's snapshots, else its own; snapshots at a relay can't be listed.
 * Allocated; NULL: the session's own. */
static char *save_output(const struct ltt_ctl_session *session)
{
	char *home AUTO_FREE = NULL;

	if (*session->snapshot_path == '/')
		return xstrdup(session->snapshot_path);
	if (*session->output == '/' && !session->snapshot_elsewhere)
		return NULL;
	home = paths_home();
	return xasprintf("%s/ltt-traces/crashes", home ? home : "");
}

static struct json_object *save_snapshot(struct ctl *ctl, const struct ltt_ctl_session *session,
					 const char *name, struct err *ret)
{
	char *output AUTO_FREE = save_output(session);
	struct ltt_ctl_snapshot_options wanted;
	struct ltt_ctl_snapshot *snapshot = NULL;
	struct json_object *saved = NULL;
	int code = LTT_CTL_BUSY;

	ltt_ctl_snapshot_options_init(&wanted);
	wanted.session = session->name;
	wanted.name = name;
	wanted.output = output;
	wanted.max_size = session->snapshot_max_size;
	for (unsigned int i = 0; i < RETRIES && code == LTT_CTL_BUSY; i++) {
		if (i)
			save_pause();
		code = ltt_ctl_snapshot_record(ctl->library, &wanted, &snapshot);
		if (!ctl_is_connected(ctl) && save_connect(ctl, ret) == 0)
			code = LTT_CTL_BUSY;
	}
	*ret = (struct err){ 0 };
	if (ctl_done(ctl, code, ret) == 0)
		saved = json_snapshot(session->name, snapshot);
	ltt_ctl_snapshot_free(snapshot);
	return saved;
}

/* --- all of them ----------------------------------------------------------------------- */

struct saving {
	struct ctl *ctl;
	struct crash_state *state;
	const struct crash_facts *facts;
	const struct crash_settings *settings;
	uint64_t joined;
};

static void save_session(struct saving *saving, const struct ltt_ctl_session *session)
{
	const struct crash_facts *facts = saving->facts;
	char *name AUTO_FREE = save_name(facts);
	struct err err = { 0 };
	struct json_object *snapshot AUTO_RECORD = save_snapshot(saving->ctl, session, name, &err),
				     *program AUTO_RECORD = save_program(facts),
				     *machine AUTO_RECORD = save_machine(facts, saving->joined);

	if (!snapshot) {
		if (err.code != ERR_NO_EVENT)
			crash_state_fail(saving->state, err.text);
		return;
	}
	crashes_save(saving->ctl, snapshot, program, machine);
	crash_state_add(saving->state, saving->settings, (uid_t)save_number(facts->uid), facts->exe,
			json_str(snapshot, "directory"));
	json_append(saving->ctl->record, "crashes", crashes_record(snapshot, program, machine));
}

static void save_sessions(struct saving *saving)
{
	struct ltt_ctl_sessions *sessions = NULL;
	struct err err = { 0 };

	if (save_connect(saving->ctl, &err) != 0 ||
	    ctl_done(saving->ctl, ltt_ctl_list(saving->ctl->library, &sessions), &err) != 0) {
		crash_state_fail(saving->state, err.text);
		return;
	}
	for (size_t i = 0; i < sessions->nr; i++)
		if (save_is_wanted(saving->ctl, sessions->sessions[i]))
			save_session(saving, sessions->sessions[i]);
	ltt_ctl_sessions_free(sessions);
}

enum status crash_save(struct ctl *ctl)
{
	static struct crash_facts facts;
	struct crash_settings settings CLEANUP(crash_settings_fini) = { 0 };
	struct crash_state state CLEANUP(crash_state_close) = { .fd = -1 };
	struct saving saving = {
		.ctl = ctl, .state = &state, .facts = &facts, .settings = &settings
	};

	ctl->record = json_object_new_object();
	json_set(ctl->record, "crashes", json_object_new_array());
	if (save_read_facts(&facts) != 0) {
		err_set(&ctl->err, ERR_INVALID,
			"--save is for ltt-crash, which gives the facts about a crash on standard "
			"input; use 'lttctl snapshot record' to save events by hand");
		return STATUS_ERROR;
	}
	(void)crash_settings_read(&settings);
	if (save_has_daemon() && crash_state_open(&state) &&
	    crash_state_wait(&state, &saving.joined) &&
	    crash_state_admit(&state, &settings, (uid_t)save_number(facts.uid), facts.exe))
		save_sessions(&saving);
	return STATUS_OK;
}
