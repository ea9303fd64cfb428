/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "follow.h"
#include "io/sock.h"
#include "sessiond/sessiond.h"

#define SHORT_LIFE_NS 1000000000ull
#define RESPAWN_US 500000u	 /* so that there is another one within a second */
#define MANY_DEATHS 3u		 /* within a second of each other */
#define GIVE_UP_NS 5000000000ull /* for which commands wait for one */

static struct consumer_slot *slot_of(struct consumer *consumer)
{
	return container_of(consumer, struct consumer_slot, consumer);
}

static struct sessiond *slot_daemon(const struct consumer_slot *slot)
{
	return container_of(slot->consumers, struct sessiond, consumers);
}

static bool slot_writes(const struct consumer_slot *slot, const struct session *session)
{
	return session->run && run_uses(session->run, &slot->consumer);
}

/* "the consumer daemon", "the consumer daemon of user 1000", "... of the kernel" */
static const char *slot_name(const struct consumer_slot *slot, char buf[64])
{
	if (slot->kind == CONSUMER_USER)
		snprintf(buf, 64, "the consumer daemon of user %u", slot->user.uid);
	else
		snprintf(buf, 64, "the consumer daemon%s",
			 slot->kind == CONSUMER_KERNEL ? " of the kernel" : "");
	return buf;
}

/* It has no session, and is not the one that is always there. */
static bool slot_is_over(const struct consumer_slot *slot)
{
	return slot->kind != CONSUMER_OWN && !slot->nr_sessions;
}

/* --- its messages ------------------------------------------------------------------- */

/* A consumer may report its own sessions only. */
static void output_error(struct consumer *consumer, const struct msg_con_output_error *msg)
{
	const struct consumer_slot *slot = slot_of(consumer);
	struct session *session = session_by_id(slot->consumers->sessions, msg->output);
	bool of_kernel = slot->kind == CONSUMER_KERNEL;
	enum trouble output = of_kernel ? TROUBLE_KERNEL_OUTPUT : TROUBLE_OUTPUT;
	char text[256] = "";

	if (!session || !slot_writes(slot, session))
		return;
	if (!of_kernel)
		session->relay_down = msg->error && msg->error != EREMOTEIO;
	if (msg->error && msg->limit)
		snprintf(text, sizeof(text), "%s", msg->text);
	else if (msg->error)
		snprintf(text, sizeof(text), "%s: %s", msg->text, strerror((int)msg->error));
	if (msg->error)
		log_error("session '%s': %s", session->name, text);
	else if (*session->troubles[output] || (*session->troubles[TROUBLE_SPOOL] && !of_kernel))
		log_warn("session '%s': its output works again", session->name);
	if (!of_kernel)
		run_trouble(session->run, TROUBLE_SPOOL, msg->spooled ? text : "");
	run_trouble(session->run, output, msg->spooled && !of_kernel ? "" : text);
}

static void ring_damaged(struct consumer *consumer, const struct msg_con_ring_damaged *msg)
{
	const struct consumer_slot *slot = slot_of(consumer);
	struct session *session = session_by_id(slot->consumers->sessions, msg->output);

	if (session && slot_writes(slot, session))
		domains_damaged(&slot_daemon(slot)->domains, session, msg->ring);
}

static void slot_trouble(struct consumer_slot *slot, const char *text)
{
	enum trouble trouble =
		slot->kind == CONSUMER_KERNEL ? TROUBLE_KERNEL_CONSUMER : TROUBLE_CONSUMER;
	struct session *session;

	list_for_each(session, &slot->consumers->sessions->list, node)
		if (slot_writes(slot, session))
			run_trouble(session->run, trouble, text);
}

/* --- its life ----------------------------------------------------------------------- */

static void slot_on_adopted(void *data, const struct con_answer *answer)
{
	struct consumer_slot *slot = data;

	if (answer->superseded)
		return;
	if (answer->code == 0 && slot->died)
		follow_consumer(slot_daemon(slot), &slot->consumer, NEWS_REPLACED, "");
	slot->died = false;
}

/* All that the consumer must know, whether it is new or has outlived a daemon. */
static void send_to_consumer(struct consumer_slot *slot)
{
	struct req_con_adopted req;
	struct session *session;

	slot->gone = slot->leaving = false;
	slot->since_ns = loop_now_ns();
	list_for_each(session, &slot->consumers->sessions->list, node)
		if (slot_writes(slot, session))
			run_adopt(session->run, &slot->consumer);
	CONSUMER_CALL(&slot->consumer, con_adopted, &req, NULL, slot_on_adopted, slot);
	consumer_resend(&slot->consumer);
	list_for_each(session, &slot->consumers->sessions->list, node)
		if (slot_writes(slot, session))
			run_finish_turn(session->run);
}

