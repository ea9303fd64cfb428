/* SPDX-License-Identifier: GPL-2.0-only */
/* trace.c - traces and ring sets of applications. */
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "app.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/confine.h"
#include "io/sock.h"
#include "link.h"
#include "session.h"
#include "sessiond/peers/admission.h"
#include "trace/metadata.h"

#define PATHS_USED 1024u /* far more than register within a second */
#define DAMAGED_CLOSE_US 100000u

/* A process's name as part of a file name. */
static void file_name(const char *name, char *buf, size_t len)
{
	size_t n = 0;

	for (; *name && n < len - 1; name++) {
		unsigned char c = (unsigned char)*name;
		bool odd = c <= ' ' || c >= 0x7f || c == '/' || (c == '.' && n == 0);

		buf[n++] = odd ? '_' : (char)c;
	}
	buf[n] = '\0';
}

static uint32_t path_pid(const struct user_app *app)
{
	return app->app.pid > 0 ? (uint32_t)app->app.pid : app->app.vpid;
}

static char *process_path(const struct user_app *app, uint64_t trace)
{
	char name[64], when[32];
	time_t s = (time_t)(app->app.start_ns / 1000000000);
	struct tm tm = { 0 };
	uint32_t pid = path_pid(app);

	localtime_r(&s, &tm);
	strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &tm);
	file_name(app->app.procname, name, sizeof(name));
	if (app->app.start_ns == 0)
		return xasprintf("ust/pid/%s-%u-%llu", name, pid, (unsigned long long)trace);
	return xasprintf("ust/pid/%s-%u-%s", name, pid, when);
}

static bool path_taken(const struct recording *rec, const char *path)
{
	const struct trace *trace;

	list_for_each(trace, &rec->traces, node)
		if (trace->path && strcmp(trace->path, path) == 0)
			return true;
	return false;
}

/*
 * One process can register several times within a second (execve(), a new daemon), and the trace of
 * its former program may be closed already: the last path of each process is remembered, unless so
 * many others have registered since then that one of them has its place.
 * Return: whether it is this path. Under an earlier daemon it may have been.
 */
static bool path_was_used(struct user_session *us, const struct user_app *app, const char *path)
{
	char **last;
	bool was;

	if (!us->paths_used)
		us->paths_used = xalloc(PATHS_USED * sizeof(*us->paths_used));
	last = &us->paths_used[path_pid(app) % PATHS_USED];
	was = (*last && strcmp(*last, path) == 0) ||
	      (us->restored_s && app->app.start_ns / 1000000000 <= us->restored_s);
	if (!was) {
		free(*last);
		*last = xstrdup(path);
	}
	return was;
}

void paths_used_free(struct user_session *us)
{
	for (uint32_t i = 0; us->paths_used && i < PATHS_USED; i++)
		free(us->paths_used[i]);
	free(us->paths_used);
}

/* @process: NULL: the trace of a user. */
static char *choose_path(struct user_session *us, const struct trace *trace,
			 const struct user_app *process)
{
	char *path;
	bool used;

	if (!process)
		return xasprintf("ust/uid/%u/64-bit", trace->uid);
	path = process_path(process, trace->id);
	used = path_was_used(us, process, path);
	if (used || path_taken(trace->rec, path)) {
		char *other = xasprintf("%s-%llu", path, (unsigned long long)trace->id);

		free(path);
		path = other;
	}
	return path;
}

static void user_trace_describe(struct trace *trace, const struct user_app *process)
{
	const struct recording *rec = trace->rec;
	struct metadata_process facts_of_process = { 0 };
	struct metadata_trace facts = {
		.form = recording_form(rec),
		.uuid = trace->uuid,
		.session = rec->session->name,
		.hostname = rec->recorder->config.hostname,
		.created_ns = rec->session->created_ns,
		.uid = trace->uid,
		.clock = rec->clock,
	};

	if (process) {
		facts_of_process.pid = process->app.vpid;
		facts_of_process.name = process->app.procname;
		facts_of_process.start_ns = process->app.start_ns;
		facts.process = &facts_of_process;
	}
	trace_append(trace, metadata_head(&facts));
}

