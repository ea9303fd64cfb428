/* SPDX-License-Identifier: GPL-2.0-only */
#include "relpeer.h"

#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/locked.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "io/loop.h"
#include "relayd/store/usage.h"

#define MAX_PEERS 4096u
#define COUNT_AGAIN_NS 10000000000ull /* minimum period of disk queries */
#define UNKNOWN_WAIT_US 10000u

static const struct {
	const char *name, *what;
	uint64_t limit;
} quotas[NR_RELQUOTAS] = {
#define X(id, name, what, limit) { name, what, limit },
	RELQUOTAS(X)
#undef X
};

void relquotas_init(struct relquotas *ret)
{
	*ret = (struct relquotas){ 0 };
	for (unsigned int i = 0; i < NR_RELQUOTAS; i++)
		ret->limits[i] = quotas[i].limit;
	ret->rate = RELPEER_RATE;
	ret->session_rate = RELPEER_SESSION_RATE;
}

void relpeers_init(struct relpeers *peers, int out_fd)
{
	*peers = (struct relpeers){ .lock = PTHREAD_MUTEX_INITIALIZER, .out_fd = out_fd };
	list_init(&peers->list);
	idmap_init(&peers->names);
	relquotas_init(&peers->quotas);
	relpeers_limit(peers, &peers->quotas);
}

static uint64_t files_share(int out_fd)
{
	struct statvfs st;

	return fstatvfs(out_fd, &st) == 0 && st.f_files ? MAX(st.f_files / 4, 1) : RELPEER_FILES;
}

void relpeers_limit(struct relpeers *peers, const struct relquotas *wanted)
{
	uint64_t *files = &peers->quotas.limits[RELQUOTA_FILES];

	peers->quotas = *wanted;
	if (*files == RELPEER_FILES_SHARE)
		*files = files_share(peers->out_fd);
}

static void free_peer(struct relpeer *peer)
{
	usage_end(peer->count);
	peer->peers->nr--;
	list_remove(&peer->node);
	idmap_remove(&peer->name_node);
	free(peer->name);
	free(peer);
}

void relpeers_fini(struct relpeers *peers)
{
	struct relpeer *peer;

	while ((peer = list_first(&peers->list, struct relpeer, node)))
		free_peer(peer);
	idmap_fini(&peers->names);
}

int relquotas_parse(struct relquotas *ret, const char *text)
{
	const char *equals = strchr(text, '=');
	size_t len = equals ? (size_t)(equals - text) : 0;

	if (len == 4 && strncmp(text, "idle", len) == 0)
		return parse_period(equals + 1, &ret->idle_us);
	if (len == 4 && strncmp(text, "rate", len) == 0)
		return parse_size(equals + 1, &ret->rate);
	if (len == 12 && strncmp(text, "session-rate", len) == 0)
		return parse_size(equals + 1, &ret->session_rate);
	for (unsigned int i = 0; len && i < NR_RELQUOTAS; i++)
		if (strlen(quotas[i].name) == len && strncmp(text, quotas[i].name, len) == 0)
			return parse_size(equals + 1, &ret->limits[i]);
	return -EINVAL;
}

/* --- peers that are there: all static functions from here on with the lock --------------- */

static struct relpeer *relpeer_find(const struct relpeers *peers, const char *name)
{
	struct idmap_node *node = idmap_find(&peers->names, idmap_hash_text(name));

	for (; node; node = idmap_next(&peers->names, node)) {
		struct relpeer *peer = container_of(node, struct relpeer, name_node);

		if (strcmp(peer->name, name) == 0)
			return peer;
	}
	return NULL;
}

/* A peer that is not here any more is forgotten, the first of them. */
static bool relpeer_ensure_room(struct relpeers *peers)
{
	struct relpeer *peer;

	if (peers->nr < MAX_PEERS)
		return true;
	list_for_each(peer, &peers->list, node)
		if (!peer->used[RELQUOTA_CONNECTIONS]) {
			free_peer(peer);
			return true;
		}
	return false;
}

const char *relpeer_name(const struct relpeer *peer)
{
	return peer->name + (peer->name[0] == '.');
}