/* Return: 0: unknown, or this process (tests). */
static pid_t consumer_listener(int fd)
{
	struct ucred peer = { 0 };
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return 0;
	return peer.pid == getpid() ? 0 : peer.pid;
}

/* A process that is killed may listen for some time after its connection has ended. A new one waits
 * for its end. */
static int find_consumer(struct consumer_slot *slot)
{
	int fd = sock_connect(slot->socket), ret;

	slot->met = fd < 0 ? 0 : consumer_listener(fd);
	if (fd >= 0 && (!slot->met || slot->met != slot->lost))
		return consumer_attach(&slot->consumer, fd);
	close_fd(fd);
	ret = consumer_spawn(&slot->consumer, slot->consumers->program, slot->socket,
			     slot->kind == CONSUMER_USER ? &slot->user : NULL);
	slot->met = ret < 0 ? 0 : consumer_pid(&slot->consumer);
	return ret;
}

/* It dies just after its start, which is retried after a delay. Commands wait for some time. */
static void respawn_later(struct consumer_slot *slot, const char *why)
{
	char name[64], text[200];

	snprintf(text, sizeof(text), "%s %s; it is started again twice a second",
		 slot_name(slot, name), why);
	log_error("%s", text);
	consumer_give_up(&slot->consumer, slot->consumers->program ? GIVE_UP_NS : 0);
	slot_trouble(slot, text);
	if (slot->consumers->program)
		loop_timer_set(&slot->respawn, RESPAWN_US);
}

static void slot_begin(struct consumer_slot *slot)
{
	int ret = find_consumer(slot);

	if (ret < 0)
		respawn_later(slot, strerror(-ret));
	else
		send_to_consumer(slot);
}

static void respawn(struct loop_timer *timer)
{
	struct consumer_slot *slot = container_of(timer, struct consumer_slot, respawn);
	int ret;

	if (slot_is_over(slot))
		return;
	ret = find_consumer(slot);
	if (ret < 0) {
		respawn_later(slot, strerror(-ret));
		return;
	}
	send_to_consumer(slot);
	slot_trouble(slot, "");
}

static bool consumers_left(const struct consumers *consumers)
{
	const struct consumer_slot *slot;

	list_for_each(slot, &consumers->slots, node)
		if (slot->consumer.connected || slot->consumer.running)
			return true;
	return false;
}

/* The consumer has not the right to remove its socket. */
static void slot_remove_files(const struct consumer_slot *slot)
{
	AUTO_FREE char *lock = NULL;

	if (slot->kind == CONSUMER_OWN)
		return;
	lock = xasprintf("%.*s.lock", (int)(strlen(slot->socket) - strlen(".sock")), slot->socket);
	unlink(slot->socket);
	unlink(lock);
}

/* As it was requested. A session may have come meanwhile. */
static void slot_has_left(struct consumer_slot *slot)
{
	slot->leaving = false;
	slot->deaths = 0;
	if (slot->nr_sessions) {
		slot_begin(slot);
		return;
	}
	consumer_give_up(&slot->consumer, 0);
	slot_remove_files(slot);
}

/* Its successor connects anew, and reports a relay that is still unreachable. */
static void forget_links(const struct consumer_slot *slot)
{
	struct session *session;

	list_for_each(session, &slot->consumers->sessions->list, node) {
		if (slot->kind == CONSUMER_KERNEL || !slot_writes(slot, session) ||
		    !*session->troubles[TROUBLE_SPOOL])
			continue;
		session->relay_down = false;
		run_trouble(session->run, TROUBLE_SPOOL, "");
	}
}

static void consumer_gone(struct consumer *consumer, const char *why)
{
	struct consumer_slot *slot = slot_of(consumer);
	struct sessiond *sd = slot_daemon(slot);
	bool again = loop_now_ns() - slot->since_ns < SHORT_LIFE_NS;
	char name[64];

	slot->gone = true;
	slot->lost = slot->met;
	if (sd->ending) {
		slot_remove_files(slot);
		if (!consumers_left(slot->consumers))
			loop_stop(sd->loop);
		return;
	}
	if (slot->leaving || slot_is_over(slot)) {
		slot_has_left(slot);
		return;
	}
	if (!slot->consumers->program || (again && slot->deaths++ > MANY_DEATHS)) {
		respawn_later(slot, why);
		return;
	}
	if (!again)
		slot->deaths = 0;
	log_warn("%s %s; another one takes over", slot_name(slot, name), why);
	slot->died = true;
	follow_consumer(sd, consumer, NEWS_DIED, why);
	forget_links(slot);
	slot_begin(slot);
}