void trace_describe(struct trace *trace)
{
	user_trace_describe(trace, NULL);
}

static struct trace *trace_new(struct user_session *us, uid_t uid, const struct user_app *process)
{
	struct trace *trace = trace_alloc(&us->rec, us->rec.recorder->next_id++, uid,
					  process ? process->app.id : 0);

	trace_open(trace, choose_path(us, trace, process));
	user_trace_describe(trace, process);
	return trace;
}

static bool per_process(const struct channel *channel)
{
	return channel->ownership == OWNERSHIP_PROCESS;
}

static struct trace *user_trace_find(struct user_session *us, uid_t uid, uint64_t app)
{
	struct trace *trace;

	list_for_each(trace, &us->rec.traces, node)
		if (trace->app == app && (app || trace->uid == uid))
			return trace;
	return NULL;
}

struct trace *trace_find(struct user_session *us, const struct user_app *app,
			 const struct channel *channel)
{
	return user_trace_find(us, app->app.uid, per_process(channel) ? app->app.id : 0);
}

struct trace *trace_get(struct user_session *us, struct user_app *app,
			const struct channel *channel)
{
	struct trace *trace = trace_find(us, app, channel);

	return trace ? trace : trace_new(us, app->app.uid, per_process(channel) ? app : NULL);
}

void trace_prepare(struct user_session *us)
{
	uid_t uid = us->rec.session->uid;
	struct trace *trace;
	struct channel *channel;

	list_for_each(channel, &us->rec.session->channels, node) {
		if (channel->domain != DOMAIN_USER || per_process(channel))
			continue;
		trace = user_trace_find(us, uid, 0);
		trace_channel_get(trace ? trace : trace_new(us, uid, NULL), channel, NULL);
	}
}

/* Which ring set an application records into. */

/* A process that can't use sequences any more gets other buffers beside its own. */
static bool has_predecessor(const struct ring *ring)
{
	const struct ring *other;

	list_for_each(other, &ring->trace_channel->rings, node)
		if (other != ring && ring->app && other->app == ring->app)
			return true;
	return false;
}

static char *stream_name(const struct ring *ring, const struct user_app *app)
{
	const struct channel *channel = ring->trace_channel->channel;

	/* beside the user's own stream files, a process's need a name of their own */
	if (ring->app && !ring->trace_channel->trace->app)
		return xasprintf("%s_p%d-%llu", channel->name, (int)app->app.pid,
				 (unsigned long long)ring->id);
	if (ring->trace_channel->replaced || has_predecessor(ring))
		return xasprintf("%s_r%llu", channel->name, (unsigned long long)ring->id);
	return xstrdup(channel->name);
}

/* Other processes must not have its buffers. */
static bool needs_own(const struct trace_channel *trace_channel, const struct user_app *app)
{
	return trace_channel->trace->app || app->app.exclusive;
}

static struct ring *ring_find(struct trace_channel *trace_channel, const struct user_app *app,
			      bool own)
{
	uint64_t id = own ? app->app.id : 0;
	struct ring *ring;

	list_for_each(ring, &trace_channel->rings, node)
		if (ring->app == id && ring->exclusive == (own && app->app.exclusive) &&
		    ring_is_usable(ring))
			return ring;
	return NULL;
}

static struct ring *ring_new(struct trace_channel *trace_channel, struct user_app *app, bool own)
{
	struct recorder *recorder = trace_channel->trace->rec->recorder;
	struct ring *ring = ring_alloc(trace_channel, recorder->next_id++, own ? app->app.id : 0);
	struct err err = { 0 };

	ring->exclusive = app->app.exclusive && own;
	ring->nr_rings = recorder->config.nr_cpus;
	if (ring->exclusive)
		ring->nr_rings = MAX(ring->nr_rings, 2u);
	ring->first_instance = trace_channel->next_instance;
	trace_channel->next_instance += ring->nr_rings;
	ring->name = stream_name(ring, app);
	if (!ring_charge(ring, &err)) {
		ring_open(ring);
	} else if (own && !needs_own(trace_channel, app)) { /* better shared ones than none */
		ring_drop(ring);
		ring = ring_find(trace_channel, app, false);
		ring = ring ? ring : ring_new(trace_channel, app, false);
	} else {
		ring_fail(ring, ERR_LIMIT, err.text);
	}
	return ring;
}

