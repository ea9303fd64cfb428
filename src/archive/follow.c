/* SPDX-License-Identifier: GPL-2.0-only */
#include "follow.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/list.h"
#include "base/locked.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"
#include "io/confine.h"
#include "io/frame.h"
#include "io/loop.h"
#include "proto/archive.h"

#define THREADS 4u /* uploads at a time */
#define RETRY_LEAST_US 1000000u
#define RETRY_MOST_US 60000000u
#define MESSAGE_BYTES (PATH_MAX + 1024u)

/** A session of the relay. */
struct followed {
	struct list_node node;
	char *path;			 /* below the relay's directory */
	struct archive_session *session; /* of the thread that is busy with it; NULL: not open */
	bool busy, news, flush, ending;
	bool put_once;
	uint64_t end_number;
	uint64_t due_ns;      /* when a thread looks at it; 0: it has no news */
	uint64_t put_ns;      /* time of the last segment */
	uint64_t backoff_us;  /* after failures; 0: the last attempt succeeded */
	uint64_t waiting;     /* bytes */
	uint32_t nr_archives; /* reported ones */
};

struct follow {
	const struct follow_config *config;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t changed;
	struct list_node sessions;
	char problem[sizeof(((struct err *)0)->text)];
	pthread_mutex_t write_lock; /* of the socket */
};

static struct follow follow = { .lock = PTHREAD_MUTEX_INITIALIZER,
				.write_lock = PTHREAD_MUTEX_INITIALIZER };

/* --- messages to the relay ----------------------------------------------------------- */

