/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The daemon without main(), and a consumer that fails, is slow, or dies: undo, retry, and no other
 * session waits.
 */
#include <fcntl.h>
#include <unistd.h>

#include "base/mem.h"
#include "lib/session_apps.h"
#include "sessiond/domain/user/session.h"

/* A start that fails is undone; it can be retried. */
static void undo(void)
{
	int client, app;
	struct answer a;
	struct told told;

	static const uint16_t types[] = { MSG_con_output_open, MSG_con_trace, MSG_con_ring };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		app = begin_unstarted(&client);
		harness.consumer.fail_type = types[i];
		a = HARNESS_CALL(client, session_start, NAME);
		CHECK(a.there && a.code == ERR_OUTPUT && strstr(a.text, "the test says no"));
		told = heard(app);
		CHECK_IS(told.armings, ==, 0);
		CHECK_IS(HARNESS_CALL(client, session_stop, NAME).code, ==, ERR_STATE);
		harness.consumer.fail_type = 0;
		CHECK(!HARNESS_CALL(client, session_start, NAME).there);
		told = heard(app);
		CHECK_IS(told.armings, ==, 1);
		confirm(app, &told);
		a = harness_answer(client);
		CHECK(a.there && a.code == 0);
		CHECK(!HARNESS_CALL(client, session_destroy, NAME).there);
		told = heard(app);
		confirm(app, &told);
		a = harness_answer(client);
		CHECK(a.there && a.code == 0);
		close(app);
		harness_end();
	}
}

/* A user's consumer may send any file as a buffer: no system call of the daemon's waits for it. */
static void strange_buffers(void)
{
	int client, app, pipes[2];
	struct answer a;
	struct told told;

	CHECK_IS(pipe2(pipes, O_CLOEXEC), ==, 0);
	app = begin_unstarted(&client);
	harness.consumer.data = pipes[1];
	harness.consumer.ctl = harness.consumer.doorbell = pipes[0];
	a = HARNESS_CALL(client, session_start, NAME);
	CHECK(a.there && a.code == ERR_INTERNAL && strstr(a.text, "files that are not memory"));
	told = heard(app);
	CHECK_IS(told.armings, ==, 0);
	harness.consumer.data = 0;
	close(app);
	harness_end();
	close(pipes[0]);
	close(pipes[1]);
}

/* Writing of metadata is retried after a failure, and nothing is armed before. */
static void disk_full(void)
{
	int client, app;
	struct told told;

	harness_begin();
	client = harness_client();
	record(client, "*");
	harness.consumer.fail_type = MSG_con_metadata_append;
	app = new_app("web", 0);
	send_point(app, 1, "x:y", NULL, 32, true);
	told = heard(app);
	CHECK(told.armings == 0 && !strstr(harness.consumer.metadata, "event {"));
	CHECK_IS(told.nr[MSG_app_ready], ==, 1); /* it does not wait for a disk */
	harness.consumer.fail_type = 0;
	harness_output(0, "");
	told = heard(app);
	CHECK_IS(told.armings, ==, 1);
	CHECK(strncmp(harness.consumer.metadata, "/* CTF 1.8 */", 13) == 0);
	CHECK(strstr(harness.consumer.metadata, "event {"));
	close(app);
	harness_end();
}

static int app_of(uint32_t recorded)
{
	int app = harness_app();

	HARNESS_APP_SEND(app, app_hello, .abi = 1, .pid = 77, .procname = "web", .bits = 64,
			 .recorded = recorded);
	return app;
}

/* A session can't be written: an application that announces point 1 does not wait, and keeps the
 * buffers of an earlier daemon. @missing: whether it counts as not recorded. */