static void consumer_silent(struct consumer *consumer)
{
	struct consumer_slot *slot = slot_of(consumer);
	bool silent = consumer_silence(consumer) != 0;
	char name[64], text[200] = "";

	slot_name(slot, name);
	if (silent && consumer->killed)
		snprintf(text, sizeof(text),
			 "%s (pid %d) has been killed, but waits in the kernel, as for a disk; "
			 "another one takes over when that wait ends",
			 name, (int)consumer_pid(consumer));
	else if (silent)
		snprintf(text, sizeof(text),
			 "%s (pid %d) does not answer; if this persists, end it (kill -9 %d): "
			 "another one takes over",
			 name, (int)consumer_pid(consumer), (int)consumer_pid(consumer));
	if (silent)
		log_error("%s", text);
	else
		log_warn("%s answers again, or has ended", name);
	slot_trouble(slot, text);
}

static const struct consumer_ops slot_consumer_ops = { output_error, ring_damaged, consumer_gone,
						       consumer_silent };

/* --- slots ------------------------------------------------------------------------------ */

static void slot_init(struct consumer_slot *slot, struct consumers *consumers)
{
	slot->consumers = consumers;
	list_init(&slot->node);
	list_append(&consumers->slots, &slot->node);
	loop_timer_init(&slot->respawn, consumers->loop, respawn);
	consumer_init(&slot->consumer, consumers->loop, &slot_consumer_ops);
}

/* @uid: of CONSUMER_USER. */
static struct consumer_slot *slot_find(const struct consumers *consumers, enum consumer_kind kind,
				       uid_t uid)
{
	struct consumer_slot *slot;

	list_for_each(slot, &consumers->slots, node)
		if (slot->kind == kind && (kind != CONSUMER_USER || slot->user.uid == uid))
			return slot;
	return NULL;
}

/* @user: NULL: the kernel's. */
static struct consumer_slot *slot_get(struct consumers *consumers, const struct caller *user)
{
	enum consumer_kind kind = user ? CONSUMER_USER : CONSUMER_KERNEL;
	struct consumer_slot *slot = slot_find(consumers, kind, user ? user->uid : 0);
	struct consumer_socket socket;

	if (slot) {
		if (user && !slot->nr_sessions) /* end_left_behind() knows no group */
			slot->user = *user;
		return slot;
	}
	slot = xalloc(sizeof(*slot));
	slot_init(slot, consumers);
	slot->kind = kind;
	if (user) {
		slot->user = *user;
		consumer_socket_of(consumers->rundir, user->uid, &socket);
	} else {
		consumer_socket_of_kernel(consumers->rundir, &socket);
	}
	slot->socket = xstrdup(socket.path);
	return slot;
}

bool consumers_has_own_user(const struct consumers *consumers, const struct session *session)
{
	bool needs_keys = *session->relay && session->relay_clear != RELAY_LINK_CLEAR;

	return consumers->program && geteuid() == 0 && session->uid != 0 && !needs_keys;
}

/* A relay, a spool, a greatest size and a snapshot have one writer. */
bool consumers_has_kernel(const struct consumers *consumers, const struct session *session)
{
	return consumers->program && geteuid() == 0 && !*session->relay && !session->max_size &&
	       !session->snapshots;
}

static bool slot_is_idle(const struct consumer_slot *slot)
{
	return !slot->consumer.connected && !slot->consumer.running && !slot->respawn.at_ns;
}

static struct consumer *slot_take(struct consumer_slot *slot)
{
	slot->nr_sessions++;
	if (slot->kind != CONSUMER_OWN && slot->consumers->started && slot_is_idle(slot))
		slot_begin(slot);
	return &slot->consumer;
}

struct consumer *consumers_get(struct consumers *consumers, const struct session *session)
{
	const struct caller user = { session->uid, session->gid };

	return slot_take(session->user_consumer ? slot_get(consumers, &user) : &consumers->own);
}

struct consumer *consumers_get_kernel(struct consumers *consumers)
{
	return slot_take(slot_get(consumers, NULL));
}

void consumer_slot_release(struct consumer *consumer)
{
	struct consumer_slot *slot = slot_of(consumer);

	slot->nr_sessions--;
	if (!slot_is_over(slot) || !slot->consumers->started)
		return;
	loop_timer_cancel(&slot->respawn);
	slot->leaving = true;
	consumer_leave(consumer);
	if (slot_is_idle(slot))
		slot_has_left(slot);
}

