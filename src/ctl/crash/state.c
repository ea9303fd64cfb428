/* SPDX-License-Identifier: GPL-2.0-only */
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/mem.h"
#include "ctl/home.h"
#include "ctl/print/json.h"
#include "io/walk.h"

#define STATE ".ltt-crash-state"
#define STATE_BYTES (4u << 20) /* more is no file of ours */
#define GONE_MOST 1000u	       /* snapshots that were removed, and still count for the rate */
#define PROGRAM_BYTES 100      /* of the path, from its end */

/* --- locks: each of one byte ----------------------------------------------------------- */

enum state_lock {
	STATE_TURN, /* the process that saves */
	STATE_NEXT, /* the one that waits for it */
	STATE_TEXT, /* reading and writing the file */
};

static bool state_lock(int fd, short type, enum state_lock lock, bool waits)
{
	struct flock area = { .l_type = type, .l_whence = SEEK_SET, .l_start = lock, .l_len = 1 };
	int ret;

	do
		ret = fcntl(fd, waits ? F_OFD_SETLKW : F_OFD_SETLK, &area);
	while (ret != 0 && errno == EINTR);
	return ret == 0;
}

/* --- the file ------------------------------------------------------------------------------ */

static void state_read(struct crash_state *state)
{
	uint64_t size = fd_bytes(state->fd);
	char *text AUTO_FREE = NULL;
	ssize_t n;

	json_object_put(state->json);
	state->json = NULL;
	if (size && size <= STATE_BYTES) {
		text = xalloc(size + 1);
		n = pread(state->fd, text, size, 0);
		text[MAX(n, 0)] = '\0';
		state->json = json_tokener_parse(text);
	}
	if (!json_object_is_type(state->json, json_type_object)) {
		json_object_put(state->json);
		state->json = json_object_new_object();
	}
	if (!json_object_is_type(json_get(state->json, "saved"), json_type_array))
		json_set(state->json, "saved", json_object_new_array());
}

/* A full disk leaves an empty file, with which all is counted anew. */
static void state_write(struct crash_state *state)
{
	const char *text = json_object_to_json_string(state->json);

	if (ftruncate(state->fd, 0) != 0 ||
	    pwrite(state->fd, text, strlen(text), 0) != (ssize_t)strlen(text))
		(void)!ftruncate(state->fd, 0);
}

static void state_begin(struct crash_state *state)
{
	(void)state_lock(state->fd, F_WRLCK, STATE_TEXT, true);
	state_read(state);
}

static void state_end(struct crash_state *state)
{
	state_write(state);
	(void)state_lock(state->fd, F_UNLCK, STATE_TEXT, true);
}

static void state_count(struct crash_state *state, const char *key)
{
	json_set_num(state->json, key, json_num(state->json, key) + 1);
}

bool crash_state_open(struct crash_state *ret)
{
	*ret = (struct crash_state){ .fd = home_open(STATE, O_RDWR | O_CREAT, 0600) };
	return ret->fd >= 0;
}

void crash_state_close(struct crash_state *state)
{
	json_object_put(state->json);
	close_fd(state->fd);
}

/* --- one after the other ----------------------------------------------------------------- */

bool crash_state_wait(struct crash_state *state, uint64_t *ret_joined)
{
	bool joins;

	state_begin(state);
	joins = !state_lock(state->fd, F_WRLCK, STATE_NEXT, false);
	if (joins)
		state_count(state, "joined");
	state_end(state);
	if (joins || !state_lock(state->fd, F_WRLCK, STATE_TURN, true))
		return false;
	state_begin(state);
	*ret_joined = json_num(state->json, "joined");
	json_set_num(state->json, "joined", 0);
	(void)state_lock(state->fd, F_UNLCK, STATE_NEXT, true);
	state_end(state);
	return true;
}

/* --- limits --------------------------------------------------------------------------------- */