struct ring *ring_get(struct trace_channel *trace_channel, struct user_app *app)
{
	bool own = needs_own(trace_channel, app) || trace_channel->trace->apart;
	struct ring *ring = ring_find(trace_channel, app, own);

	return ring ? ring : ring_new(trace_channel, app, own);
}

/* --- damaged buffers ---------------------------------------------------------- */

static struct ring *ring_by_id(const struct user_session *us, uint64_t id)
{
	struct trace_channel *trace_channel;
	struct trace *trace;
	struct ring *ring;

	list_for_each(trace, &us->rec.traces, node)
		list_for_each(trace_channel, &trace->channels, node)
			list_for_each(ring, &trace_channel->rings, node)
				if (ring->id == id)
					return ring;
	return NULL;
}

static bool link_has_ring(const struct user_link *link, const struct ring *ring)
{
	for (uint32_t i = 0; i < link->nr_sent; i++)
		if (link->told[i] == ring)
			return true;
	return false;
}

#define NAMED 4u /* processes in a sentence */

/* Return: the number of processes that record into it. @ret: the first ones. */
static uint32_t name_writers(const struct user_session *us, const struct ring *ring, size_t len,
			     char *ret)
{
	const struct user_link *link;
	uint32_t nr = 0;
	size_t at = 0;

	*ret = '\0';
	list_for_each(link, &us->links, in_session)
		if (link_has_ring(link, ring) && nr++ < NAMED && at < len)
			at += (size_t)snprintf(ret + at, len - at, "%s%d (%.16s)", at ? ", " : "",
					       (int)link->app->app.pid, link->app->app.procname);
	if (nr > NAMED && at < len)
		snprintf(ret + at, len - at, " and %u more", nr - NAMED);
	return nr;
}

static void report_damage(const struct user_session *us, const struct ring *ring)
{
	const char *channel = ring->trace_channel->channel->name;
	char writers[128], text[sizeof(us->rec.session->troubles[0])];
	uint32_t nr = name_writers(us, ring, sizeof(writers), writers);

	if (ring->app || nr == 1)
		snprintf(text, sizeof(text),
			 "process %s damages its buffers of channel '%.64s'; correct the program, "
			 "or end it: its events are not reliable",
			 nr ? writers : "that has ended", channel);
	else
		snprintf(text, sizeof(text),
			 "a process of user %u damaged the shared buffers of channel '%.64s': "
			 "one of %s; now each has buffers of its own, which show the one that did it",
			 ring->trace_channel->trace->uid, channel, nr ? writers : "those that have ended");
	if (strcmp(us->rec.session->troubles[TROUBLE_DAMAGE], text) != 0)
		us->rec.recorder->config.trouble(us->rec.session, TROUBLE_DAMAGE, text);
}

/* The process that did it has all shared buffers of its user. */
static void leave_shared(struct trace *trace)
{
	struct trace_channel *trace_channel;
	struct ring *ring;

	trace->apart = true;
	list_for_each(trace_channel, &trace->channels, node)
		list_for_each(ring, &trace_channel->rings, node)
			if (!ring->app && ring->state == RING_READY) {
				ring->abandoned = true;
				trace_channel->replaced = true;
			}
}

void user_damaged(struct domain_tracer *domain, struct session *session, uint64_t id)
{
	struct user_session *us = user_session_find(user_of(domain), session);
	struct ring *ring = us ? ring_by_id(us, id) : NULL;

	if (!ring || ring->abandoned)
		return;
	report_damage(us, ring);
	if (ring->app)
		return;
	leave_shared(ring->trace_channel->trace);
	us->apart_since = ++us->generation;
	links_touch(us);
	recording_saved(&us->rec);
	loop_timer_set(&us->apart, DAMAGED_CLOSE_US);
}

/* Until its process has confirmed the change, it may record into the old ones. */
static bool is_left(const struct user_session *us, const struct ring *ring)
{
	const struct user_link *link;

	list_for_each(link, &us->links, in_session)
		if (link->confirmed < us->apart_since || link_has_ring(link, ring))
			return false;
	return true;
}