const struct consumer *consumers_of_user(const struct consumers *consumers, uid_t uid)
{
	const struct consumer_slot *slot = slot_find(consumers, CONSUMER_USER, uid);

	return slot && slot->nr_sessions ? &slot->consumer : &consumers->own.consumer;
}

static bool slot_is_waited_for(const struct consumer_slot *slot, uid_t uid)
{
	const struct session *session;

	list_for_each(session, &slot->consumers->sessions->list, node)
		if ((uid == 0 || session->uid == uid) && slot_writes(slot, session) &&
		    run_waits(session->run))
			return true;
	return false;
}

const struct consumer *consumers_waited_for(const struct consumers *consumers, uid_t uid)
{
	const struct consumer *longest = consumers_of_user(consumers, uid);
	const struct consumer_slot *slot;

	list_for_each(slot, &consumers->slots, node)
		if (consumer_silence(&slot->consumer) > consumer_silence(longest) &&
		    slot_is_waited_for(slot, uid))
			longest = &slot->consumer;
	return longest;
}

/* --- all of them -------------------------------------------------------------------------- */

void consumers_init(struct consumers *consumers, struct loop *loop, struct sessions *sessions)
{
	consumers->loop = loop;
	consumers->sessions = sessions;
	list_init(&consumers->slots);
	slot_init(&consumers->own, consumers);
}

void consumers_place(struct consumers *consumers, const char *rundir, const char *program)
{
	consumers->rundir = xstrdup(rundir);
	consumers->program = xstrdup(program);
	consumers->own.socket = xasprintf("%s/consumer.sock", rundir);
}

/* One that a daemon left, whose sessions have ended: it is requested to end, too. @user: NULL: the
 * kernel's. */
static void end_left_behind(struct consumers *consumers, const struct caller *user)
{
	enum consumer_kind kind = user ? CONSUMER_USER : CONSUMER_KERNEL;
	struct consumer_slot *slot = slot_find(consumers, kind, user ? user->uid : 0);
	int fd;

	if (slot)
		return;
	slot = slot_get(consumers, user);
	fd = sock_connect(slot->socket);
	if (fd >= 0 && consumer_attach(&slot->consumer, fd) == 0) {
		slot->leaving = true;
		consumer_resend(&slot->consumer);
		consumer_leave(&slot->consumer);
	} else {
		slot_remove_files(slot);
	}
}

static void end_others(struct consumers *consumers)
{
	DIR *dir = opendir(consumers->rundir);
	struct consumer_socket socket;

	while (dir && consumer_socket_next(dir, consumers->rundir, &socket)) {
		const struct caller user = { socket.uid, (gid_t)-1 };

		end_left_behind(consumers, &user);
	}
	if (dir)
		closedir(dir);
	consumer_socket_of_kernel(consumers->rundir, &socket);
	if (access(socket.path, F_OK) == 0)
		end_left_behind(consumers, NULL);
}

int consumers_start(struct consumers *consumers)
{
	struct consumer_slot *slot;
	int ret = find_consumer(&consumers->own);

	if (ret < 0)
		return ret;
	send_to_consumer(&consumers->own);
	end_others(consumers);
	list_for_each(slot, &consumers->slots, node)
		if (slot->kind != CONSUMER_OWN && slot->nr_sessions)
			slot_begin(slot);
	consumers->started = true;
	return 0;
}

bool consumers_end(struct consumers *consumers)
{
	struct consumer_slot *slot;

	consumers->started = false;
	list_for_each(slot, &consumers->slots, node) {
		loop_timer_cancel(&slot->respawn);
		consumer_leave(&slot->consumer);
	}
	return consumers_left(consumers);
}

void consumers_terminate(struct consumers *consumers)
{
	struct consumer_slot *slot;

	list_for_each(slot, &consumers->slots, node)
		consumer_terminate(&slot->consumer);
}

void consumers_drop(struct consumers *consumers)
{
	struct consumer_slot *slot;

	consumers->started = false;
	list_for_each(slot, &consumers->slots, node)
		consumer_fini(&slot->consumer);
}

void consumers_fini(struct consumers *consumers)
{
	struct consumer_slot *slot;

	while ((slot = list_first(&consumers->slots, struct consumer_slot, node))) {
		consumer_fini(&slot->consumer);
		loop_timer_cancel(&slot->respawn);
		list_remove(&slot->node);
		free(slot->socket);
		if (slot->kind != CONSUMER_OWN)
			free(slot);
	}
	free(consumers->rundir);
	free(consumers->program);
}