static int relpeer_refuse(const struct relpeer *peer, enum relquota kind, struct err *err)
{
	log_warn_some("'%s' has as many %s as it may", relpeer_name(peer), quotas[kind].what);
	return err_set(err, ERR_LIMIT, "'%s' has %llu %s, and may have %llu", relpeer_name(peer),
		       (unsigned long long)peer->used[kind], quotas[kind].what,
		       (unsigned long long)peer->peers->quotas.limits[kind]);
}

static int relpeer_add(struct relpeer *peer, enum relquota kind, struct err *err)
{
	uint64_t limit = peer->peers->quotas.limits[kind];

	if (limit && peer->used[kind] >= limit)
		return relpeer_refuse(peer, kind, err);
	peer->used[kind]++;
	return 0;
}

int relpeer_charge(struct relpeer *peer, enum relquota kind, struct err *err)
{
	LOCKED(&peer->peers->lock);

	return relpeer_add(peer, kind, err);
}

/* @nr more were made; @at_ns: time at which all would exist, had they been made at the rate. */
static void relpeer_advance(uint64_t *at_ns, uint64_t rate, unsigned int nr)
{
	if (rate)
		*at_ns = MAX(*at_ns, loop_now_ns()) + nr * (1000000000ull / rate);
}

/* How long it has to wait until no more than the burst is ahead of the rate. */
static uint64_t relpeer_ahead_us(uint64_t at_ns)
{
	uint64_t from = loop_now_ns() + RELPEER_BURST_S * 1000000000ull;

	return at_ns > from ? (at_ns - from) / 1000 + 1 : 0;
}

int relpeer_begin_session(struct relpeer *peer, struct err *err)
{
	const uint64_t rate = peer->peers->quotas.session_rate;
	LOCKED(&peer->peers->lock);

	if (rate && relpeer_ahead_us(peer->begun_ns)) {
		log_warn_some("'%s' begins more sessions than it may", relpeer_name(peer));
		return err_set(err, ERR_LIMIT,
			       "'%s' may begin %llu sessions in a second; repeat it later",
			       relpeer_name(peer), (unsigned long long)rate);
	}
	if (relpeer_add(peer, RELQUOTA_SESSIONS, err))
		return err->code;
	relpeer_advance(&peer->begun_ns, rate, 1);
	return 0;
}

void relpeer_refund(struct relpeer *peer, enum relquota kind)
{
	LOCKED(&peer->peers->lock);

	peer->used[kind]--;
}

unsigned int relpeer_nr_connections(const struct relpeer *peer)
{
	LOCKED(&peer->peers->lock);

	return (unsigned int)peer->used[RELQUOTA_CONNECTIONS];
}

int relpeer_join(struct relpeers *peers, const char *name, struct relpeer **ret, struct err *err)
{
	LOCKED(&peers->lock);
	struct relpeer *peer = relpeer_find(peers, name);

	if (!peer) {
		if (!relpeer_ensure_room(peers))
			return err_set(err, ERR_LIMIT, "%u hosts are connected, as many as may be",
				       peers->nr);
		peer = xalloc(sizeof(*peer));
		peer->peers = peers;
		peer->name = xstrdup(name);
		list_append(&peers->list, &peer->node);
		idmap_add(&peers->names, &peer->name_node, idmap_hash_text(name));
		peers->nr++;
	}
	if (relpeer_add(peer, RELQUOTA_CONNECTIONS, err))
		return err->code;
	*ret = peer;
	return 0;
}

/* Files and sessions that it has made lately are remembered if it leaves and returns. */
static bool has_rested(const struct relpeer *peer)
{
	return MAX(peer->made_ns, peer->begun_ns) < loop_now_ns();
}

/* Bytes that it has stored need not be counted anew when it comes again. */
void relpeer_leave(struct relpeer *peer)
{
	if (!peer)
		return;
	LOCKED(&peer->peers->lock);

	peer->used[RELQUOTA_CONNECTIONS]--;
	if (!peer->used[RELQUOTA_CONNECTIONS] && !peer->counted_ns && has_rested(peer))
		free_peer(peer);
}

/* --- stored bytes -------------------------------------------------------------------------- */

static void set_used(struct relpeer *peer, const struct usage *found)
{
	const uint64_t *used = peer->used, *since = peer->since;

	peer->used[RELQUOTA_BYTES] = found->bytes + used[RELQUOTA_BYTES] - since[RELQUOTA_BYTES];
	peer->used[RELQUOTA_FILES] = found->files + used[RELQUOTA_FILES] - since[RELQUOTA_FILES];
	peer->unknown = false;
}

