/* SPDX-License-Identifier: GPL-2.0-only */
#include "viewing.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/mem.h"
#include "base/str.h"
#include "ctl/connect.h"
#include "fetched.h"
#include "ctl/home.h"
#include "io/paths.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/session/target.h"
#include "ctl/print/text.h"
#include "read/view.h"

#define REMEMBERED "remembered-" /* begin of a directory with events of other sessions */

#define NET "net://"
#define TLS "tls://"

/* Return: false: the daemon knows no such session (or there is none, or it does not answer). */
static bool of_daemon(struct ctl *ctl, const char *session, char **ret_path)
{
	struct json_object *found AUTO_RECORD = NULL;

	if (!ctl_is_connected(ctl) ||
	    target_find_session(ctl, session, &found, &ctl->unreached) != 0 || !found)
		return false;
	*ret_path = xstrdup(json_str(found, "output"));
	return true;
}

static bool is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Is @name SESSION-YYYYmmdd-HHMMSS, perhaps with a number, or SESSION itself? */
static bool viewing_is_of_session(const char *name, const char *session)
{
	size_t len = strlen(session);
	unsigned int digits = 0;

	if (strncmp(name, session, len) != 0)
		return false;
	name += len;
	if (*name == '\0')
		return true;
	if (*name++ != '-')
		return false;
	for (; *name; name++) {
		if (!isdigit((unsigned char)*name) && *name != '-')
			return false;
		digits += isdigit((unsigned char)*name) != 0;
	}
	return digits >= 14;
}

/* Newest HOME/ltt-traces/SESSION-YYYYmmdd-HHMMSS[-N]; allocated, or NULL. */
static char *viewing_newest(const char *session)
{
	char *home AUTO_FREE = paths_home();
	char *top AUTO_FREE = home ? str_printf("%s/ltt-traces", home) : NULL;
	AUTO_DIR DIR *dir = top ? opendir(top) : NULL;
	struct timespec newest = { 0 };
	char *found AUTO_FREE = NULL;
	struct dirent *entry;

	while ((entry = dir_next(dir))) {
		struct stat st;

		if (!viewing_is_of_session(entry->d_name, session) ||
		    fstatat(dirfd(dir), entry->d_name, &st, 0) != 0 || !S_ISDIR(st.st_mode))
			continue;
		if (found &&
		    (st.st_mtim.tv_sec < newest.tv_sec ||
		     (st.st_mtim.tv_sec == newest.tv_sec && st.st_mtim.tv_nsec <= newest.tv_nsec)))
			continue;
		newest = st.st_mtim;
		free(found);
		found = str_printf("%s/%s", top, entry->d_name);
		if (!found)
			return NULL;
	}
	return TAKE(found);
}

static char *named(struct ctl *ctl, const char *word)
{
	char *path = NULL;

	if (of_daemon(ctl, word, &path)) {
		if (*path == '/')
			return path;
		if (*path) {
			err_set(&ctl->err, ERR_OUTPUT,
				"the relay at %s has the trace of session '%s'", path, word);
			free(path);
			return NULL;
		}
		free(path);
		err_set(&ctl->err, ERR_OUTPUT, "session '%s' writes no trace (--no-output)", word);
		return NULL;
	}
	if (is_dir(word)) {
		if (ctl->unreached.code == ERR_NO_ANSWER && !strchr(word, '/'))
			print_warning(ctl, "%s; '%s' is taken for the directory",
				      ctl->unreached.text, word);
		return xstrdup(word);
	}
	if (!strchr(word, '/') && ctl_is_unreached(ctl))
		return NULL;
	path = strchr(word, '/') ? NULL : viewing_newest(word);
	if (path)
		return path;
	err_set(&ctl->err, ERR_NO_SESSION, "there is neither a session nor a directory '%s'", word);
	target_suggest(ctl, word, NULL, NULL);
	return NULL;
}

static char *no_last(struct ctl *ctl)
{
	err_set(&ctl->err, ERR_OUTPUT,
		"no last trace is remembered; 'lttctl record -- PROGRAM' makes one, or name a "
		"session or a directory");
	return NULL;
}

/* An older trace, which another session wrote, is named and not shown. */
static char *viewing_untraced(struct ctl *ctl, const char *session, const char *older)
{
	char *word AUTO_FREE = older ? text_shell_word(older) : NULL;

	err_set(&ctl->err, ERR_OUTPUT,
		"session '%s' wrote no trace here (never started, --no-output, or to a relay)%s%s%s",
		session, word ? "; that of an earlier session: lttctl view " : "", word ? word : "",
		word ? "" : ", and there is none before it");
	return NULL;
}

/* The last trace, else the current session's. */
static char *last(struct ctl *ctl)
{
	char *untraced AUTO_FREE = home_get(HOME_UNTRACED);
	char *remembered AUTO_FREE = home_get(HOME_TRACE);
	char *session AUTO_FREE = NULL, *path = NULL;

	if (!remembered || !is_dir(remembered))
		free(TAKE(remembered));
	if (untraced)
		return viewing_untraced(ctl, untraced, remembered);
	if (remembered)
		return TAKE(remembered);
	session = home_get(HOME_SESSION);
	if (session && of_daemon(ctl, session, &path) && *path == '/')
		return path;
	free(path);
	return session && ctl_is_unreached(ctl) ? NULL : no_last(ctl);
}

char *viewing_path(struct ctl *ctl, const char *word)
{
	if (word && fetched_is_url(word))
		return fetched_path(ctl, word);
	return word ? named(ctl, word) : last(ctl);
}

