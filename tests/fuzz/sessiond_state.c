/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A session daemon reads arbitrary state of its predecessor: a session's state file with
 * any contents (1: the daemon's own file), a keeper that has every descriptor that is
 * requested, a consumer that accepts everything. A restored session is listed, started,
 * saved, stopped and destroyed, and nothing is left of it.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "../unit/lib/session_harness.h"
#include "lib/fuzz_fds.h"
#include "proto/keeper.h"
#include "sessiond/state/msg.h"
#include "sessiond/state/state.h"

static char dir[64];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- a keeper that holds everything ------------------------------------------------ */

static void keeper_answer(int fd, const struct msg_header *asked)
{
	bool get = asked->type == MSG_keep_get;
	int memory = get ? memfd_create("kept", MFD_CLOEXEC) : -1;
	struct rep_keep_get rep = { memory, memory, memory };
	uint8_t buf[128];
	struct encoder enc;

	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, asked->type, MSG_REPLY, asked->serial);
	encode_outcome(&enc, 0, "");
	if (get)
		rep_keep_get_encode(&enc, &rep);
	(void)!sock_send(fd, enc.buf, enc.len, enc.fds, enc.nr_fds);
	close_fd(memory);
}

static void keeper_serve(int fd)
{
	static uint8_t buf[MSG_MAX_BYTES];
	int fds[MSG_MAX_FDS];
	unsigned int nr_fds;
	struct msg_header header;
	struct decoder dec;
	ssize_t n;

	while ((n = sock_recv(fd, buf, sizeof(buf), fds, &nr_fds)) > 0) {
		for (unsigned int i = 0; i < nr_fds; i++)
			close(fds[i]);
		decoder_init(&dec, buf, (size_t)n, NULL, 0);
		if (decode_header(&dec, &header) == 0)
			keeper_answer(fd, &header);
	}
}

/* A process: our descriptors are counted. */
static void keeper_start(const char *path)
{
	pid_t parent = getpid();
	int fd, listener = sock_listen(path, 0600, (gid_t)-1);

	CHECK(listener >= 0 && fcntl(listener, F_SETFL, 0) == 0);
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == parent && (fd = accept4(listener, NULL, NULL, 0)) >= 0) {
			keeper_serve(fd);
			close(fd);
		}
		_exit(0);
	}
	close(listener);
}

static void nothing(struct keeper *keeper)
{
	(void)keeper;
}

/* --- files -------------------------------------------------------------------------- */

static void path_of(char ret[128], const char *name)
{
	CHECK_IS(snprintf(ret, 128, "%s/%s", dir, name), <, 128);
}

