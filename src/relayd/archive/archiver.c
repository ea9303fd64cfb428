/* SPDX-License-Identifier: GPL-2.0-only */
#include "archiver.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/idmap.h"
#include "base/locked.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/frame.h"
#include "io/sock.h"
#include "proto/archive.h"
#include "proto/codec.h"
#include "proto/relay.h"

#define NEWS_NS 1000000000ull /* between two messages about one session */
#define FLUSH_NS 250000000ull /* the same if its sender waits */
#define DUE_US 250000u	      /* until the next of them are sent */
#define MESSAGE_BYTES (PATH_MAX + 64u)

/** The state of a session's end. */
enum archived_end {
	END_NONE,     /* the session goes on, or its sender may come back */
	END_DUE,      /* arc_end is to be sent */
	END_SENT,     /* arc_done is expected */
	END_ARCHIVED, /* the store has all of it */
};

struct archived {
	struct list_node node; /* of @active, or with END_ARCHIVED of @complete */
	struct idmap_node path_node;
	struct archiver *archiver;
	char *path;
	uint8_t id[RELAY_ID_BYTES];
	unsigned int nr_receiving; /* connections */
	enum archived_end end;
	uint64_t number;	  /* of the end */
	bool news, flush;	  /* arc_data is to be sent */
	uint64_t sent_ns;	  /* time of the last arc_data */
	bool seen;		  /* by the last scan, or it is new since */
	struct list_node streams; /* struct archived_stream */
};

struct archived_stream {
	struct list_node node;
	struct idmap_node name_node;
	const struct archived *session;
	char *name; /* TRACE/CLASS.INSTANCE */
	uint64_t seq;
};

struct archiver {
	struct loop *loop;
	struct loop_fd spawner; /* these own their descriptors */
	struct loop_fd link;	/* fd -1: no child runs */
	struct loop_fd wake;	/* an eventfd: a session has news */
	struct loop_timer due;	/* the time of the next messages */
	struct loop_timer alive;
	struct frames frames;
	uint8_t out[FRAME_HEAD_BYTES + MESSAGE_BYTES]; /* a message that is being sent */
	size_t out_begin, out_end;
	uint64_t silence_us;
	uint64_t heard_ns; /* time of the child's last message */
	bool later;	   /* a session's message is not due yet */
	bool writes;	   /* the loop waits for room in the socket */
	bool lost;	   /* no child is started any more */

	pthread_mutex_t lock; /* of all below, and of the sessions */
	bool connected;	      /* a child runs */
	bool awake;	      /* @wake was written to */
	struct list_node active, complete;
	struct idmap paths;   /* all sessions */
	struct idmap streams; /* their streams of which the store has a packet */
	uint64_t last_number;
	uint64_t waiting; /* bytes that the store does not have, as reported */
	char problem[ARCHIVER_PROBLEM_BYTES];
};

/* --- contents of the store ------------------------------------------------------------------- */

static void archived_forget(struct archived *s)
{
	struct archived_stream *stream, *tmp;

	list_for_each_safe(stream, tmp, &s->streams, node) {
		list_remove(&stream->node);
		idmap_remove(&stream->name_node);
		free(stream->name);
		free(stream);
	}
}

static struct archived *archiver_find(const struct archiver *a, const char *path)
{
	struct idmap_node *node = idmap_find(&a->paths, idmap_hash_text(path));

	for (; node; node = idmap_next(&a->paths, node)) {
		struct archived *s = container_of(node, struct archived, path_node);

		if (strcmp(s->path, path) == 0)
			return s;
	}
	return NULL;
}

static struct archived *archiver_make(struct archiver *a, const char *path)
{
	struct archived *s = archiver_find(a, path);

	if (s)
		return s;
	s = xalloc(sizeof(*s));
	s->archiver = a;
	s->path = xstrdup(path);
	s->seen = true;
	list_init(&s->streams);
	list_append(&a->active, &s->node);
	idmap_add(&a->paths, &s->path_node, idmap_hash_text(path));
	return s;
}

static void archived_free(struct archived *s)
{
	archived_forget(s);
	list_remove(&s->node);
	idmap_remove(&s->path_node);
	free(s->path);
	free(s);
}

static uint64_t archived_hash(const struct archived *s, const char *name)
{
	return idmap_hash_text(name) ^ (uintptr_t)s;
}

