/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/procstate.h"
#include "io/sock.h"
#include "sessiond/core/session.h"

#define CHILD_FD 3 /* the consumer finds its connection there */

struct con_call {
	struct list_node node;
	uint16_t type;
	uint32_t serial;
	con_item item;
	con_done done;
	void *data;
	uint64_t held_ns; /* since when it waits for a successor; 0: it never did */
	bool any_item;	  /* an item of the answer was received */
	bool sets_state;  /* sets up the state of a new consumer: not sent again to its successor */
	/* the request, to send it again */
	int fds[MSG_MAX_FDS];
	unsigned int nr_fds;
	size_t len;
	uint8_t bytes[];
};

static void call_free(struct con_call *call)
{
	list_remove(&call->node);
	for (unsigned int i = 0; i < call->nr_fds; i++)
		close_fd(call->fds[i]);
	free(call);
}

static void call_finish(struct con_call *call, const struct con_answer *answer)
{
	list_remove(&call->node);
	if (call->done)
		call->done(call->data, answer);
	call_free(call);
}

static void call_fail(struct con_call *call)
{
	const struct con_answer gone = { .code = ERR_CONSUMER,
					 .text = "the consumer daemon has ended",
					 .superseded = call->sets_state };

	call_finish(call, &gone);
}

/* Detach all first: the callback of a failure may send a new request. */
static void fail_calls(struct list_node *calls)
{
	struct con_call *call;
	uint32_t nr = 0;

	list_for_each(call, calls, node)
		nr++;
	while (nr-- && (call = list_first(calls, struct con_call, node)))
		call_fail(call);
}

static void run_failed(struct loop_work *work)
{
	fail_calls(&container_of(work, struct consumer, fail)->failed);
}

static struct con_call *find_call(struct consumer *consumer, uint32_t serial)
{
	struct con_call *call;

	list_for_each(call, &consumer->calls, node)
		if (call->serial == serial)
			return call;
	return NULL;
}

/* --- its messages --------------------------------------------------------------- */

#define COMMAND(name, number, access, turn, doc)       \
	static int check_##name(struct decoder *dec)   \
	{                                              \
		struct rep_##name rep;                 \
                                                       \
		return rep_##name##_decode(dec, &rep); \
	}
#include "proto/consumer.def"

#define COMMAND(name, number, access, turn, doc) { number, check_##name },
static const struct {
	uint16_t type;
	int (*check)(struct decoder *dec);
} answers[] = {
#include "proto/consumer.def"
};

/* Whether the outputs of an answer can be decoded. Descriptors are not checked: missing ones may
 * be due to this process's limit. */
static bool outputs_are_whole(uint16_t type, const struct decoder *dec)
{
	int none[MSG_MAX_FDS] = { -1, -1, -1, -1 };
	struct decoder copy;

	decoder_init(&copy, dec->p, (size_t)(dec->end - dec->p), none, MSG_MAX_FDS);
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++)
		if (answers[i].type == type)
			return answers[i].check(&copy) == 0;
	return false;
}

static bool item_is_whole(uint16_t type, const struct decoder *dec)
{
	struct msg_con_snapshot_ring ring;
	struct msg_con_stream stream;
	struct decoder copy;

	decoder_init(&copy, dec->p, (size_t)(dec->end - dec->p), NULL, 0);
	return (type == MSG_con_stream && msg_con_stream_decode(&copy, &stream) == 0) ||
	       (type == MSG_con_snapshot_ring && msg_con_snapshot_ring_decode(&copy, &ring) == 0);
}

static int handle_item(struct con_call *call, uint16_t type, struct decoder *dec)
{
	if (!item_is_whole(type, dec))
		return -EBADMSG;
	call->any_item = true;
	if (call->item)
		call->item(call->data, dec);
	return 0;
}

/* Answers to unknown requests, and incomplete ones, are not passed on. */
static int handle_reply(struct consumer *consumer, const struct msg_header *header,
			struct decoder *dec)
{
	struct con_call *call = find_call(consumer, header->serial);
	struct con_answer answer = { 0 };

	if (!call)
		return -EBADMSG;
	if (header->flags == MSG_ITEM)
		return handle_item(call, header->type, dec);
	answer.code = (int)decode_outcome(dec, &answer.text);
	answer.dec = answer.code == 0 ? dec : NULL;
	if (header->flags != MSG_REPLY || header->type != call->type || dec->bad ||
	    (answer.dec && !outputs_are_whole(call->type, dec)))
		return -EBADMSG;
	call_finish(call, &answer);
	return 0;
}

static int handle_event(struct consumer *consumer, const struct msg_header *header,
			struct decoder *dec)
{
	struct msg_con_ring_damaged damage;
	struct msg_con_output_error error;