static void empty_state(void)
{
	struct dirent *entry;
	char path[128];
	DIR *d;

	path_of(path, "state");
	CHECK(mkdir(path, 0700) == 0 || errno == EEXIST);
	d = opendir(path);
	CHECK(d);
	while ((entry = readdir(d)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			unlinkat(dirfd(d), entry->d_name, 0);
	closedir(d);
}

static void remove_dir(void)
{
	char path[128];

	empty_state();
	path_of(path, "state");
	rmdir(path);
	path_of(path, "keeper.sock");
	unlink(path);
	rmdir(dir);
}

static void make_dir(void)
{
	char path[128];

	snprintf(dir, sizeof(dir), "%s/state-fuzz-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	CHECK(mkdtemp(dir));
	atexit(remove_dir);
	path_of(path, "keeper.sock");
	keeper_start(path);
}

static void put_file(const char *name, const void *data, size_t len)
{
	char path[128];
	int fd;

	path_of(path, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && write(fd, data, len) == (ssize_t)len);
	close(fd);
}

static void put_daemon_file(void)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	struct msg_state_daemon msg = { .instance = 5, .next_session = 8 };
	char boot[64] = "";
	uint8_t buf[256];
	struct encoder enc;

	CHECK(fd >= 0 && read(fd, boot, sizeof(boot) - 1) > 0);
	close(fd);
	boot[strcspn(boot, "\n")] = '\0';
	msg.boot = boot;
	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, MSG_state_daemon, 0, 0);
	msg_state_daemon_encode(&enc, &msg);
	CHECK_IS(encoder_finish(&enc), ==, 0);
	put_file("state/daemon", enc.buf, enc.len);
}

/* --- use of the restored state ------------------------------------------------- */

static int app_with_point(void)
{
	struct msg_app_point p = {
		.id = 1, .name = "rapp:event", .kind = 1, .loglevel = 6, .file = "f"
	};
	uint8_t points[256];
	struct encoder enc;
	int app = harness_app();

	HARNESS_APP_SEND(app, app_hello, .procname = "a", .bits = 64);
	encoder_init(&enc, points, sizeof(points));
	msg_app_point_add(&enc, &p);
	HARNESS_APP_SEND(app, app_points_add, .points = encoder_list(&enc), .complete = 1);
	harness_pump();
	return app;
}

/* An application that executes each message at once: no client waits for it. */
static void app_obey(int app)
{
	struct msg_header header;
	struct msg_app_sync sync;
	struct decoder dec;
	int fds[MSG_MAX_FDS];

	while (harness_recv(app, &header, &dec, fds)) {
		bool asked = header.type == MSG_app_sync && msg_app_sync_decode(&dec, &sync) == 0;

		for (unsigned int i = 0; i < dec.nr_fds; i++)
			close_fd(fds[i]);
		if (asked)
			HARNESS_APP_SEND(app, app_synced, sync.serial);
	}
}

/* Until there are @nr answers, or nothing more can be done without time passing.
 * Return: the last one. */
static struct answer settle(int client, int app, int nr)
{
	struct answer last = { 0 }, a;

	for (int i = 0; i < 6 && nr > 0; i++) {
		harness_pump();
		app_obey(app);
		while ((a = harness_answer(client)).there) {
			last = a;
			nr--;
		}
	}
	return last;
}

/* Any answer will do. */
static void use(int client, int app, const char *name)
{
	HARNESS_SEND(client, session_show, .session = name);
	HARNESS_SEND(client, session_start, .session = name);
	HARNESS_SEND(client, session_stop, .session = name);
	HARNESS_SEND(client, session_start, .session = name);
	HARNESS_SEND(client, session_show, .session = name);
	settle(client, app, 5);
}

static void adopt_all(struct sessiond *sd)
{
	struct session *session;

	list_for_each(session, &sd->sessions.list, node)
		run_adopt(session->run, run_consumer(session->run, DOMAIN_USER));
	harness_pump();
}

static void use_all(struct sessiond *sd)
{
	int app = app_with_point(), client = harness_client();
	struct session *session;
	struct answer a = HARNESS_CALL(client, session_list);

	CHECK(a.there && a.code == 0);
	list_for_each(session, &sd->sessions.list, node)
		state_save(sd, session);
	while ((session = list_first(&sd->sessions.list, struct session, node))) {
		char name[300];

		snprintf(name, sizeof(name), "%s", session->name);
		use(client, app, name);
		HARNESS_SEND(client, session_destroy, .session = name);
		a = settle(client, app, 1);
		CHECK(a.there);
		if (a.code) /* not ours to destroy, or in the way of it */
			break;
		harness_pump();
	}
	close(client);
	close(app);
	harness_pump();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[128];
	int before;

	setenv("LTT_CLOCK", "monotonic", 1);
	if (!dir[0])
		make_dir();
	if (!size)
		return 0;
	empty_state();
	put_daemon_file();
	if (data[0] == 1)
		put_file("state/daemon", data + 1, size - 1);
	else
		put_file("state/7", data + 1, size - 1);
	before = fuzz_open_fds();
	harness_begin();
	path_of(path, "keeper.sock");
	keeper_init(&harness.sd.keeper, harness.sd.loop, path, NULL, "/nonexistent", nothing);
	CHECK_IS(harness.sd.keeper.fd, >=, 0);
	state_load(&harness.sd, dir);
	adopt_all(&harness.sd);
	use_all(&harness.sd);
	harness.sd.ending = true;
	harness_end();
	CHECK_IS(fuzz_open_fds(), ==, before);
	return 0;
}