void damaged_close(struct loop_timer *timer)
{
	struct user_session *us = container_of(timer, struct user_session, apart);
	struct trace_channel *trace_channel;
	struct ring *ring, *next;
	struct trace *trace;
	bool again = false;

	list_for_each(trace, &us->rec.traces, node)
		list_for_each(trace_channel, &trace->channels, node)
			list_for_each_safe(ring, next, &trace_channel->rings, node) {
				if (ring->app || !ring->abandoned || ring->state != RING_READY)
					continue;
				if (is_left(us, ring))
					ring_close(ring);
				else
					again = true;
			}
	if (again)
		loop_timer_set(timer, DAMAGED_CLOSE_US);
}

static void close_in_trace_channel(struct trace_channel *trace_channel, uint64_t app)
{
	struct ring *ring, *next;

	list_for_each_safe(ring, next, &trace_channel->rings, node) {
		if (ring->app != app)
			continue;
		if (ring_in(ring, RING_MISSING_STATES & RING_WANTED_STATES))
			ring_give_up(ring);
		else if (ring_in(ring, RING_LOST_STATES))
			ring->abandoned = true;
		else if (!ring->abandoned)
			ring_close(ring);
	}
}

void rings_close_of(struct user_session *us, uint64_t app)
{
	struct trace *trace;
	struct trace_channel *trace_channel;

	list_for_each(trace, &us->rec.traces, node)
		list_for_each(trace_channel, &trace->channels, node)
			close_in_trace_channel(trace_channel, app);
}

/** The charges of a process's own ring sets. */
struct kept_charge {
	struct account_id account;
	uint64_t bytes, fds;
	bool unfit; /* one is lost, or being closed */
	bool is_kept;
};

static void kept_close(struct user_session *us, uint64_t app)
{
	struct trace *trace, *next;

	rings_close_of(us, app);
	list_for_each_safe(trace, next, &us->rec.traces, node)
		if (trace->app == app && !trace->orphan)
			trace_abandon(trace);
}

static void kept_close_oldest(struct kept *kept, struct user_session *us)
{
	uint64_t app = kept->apps[0];

	memmove(kept->apps, kept->apps + 1, --kept->nr * sizeof(kept->apps[0]));
	kept_close(us, app);
}

static void kept_charge_ring(struct kept_charge *sum, const struct ring *ring)
{
	const struct session *session = ring->trace_channel->trace->rec->session;
	const struct channel *channel = ring->trace_channel->channel;

	sum->account = ring->account;
	sum->bytes += ring->paid_bytes;
	sum->fds += ring->paid_fds;
	sum->is_kept |= channel->remember ||
			(channel->overwrite && !session_has_files(session));
	sum->unfit |=
		!ring_is_usable(ring) || ring_in(ring, 1u << RING_OFFERED | 1u << RING_FAILED);
}

static struct kept_charge kept_charge_of(const struct user_session *us, uint64_t app)
{
	const struct trace_channel *trace_channel;
	struct kept_charge sum = { .bytes = 0 };
	const struct trace *trace;
	const struct ring *ring;

	list_for_each(trace, &us->rec.traces, node)
		list_for_each(trace_channel, &trace->channels, node)
			list_for_each(ring, &trace_channel->rings, node)
				if (ring->app == app)
					kept_charge_ring(&sum, ring);
	return sum;
}

static bool kept_has_room(const struct user_session *us, const struct kept_charge *sum)
{
	struct quotas *quotas = us->rec.recorder->config.quotas;

	return quota_left(quotas, sum->account, QUOTA_MEMORY) >= sum->bytes &&
	       quota_left(quotas, sum->account, QUOTA_DESCRIPTORS) >= sum->fds;
}

void kept_add(struct user_session *us, uint64_t app)
{
	struct kept_charge sum = kept_charge_of(us, app);
	struct kept *kept = &us->kept;

	if (!(us->rec.session->snapshots || sum.is_kept) || !sum.bytes || sum.unfit) {
		kept_close(us, app);
		return;
	}
	for (uint32_t i = 0; i < kept->nr; i++)
		if (kept->apps[i] == app)
			return;
	if (kept->nr == KEPT_MOST)
		kept_close_oldest(kept, us);
	kept->apps[kept->nr++] = app;
	/* the memory of each is free when the consumer has closed it */
	if (!kept_has_room(us, &sum))
		kept_close_oldest(kept, us);
}