	if (header->type == MSG_con_output_error) {
		if (msg_con_output_error_decode(dec, &error) < 0)
			return -EBADMSG;
		consumer->ops->output_error(consumer, &error);
	} else if (header->type == MSG_con_ring_damaged) {
		if (msg_con_ring_damaged_decode(dec, &damage) < 0)
			return -EBADMSG;
		consumer->ops->ring_damaged(consumer, &damage);
	}
	return 0;
}

static void send_signal(const struct consumer *consumer, int signo)
{
	pid_t pid = consumer_pid(consumer);

	if ((consumer->running || consumer->connected) && pid > 0 && pid != getpid())
		kill(pid, signo);
}

/* --- does it live? ----------------------------------------------------------------- */

#define WATCH_US 900000u /* silence after which it is probed; after twice that it is reported */

static void set_silent(struct consumer *consumer, bool silent)
{
	bool was = consumer->silent, was_killed = consumer->killed;

	consumer->silent = silent;
	consumer->killed = silent && procstate_is_killed(consumer_pid(consumer));
	if ((was != silent || was_killed != consumer->killed) && consumer->ops->silent)
		consumer->ops->silent(consumer);
}

static void consumer_mark_alive(struct consumer *consumer)
{
	consumer->last_message_ns = loop_now_ns();
	set_silent(consumer, false);
}

/* Its loop answers this at once, regardless of its workers: there is no such output. It also
 * reports the outputs that hang. */
static void check_consumer_alive(struct consumer *consumer)
{
	struct req_con_stats req = { 0 };

	CONSUMER_CALL(consumer, con_stats, &req, NULL, NULL, NULL);
	consumer->ping = consumer->next_serial;
}

/* Other calls may wait for a slow disk, but not this one. */
static void consumer_watch(struct loop_timer *timer)
{
	struct consumer *consumer = container_of(timer, struct consumer, watch);
	uint64_t quiet_us = (loop_now_ns() - consumer->last_message_ns) / 1000;
	const struct con_call *oldest = list_first(&consumer->calls, struct con_call, node);

	if (!consumer->connected || !oldest)
		return;
	if (!find_call(consumer, consumer->ping)) {
		if (quiet_us >= WATCH_US || oldest->serial == consumer->oldest)
			check_consumer_alive(consumer);
	} else if (quiet_us >= WATCH_US) {
		set_silent(consumer, true);
	}
	consumer->oldest = oldest->serial;
	loop_timer_set(&consumer->watch, WATCH_US);
}

/* Start the timer that checks whether the consumer answers. */
static void begin_watch(struct consumer *consumer)
{
	if (!list_empty(&consumer->calls))
		return;
	consumer->last_message_ns = loop_now_ns();
	loop_timer_set(&consumer->watch, WATCH_US);
}

static void end_watch(struct consumer *consumer)
{
	loop_timer_cancel(&consumer->watch);
	set_silent(consumer, false);
}

uint32_t consumer_silence(const struct consumer *consumer)
{
	return consumer->silent ?
		       (uint32_t)((loop_now_ns() - consumer->last_message_ns) / 1000000) :
		       0;
}

pid_t consumer_pid(const struct consumer *consumer)
{
	return consumer->running ? consumer->child.pid : consumer->peer.pid;
}

/* A consumer that sends malformed messages must not continue to write beside its successor. */
static int consumer_on_message(struct peer *peer, const struct msg_header *header,
			       struct decoder *dec)
{
	struct consumer *consumer = container_of(peer, struct consumer, peer);
	int ret;

	consumer_mark_alive(consumer);
	ret = header->flags ? handle_reply(consumer, header, dec) :
			      handle_event(consumer, header, dec);
	if (ret < 0) {
		consumer->broken = true;
		send_signal(consumer, SIGKILL);
	}
	return ret;
}

/* --- its life --------------------------------------------------------------------- */

static void hold_call(struct consumer *consumer, struct con_call *call)
{
	if (!call->held_ns)
		call->held_ns = loop_now_ns();
	list_append(&consumer->held, &call->node);
}

/* Requests so far are for its successor, and so are later ones, also while its connection is
 * closed and its exit not reported yet. */
static void defer_calls(struct consumer *consumer)
{
	struct con_call *call;

	end_watch(consumer);
	consumer->awaited = true;
	while ((call = list_first(&consumer->calls, struct con_call, node))) {
		/* consumer_leave() is about this one, not its successor */
		if (call->sets_state || (consumer->leaving && call->type == MSG_con_end)) {
			call_fail(call);
			continue;
		}
		list_remove(&call->node);
		hold_call(consumer, call);
	}
}