static void begins_in_parts(uint32_t recorded, bool missing)
{
	const struct session *session;
	struct told told;
	int client, app;

	harness_begin();
	client = harness_client();
	record(client, "*");
	session = session_by_id(&harness.sd.sessions, 1);
	harness.consumer.fail_type = MSG_con_metadata_append;
	app = app_of(recorded);
	send_point(app, 1, "x:y", NULL, 32, true);
	told = heard(app);
	CHECK(told.nr[MSG_app_ready] == 1 && told.ready_part == APP_READY_BEGIN);
	CHECK_IS(session->unrecorded, ==, missing);
	send_point(app, 2, "x:later", NULL, 32, true);
	told = heard(app);
	CHECK(told.nr[MSG_app_ready] == 1 && told.ready_part == APP_READY_BEGIN);
	CHECK_IS(session->unrecorded, ==, 1);
	harness.consumer.fail_type = 0;
	harness_output(0, "");
	told = heard(app);
	CHECK_IS(told.armings, ==, 2);
	CHECK(told.nr[MSG_app_ready] == 1 && told.ready_part == APP_READY_SWEEP);
	CHECK_IS(session->unrecorded, ==, 1);
	close(app);
	harness_end();
}

/* An application that began before an answer: sessions that recorded then miss events of its new
 * points. */
static void begun(uint32_t first, uint64_t ago_ms, const char *pattern, bool missing)
{
	const struct session *session;
	int client, app;

	harness_begin();
	client = harness_client();
	record(client, pattern);
	session = session_by_id(&harness.sd.sessions, 1);
	usleep(2000);
	app = app_of(0);
	HARNESS_APP_SEND(app, app_begun, .ago_ms = ago_ms, .first = first);
	send_point(app, 5, "x:y", NULL, 32, true);
	heard(app);
	CHECK_IS(session->unrecorded, ==, missing);
	send_point(app, 6, "x:z", NULL, 32, true); /* this one waits */
	heard(app);
	CHECK_IS(session->unrecorded, ==, missing);
	close(app);
	harness_end();
}

/* It has ended before its messages are read. */
static void begun_and_gone(void)
{
	const struct session *session;
	int client, app;

	harness_begin();
	client = harness_client();
	record(client, "x:*");
	session = session_by_id(&harness.sd.sessions, 1);
	app = app_of(0);
	HARNESS_APP_SEND(app, app_begun, .first = 0);
	send_point(app, 1, "x:y", NULL, 32, false);
	close(app);
	harness_pump();
	CHECK_IS(session->unrecorded, ==, 1);
	CHECK(strstr(session->troubles[TROUBLE_PROGRAMS],
		     "(web) are not recorded: it began before"));
	harness_end();
}

/* Without its consumer the daemon reports it, and continues to answer. */
static void consumer_dies(void)
{
	struct answer a;
	int client;

	harness_begin();
	client = harness_client();
	record(client, "*");
	harness_consumer_close();
	harness_pump();
	CHECK(strstr(session_problem(session_by_id(&harness.sd.sessions, 1)), "consumer"));
	a = HARNESS_CALL(client, session_stop, NAME);
	CHECK(a.there && a.code == ERR_CONSUMER);
	CHECK(HARNESS_CALL(client, session_show, NAME).there);
	a = HARNESS_CALL(client, session_destroy, NAME);
	CHECK(a.there && a.code == ERR_CONSUMER);
	/* its data is in the buffers, for a consumer that can be started */
	CHECK_IS(HARNESS_CALL(client, session_show, NAME).code, ==, 0);
	harness_end();
}

/* A consumer reports failures of its own sessions only. */
static void another_users_consumer(void)
{
	const struct msg_con_output_error msg = { .output = 1, .error = ENOSPC, .text = "it says" };
	struct session foreign = { .uid = 1000, .gid = 1000, .user_consumer = true };
	struct consumer *own, *other;
	const struct session *session;
	int client;

	harness_begin();
	client = harness_client();
	record(client, "*");
	session = session_by_id(&harness.sd.sessions, 1);
	own = run_consumer(session->run, DOMAIN_USER);
	harness.sd.consumers.rundir = xstrdup("/nonexistent");
	other = consumers_get(&harness.sd.consumers, &foreign);
	CHECK(other != own);
	other->ops->output_error(other, &msg);
	CHECK_IS(*session_problem(session), ==, '\0');
	own->ops->output_error(own, &msg);
	CHECK(strstr(session_problem(session), "it says"));
	consumer_slot_release(other);
	harness_end();
}