static struct archived_stream *archived_find(const struct archived *s, const char *name)
{
	const struct idmap *map = &s->archiver->streams;
	struct idmap_node *node = idmap_find(map, archived_hash(s, name));

	for (; node; node = idmap_next(map, node)) {
		struct archived_stream *stream =
			container_of(node, struct archived_stream, name_node);

		if (stream->session == s && strcmp(stream->name, name) == 0)
			return stream;
	}
	return NULL;
}

/* The name of a stream among the session's, allocated. */
static char *archived_name(const char *trace, uint32_t stream_class, uint32_t instance)
{
	return xasprintf("%s/%u.%u", trace, stream_class, instance);
}

static void archived_set(struct archived *s, const struct msg_arc_durable *msg)
{
	AUTO_FREE char *name = archived_name(msg->trace, msg->stream_class, msg->instance);
	struct archived_stream *stream = archived_find(s, name);

	if (!stream) {
		stream = xalloc(sizeof(*stream));
		stream->session = s;
		stream->name = TAKE(name);
		list_append(&s->streams, &stream->node);
		idmap_add(&s->archiver->streams, &stream->name_node,
			  archived_hash(s, stream->name));
	}
	stream->seq = MAX(stream->seq, msg->seq);
}

/* --- messages to the child ------------------------------------------------------------------- */

static void archiver_lose(struct archiver *a)
{
	int fd = a->link.fd;

	pthread_mutex_lock(&a->lock);
	a->connected = false;
	pthread_mutex_unlock(&a->lock);
	loop_fd_fini(&a->link);
	close_fd(fd);
	a->link.fd = -1;
	a->out_begin = a->out_end = 0;
	a->writes = false;
	frames_fini(&a->frames);
	loop_timer_cancel(&a->alive);
}

/* With the lock. Return: whether there was one. */
static bool archiver_encode(struct archiver *a, struct archived *s)
{
	struct msg_arc_data data = { s->path, s->flush };
	struct msg_arc_end end = { s->path, s->number };
	uint64_t now = loop_now_ns();
	struct encoder enc;

	encoder_init(&enc, a->out + FRAME_HEAD_BYTES, MESSAGE_BYTES);
	if (s->end == END_DUE) {
		encode_header(&enc, MSG_arc_end, 0, 0);
		msg_arc_end_encode(&enc, &end);
		s->end = END_SENT;
	} else if (s->news && now - s->sent_ns < (s->flush ? FLUSH_NS : NEWS_NS)) {
		a->later = true;
		return false;
	} else if (s->news) {
		s->sent_ns = now;
		encode_header(&enc, MSG_arc_data, 0, 0);
		msg_arc_data_encode(&enc, &data);
	} else {
		return false;
	}
	s->news = s->flush = false;
	frame_head(a->out, enc.len);
	a->out_begin = 0;
	a->out_end = FRAME_HEAD_BYTES + enc.len;
	return encoder_finish(&enc) == 0;
}

static bool archiver_next(struct archiver *a)
{
	struct archived *s;
	LOCKED(&a->lock);

	list_for_each(s, &a->active, node)
		if (archiver_encode(a, s)) {
			list_remove(&s->node); /* the others come first next time */
			list_append(&a->active, &s->node);
			return true;
		}
	return false;
}

/* As far as the child reads. */
static void archiver_send(struct archiver *a)
{
	bool writes = false;

	a->later = false;
	while (a->link.fd >= 0 && !writes) {
		ssize_t n;

		if (a->out_begin == a->out_end && !archiver_next(a))
			break;
		n = send(a->link.fd, a->out + a->out_begin, a->out_end - a->out_begin,
			 MSG_NOSIGNAL);
		if (n > 0)
			a->out_begin += (size_t)n;
		else if (errno == EAGAIN)
			writes = true;
		else if (errno != EINTR)
			archiver_lose(a);
	}
	if (a->link.fd >= 0 && writes != a->writes)
		(void)loop_fd_events(&a->link, writes ? EPOLLIN | EPOLLOUT : EPOLLIN);
	a->writes = writes;
	if (a->later && !a->due.at_ns)
		loop_timer_set(&a->due, DUE_US);
}