int viewing_refuse(const struct view_summary *sum, const char *path, struct err *err)
{
	uint64_t readable = 0;
	char bytes[TEXT_BYTES];

	for (size_t i = 0; i < sum->nr_streams; i++)
		readable += sum->streams[i].events;
	if (readable || (!sum->problems && !sum->skipped_bytes))
		return 0;
	return err_set(err, ERR_OUTPUT,
		       "no event of %s can be read, but it has %s bytes of streams", path,
		       text_count(bytes, sum->bytes));
}

void viewing_note_snapshots(struct ctl *ctl, const char *path)
{
	AUTO_DIR DIR *dir = dir_open(AT_FDCWD, path);
	const struct dirent *entry;
	unsigned int snapshots = 0, traces = 0;

	while ((entry = dir_next(dir))) {
		char *parts AUTO_FREE =
			xasprintf("%s/.parts", entry->d_name); /* of snapshots only */

		if (strncmp(entry->d_name, REMEMBERED, strlen(REMEMBERED)) == 0)
			continue; /* events before the session */
		if (faccessat(dirfd(dir), parts, F_OK, 0) == 0)
			snapshots++;
		else if (*entry->d_name != '.')
			traces = 1;
	}
	if (snapshots && snapshots + traces > 1)
		print_note(ctl,
			   "%u snapshot%s in this directory: an event is read as often as it is in "
			   "them and in the session's own trace; name the directory of one",
			   snapshots, snapshots == 1 ? " is" : "s are");
}

/* Of a relay of an earlier version, and of one that was never reached. */
static char *viewing_default_url(struct json_object *session)
{
	const char *output = json_str(session, "output"), *host = strstr(output, "://");
	struct utsname own = { .nodename = "" };
	const char *end;

	if (!host)
		return NULL;
	host += 3;
	end = *host == '[' ? host + strcspn(host, "]") : host;
	end += strcspn(end, ":,");
	uname(&own);
	return xasprintf("%s%.*s/host/%s/%s", strncmp(output, TLS, 3) == 0 ? TLS : NET,
			 (int)(end - host), host, own.nodename, json_str(session, "name"));
}

/* A relay on another machine wants TLS, unless both sides are configured otherwise. @url is
 * freed. */
static char *as_it_is_reached(char *url, bool clear_text)
{
	static const char *const local[] = { "localhost", "127.", "[::1]" };
	AUTO_FREE char *given = url;

	if (!url || strncmp(url, NET, strlen(NET)) != 0 || clear_text)
		return TAKE(given);
	for (size_t i = 0; i < ARRAY_SIZE(local); i++)
		if (strncmp(url + strlen(NET), local[i], strlen(local[i])) == 0)
			return TAKE(given);
	return xasprintf(TLS "%s", url + strlen(NET));
}

char *viewing_live(struct ctl *ctl, const char *word, bool clear_text)
{
	struct json_object *found AUTO_RECORD = NULL;
	AUTO_FREE char *name = NULL;
	char *url = NULL;

	if (word && strstr(word, "://"))
		return as_it_is_reached(xstrdup(word), clear_text);
	name = target_session(ctl, word);
	if (!name)
		return NULL;
	if (ctl_is_unreached(ctl) ||
	    (ctl_is_connected(ctl) && target_find_session(ctl, name, &found, &ctl->err) != 0))
		return NULL;
	if (!ctl_is_connected(ctl)) {
		err_set(&ctl->err, ERR_NO_DAEMON,
			"no session daemon runs; name the session as "
			"net://RELAY/host/HOST/SESSION");
		return NULL;
	}
	if (!found)
		err_set(&ctl->err, ERR_NO_SESSION, "there is no session '%s'", name);
	else if (!json_num(found, "live_us"))
		err_set(&ctl->err, ERR_STATE, "session '%s' is not live (create --live)", name);
	else
		url = xstrdup(json_str(found, "live_url"));
	if (!url || *url)
		return url;
	free(url);
	return as_it_is_reached(viewing_default_url(found),
				clear_text || json_flag(found, "relay_clear"));
}

/* @more: room for two entries, for the trace. Return: their number. */
static size_t trace_entries(const char *session, const char *path, struct home_entry *more)
{
	if (!path || *path != '/') {
		more[0] = (struct home_entry){ HOME_UNTRACED, session };
		return 1;
	}
	more[0] = (struct home_entry){ HOME_TRACE, path };
	more[1] = (struct home_entry){ HOME_UNTRACED, NULL };
	return 2;
}

static int remember(const char *session, const char *path, struct err *err)
{
	struct home_entry entries[2];

	return home_change(entries, trace_entries(session, path, entries), err);
}

int viewing_remember_current(const char *session, const char *path, const char *current,
			     struct err *err)
{
	struct home_entry entries[3] = { { HOME_SESSION, current } };

	return home_change(entries, 1 + trace_entries(session, path, &entries[1]), err);
}

void viewing_remember(struct ctl *ctl, const char *session, const char *path)
{
	struct err err = { 0 };

	if (remember(session, path, &err) != 0)
		print_warning(ctl, "the trace is not remembered as the last one: %s", err.text);
}

char *viewing_remember_session(struct ctl *ctl, const char *session)
{
	struct json_object *found AUTO_RECORD = NULL;
	struct err ignored = { 0 };
	const char *path;

	if (target_find_session(ctl, session, &found, &ignored) != 0 || !found)
		return NULL;
	path = json_str(found, "output");
	(void)!remember(session, path, &ignored); /* a convenience, not worth a sentence */
	return json_num(found, "snapshots") ? NULL : xstrdup(path);
}