static void report_gone(struct consumer *consumer, const char *why)
{
	if (consumer->broken)
		why = "sent a malformed answer";
	consumer->broken = false;
	consumer->ops->gone(consumer, why);
}

static void consumer_on_close(struct peer *peer)
{
	struct consumer *consumer = container_of(peer, struct consumer, peer);

	peer_fini(peer);
	consumer->connected = false;
	defer_calls(consumer);
	if (!consumer->running)
		report_gone(consumer, "closed the connection");
	else /* consumer_on_exit() follows, also after a failure */
		send_signal(consumer, SIGTERM);
}

static const struct peer_ops peer_ops = { .message = consumer_on_message,
					  .closed = consumer_on_close };

static void consumer_on_exit(struct loop_child *child, int status)
{
	struct consumer *consumer = container_of(child, struct consumer, child);
	char why[80] = "ended";

	consumer->running = false;
	loop_child_fini(child);
	if (consumer->connected)
		peer_fini(&consumer->peer);
	consumer->connected = false;
	defer_calls(consumer);
	if (WIFSIGNALED(status))
		snprintf(why, sizeof(why), "was killed by signal %d", WTERMSIG(status));
	else if (WIFEXITED(status) && WEXITSTATUS(status) == CON_EXIT_BUSY)
		snprintf(why, sizeof(why), "found its predecessor still running");
	else if (WIFEXITED(status) && WEXITSTATUS(status))
		snprintf(why, sizeof(why), "ended with status %d", WEXITSTATUS(status));
	report_gone(consumer, why);
}

void consumer_init(struct consumer *consumer, struct loop *loop, const struct consumer_ops *ops)
{
	memset(consumer, 0, sizeof(*consumer));
	consumer->loop = loop;
	consumer->ops = ops;
	list_init(&consumer->calls);
	list_init(&consumer->failed);
	list_init(&consumer->held);
	loop_work_init(&consumer->fail, run_failed);
	loop_timer_init(&consumer->watch, loop, consumer_watch);
}

static void drop_calls(struct list_node *calls)
{
	struct con_call *call, *tmp;

	list_for_each_safe(call, tmp, calls, node)
		call_free(call);
}

void consumer_fini(struct consumer *consumer)
{
	loop_work_cancel(&consumer->fail);
	loop_timer_cancel(&consumer->watch);
	drop_calls(&consumer->calls);
	drop_calls(&consumer->failed);
	drop_calls(&consumer->held);
	if (consumer->connected)
		peer_fini(&consumer->peer);
	consumer->connected = false;
	if (consumer->running)
		loop_child_fini(&consumer->child);
	consumer->running = false;
}

int consumer_attach(struct consumer *consumer, int fd)
{
	int ret = peer_init(&consumer->peer, consumer->loop, fd, &peer_ops);

	consumer->connected = ret == 0;
	consumer->receives_state = ret == 0;
	consumer->leaving = false;
	return ret;
}

/* A process group of its own: a terminal's Ctrl-C is for sessiond, which then
 * ends the consumer in good order. Signals that sessiond blocks are unblocked. */