/* Files stored while the thread counted are added: some of them are counted twice, until the next
 * count. */
static void relpeer_read_usage(struct relpeer *peer)
{
	struct usage found;

	if (!peer->count || !usage_result(peer->count, &found))
		return;
	set_used(peer, &found);
	peer->count = usage_end(peer->count);
	peer->counted_ns = loop_now_ns();
}

/* The lock is released while the disk is queried. */
static bool relpeer_look(struct relpeer *peer, struct usage *ret)
{
	struct relpeers *peers = peer->peers;
	bool few;

	peer->looking = true;
	pthread_mutex_unlock(&peers->lock);
	few = usage_of(peers->out_fd, peers->by_session, peer->name, ret);
	pthread_mutex_lock(&peers->lock);
	peer->looking = false;
	return few;
}

static void relpeer_count(struct relpeer *peer)
{
	const struct relpeers *peers = peer->peers;
	struct usage found;

	relpeer_read_usage(peer);
	if (peer->count || peer->looking ||
	    (peer->counted_ns && loop_now_ns() < peer->counted_ns + COUNT_AGAIN_NS))
		return;
	peer->unknown = !peer->counted_ns;
	peer->counted_ns = loop_now_ns();
	memcpy(peer->since, peer->used, sizeof(peer->since));
	if (relpeer_look(peer, &found))
		set_used(peer, &found);
	else if (usage_begin(&peer->count, peers->out_fd, peers->by_session, peer->name) == 0)
		memcpy(peer->since, peer->used, sizeof(peer->since));
	else
		peer->unknown = false;
}

static bool is_near(const struct relpeer *peer, enum relquota kind, uint64_t more)
{
	uint64_t limit = peer->peers->quotas.limits[kind];

	return peer->used[kind] + more > limit - limit / 8;
}

/* Whether @more may be stored on the disk. */
static int relpeer_may_have(struct relpeer *peer, enum relquota kind, uint64_t more,
			    struct err *err)
{
	uint64_t limit = peer->peers->quotas.limits[kind];

	if (!limit)
		return 0;
	if (!peer->counted_ns || peer->count || is_near(peer, kind, more))
		relpeer_count(peer);
	return peer->used[kind] + more > limit ? relpeer_refuse(peer, kind, err) : 0;
}

int relpeer_reserve(struct relpeer *peer, uint64_t bytes, struct err *err)
{
	LOCKED(&peer->peers->lock);
	int ret;

	/* first, as the lock may be released meanwhile */
	peer->reserved += bytes;
	ret = relpeer_may_have(peer, RELQUOTA_BYTES, peer->reserved, err);
	if (ret)
		peer->reserved -= bytes;
	return ret;
}

void relpeer_unreserve(struct relpeer *peer, uint64_t bytes)
{
	LOCKED(&peer->peers->lock);

	peer->reserved -= bytes;
}

void relpeer_commit(struct relpeer *peer, uint64_t bytes)
{
	LOCKED(&peer->peers->lock);

	peer->reserved -= bytes;
	peer->used[RELQUOTA_BYTES] += bytes;
}

/* --- created files ------------------------------------------------------------------------- */

static void relpeer_note_made(struct relpeer *peer, unsigned int nr)
{
	relpeer_advance(&peer->made_ns, peer->peers->quotas.rate, nr);
}

void relpeer_replace(struct relpeer *peer, unsigned int nr)
{
	LOCKED(&peer->peers->lock);

	relpeer_note_made(peer, nr);
}

int relpeer_make(struct relpeer *peer, unsigned int nr, struct err *err)
{
	LOCKED(&peer->peers->lock);

	if (relpeer_may_have(peer, RELQUOTA_FILES, nr, err))
		return err->code;
	peer->used[RELQUOTA_FILES] += nr;
	relpeer_note_made(peer, nr);
	return 0;
}

uint64_t relpeer_wait_us(struct relpeer *peer)
{
	LOCKED(&peer->peers->lock);

	relpeer_read_usage(peer);
	if (peer->unknown)
		return UNKNOWN_WAIT_US;
	return relpeer_ahead_us(peer->made_ns);
}