static void archiver_on_due(struct loop_timer *timer)
{
	archiver_send(container_of(timer, struct archiver, due));
}

/* A child is killed that has not answered for too long; else it has to answer. */
static void archiver_on_alive(struct loop_timer *timer)
{
	struct archiver *a = container_of(timer, struct archiver, alive);
	uint64_t silence = loop_now_ns() - a->heard_ns;
	struct encoder enc;

	loop_timer_set(timer, a->silence_us / 6);
	if (silence > a->silence_us * 1000) {
		log_warn("ltt-archive does not answer; it is killed and started again");
		if (sock_send(a->spawner.fd, "", 1, NULL, 0) < 0)
			log_warn("ltt-archive can't be killed");
		archiver_lose(a);
	} else if (silence >= a->silence_us / 6 * 1000 && a->out_begin == a->out_end) {
		encoder_init(&enc, a->out + FRAME_HEAD_BYTES, MESSAGE_BYTES);
		encode_header(&enc, MSG_arc_alive, 0, 0);
		frame_head(a->out, enc.len);
		a->out_begin = 0;
		a->out_end = FRAME_HEAD_BYTES + enc.len;
		archiver_send(a);
	}
}

/* --- messages of the child ------------------------------------------------------------------- */

static void archiver_on_durable(struct archiver *a, const struct msg_arc_durable *msg)
{
	struct archived *s = archiver_find(a, msg->path);

	if (s)
		archived_set(s, msg);
}

static void archiver_on_done(struct archiver *a, const struct msg_arc_done *msg)
{
	struct archived *s =
		msg->number ? archiver_find(a, msg->path) : archiver_make(a, msg->path);

	if (!s || s->nr_receiving || s->news || msg->number != s->number)
		return;
	s->end = END_ARCHIVED;
	archived_forget(s);
	list_remove(&s->node);
	list_append(&a->complete, &s->node);
}

static void archiver_on_state(struct archiver *a, const struct msg_arc_state *msg)
{
	bool had = *a->problem, has = *msg->error;

	a->waiting = msg->waiting;
	if (has && strncmp(a->problem, msg->error, sizeof(a->problem) - 1) != 0)
		log_warn("the store takes no data: %s; %llu bytes wait in the relay's directory",
			 msg->error, (unsigned long long)msg->waiting);
	else if (had && !has)
		log_warn("the store takes data again");
	snprintf(a->problem, sizeof(a->problem), "%s", msg->error);
}

/* Return: 0 or -EBADMSG. */
static int archiver_take(struct archiver *a, const uint8_t *msg, size_t len)
{
	struct msg_arc_durable durable;
	struct msg_arc_done done;
	struct msg_arc_state state;
	struct msg_header header;
	struct decoder dec;
	LOCKED(&a->lock);

	decoder_init(&dec, msg, len, NULL, 0);
	if (decode_header(&dec, &header) < 0)
		return -EBADMSG;
	if (header.type == MSG_arc_durable) {
		if (msg_arc_durable_decode(&dec, &durable) < 0)
			return -EBADMSG;
		archiver_on_durable(a, &durable);
	} else if (header.type == MSG_arc_done) {
		if (msg_arc_done_decode(&dec, &done) < 0)
			return -EBADMSG;
		archiver_on_done(a, &done);
	} else if (header.type == MSG_arc_state) {
		if (msg_arc_state_decode(&dec, &state) < 0)
			return -EBADMSG;
		archiver_on_state(a, &state);
	}
	return 0;
}

/* Return: 1: there may be more; 0: nothing now; negative errno: it is over. */
static int archiver_read(struct archiver *a)
{
	const uint8_t *msg;
	uint8_t *at;
	size_t len, room = frames_room(&a->frames, &at);
	ssize_t n = room ? recv(a->link.fd, at, room, 0) : -1;
	int ret;

	if (!room)
		return -ENOMEM;
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (n == 0)
		return -ECONNRESET;
	a->heard_ns = loop_now_ns();
	frames_filled(&a->frames, (size_t)n);
	while ((ret = frames_next(&a->frames, &msg, &len)) > 0)
		if (archiver_take(a, msg, len) < 0)
			return -EBADMSG;
	return ret < 0 ? ret : 1;
}

