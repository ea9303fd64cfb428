/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state that a session daemon leaves for its successor, cut off at each byte and with each
 * bit flipped: never restored as a session, and a client that names the session gets the reason.
 * So is the file of event classes, which may have bytes behind those that count.
 */
#include <dirent.h>
#include <sys/stat.h>

#include "lib/session_apps.h"
#include "sessiond/service/inherit.h"
#include "sessiond/state/state.h"

static char dir[64];
static struct {
	uint8_t bytes[65536];
	size_t len;
} session_file, daemon_file, classes_file;

static int open_file(const char *name, int flags)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/state/%s", dir, name);
	return open(path, flags | O_CLOEXEC, 0600);
}

static size_t read_file(const char *name, uint8_t *buf, size_t cap)
{
	int fd = open_file(name, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, cap);

	CHECK(n > 0 && (size_t)n < cap);
	close(fd);
	return (size_t)n;
}

static void put(const char *name, const uint8_t *data, size_t len)
{
	int fd = open_file(name, O_WRONLY | O_CREAT | O_TRUNC);

	CHECK(fd >= 0 && write(fd, data, len) == (ssize_t)len);
	close(fd);
}

static void remove_state(void)
{
	char path[128];
	struct dirent *entry;
	DIR *d;

	snprintf(path, sizeof(path), "%s/state", dir);
	d = opendir(path);
	CHECK(d);
	while ((entry = readdir(d)))
		if (entry->d_name[0] != '.' || strcmp(entry->d_name, ".next") == 0)
			unlinkat(dirfd(d), entry->d_name, 0);
	closedir(d);
	rmdir(path);
}

/* A real one: a session that has been recorded into, with a buffer and an event. */
static void make_files(void)
{
	char path[128];
	struct told told;
	int client, app;

	snprintf(path, sizeof(path), "%s/state", dir);
	app = begin_unstarted(&client);
	harness.sd.state_dir = strdup(path);
	CHECK(!HARNESS_CALL(client, session_start, NAME).there);
	told = heard(app);
	confirm(app, &told);
	CHECK(harness_answer(client).there);
	close(app);
	harness_end();
	session_file.len = read_file("1", session_file.bytes, sizeof(session_file.bytes));
	daemon_file.len = read_file("daemon", daemon_file.bytes, sizeof(daemon_file.bytes));
	classes_file.len =
		read_file("1.classes1", classes_file.bytes, sizeof(classes_file.bytes) - 64);
	CHECK(session_file.len > 300 && daemon_file.len > 30 && classes_file.len > 60);
}

static const uint8_t *copy; /* of the daemon's file; NULL: it is the same */

/* A successor finds these. Return: its answer about the session. */
static struct answer succeed(const uint8_t *session, size_t len, const uint8_t *daemon,
			     size_t daemon_len)
{
	struct answer a;
	int client;

	put("daemon", daemon, daemon_len);
	put("daemon.copy", copy ? copy : daemon, copy ? daemon_file.len : daemon_len);
	put("1", session, len);
	put("1.classes1", classes_file.bytes, classes_file.len);
	put("1.classes2", classes_file.bytes, 5); /* of a daemon that was killed meanwhile */
	harness_begin();
	inherit_init(&harness.sd.keeper.inherit); /* no process holds descriptors */
	state_load(&harness.sd, dir);
	client = harness_client();
	a = HARNESS_CALL(client, session_show, NAME);
	close(client);
	CHECK(a.there);
	return a;
}

static struct answer succeed_session(const uint8_t *data, size_t len)
{
	return succeed(data, len, daemon_file.bytes, daemon_file.len);
}

static void back(void)
{
	CHECK_IS(succeed_session(session_file.bytes, session_file.len).code, ==, 0);
	CHECK(harness.sd.instance != 0 && harness.sd.sessions.nr == 1);
	CHECK_IS(open_file("1.classes2", O_RDONLY), <, 0);
	harness_end();
}

/* It is removed from the state, too: no later daemon reads it again. */
static bool left_behind(const struct answer *a)
{
	int fd = open_file("1", O_RDONLY);
	bool gone = fd < 0 && a->code == ERR_NO_SESSION && harness.sd.sessions.nr == 0;

	close_fd(fd);
	harness_end();
	return gone;
}

static void cut_off(void)
{
	for (size_t len = 0; len < session_file.len; len++) {
		struct answer a = succeed_session(session_file.bytes, len);

		CHECK(left_behind(&a));
	}
	for (size_t len = 0; len < daemon_file.len; len++) {
		struct answer a =
			succeed(session_file.bytes, session_file.len, daemon_file.bytes, len);

		CHECK(left_behind(&a));
		CHECK(strstr(a.text, "could not be taken over") && strstr(a.text, "/tmp"));
	}
}