/* The kernel's events have a consumer of their own, which can't be reached. */
static void kernels_consumer(void)
{
	const struct msg_con_output_error failed = { .output = 1, .error = ENOSPC, .text = "full" };
	const struct msg_con_output_error works = { .output = 1 };
	struct session *session;
	struct consumer *kernel;
	int client;

	harness_begin();
	client = harness_client();
	record(client, "*");
	session = session_by_id(&harness.sd.sessions, 1);
	session->kernel_consumer = true;
	harness.sd.consumers.rundir = xstrdup("/nonexistent");
	run_prepare(session->run, DOMAIN_USER);
	CHECK(run_consumer(session->run, DOMAIN_KERNEL) == run_consumer(session->run, DOMAIN_USER));
	run_prepare(session->run, DOMAIN_KERNEL);
	kernel = run_consumer(session->run, DOMAIN_KERNEL);
	CHECK(kernel != run_consumer(session->run, DOMAIN_USER) && run_kernel_open(session->run));
	harness_pump();
	CHECK(strstr(session_problem(session), "consumer daemon"));
	CHECK(!session_is_writable(session, DOMAIN_KERNEL));
	CHECK(session_is_writable(session, DOMAIN_USER));
	kernel->ops->output_error(kernel, &works);
	CHECK_IS(*session_problem(session), ==, '\0');
	kernel->ops->output_error(kernel, &failed);
	CHECK(session_is_writable(session, DOMAIN_USER) && !session->relay_down);
	kernel->ops->output_error(kernel, &works);
	run_consumer(session->run, DOMAIN_USER)
		->ops->output_error(run_consumer(session->run, DOMAIN_USER), &failed);
	CHECK(session_is_writable(session, DOMAIN_KERNEL));
	CHECK(!session_is_writable(session, DOMAIN_USER));
	harness_end();
}

/* One consumer after the other dies before it has answered its requests: the next receives each
 * buffer once, and each request of a client once, too. */
static void consumers_die(void)
{
	struct fake_consumer *fc = &harness.consumer;
	char path[64];
	int client, app, listener;
	struct told told;

	snprintf(path, sizeof(path), "/tmp/ltt-trouble-%d.sock", (int)getpid());
	app = begin_unstarted(&client);
	CHECK(!HARNESS_CALL(client, session_start, NAME).there);
	told = heard(app);
	confirm(app, &told);
	CHECK(harness_answer(client).there);
	listener = sock_listen(path, 0600, (gid_t)-1);
	CHECK_IS(listener, >=, 0);
	harness.sd.consumers.program = xstrdup("/nonexistent");
	harness.sd.consumers.own.socket = xstrdup(path);
	CHECK(!HARNESS_CALL(client, session_stop, NAME).there);
	fc->hold_type = MSG_con_stats; /* in flight when the first one dies */
	told = heard(app);
	confirm(app, &told);
	CHECK_IS(fc->nr_held, ==, 1);
	fc->hold_type = MSG_con_ring;
	for (int i = 0; i < 3; i++) {
		memset(fc->calls, 0, sizeof(fc->calls));
		harness_consumer_close();
		harness_pump();
		harness_consumer_connect(accept4(listener, NULL, NULL, SOCK_CLOEXEC));
		harness_pump();
		CHECK_IS(fc->calls[MSG_con_output_open], ==, 1);
		CHECK_IS(fc->calls[MSG_con_ring], ==, 1);
		CHECK_IS(fc->calls[MSG_con_adopted], ==, 1);
	}
	CHECK(harness_answer(client).there);
	CHECK_IS(*session_problem(session_by_id(&harness.sd.sessions, 1)), ==, '\0');
	close(listener);
	unlink(path);
	close(app);
	harness_end();
}

/* --- a consumer that sends invalid messages ------------------------------------------------- */

struct nonsense {
	const char *what;
	uint16_t type, flags;
	bool pending_hello; /* of a request that was never sent */
	size_t len;
	uint8_t bytes[12]; /* behind the header */
};