static void archiver_on_link(struct loop_fd *source, uint32_t events)
{
	struct archiver *a = container_of(source, struct archiver, link);
	int ret = archiver_read(a);

	if (ret == -EBADMSG) {
		log_error("ltt-archive sends messages that make no sense; it is started again");
		(void)!sock_send(a->spawner.fd, "", 1, NULL, 0);
	}
	if (ret < 0)
		archiver_lose(a);
	else if (events & EPOLLOUT)
		archiver_send(a);
}

/* --- the child ------------------------------------------------------------------------------- */

/* It is sent everything that an earlier one may not have done. */
static void archiver_greet(struct archiver *a)
{
	struct archived *s;

	pthread_mutex_lock(&a->lock);
	a->connected = true;
	list_for_each(s, &a->active, node) {
		s->sent_ns = 0;
		s->news = s->end == END_NONE;
		if (s->end == END_SENT)
			s->end = END_DUE;
	}
	pthread_mutex_unlock(&a->lock);
	a->heard_ns = loop_now_ns();
	loop_timer_set(&a->alive, a->silence_us / 6);
	archiver_send(a);
}

static void archiver_on_spawner(struct loop_fd *source, uint32_t events)
{
	struct archiver *a = container_of(source, struct archiver, spawner);
	int fds[MSG_MAX_FDS];
	unsigned int nr;
	char byte;
	ssize_t n = sock_recv(source->fd, &byte, sizeof(byte), fds, &nr);

	(void)events;
	if (n == -EAGAIN)
		return;
	if (n <= 0) {
		log_error("the processes that start ltt-archive were killed: ltt-relayd ends; "
			  "start it again");
		loop_fd_fini(source);
		a->lost = true;
		loop_stop(a->loop);
		return;
	}
	if (fds[0] < 0)
		return;
	archiver_lose(a);
	if (fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0 ||
	    loop_fd_init(&a->link, a->loop, fds[0], EPOLLIN, archiver_on_link) < 0) {
		close(fds[0]);
		a->link.fd = -1;
		return;
	}
	archiver_greet(a);
}

/* --- news of any thread ---------------------------------------------------------------------- */

/* With the lock. */
static void archiver_wake(struct archiver *a)
{
	const uint64_t one = 1;

	if (!a->awake)
		(void)!write(a->wake.fd, &one, sizeof(one));
	a->awake = true;
}

static void archiver_on_wake(struct loop_fd *source, uint32_t events)
{
	struct archiver *a = container_of(source, struct archiver, wake);
	const struct archived *s;
	bool soon = false;
	uint64_t nr;

	(void)events;
	(void)!read(source->fd, &nr, sizeof(nr));
	pthread_mutex_lock(&a->lock);
	a->awake = false;
	list_for_each(s, &a->active, node)
		soon |= s->flush || s->end == END_DUE;
	pthread_mutex_unlock(&a->lock);
	if (soon)
		loop_timer_set(&a->due, 0);
	else if (!a->due.at_ns)
		loop_timer_set(&a->due, DUE_US);
}

struct archived *archiver_receive(struct archiver *a, const char *path, const uint8_t *id)
{
	struct archived *s;

	if (!a)
		return NULL;
	pthread_mutex_lock(&a->lock);
	s = archiver_make(a, path);
	if (memcmp(s->id, id, sizeof(s->id)) != 0)
		archived_forget(s); /* of another session that was there */
	memcpy(s->id, id, sizeof(s->id));
	list_remove(&s->node);
	list_append(&a->active, &s->node);
	s->end = END_NONE;
	s->nr_receiving++;
	s->news = true;
	archiver_wake(a);
	pthread_mutex_unlock(&a->lock);
	return s;
}

void archived_note(struct archived *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->archiver->lock);
	if (!s->news)
		archiver_wake(s->archiver);
	s->news = true;
	pthread_mutex_unlock(&s->archiver->lock);
}

void archived_flush(struct archived *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->archiver->lock);
	s->news = s->flush = true;
	archiver_wake(s->archiver);
	pthread_mutex_unlock(&s->archiver->lock);
}

void archived_leave(struct archived *s, bool ended)
{
	struct archiver *a;

	if (!s)
		return;
	a = s->archiver;
	pthread_mutex_lock(&a->lock);
	s->nr_receiving--;
	if (ended) {
		s->end = END_DUE;
		s->number = ++a->last_number;
	}
	archiver_wake(a);
	pthread_mutex_unlock(&a->lock);
}

