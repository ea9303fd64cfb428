/* SPDX-License-Identifier: GPL-2.0-only */
/* relay_conn_open.c - a link's connection begins: which relay is there, with which keys, how much
 * has it of the session and its traces, and how do the clocks differ. */
#include "relay_conn_priv.h"

#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "consumerd/worker/notifier.h"
#include "consumerd/now.h"
#include "relay_conn_keys.h"

#define CLOCK_SAMPLES 4
#define CONNECT_NS 8000000000ull /* after which no other relay is tried */

static int relay_conn_open_hello(struct relay_conn *link)
{
	struct req_rel_hello req = { LTT_VERSION, 0 };
	uint8_t buf[RELAY_CONN_SMALL_BYTES];
	struct rep_rel_hello rep;
	struct encoder enc;
	struct decoder dec;
	int ret;

	wire_begin(&link->wire, &enc, buf, sizeof(buf), MSG_rel_hello);
	req_rel_hello_encode(&enc, &req);
	ret = relay_conn_call(link, &enc, &dec);
	if (ret < 0)
		return ret;
	if (rep_rel_hello_decode(&dec, &rep) < 0)
		return relay_conn_fail(link, -EBADMSG, NULL);
	link->features = rep.features;
	if (link->config.live_us && !(rep.features & RELAY_FEATURE_LIVE))
		return relay_conn_fail(link, -EREMOTEIO,
				       &(struct err){ ERR_UNSUPPORTED,
						      "it is too old for live sessions" });
	if (link->config.compress && !(rep.features & RELAY_FEATURE_PACKED))
		return relay_conn_fail(link, -EREMOTEIO,
				       &(struct err){ ERR_UNSUPPORTED,
						      "it is too old for what is compressed" });
	if (link->config.sync != SYNC_NONE && !(rep.features & RELAY_FEATURE_SYNC))
		return relay_conn_fail(
			link, -EREMOTEIO,
			&(struct err){ ERR_UNSUPPORTED,
				       "it is too old for sessions that are synced" });
	if (link->config.spool && !(rep.features & RELAY_FEATURE_SPOOL))
		return relay_conn_fail(link, -EREMOTEIO,
				       &(struct err){ ERR_UNSUPPORTED,
						      "it is too old for senders with a spool" });
	return 0;
}

static int send_session(struct relay_conn *link)
{
	struct utsname host = { .nodename = "host" };
	struct req_rel_session req = {
		.host = host.nodename,
		.name = link->config.name,
		.stamp = link->config.stamp,
		.id = { link->config.id, RELAY_CONN_ID_BYTES },
		.live_us = link->config.live_us,
		.sync = (uint8_t)link->config.sync,
		.sync_us = link->config.sync_us,
	};
	uint8_t buf[RELAY_CONN_SMALL_BYTES];
	struct rep_rel_session rep;
	struct encoder enc;
	struct decoder dec;
	int ret;

	uname(&host);
	wire_begin(&link->wire, &enc, buf, sizeof(buf), MSG_rel_session);
	req_rel_session_encode(&enc, &req);
	ret = relay_conn_call(link, &enc, &dec);
	if (ret < 0)
		return ret;
	if (rep_rel_session_decode(&dec, &rep) < 0)
		return relay_conn_fail(link, -EBADMSG, NULL);
	link->idle_ns = MIN(rep.idle_us, UINT64_MAX / 1000) * 1000;
	return 0;
}

static int send_trace(struct relay_conn *link, struct tracedir *dir)
{
	struct req_rel_trace req = { dir->id,
				     dir->path,
				     { dir->uuid, sizeof(dir->uuid) },
				     dir->metadata_bytes,
				     link->config.spool };
	uint8_t buf[RELAY_CONN_SMALL_BYTES];
	struct rep_rel_trace rep;
	struct encoder enc;
	struct decoder dec;
	int ret;

	wire_begin(&link->wire, &enc, buf, sizeof(buf), MSG_rel_trace);
	req_rel_trace_encode(&enc, &req);
	ret = relay_conn_call(link, &enc, &dec);
	if (ret < 0 || !link->config.spool)
		return ret;
	if (rep_rel_trace_decode(&dec, &rep) < 0 || rep.bytes > dir->metadata_bytes)
		return relay_conn_fail(link, -EBADMSG, NULL);
	dir->sent_bytes = rep.bytes;
	return 0;
}

/* --- clocks ---------------------------------------------------------------------- */

static uint64_t relay_conn_open_realtime_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int request_clock(struct relay_conn *link, const struct req_rel_clock *req,
			 uint64_t *ret_now_ns)
{
	uint8_t buf[RELAY_CONN_SMALL_BYTES];
	struct rep_rel_clock rep;
	struct encoder enc;
	struct decoder dec;
	int ret;

	wire_begin(&link->wire, &enc, buf, sizeof(buf), MSG_rel_clock);
	req_rel_clock_encode(&enc, req);
	ret = relay_conn_call(link, &enc, &dec);
	if (ret < 0)
		return ret;
	if (rep_rel_clock_decode(&dec, &rep) < 0)
		return relay_conn_fail(link, -EBADMSG, NULL);
	*ret_now_ns = rep.now_ns;
	return 0;
}

/* The relay looked at its clock somewhere between the question and the answer: the quickest
 * answer says most. */