static const struct nonsense nonsenses[] = {
	{ "another request's answer", MSG_con_ring_close, MSG_REPLY, false, 9, { 0 } },
	{ "an unknown one", 999, MSG_REPLY, false, 9, { 0 } },
	{ "half an outcome", MSG_con_stats, MSG_REPLY, false, 2, { 0 } },
	{ "a sentence cut short", MSG_con_stats, MSG_REPLY, false, 10, { 0, 0, 0, 0, 9, 0, 0, 0 } },
	{ "an answer without a request", MSG_con_stats, MSG_REPLY, true, 9, { 0 } },
	{ "item and reply in one", MSG_con_stats, MSG_REPLY | MSG_ITEM, false, 9, { 0 } },
	{ "flags of no kind", MSG_con_stats, 8, false, 9, { 0 } },
	{ "half an item", MSG_con_stream, MSG_ITEM, false, 11, { 0 } },
	{ "an item of another kind", MSG_held, MSG_ITEM, false, 9, { 0 } },
	{ "half a complaint", MSG_con_output_error, 0, false, 9, { 1 } },
	{ "half a damaged ring", MSG_con_ring_damaged, 0, false, 9, { 1 } },
};

static void talk(const struct nonsense *n)
{
	struct fake_consumer *fc = &harness.consumer;
	uint8_t buf[64];
	struct encoder enc;

	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, n->type, n->flags, n->pending_hello ? 99999 : fc->held[0]);
	memcpy(buf + enc.len, n->bytes, n->len);
	enc.len += n->len;
	peer_send(&fc->peer, &enc);
}

static int successor(const char *path)
{
	int listener = sock_listen(path, 0600, (gid_t)-1);

	CHECK_IS(listener, >=, 0);
	harness.sd.consumers.program = xstrdup("/nonexistent");
	harness.sd.consumers.own.socket = xstrdup(path);
	return listener;
}

/* Its connection is closed, its message is discarded, and its successor receives the request. */
static void confused(const struct nonsense *n, uint16_t asked)
{
	struct fake_consumer *fc = &harness.consumer;
	char path[64];
	struct told told;
	struct answer a;
	int client, app, listener;

	snprintf(path, sizeof(path), "/tmp/ltt-nonsense-%d.sock", (int)getpid());
	app = begin_unstarted(&client);
	CHECK(!HARNESS_CALL(client, session_start, NAME).there);
	told = heard(app);
	confirm(app, &told);
	CHECK(harness_answer(client).there);
	listener = successor(path);
	fc->hold_type = asked;
	CHECK(!HARNESS_CALL(client, session_stop, NAME).there);
	told = heard(app);
	confirm(app, &told);
	CHECK_IS(fc->nr_held, ==, 1);
	talk(n);
	harness_pump();
	if (fc->connected)
		printf("%s was believed\n", n->what);
	CHECK(!fc->connected);
	CHECK(!harness_answer(client).there);
	memset(fc->calls, 0, sizeof(fc->calls));
	fc->hold_type = 0;
	harness_consumer_connect(accept4(listener, NULL, NULL, SOCK_CLOEXEC));
	harness_pump();
	CHECK(fc->calls[MSG_con_adopted] == 1 && fc->calls[MSG_con_stats] == 1);
	a = harness_answer(client);
	CHECK(a.there && a.code == 0);
	close(listener);
	unlink(path);
	close(app);
	harness_end();
}

static void nonsense(void)
{
	/* of an answer with outputs: half of one */
	static const struct nonsense short_output = {
		"half an output", MSG_con_metadata_append, MSG_REPLY, false, 12, { 0 }
	};
	struct fake_consumer *fc = &harness.consumer;
	int client;

	for (size_t i = 0; i < ARRAY_SIZE(nonsenses); i++)
		confused(&nonsenses[i], MSG_con_stats);
	harness_begin();
	client = harness_client();
	fc->hold_type = MSG_con_metadata_append;
	new_session(client);
	CHECK_IS(enable(client, "*").code, ==, 0);
	CHECK(!HARNESS_CALL(client, session_start, NAME).there);
	CHECK_IS(fc->nr_held, ==, 1);
	talk(&short_output);
	harness_pump();
	CHECK(!fc->connected);
	harness_end();
}

int main(void)
{
	nonsense();
	undo();
	strange_buffers();
	disk_full();
	begins_in_parts(0, true);
	begins_in_parts(2, false);
	begun(0, 0, "x:*", true);
	begun(5, 0, "x:y", true);
	begun(6, 0, "x:y", false);
	begun(0, 0, "other:*", false);
	begun(0, 3600000, "x:*", false);
	begun(0, UINT64_MAX, "x:*", false);
	begun_and_gone();
	consumer_dies();
	another_users_consumer();
	kernels_consumer();
	consumers_die();
	return 0;
}