bool archived_durable(const struct archived *s, const char *trace, uint32_t stream_class,
		      uint32_t instance, uint64_t *ret_seq)
{
	AUTO_FREE char *name = s ? archived_name(trace, stream_class, instance) : NULL;
	const struct archived_stream *stream;

	if (!s)
		return false;
	pthread_mutex_lock(&s->archiver->lock);
	stream = archived_find(s, name);
	if (stream)
		*ret_seq = stream->seq;
	pthread_mutex_unlock(&s->archiver->lock);
	return stream;
}

void archived_problem(const struct archived *s, char ret[ARCHIVER_PROBLEM_BYTES])
{
	*ret = '\0';
	if (!s)
		return;
	pthread_mutex_lock(&s->archiver->lock);
	snprintf(ret, ARCHIVER_PROBLEM_BYTES, "%s",
		 s->archiver->connected ?
			 s->archiver->problem :
			 "ltt-archive does not run at the relay, whose log has the reason");
	pthread_mutex_unlock(&s->archiver->lock);
}

bool archiver_has(struct archiver *a, const char *path, bool over, bool is_archive)
{
	struct archived *s;
	bool has;

	if (!a)
		return true;
	pthread_mutex_lock(&a->lock);
	s = archiver_find(a, path);
	if (!s && !is_archive) {
		s = archiver_make(a, path);
		s->news = true;
		archiver_wake(a);
	}
	if (s && over && !is_archive && !s->nr_receiving && s->end == END_NONE) {
		s->end = END_DUE;
		s->number = ++a->last_number;
		archiver_wake(a);
	}
	if (s)
		s->seen = true;
	has = s && s->end == END_ARCHIVED;
	pthread_mutex_unlock(&a->lock);
	return has;
}

static void archiver_sweep_list(struct list_node *list)
{
	struct archived *s, *tmp;

	list_for_each_safe(s, tmp, list, node)
		if (!s->seen && !s->nr_receiving)
			archived_free(s);
		else
			s->seen = false;
}

void archiver_sweep(struct archiver *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	archiver_sweep_list(&a->active);
	archiver_sweep_list(&a->complete);
	pthread_mutex_unlock(&a->lock);
}

bool archiver_is_lost(const struct archiver *a)
{
	return a && a->lost;
}

/* --- life ------------------------------------------------------------------------------------ */

int archiver_new(struct archiver **ret, struct loop *loop, int spawner_fd, uint64_t silence_us)
{
	struct archiver *a = xalloc(sizeof(*a));
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int error = fd < 0 ? -errno : 0;

	a->loop = loop;
	a->silence_us = silence_us;
	a->link.fd = -1;
	pthread_mutex_init(&a->lock, NULL);
	list_init(&a->active);
	list_init(&a->complete);
	idmap_init(&a->paths);
	idmap_init(&a->streams);
	loop_timer_init(&a->due, loop, archiver_on_due);
	loop_timer_init(&a->alive, loop, archiver_on_alive);
	if (error == 0)
		error = loop_fd_init(&a->wake, loop, fd, EPOLLIN, archiver_on_wake);
	if (error == 0)
		error = loop_fd_init(&a->spawner, loop, spawner_fd, EPOLLIN, archiver_on_spawner);
	a->wake.fd = fd;
	a->spawner.fd = spawner_fd;
	if (error)
		archiver_free(a);
	else
		*ret = a;
	return error;
}

struct archiver *archiver_free(struct archiver *a)
{
	struct archived *s;
	int wake, spawner;

	if (!a)
		return NULL;
	wake = a->wake.fd;
	spawner = a->spawner.fd;
	archiver_lose(a);
	loop_timer_cancel(&a->due);
	loop_fd_fini(&a->wake);
	loop_fd_fini(&a->spawner);
	close_fd(wake);
	close_fd(spawner); /* the end of the process at its other end */
	while ((s = list_first(&a->active, struct archived, node)) ||
	       (s = list_first(&a->complete, struct archived, node)))
		archived_free(s);
	idmap_fini(&a->paths);
	idmap_fini(&a->streams);
	pthread_mutex_destroy(&a->lock);
	free(a);
	return NULL;
}