static int compare_clocks(struct relay_conn *link)
{
	struct req_rel_clock req = { 0 };
	struct req_rel_clock best = { 0, UINT64_MAX };
	uint64_t now;

	for (int i = 0; i < CLOCK_SAMPLES; i++) {
		uint64_t steady = now_ns(), begin = relay_conn_open_realtime_ns(), took;
		int ret = request_clock(link, &req, &now);

		if (ret < 0)
			return ret;
		took = now_ns() - steady;
		if (took / 2 + 1 < best.error_ns)
			best = (struct req_rel_clock){ (int64_t)(now - begin - took / 2),
						       took / 2 + 1 };
	}
	pthread_mutex_lock(&link->clock_lock);
	link->clock_offset_ns = best.offset_ns;
	link->clock_error_ns = best.error_ns;
	pthread_mutex_unlock(&link->clock_lock);
	return request_clock(link, &best, &now);
}

void relay_conn_clock(struct relay_conn *link, int64_t *ret_offset_ns, uint64_t *ret_error_ns)
{
	pthread_mutex_lock(&link->clock_lock);
	*ret_offset_ns = link->clock_offset_ns;
	*ret_error_ns = link->clock_error_ns;
	pthread_mutex_unlock(&link->clock_lock);
}

/* --- where it is ------------------------------------------------------------------- */

static bool relay_conn_open_is_same(const struct tcp_addr *a, const struct tcp_addr *b)
{
	return a->len == b->len && memcmp(&a->sa, &b->sa, a->len) == 0;
}

/* The one that is in use comes first. */
static void relay_conn_open_begin_with(struct name_addrs *addrs, const struct tcp_addr *used)
{
	for (unsigned int i = 1; i < addrs->nr; i++)
		if (relay_conn_open_is_same(&addrs->addr[i], used)) {
			addrs->addr[i] = addrs->addr[0];
			addrs->addr[0] = *used;
		}
}

/* As they are now; where that can't be told, as they were before. */
static int find_addrs(struct relay_conn *link)
{
	struct name_addrs found;
	int error;

	if (!link->named)
		return link->known.nr ? 0 : -EHOSTUNREACH;
	wire_close(&link->wire);
	error = names_find(&link->lookup, &link->url, &link->wire, &found, &link->problem);
	if (error == 0)
		link->known = found;
	else if (link->known.nr)
		error = 0;
	relay_conn_open_begin_with(&link->known, &link->addr);
	return error;
}

static enum relay_link link_kind(const struct relay_conn *link)
{
	enum relay_link kind = link->config.link;

	if (kind == RELAY_LINK_DEFAULT && link->named)
		kind = link->url.link;
	/* a name may lead to this machine later, where another user can listen */
	return kind == RELAY_LINK_DEFAULT && link->secured ? RELAY_LINK_TLS : kind;
}

/* Keys are read anew each time: they may have been renewed. */
static int connect_wire(struct relay_conn *link)
{
	AUTO_FREE char *at = relay_conn_host_of(link->at);
	const char *host = link->config.host ? link->config.host : at;
	struct tls_keys *keys = NULL;
	struct err err = { 0 };
	int ret;

	if (relay_conn_secure(link_kind(link), &link->addr, &keys, &err))
		return relay_conn_fail(link, -ENOKEY, &err);
	ret = wire_connect(&link->wire, &link->addr, keys, link->named ? link->url.host : host);
	link->secured |= ret == 0 && keys;
	tls_keys_unref(keys);
	return ret < 0 ? relay_conn_fail(link, ret, NULL) : 0;
}

static int connect_relay(struct relay_conn *link)
{
	struct tracedir *dir;
	int ret = connect_wire(link);

	if (ret < 0)
		return ret;
	ret = relay_conn_open_hello(link);
	if (ret == 0)
		ret = send_session(link);
	if (ret == 0 && link->features & RELAY_FEATURE_CLOCK)
		ret = compare_clocks(link);
	list_for_each(dir, link->traces, node)
		ret = ret == 0 ? send_trace(link, dir) : ret;
	if (ret < 0) {
		wire_close(&link->wire);
		return ret;
	}
	link->epoch++;
	if (link->notifier)
		notifier_watch(link->notifier, link->wire.chan.fd);
	return 0;
}

/* The relay's next address, where one does not answer. */
static int connect_addrs(struct relay_conn *link)
{
	int ret;

	link->problem = NULL;
	ret = find_addrs(link);
	if (ret < 0) {
		relayurl_text(&link->url, link->at);
		return relay_conn_fail(link, ret, NULL);
	}
	link->problem = NULL;
	ret = -EHOSTUNREACH;
	for (unsigned int i = 0; ret < 0 && i < link->known.nr; i++) {
		link->addr = link->known.addr[i];
		tcp_text(&link->addr, link->at);
		ret = connect_relay(link);
	}
	return ret;
}

/* The next relay, where one is away or full. All of them take some time: the next attempt goes on
 * where this one ends. */
static int connect_any(struct relay_conn *link)
{
	uint64_t end = now_ns() + CONNECT_NS;
	const char *first = link->relay;
	int ret;

	link->connecting = true;
	do {
		ret = connect_addrs(link);
		if (ret == 0 || !relay_conn_may_move(link))
			break;
		relay_conn_move(link);
	} while (link->relay != first && now_ns() < end);
	link->connecting = false;
	return ret;
}

int relay_conn_open(struct relay_conn *link)
{
	if (link->given_up || (link->wire.chan.fd < 0 && now_ns() < link->retry_ns))
		return relay_conn_not_connected(link);
	return relay_conn_is_open(link) ? 0 : connect_any(link);
}

int relay_conn_trace(struct relay_conn *link, struct tracedir *dir)
{
	uint32_t epoch = link->epoch;
	int ret = relay_conn_open(link);

	/* on a new connection it has been told already */
	return ret < 0 || epoch != link->epoch ? ret : send_trace(link, dir);
}