static const char *state_program(const char *program)
{
	size_t len = strlen(program);

	return program + (len > PROGRAM_BYTES ? len - PROGRAM_BYTES : 0);
}

static uint64_t state_now(void)
{
	return (uint64_t)time(NULL);
}

static bool state_is_recent(struct json_object *saved, const struct crash_settings *settings)
{
	uint64_t at = json_num(saved, "time"), now = state_now();

	return at <= now && now - at < settings->period_us / 1000000 + 1;
}

bool crash_state_admit(struct crash_state *state, const struct crash_settings *settings, uid_t uid,
		       const char *program)
{
	uint64_t nr = 0;
	bool admitted;

	state_begin(state);
	for (size_t i = 0; i < json_len(state->json, "saved"); i++) {
		struct json_object *saved = json_at(state->json, "saved", i);

		nr += json_num(saved, "uid") == uid && state_is_recent(saved, settings) &&
		      strcmp(json_str(saved, "program"), state_program(program)) == 0;
	}
	admitted = nr < settings->at_most;
	if (!admitted)
		state_count(state, "suppressed");
	state_end(state);
	return admitted;
}

/* Through no link of another user, which may own a directory on the way; nothing but a snapshot. */
static void state_remove(const char *directory)
{
	char *parent AUTO_FREE = xstrdup(directory);
	char *name = strrchr(parent, '/');
	struct err err = { 0 };
	int fd AUTO_FD = -1;

	if (!name || strncmp(name + 1, CRASH_NAME_BEGIN, strlen(CRASH_NAME_BEGIN)) != 0)
		return;
	*name = '\0';
	if (walk_dir(*parent ? parent : "/", 0, &fd, NULL, &err) == 0)
		dir_remove(fd, name + 1);
}

/* From the newest to the oldest: @keep of the user's have their directories. */
static void state_trim(struct crash_state *state, const struct crash_settings *settings, uid_t uid)
{
	struct json_object *saved = json_get(state->json, "saved");
	uint64_t kept = 0, gone = 0;

	for (size_t i = json_object_array_length(saved); i-- > 0;) {
		struct json_object *one = json_object_array_get_idx(saved, i);
		const char *directory = json_str(one, "directory");

		if (*directory && json_num(one, "uid") == uid && ++kept > settings->keep) {
			state_remove(directory);
			json_set_str(one, "directory", "");
		}
		if (!*json_str(one, "directory") &&
		    (!state_is_recent(one, settings) || ++gone > GONE_MOST))
			json_object_array_del_idx(saved, i, 1);
	}
}

void crash_state_add(struct crash_state *state, const struct crash_settings *settings, uid_t uid,
		     const char *program, const char *directory)
{
	struct json_object *one = json_object_new_object();

	json_set_num(one, "time", state_now());
	json_set_num(one, "uid", uid);
	json_set_str(one, "program", state_program(program));
	json_set_str(one, "directory", directory);
	state_begin(state);
	json_append(state->json, "saved", one);
	state_trim(state, settings, uid);
	state_end(state);
}

void crash_state_fail(struct crash_state *state, const char *problem)
{
	state_begin(state);
	state_count(state, "failed");
	json_set_str(state->json, "problem", problem);
	state_end(state);
}

void crash_state_report(struct json_object *o)
{
	struct crash_state state CLEANUP(
		crash_state_close) = { .fd = home_open(STATE, O_RDWR, 0600) };
	uint64_t saved = 0;

	if (state.fd >= 0) {
		(void)state_lock(state.fd, F_RDLCK, STATE_TEXT, true);
		state_read(&state);
	}
	for (size_t i = 0; i < json_len(state.json, "saved"); i++)
		saved += *json_str(json_at(state.json, "saved", i), "directory") != '\0';
	json_set_num(o, "nr_kept", saved);
	json_set_num(o, "suppressed", json_num(state.json, "suppressed"));
	json_set_num(o, "failed", json_num(state.json, "failed"));
	json_set_str(o, "problem", json_str(state.json, "problem"));
}