static void flipped(void)
{
	unsigned int told = 0;

	for (size_t bit = 0; bit < 8 * session_file.len; bit++) {
		uint8_t *byte = &session_file.bytes[bit / 8];
		struct answer a;

		*byte ^= (uint8_t)(1u << bit % 8);
		a = succeed_session(session_file.bytes, session_file.len);
		*byte ^= (uint8_t)(1u << bit % 8);
		CHECK(left_behind(&a));
		told += strstr(a.text, "is damaged") && strstr(a.text, "lttctl verify /tmp");
	}
	/* most bits are not of its name, path, owner or of a length */
	CHECK_IS(told, >, 4 * session_file.len);
	for (size_t bit = 0; bit < 8 * daemon_file.len; bit++) {
		uint8_t *byte = &daemon_file.bytes[bit / 8];
		struct answer a;

		*byte ^= (uint8_t)(1u << bit % 8);
		a = succeed(session_file.bytes, session_file.len, daemon_file.bytes,
			    daemon_file.len);
		*byte ^= (uint8_t)(1u << bit % 8);
		CHECK(left_behind(&a));
	}
}

/* One of the daemon's two files is whole, whichever. */
static void one_is_whole(void)
{
	uint8_t damaged[sizeof(daemon_file.bytes)];

	for (size_t byte = 0; byte < daemon_file.len; byte++) {
		memcpy(damaged, daemon_file.bytes, daemon_file.len);
		damaged[byte] ^= 0x10;
		copy = byte % 2 ? daemon_file.bytes : damaged;
		CHECK_IS(succeed(session_file.bytes, session_file.len,
				 byte % 2 ? damaged : daemon_file.bytes, daemon_file.len)
				 .code,
			 ==, 0);
		CHECK(harness.sd.instance != 0 && harness.sd.sessions.nr == 1);
		CHECK_IS(harness.sd.sessions.next_id, >, 1);
		harness_end();
	}
	copy = daemon_file.bytes;
	for (size_t len = 0; len < daemon_file.len; len++) {
		CHECK_IS(succeed(session_file.bytes, session_file.len, daemon_file.bytes, len).code,
			 ==, 0);
		CHECK_IS(harness.sd.sessions.nr, ==, 1);
		harness_end();
	}
	copy = NULL;
}

/* The classes: cut off, with a wrong bit, or with more behind them. */
static void classes(void)
{
	const size_t len = classes_file.len;
	struct answer a;

	for (size_t bit = 0; bit < 8 * len; bit++) {
		classes_file.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		a = succeed_session(session_file.bytes, session_file.len);
		classes_file.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		CHECK(left_behind(&a) && strstr(a.text, "is damaged"));
		CHECK_IS(open_file("1.classes1", O_RDONLY), <, 0);
	}
	for (classes_file.len = 0; classes_file.len < len; classes_file.len++) {
		a = succeed_session(session_file.bytes, session_file.len);
		CHECK(left_behind(&a));
	}
	for (classes_file.len = len; classes_file.len < len + 64; classes_file.len++) {
		CHECK_IS(succeed_session(session_file.bytes, session_file.len).code, ==, 0);
		harness_end();
	}
	classes_file.len = len;
}

#define STEPS 12
#define STEP 40 /* points */

static uint64_t written(void)
{
	unsigned long long bytes = 0;
	char line[64];
	FILE *f = fopen("/proc/self/io", "r");

	CHECK(f);
	while (fgets(line, sizeof(line), f) && sscanf(line, "wchar: %llu", &bytes) != 1)
		;
	fclose(f);
	return bytes;
}

static uint64_t add_points(int app, uint32_t first)
{
	uint64_t before = written();
	struct told told;
	char name[128];

	for (uint32_t i = first; i < first + STEP; i++) {
		snprintf(name, sizeof(name), "x:event_with_a_name_of_some_length_%u", i);
		send_point(app, i, name, NULL, 32, true);
	}
	for (unsigned int armed = 0; armed < STEP; armed += told.armings) {
		told = heard(app);
		if (told.sync)
			confirm(app, &told);
	}
	return written() - before;
}

/* A save has only new classes: its size does not grow with the session. */
static void saves_what_is_new(void)
{
	uint64_t bytes[STEPS];
	char path[128];
	int client, app = begin_unstarted(&client);
	struct told told;

	snprintf(path, sizeof(path), "%s/state", dir);
	harness.sd.state_dir = strdup(path);
	CHECK(!HARNESS_CALL(client, session_start, NAME).there);
	told = heard(app);
	confirm(app, &told);
	CHECK(harness_answer(client).there);
	for (unsigned int i = 0; i < STEPS; i++)
		bytes[i] = add_points(app, 2 + i * STEP);
	CHECK_IS(bytes[STEPS - 1], <, 2 * bytes[1]);
	close(app);
	harness_end();
}

int main(void)
{
	snprintf(dir, sizeof(dir), "%s/saved-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	CHECK(mkdtemp(dir));
	make_files();
	back();
	cut_off();
	classes();
	flipped();
	one_is_whole();
	remove_state();
	saves_what_is_new();
	remove_state();
	rmdir(dir);
	return 0;
}