/*
 * Recovers ring sets into which applications still record, although all processes that
 * held their memory for the daemons were killed. Before anything else is decided for an
 * application that connects, it is sent a request for each of these ring sets that it may have.
 * The first application that returns one is enough: the ring set then continues as if the keeper
 * had stored it.
 *
 * An application is not trusted: the kernel identifies its process, and the state file identifies
 * the memory. The memory has to be sealed and created by a session daemon, so that only the words
 * that applications may write can have changed; and it is opened again, so that no descriptor of
 * an unknown application is kept.
 */

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* --- rights ------------------------------------------------------------------------ */

/* Of those that are wanted and not offered yet: the lowest number above @above. */
static struct ring *next_in(const struct recording *rec, uint64_t above,
			    bool (*fits)(const struct ring *ring, const void *data),
			    const void *data)
{
	struct ring *ring, *best = NULL;
	struct trace *trace;
	struct trace_channel *trace_channel;

	list_for_each(trace, &rec->traces, node)
		list_for_each(trace_channel, &trace->channels, node)
			list_for_each(ring, &trace_channel->rings, node)
				if (ring_in(ring, RING_MISSING_STATES & RING_WANTED_STATES) &&
				    ring->id > above && (!best || ring->id < best->id) &&
				    fits(ring, data))
					best = ring;
	return best;
}

static struct ring *next_wanted(const struct user_domain *user, uint64_t above,
				bool (*fits)(const struct ring *ring, const void *data),
				const void *data)
{
	struct ring *ring, *best = NULL;
	struct recording *rec;

	if (!user->recorder->nr_wanted)
		return NULL;
	list_for_each(rec, &user->domain.recordings, node) {
		ring = rec->nr_wanted ? next_in(rec, above, fits, data) : NULL;
		if (ring && (!best || ring->id < best->id))
			best = ring;
	}
	return best;
}

static bool offer_may_have(const struct ring *ring, const void *data)
{
	const struct user_app *app = data;

	return ring->app ? ring->app == app->app.id :
			   ring->trace_channel->trace->uid == app->app.uid;
}

static bool is_own(const struct ring *ring, const void *data)
{
	return ring->app == *(const uint64_t *)data;
}

bool offers_expected(const struct user_domain *user, uint64_t app)
{
	return next_wanted(user, 0, is_own, &app);
}

static void offer_request(struct user_app *app, uint64_t ring)
{
	struct msg_app_buffer_want msg = { ring };
	struct encoder enc;
	uint8_t buf[32];

	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, MSG_app_buffer_want, 0, 0);
	msg_app_buffer_want_encode(&enc, &msg);
	peer_send(app->peer, &enc);
}

bool offers_request(struct user_app *app)
{
	struct ring *ring = next_wanted(app->user, app->wanted, offer_may_have, app);

	if (!ring != !app->wanted) /* descriptors are accepted as long as one is requested */
		sock_accept_fds(app->peer->source.fd, ring);
	app->wanted = ring ? ring->id : 0;
	if (ring)
		offer_request(app, ring->id);
	return ring;
}

/* --- offered memory ---------------------------------------------------------------- */

/* The seals are checked first: a system call on any other kind of file might block. */
static bool offer_is_ours(int fd, const struct session *session, const struct dirid *wanted)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct dirid found;
	struct stat st;

	return seals >= 0 && (seals & SEALS) == SEALS && fstat(fd, &st) == 0 &&
	       (st.st_uid == geteuid() || (session->user_consumer && st.st_uid == session->uid)) &&
	       dirid_of(fd, &found) == 0 && dirid_equal(&found, wanted);
}

/* It may be of a consumer of another user than this daemon's. */
static int offer_open_again(int fd, int how)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return confine_open(path, how);
}