static int consumer_spawn_process(const char *path, const char *socket, const struct caller *user,
				  int fd, pid_t *ret)
{
	char ids[32];
	char *argv[] = { "ltt-consumerd",	 "--listen", (char *)socket,
			 user ? "--user" : NULL, ids,	     NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;
	int err;

	if (user)
		snprintf(ids, sizeof(ids), "%u:%u", user->uid, user->gid);
	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, fd, CHILD_FD);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setpgroup(&attr, 0);
	err = posix_spawn(ret, path, &files, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return -err;
}

int consumer_spawn(struct consumer *consumer, const char *path, const char *socket,
		   const struct caller *user)
{
	int fds[2], ret = sock_pair(fds);
	pid_t pid = -1;

	if (ret < 0)
		return ret;
	if (fds[1] == CHILD_FD) { /* dup2 onto itself would keep close-on-exec */
		int moved = fcntl(fds[1], F_DUPFD_CLOEXEC, CHILD_FD + 1);

		close(fds[1]);
		fds[1] = moved;
	}
	ret = fds[1] < 0 ? -EMFILE : consumer_spawn_process(path, socket, user, fds[1], &pid);
	close_fd(fds[1]);
	if (ret < 0) {
		close(fds[0]);
		return ret;
	}
	ret = loop_child_init(&consumer->child, consumer->loop, pid, consumer_on_exit);
	consumer->running = ret == 0;
	if (ret < 0) {
		close(fds[0]);
		return ret;
	}
	return consumer_attach(consumer, fds[0]);
}

void consumer_socket_of(const char *rundir, uid_t uid, struct consumer_socket *ret)
{
	ret->uid = uid;
	snprintf(ret->path, sizeof(ret->path), "%s/consumer-%u.sock", rundir, uid);
}

void consumer_socket_of_kernel(const char *rundir, struct consumer_socket *ret)
{
	ret->uid = 0;
	snprintf(ret->path, sizeof(ret->path), "%s/consumer-kernel.sock", rundir);
}

bool consumer_socket_next(DIR *dir, const char *rundir, struct consumer_socket *ret)
{
	const struct dirent *entry;

	while ((entry = readdir(dir))) {
		int len = 0;

		if (sscanf(entry->d_name, "consumer-%u.sock%n", &ret->uid, &len) == 1 && len &&
		    !entry->d_name[len]) {
			consumer_socket_of(rundir, ret->uid, ret);
			return true;
		}
	}
	return false;
}

void consumer_leave(struct consumer *consumer)
{
	struct req_con_end req;

	if (consumer->connected)
		CONSUMER_CALL(consumer, con_end, &req, NULL, NULL, NULL);
	consumer->leaving = consumer->connected;
}

void consumer_terminate(struct consumer *consumer)
{
	send_signal(consumer, SIGTERM);
}

static void consumer_send_call(struct consumer *consumer, struct con_call *call)
{
	struct encoder enc;

	encoder_init(&enc, call->bytes, call->len);
	enc.len = call->len;
	enc.nr_fds = call->nr_fds;
	memcpy(enc.fds, call->fds, sizeof(enc.fds));
	begin_watch(consumer);
	list_remove(&call->node);
	list_append(&consumer->calls, &call->node);
	peer_send(&consumer->peer, &enc);
}

void consumer_resend(struct consumer *consumer)
{
	struct con_call *call;

	consumer->awaited = false;
	consumer->receives_state = false;
	while (consumer->connected && (call = list_first(&consumer->held, struct con_call, node))) {
		if (call->any_item && call->item)
			call->item(call->data, NULL); /* from the beginning */
		call->any_item = false;
		consumer_send_call(consumer, call);
	}
}

void consumer_give_up(struct consumer *consumer, uint64_t ns)
{
	struct con_call *call, *next;

	list_for_each_safe(call, next, &consumer->held, node)
		if (!ns || loop_now_ns() - call->held_ns >= ns) {
			list_remove(&call->node);
			list_append(&consumer->failed, &call->node);
		}
	consumer->awaited = ns != 0;
	fail_calls(&consumer->failed);
}

bool consumer_forget(struct consumer *consumer, const void *data)
{
	struct list_node *const lists[] = { &consumer->calls, &consumer->failed };
	struct con_call *call, *next;
	bool any = false;

	list_for_each_safe(call, next, &consumer->held, node)
		if (call->data == data) {
			any |= call->done != NULL;
			call_free(call);
		}
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		list_for_each(call, lists[i], node)
			if (call->data == data) {
				any |= call->done != NULL;
				call->item = NULL;
				call->done = NULL;
			}
	return any;
}

void consumer_begin(struct consumer *consumer, struct encoder *enc, uint16_t type)
{
	static uint8_t buf[MSG_MAX_BYTES]; /* one loop, and only one message is encoded at a time */

	encoder_init(enc, buf, sizeof(buf));
	encode_header(enc, type, 0, ++consumer->next_serial);
	consumer->next_type = type;
}

/* Descriptors are duplicated: the caller may close its own before the answer. */
static struct con_call *consumer_call_new(struct consumer *consumer, const struct encoder *enc)
{
	struct con_call *call = xalloc(sizeof(*call) + enc->len);

	list_init(&call->node);
	call->type = consumer->next_type;
	call->serial = consumer->next_serial;
	call->sets_state = consumer->receives_state;
	call->len = enc->len;
	memcpy(call->bytes, enc->buf, enc->len);
	for (unsigned int i = 0; i < enc->nr_fds; i++)
		call->fds[call->nr_fds++] = fcntl(enc->fds[i], F_DUPFD_CLOEXEC, 3);
	return call;
}

void consumer_send(struct consumer *consumer, struct encoder *enc, con_item item, con_done done,
		   void *data)
{
	struct con_call *call = consumer_call_new(consumer, enc);

	call->item = item;
	call->done = done;
	call->data = data;
	if (encoder_finish(enc) < 0 ||
	    (!consumer->connected && (call->sets_state || !consumer->awaited))) {
		list_append(&consumer->failed, &call->node);
		loop_defer(consumer->loop, &consumer->fail);
	} else if (!consumer->connected || consumer->leaving) {
		hold_call(consumer, call);
	} else {
		consumer_send_call(consumer, call);
	}
}