/* The relay always reads; if it has ended, so does this process. */
static void follow_send(struct encoder *enc, uint8_t *frame)
{
	size_t len = FRAME_HEAD_BYTES + enc->len;
	LOCKED(&follow.write_lock);

	if (encoder_finish(enc) < 0)
		return;
	frame_head(frame, enc->len);
	for (size_t sent = 0; sent < len;) {
		ssize_t n = send(follow.config->relay_fd, frame + sent, len - sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(0);
		sent += (size_t)n;
	}
}

#define FOLLOW_SEND(message, ...)                                                            \
	do {                                                                                 \
		uint8_t frame_[FRAME_HEAD_BYTES + MESSAGE_BYTES];                            \
		struct encoder enc_;                                                         \
                                                                                             \
		encoder_init(&enc_, frame_ + FRAME_HEAD_BYTES, MESSAGE_BYTES);               \
		encode_header(&enc_, MSG_##message, 0, 0);                                   \
		msg_##message##_encode(&enc_, &(const struct msg_##message){ __VA_ARGS__ }); \
		follow_send(&enc_, frame_);                                                  \
	} while (0)

static void send_state(void)
{
	char problem[sizeof(follow.problem)];
	struct followed *f;
	uint64_t waiting = 0;

	pthread_mutex_lock(&follow.lock);
	list_for_each(f, &follow.sessions, node)
		waiting += f->waiting;
	memcpy(problem, follow.problem, sizeof(problem));
	pthread_mutex_unlock(&follow.lock);
	FOLLOW_SEND(arc_state, .error = problem, .waiting = waiting);
}

static void set_problem(const char *text)
{
	bool changed;

	pthread_mutex_lock(&follow.lock);
	changed = strcmp(follow.problem, text) != 0;
	snprintf(follow.problem, sizeof(follow.problem), "%s", text);
	pthread_mutex_unlock(&follow.lock);
	if (!changed)
		return;
	if (*text)
		log_warn_some("%s; it is tried again", text);
	else
		log_warn_some("the store takes data again");
	send_state();
}

static void report_streams(const struct followed *f, const struct catalog *catalog)
{
	for (uint32_t i = 0; i < catalog->nr_traces; i++) {
		struct catalog_trace *trace = catalog->traces[i];

		for (uint32_t j = 0; j < trace->nr_streams; j++) {
			struct catalog_stream *stream = trace->streams[j];

			if (stream->reported == stream->next)
				continue;
			FOLLOW_SEND(arc_durable, .path = f->path, .trace = trace->path,
				    .stream_class = stream->stream_class,
				    .instance = stream->instance, .seq = stream->next - 1);
			stream->reported = stream->next;
		}
	}
}

static void report_archives(struct followed *f, const struct catalog *catalog)
{
	for (; f->nr_archives < catalog->nr_archives; f->nr_archives++) {
		AUTO_FREE char *path =
			xasprintf("%s/archives/%s", f->path, catalog->archives[f->nr_archives]);

		FOLLOW_SEND(arc_done, .path = path);
	}
}

/* --- one session --------------------------------------------------------------------- */

static int followed_open(struct followed *f, struct err *err)
{
	AUTO_FREE char *path = xasprintf("%s/%s", follow.config->dir, f->path);
	AUTO_FREE char *host = xstrdup(f->path);
	char *name = strrchr(host, '/');

	if (f->session)
		return 0;
	if (name)
		*name++ = '\0';
	return archive_session_open(path, name ? host : "localhost", name ? name : host,
				    &f->session, err);
}

/* Its directory was removed: nothing of it can be put any more. */
static bool followed_is_gone(const struct followed *f)
{
	AUTO_FREE char *path = xasprintf("%s/%s", follow.config->dir, f->path);

	return access(path, F_OK) < 0 && errno == ENOENT;
}

/* Whether it is time for a segment. */
static bool followed_is_due(struct followed *f, bool flush)
{
	f->waiting = archive_session_waiting(f->session);
	return flush || !f->put_once || f->backoff_us ||
	       f->waiting >= follow.config->segment_bytes ||
	       loop_now_ns() >= f->put_ns + follow.config->period_us * 1000;
}

/* Return: whether the store was used without a failure. */
static bool followed_put(struct followed *f, struct bucket *bucket, bool ending, uint64_t number,
			 bool flush, struct err *err)
{
	const struct archive archive = { bucket, follow.config->segment_bytes };
	struct archive_counts counts;
	bool gone = followed_is_gone(f);

	if (gone) {
		f->session = archive_session_close(f->session);
		f->waiting = 0;
	} else if (followed_open(f, err) || (!followed_is_due(f, flush) && !ending) ||
		   archive_session_put(f->session, &archive, ending, &counts, err)) {
		return false;
	} else {
		f->put_once = true;
		f->put_ns = loop_now_ns();
		f->waiting = 0;
		report_streams(f, archive_session_catalog(f->session));
		report_archives(f, archive_session_catalog(f->session));
	}
	if (ending) {
		FOLLOW_SEND(arc_done, .path = f->path, .number = number);
		f->session = archive_session_close(f->session);
		f->nr_archives = 0;
		f->put_once = false;
	}
	return !gone;
}

/* With the lock. */
static bool any_failed(void)
{
	struct followed *f;

	list_for_each(f, &follow.sessions, node)
		if (f->backoff_us)
			return true;
	return false;
}

/* --- threads ------------------------------------------------------------------------- */

/* With the lock. The session that is due first; NULL: none is. */
static struct followed *first_due(void)
{
	struct followed *f, *first = NULL;

	list_for_each(f, &follow.sessions, node)
		if (f->due_ns && !f->busy && (!first || f->due_ns < first->due_ns))
			first = f;
	return first;
}

/* With the lock. */
static struct followed *next_session(void)
{
	for (;;) {
		struct followed *f = first_due();
		struct timespec until;

		if (!f) {
			pthread_cond_wait(&follow.changed, &follow.lock);
			continue;
		}
		if (f->due_ns <= loop_now_ns())
			return f;
		until.tv_sec = (time_t)(f->due_ns / 1000000000u);
		until.tv_nsec = (long)(f->due_ns % 1000000000u);
		pthread_cond_timedwait(&follow.changed, &follow.lock, &until);
	}
}

/* With the lock. When a session is looked at again. */
static void followed_plan(struct followed *f, bool failed)
{
	uint64_t now = loop_now_ns();

	f->backoff_us = !failed ? 0 : MIN(MAX(2 * f->backoff_us, RETRY_LEAST_US), RETRY_MOST_US);
	if (failed)
		f->due_ns = now + f->backoff_us * 1000;
	else if (f->news || f->ending)
		f->due_ns = now;
	else if (f->waiting)
		f->due_ns = f->put_ns + follow.config->period_us * 1000;
	else
		f->due_ns = 0;
}

static void followed_free(struct followed *f)
{
	list_remove(&f->node);
	archive_session_close(f->session);
	free(f->path);
	free(f);
}

static void *follow_work(void *data)
{
	struct bucket *bucket = data;

	pthread_mutex_lock(&follow.lock);
	for (;;) {
		struct followed *f = next_session();
		bool ending = f->ending, flush = f->flush, used;
		uint64_t number = f->end_number;
		struct err err = { 0 };

		f->busy = true;
		f->news = f->flush = f->ending = false;
		f->due_ns = 0;
		pthread_mutex_unlock(&follow.lock);
		used = followed_put(f, bucket, ending, number, flush, &err);
		pthread_mutex_lock(&follow.lock);
		f->busy = false;
		f->flush = f->flush || (err.code && flush);
		if (err.code && ending && !f->ending) {
			f->ending = true;
			f->end_number = number;
		}
		followed_plan(f, err.code);
		if (ending && !err.code && !f->due_ns)
			followed_free(f);
		pthread_cond_signal(&follow.changed);
		if (err.code || used || !any_failed()) {
			pthread_mutex_unlock(&follow.lock);
			set_problem(err.text);
			pthread_mutex_lock(&follow.lock);
		}
	}
	return NULL;
}

/* --- messages of the relay ------------------------------------------------------------ */

/* With the lock. */
static struct followed *find_followed(const char *path)
{
	struct followed *f;

	list_for_each(f, &follow.sessions, node)
		if (strcmp(f->path, path) == 0)
			return f;
	f = xalloc(sizeof(*f));
	f->path = xstrdup(path);
	list_append(&follow.sessions, &f->node);
	return f;
}

static void on_data(const struct msg_arc_data *m)
{
	LOCKED(&follow.lock);
	struct followed *f = find_followed(m->path);

	f->news = true;
	f->flush = f->flush || m->flush;
	if (!f->due_ns || (!f->backoff_us && f->due_ns > loop_now_ns()))
		f->due_ns = loop_now_ns();
	pthread_cond_signal(&follow.changed);
}

static void on_end(const struct msg_arc_end *m)
{
	LOCKED(&follow.lock);
	struct followed *f = find_followed(m->path);

	f->ending = true;
	f->end_number = m->number;
	f->due_ns = f->due_ns && f->backoff_us ? f->due_ns : loop_now_ns();
	pthread_cond_signal(&follow.changed);
}

static int on_message(const uint8_t *bytes, size_t len)
{
	struct msg_arc_data data;
	struct msg_arc_end end;
	struct msg_header header;
	struct decoder dec;

	decoder_init(&dec, bytes, len, NULL, 0);
	if (decode_header(&dec, &header) < 0)
		return -EBADMSG;
	if (header.type == MSG_arc_data && msg_arc_data_decode(&dec, &data) == 0)
		on_data(&data);
	else if (header.type == MSG_arc_end && msg_arc_end_decode(&dec, &end) == 0)
		on_end(&end);
	else if (header.type == MSG_arc_alive)
		send_state();
	else
		return -EBADMSG;
	return 0;
}

/* Return: 0: the relay has ended; negative errno. */
static int follow_read(int fd)
{
	struct frames frames = { 0 };
	const uint8_t *message;
	uint8_t *at;
	size_t len;
	ssize_t n;
	int ret = 0;

	while (ret >= 0) {
		size_t room = frames_room(&frames, &at);
		struct pollfd ready = { fd, POLLIN, 0 };

		(void)poll(&ready, 1, -1);
		n = recv(fd, at, room, 0);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			break;
		frames_filled(&frames, (size_t)n);
		while ((ret = frames_next(&frames, &message, &len)) > 0)
			if ((ret = on_message(message, len)) < 0)
				break;
	}
	frames_fini(&frames);
	return ret;
}

int verb_follow(const struct follow_config *config)
{
	struct bucket *buckets[THREADS];
	struct rlimit files;
	pthread_condattr_t attr;
	struct err err = { 0 };

	follow.config = config;
	list_init(&follow.sessions);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&follow.changed, &attr);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	for (unsigned int i = 0; i < THREADS; i++) {
		if (bucket_open(config->url, &buckets[i], &err)) {
			set_problem(err.text);
			return 1;
		}
	}
	/* Data of other hosts and answers of a store are read from now on; libraries are loaded. */
	confine(&(struct confine){ CONFINE_ARCHIVE, 0, 0 });
	for (unsigned int i = 0; i < THREADS; i++) {
		int ret = thread_start(NULL, follow_work, buckets[i]);

		if (ret < 0) {
			log_error("can't start a thread: %s", strerror(-ret));
			return 1;
		}
	}
	if (follow_read(config->relay_fd) < 0) {
		log_error("a message of the relay can't be decoded: it has another version");
		return 1;
	}
	return 0;
}