/* All of them, and they may be kept. */
static int offer_take(struct ring *ring, const struct msg_app_buffer_offer *msg)
{
	int data = offer_open_again(msg->data, O_RDWR);
	int ctl_rw = offer_open_again(msg->ctl, O_RDWR);
	int ctl = offer_open_again(msg->ctl, O_RDONLY);
	int ret = MIN(MIN(data, ctl_rw), ctl);

	ring->data = MAX(data, -1);
	ring->ctl_rw = MAX(ctl_rw, -1);
	ring->ctl = MAX(ctl, -1);
	if (ret >= 0 && !admission_has_room(MAX(MAX(data, ctl_rw), ctl), ADMISSION_KEPT))
		ret = -EMFILE;
	if (ret < 0)
		ring_close_fds(ring);
	return MIN(ret, 0);
}

/* It was paid for when it was made: no user is refused a buffer that was there. */
static void offer_charge(struct ring *ring)
{
	struct quotas *quotas = ring->trace_channel->trace->rec->recorder->config.quotas;
	struct err ignored = { 0 };

	quotas->lenient = true;
	if (ring_charge(ring, &ignored)) /* never */
		log_debug("%s", ignored.text);
	quotas->lenient = false;
}

static void accept_offer(struct ring *ring, const struct user_app *app,
			 const struct msg_app_buffer_offer *msg)
{
	const struct session *session = ring->trace_channel->trace->rec->session;
	int ret;

	if (msg->data < 0 || msg->ctl < 0)
		return; /* it does not have it */
	if (!offer_is_ours(msg->data, session, &ring->data_id) ||
	    !offer_is_ours(msg->ctl, session, &ring->ctl_id)) {
		log_warn_some("process %d of user %u offers memory that differs from %s",
			      (int)app->app.pid, app->app.uid, ring->name);
		return;
	}
	ret = offer_take(ring, msg);
	if (ret < 0) {
		log_warn_some("%s can't be taken over: %s", ring->name, strerror(-ret));
		return;
	}
	offer_charge(ring);
	ring_offered(ring);
}

int user_app_offer(struct user_app *app, const struct msg_app_buffer_offer *msg)
{
	struct ring *ring;
	struct user_link *link;

	if (!app->wanted || app->wanted != msg->ring)
		return -EPROTO; /* not requested */
	ring = next_wanted(app->user, msg->ring - 1, offer_may_have, app);
	if (ring && ring->id == msg->ring) /* else another one has brought it */
		accept_offer(ring, app, msg);
	if (offers_request(app))
		return 0;
	list_for_each(link, &app->links, in_app)
		link_touch(link);
	loop_defer(app->user->recorder->config.loop, &app->user->refresh);
	return 0;
}

/*
 * Delays figures that a client requests after all daemons were killed. They are complete
 * when the applications have returned the buffers that the daemons lost; until then only the
 * figures of the files are known. The wait ends when all buffers are back, when no application has
 * any of them, or one second after the daemon's start.
 */

struct offers_wait {
	struct list_node node;
	domain_done done;
	void *data;
};

static bool is_awaited(const struct user_domain *user)
{
	const struct recording *rec;

	list_for_each(rec, &user->domain.recordings, node)
		if (rec->enough.at_ns)
			return true;
	return false;
}

void user_await_offers(struct domain_tracer *domain, domain_done done, void *data)
{
	struct user_domain *user = user_of(domain);
	struct offers_wait *wait;

	absent_check(&user->look);
	if (!is_awaited(user)) {
		done(data, 0, 0, NULL);
		return;
	}
	wait = xalloc(sizeof(*wait));
	wait->done = done;
	wait->data = data;
	list_append(&user->awaits, &wait->node);
}

void offers_done(struct user_domain *user)
{
	if (!list_empty(&user->awaits) && !is_awaited(user))
		loop_defer(user->recorder->config.loop, &user->settled);
}

void awaits_finish(struct loop_work *work)
{
	struct user_domain *user = container_of(work, struct user_domain, settled);
	struct offers_wait *wait;

	while ((wait = list_first(&user->awaits, struct offers_wait, node))) {
		list_remove(&wait->node);
		wait->done(wait->data, 0, 0, NULL);
		free(wait);
	}
}
