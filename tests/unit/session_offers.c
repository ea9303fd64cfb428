/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A daemon that finds a session whose buffers no daemon holds any more, and applications that offer
 * some: the same memory is accepted, once; all else is refused and affects no other, and the
 * application that offered it is recorded into new buffers.
 */
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include "lib/session_apps.h"
#include "sessiond/peers/apps.h"
#include "sessiond/state/state.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define FDS_AT "/proc/self/fd"

static char dir[64];
static int data, ctl, doorbell; /* of the ring set that is lost */

static int memory(int seals)
{
	int fd = memfd_create("memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	CHECK(fd >= 0 && ftruncate(fd, 4096) == 0 && fchmod(fd, 0600) == 0);
	CHECK(!seals || fcntl(fd, F_ADD_SEALS, seals) == 0);
	return fd;
}

static unsigned int open_fds(void)
{
	unsigned int nr = 0;
	DIR *d = opendir(FDS_AT);

	CHECK(d);
	while (readdir(d))
		nr++;
	closedir(d);
	return nr;
}

/* --- two lives of the daemon ------------------------------------------------------- */

static void nothing(struct keeper *keeper)
{
	(void)keeper;
}

static void begin_life(void)
{
	harness_begin();
	keeper_init(&harness.sd.keeper, harness.sd.loop, "/nonexistent", NULL, "/nonexistent",
		    nothing);
	harness.consumer.data = data;
	harness.consumer.ctl = ctl;
	harness.consumer.doorbell = doorbell;
	state_load(&harness.sd, dir);
}

/* A session that records an application, and then dies with all holders of its buffer.
 * @seals: of that. */
static void first_life(int seals)
{
	struct told told;
	int client, app;

	data = memory(seals);
	ctl = memory(seals);
	doorbell = memory(seals);
	begin_life();
	client = harness_client();
	app = new_app("web", 0);
	send_point(app, 1, "x:y", NULL, 32, true);
	new_session(client);
	CHECK_IS(enable(client, "*").code, ==, 0);
	CHECK(!HARNESS_CALL(client, session_start, NAME).there);
	told = heard(app);
	CHECK_IS(told.armings, ==, 1);
	confirm(app, &told);
	CHECK(harness_answer(client).there);
	close(app);
	close(client);
	harness_end(); /* not in good order: the state stays */
}

static const char *problem(void)
{
	return session_problem(session_by_id(&harness.sd.sessions, 1));
}

static void second_life(int seals)
{
	struct session *session;

	first_life(seals);
	begin_life();
	harness.consumer.data = 0; /* new ones are others */
	session = session_by_id(&harness.sd.sessions, 1);
	CHECK(session);
	run_adopt(session->run, run_consumer(session->run, DOMAIN_USER));
	harness_pump();
	CHECK_IS(harness.consumer.nr_adoptions, ==, 1); /* its files */
	CHECK_IS(harness.consumer.nr_adopted, ==, 0);
	CHECK(strstr(problem(), "lost"));
	harness_output(ENOSPC, "writing trace data");
	harness_pump();
	CHECK(strstr(problem(), "No space left"));
	harness_output(0, "");
	harness_pump();
	CHECK(strstr(problem(), "lost")); /* that is another matter */
}

static void end_lives(void)
{
	int client = harness_client();

	HARNESS_SEND(client, session_destroy, NAME);
	harness_pump();
	if (session_by_id(&harness.sd.sessions, 1)) /* an application might still connect */
		harness_wait(1200000);
	close(client);
	harness.sd.ending = true;
	harness_end();
	close(data);
	close(ctl);
	close(doorbell);
}

/* --- applications that come ----------------------------------------------------------- */

static int offering_app(void)
{
	int app = harness_app();

	HARNESS_APP_SEND(app, app_hello, .abi = 1, .procname = "web", .bits = 64);
	send_point(app, 1, "x:y", NULL, 32, true);
	return app;
}

static void offer(int app, uint64_t ring, int first, int second)
{
	HARNESS_APP_SEND(app, app_buffer_offer, ring, first, second);
}

/* An application that receives a request. Return: its connection; nothing is decided before it
 * answers. */
static int asked_app(uint64_t *ret_ring)
{
	struct msg_app_buffer_want want = { 0 };
	int app = offering_app();
	struct msg_header header;
	struct decoder dec;
	int fds[MSG_MAX_FDS];
	unsigned int nr = 0;

	harness_pump();
	while (harness_recv(app, &header, &dec, fds)) {
		CHECK(header.type == MSG_app_welcome || header.type == MSG_app_buffer_want);
		if (header.type != MSG_app_buffer_want)
			continue;
		CHECK_IS(msg_app_buffer_want_decode(&dec, &want), ==, 0);
		nr++;
	}
	CHECK(nr == 1 && want.ring);
	*ret_ring = want.ring;
	return app;
}

static void the_very_memory(void)
{
	uint64_t ring, other;
	struct told told;
	int app, second;

	second_life(SEALS);
	app = asked_app(&ring);
	second = asked_app(&other);
	CHECK_IS(other, ==, ring);
	offer(app, ring, data, ctl);
	told = heard(app);
	CHECK_IS(harness.consumer.nr_adopted, ==, 1);
	CHECK(told.ring == ring && told.armings == 1 && told.nr[MSG_app_ready] == 1);
	CHECK(!strstr(problem(), "lost"));
	offer(second, ring, data, ctl); /* it is there already */
	told = heard(second);
	CHECK(harness.consumer.nr_adopted == 1 && harness.consumer.nr_rings_open == 0);
	CHECK(told.ring == ring && told.armings == 1);
	CHECK(harness.consumer.rings_on);
	close(second);
	second = offering_app();
	told = heard(second);
	CHECK(told.nr[MSG_app_buffer_want] == 0 && told.ring == ring);
	close(second);
	close(app);
	end_lives();
}

/* After any offer, it continues with a buffer of its own. */
static void refused(int first, int second)
{
	unsigned int before = open_fds();
	struct told told;
	uint64_t ring;
	int app = asked_app(&ring);

	offer(app, ring, first, second);
	told = heard(app);
	CHECK_IS(harness.consumer.nr_adopted, ==, 0);
	CHECK(told.armings == 1 && told.ring != ring && told.nr[MSG_app_ready] == 1);
	CHECK(strstr(problem(), "lost"));
	close(app);
	harness_pump();
	CHECK_IS(open_fds(), <=, before + 4); /* those of the new buffer */
}

static void other_memory(void)
{
	int pipes[2], foreign = memory(SEALS), where = open("/tmp", O_RDONLY | O_CLOEXEC);

	second_life(SEALS);
	CHECK(pipe2(pipes, O_CLOEXEC) == 0 && where >= 0);
	refused(-1, -1);
	refused(foreign, ctl);
	refused(data, foreign);
	refused(ctl, data);
	refused(data, data);
	refused(pipes[0], pipes[1]);
	refused(where, where);
	refused(data, where);
	close(pipes[0]);
	close(pipes[1]);
	close(where);
	close(foreign);
	end_lives();
}

/* The same memory, but another process could truncate it. */
static void unsealed(void)
{
	second_life(0);
	refused(data, ctl);
	end_lives();
}

/* An offer without a request ends the connection; those of the others continue. */
static void unasked(void)
{
	struct told told;
	uint64_t ring;
	int app;

	second_life(SEALS);
	app = asked_app(&ring);
	offer(app, ring + 1, data, ctl);
	harness_pump();
	CHECK(harness.consumer.nr_adopted == 0 && app_conn_first(&harness.sd) == NULL);
	close(app);
	app = asked_app(&ring);
	offer(app, ring, data, ctl);
	told = heard(app);
	CHECK(harness.consumer.nr_adopted == 1 && told.ring == ring);
	offer(app, ring, -1, -1);
	harness_pump();
	CHECK(harness.consumer.nr_adopted == 1 && app_conn_first(&harness.sd) == NULL);
	close(app);
	end_lives();
}

/* The session has been stopped meanwhile, and waited for it no longer than it may. */
static void late(void)
{
	int client, app;
	struct told told;
	struct answer a;
	uint64_t ring;

	second_life(SEALS);
	client = harness_client();
	a = HARNESS_CALL(client, session_stop, NAME);
	CHECK(!a.there); /* an application may connect */
	harness_wait(1200000);
	CHECK(harness_answer(client).there);
	app = asked_app(&ring);
	harness.consumer.rings_on = true;
	offer(app, ring, data, ctl);
	told = heard(app);
	CHECK(harness.consumer.nr_adopted == 1 && !harness.consumer.rings_on);
	CHECK(told.armings == 0 && told.nr[MSG_app_ready] == 1);
	close(app);
	close(client);
	end_lives();
}

/* A stop is answered when the buffer has arrived; after the session no application receives
 * requests. */
static void in_time(void)
{
	int client, app;
	struct told told;
	uint64_t ring;

	second_life(SEALS);
	client = harness_client();
	CHECK(!HARNESS_CALL(client, session_stop, NAME).there);
	app = asked_app(&ring);
	offer(app, ring, data, ctl);
	told = heard(app);
	CHECK(harness.consumer.nr_adopted == 1 && told.armings == 0);
	CHECK(harness_answer(client).there);
	CHECK(HARNESS_CALL(client, session_destroy, NAME).there);
	close(app);
	app = offering_app();
	told = heard(app);
	CHECK(told.nr[MSG_app_buffer_want] == 0 && told.nr[MSG_app_ready] == 1);
	close(app);
	close(client);
	end_lives();
}

/* Not answered within its second, unless this machine let that pass. */
static bool waits(int client, uint64_t since)
{
	bool there = HARNESS_CALL(client, session_list, .settled = 1).there;

	CHECK(!there || loop_now_ns() - since > 900000000);
	return !there;
}

/* A client that lists sessions after all that is answered when the buffer is there. */
static void recovered(void)
{
	uint64_t ring, since = loop_now_ns();
	struct told told;
	int client, app;
	bool waiting;

	second_life(SEALS);
	client = harness_client();
	CHECK(HARNESS_CALL(client, session_list).there);
	waiting = waits(client, since);
	CHECK(HARNESS_CALL(client, session_show, NAME).there); /* no other client waits */
	app = asked_app(&ring);
	offer(app, ring, data, ctl);
	told = heard(app);
	CHECK(told.ring == ring && harness.consumer.nr_adopted == 1);
	CHECK(!waiting || harness_answer(client).there);
	CHECK(HARNESS_CALL(client, session_list, .settled = 1).there);
	close(app);
	close(client);
	end_lives();
}

/* The buffer is not offered: the wait ends after a second, or with the session, or with the
 * daemon. */
static void unrecovered(void)
{
	uint64_t since = loop_now_ns();
	int client, leaver;
	bool waiting;

	second_life(SEALS);
	client = harness_client();
	leaver = harness_client();
	(void)!waits(leaver, since);
	waiting = waits(client, since);
	close(leaver);
	harness_wait(1200000);
	CHECK(!waiting || harness_answer(client).there);
	CHECK(HARNESS_CALL(client, session_list, .settled = 1).there);
	close(client);
	end_lives();

	since = loop_now_ns();
	second_life(SEALS);
	client = harness_client();
	(void)!waits(client, since);
	close(client);
	harness.sd.ending = true;
	harness_end();
	close(data);
	close(ctl);
	close(doorbell);
}

/* The daemon dies again before any application has connected: its successor sends the requests. */
static void third_life(void)
{
	struct run *run;
	struct told told;
	uint64_t ring;
	int app;

	second_life(SEALS);
	app = asked_app(&ring);
	close(app);
	harness_end();
	begin_life();
	run = session_by_id(&harness.sd.sessions, 1)->run;
	run_adopt(run, run_consumer(run, DOMAIN_USER));
	harness_pump();
	app = asked_app(&ring);
	offer(app, ring, data, ctl);
	told = heard(app);
	CHECK(harness.consumer.nr_adopted == 1 && told.ring == ring);
	close(app);
	end_lives();
}

int main(void)
{
	char path[96];

	setenv("LTT_CLOCK", "monotonic", 1);
	strcpy(dir, "/tmp/ltt-offers.XXXXXX");
	CHECK(mkdtemp(dir));
	the_very_memory();
	other_memory();
	unsealed();
	unasked();
	late();
	in_time();
	recovered();
	unrecovered();
	third_life();
	snprintf(path, sizeof(path), "%s/state", dir);
	CHECK(rmdir(path) == 0 || errno == ENOENT);
	CHECK_IS(rmdir(dir), ==, 0);
	return 0;
}
