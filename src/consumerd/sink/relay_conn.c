/* SPDX-License-Identifier: GPL-2.0-only */
#include "relay_conn.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/realtime.h"
#include "consumerd/now.h"
#include "proto/relay.h"
#include "relay_conn_keys.h"
#include "relay_conn_names.h"
#include "trace/crc32c.h"
#include "trace/metadata.h"

#define RELAY_CONN_SMALL_BYTES 2048u /* of a request but its text, header or body */
#define CLOCK_SAMPLES 4
#define CONNECT_NS 8000000000ull /* after which no other relay is tried */
/* Delay before a retry after a failure: many streams send requests, one after the other. */
#define PAUSE_NS 40000000ull
#define PART_MIN_BYTES 16384u
#define SLOW_PER_S 10 /* an operation that takes longer than this part of a second is slow, */
/* but for lines, in bytes a second, that carry the largest packet in a few seconds: the way by the
 * spool costs more than it saves there */
#define FAST_RATE (16u << 20)

/** A packet that is on its way. */
struct relay_conn_posted {
	uint32_t serial; /* of the request */
	relay_conn_done done;
	void *data;
};

struct relay_conn {
	struct relay_conn_config config;
	const struct list_node *traces;
	relay_conn_watch watch;
	void *watch_data;
	const char *relay; /* in config.url, where there are several */
	bool kept;	   /* it has something of the session, which stays with it */
	bool connecting;
	relay_conn_choice choice; /* NULL: the choice is not stored */
	void *choice_data;
	bool named;	     /* by this: */
	struct relayurl url; /* and its addresses are resolved at each connect */
	struct name_lookup *lookup;
	struct name_addrs known; /* the addresses that it had last */
	struct tcp_addr addr;	 /* which of them is tried, or used, */
	char at[RELAYURL_BYTES]; /* in words */
	bool secured;		 /* it was spoken to by TLS */
	bool store;		 /* it has one */
	const char *problem;	 /* why there is no address, a phrase; NULL: there is one */
	struct wire wire;
	uint32_t epoch;
	struct zpacker *packer; /* NULL: nothing is compressed */
	pthread_mutex_t facts_lock;
	struct relay_facts facts;
	uint64_t idle_ns; /* a sender that is silent for so long is disconnected; 0: none is */
	uint64_t last_reply_ns; /* time of the relay's last message */
	uint32_t next_stream;
	uint64_t retry_ns; /* not before */
	int error;	   /* of the last attempt */
	bool shut_down;
	struct err err; /* the relay's sentence, or our own */

	struct relay_conn_posted posted[RELAY_CONN_MAX_POSTED]; /* the oldest first */
	unsigned int nr_posted;
	int post_error; /* of the first that failed, until relay_conn_drain() */
};

/* Why no request can be sent now. */
static int relay_conn_not_connected(const struct relay_conn *link)
{
	return link->error ? link->error : -ENOTCONN;
}

/* Where answers are due it will be seen as they are waited for. */
static bool relay_conn_is_open(struct relay_conn *link)
{
	return link->nr_posted || wire_is_up(&link->wire);
}

void relay_conn_config_fini(struct relay_conn_config *config)
{
	free(TAKE(config->addr));
	free(TAKE(config->url));
	free(TAKE(config->host));
	free(TAKE(config->snapshot));
	free(TAKE(config->name));
	free(TAKE(config->stamp));
}

/* Those that there were when the session was made. */
static void take_addrs(struct relay_conn *link)
{
	AUTO_FREE char *copy = xstrdup(link->config.addr);
	char *rest = copy, *one;

	while (link->known.nr < RELAY_ADDRS_MAX && (one = strsep(&rest, ",")))
		if (tcp_parse(one, &link->known.addr[link->known.nr]) == 0)
			link->known.nr++;
}

struct relay_conn *relay_conn_new(struct relay_conn_config *config, const struct list_node *traces)
{
	struct relay_conn *link = xalloc(sizeof(*link));

	link->config = *config;
	*config = (struct relay_conn_config){ 0 };
	link->traces = traces;
	take_addrs(link);
	link->relay = link->config.url;
	link->named = link->relay && relayurl_parse(link->relay, &link->url) == 0;
	if (link->config.compress)
		link->packer = zpacker_new();
	wire_init(&link->wire);
	pthread_mutex_init(&link->facts_lock, NULL);
	return link;
}

struct relay_conn *relay_conn_free(struct relay_conn *link)
{
	if (!link)
		return NULL;
	wire_close(&link->wire);
	zpacker_free(link->packer);
	relay_conn_config_fini(&link->config);
	relay_conn_names_leave(link->lookup);
	pthread_mutex_destroy(&link->facts_lock);
	free(link);
	return NULL;
}

const struct relay_conn_config *relay_conn_config(const struct relay_conn *link)
{
	return &link->config;
}

bool relay_conn_is_live(const struct relay_conn *link)
{
	return link->config.live_us;
}

bool relay_conn_is_snapshot(const struct relay_conn *link)
{
	return link->config.snapshot;
}

const char *relay_conn_problem(const struct relay_conn *link)
{
	return link->err.text;
}

const char *relay_conn_reason(const struct relay_conn *link, int error)
{
	bool is_ours = error == link->error && *link->err.text;

	return is_ours ? link->err.text : strerror(-error);
}

void relay_conn_set_meanwhile(struct relay_conn *link, wire_meanwhile meanwhile, void *data)
{
	link->wire.meanwhile = meanwhile;
	link->wire.data = data;
}

void relay_conn_set_watch(struct relay_conn *link, relay_conn_watch watch, void *data)
{
	link->watch = watch;
	link->watch_data = data;
}

void relay_conn_shutdown(struct relay_conn *link)
{
	link->shut_down = true;
}

/* --- requests ------------------------------------------------------------------- */

static bool relay_conn_may_move(const struct relay_conn *link)
{
	return link->named && !link->kept && strchr(link->config.url, ',');
}

static void relay_conn_move(struct relay_conn *link)
{
	const char *next = relayurl_next(link->relay);

	link->relay = next ? next : link->config.url;
	link->named = relayurl_parse(link->relay, &link->url) == 0;
	link->known.nr = 0;
	link->secured = false;
}

/* Before data that this relay has is released here. */
static void relay_conn_keep(struct relay_conn *link)
{
	char text[RELAYURL_BYTES];

	if (!relay_conn_may_move(link))
		return;
	link->kept = true;
	relayurl_text(&link->url, text);
	if (link->choice)
		link->choice(link->choice_data, text);
}

void relay_conn_set_choice(struct relay_conn *link, relay_conn_choice choice, void *data)
{
	link->choice = choice;
	link->choice_data = data;
}

void relay_conn_choose(struct relay_conn *link, const char *url)
{
	for (const char *at = link->config.url; at; at = relayurl_next(at)) {
		char text[RELAYURL_BYTES];
		struct relayurl one;

		if (relayurl_parse(at, &one) < 0)
			continue;
		relayurl_text(&one, text);
		if (strcmp(text, url) != 0)
			continue;
		link->relay = at;
		link->url = one;
		link->kept = true;
		return;
	}
}

/* The outcome of the oldest packet on its way. */
static void end_post(struct relay_conn *link, int error)
{
	const struct relay_conn_posted post = link->posted[0];

	if (error == 0)
		relay_conn_keep(link);
	link->nr_posted--;
	memmove(link->posted, link->posted + 1, link->nr_posted * sizeof(post));
	if (!link->post_error)
		link->post_error = error;
	post.done(post.data, error);
}

/* If the relay has refused the request, the connection stays open during connecting, or if no other
 * relay may be tried. */
static int relay_conn_fail(struct relay_conn *link, int error, const struct err *said)
{
	link->err = (struct err){ 0 };
	if (said) {
		err_set(&link->err, ERR_OUTPUT, "the relay at %s: %s", link->at, said->text);
	} else {
		const char *problem = link->problem ? link->problem : wire_problem(&link->wire);

		err_set(&link->err, ERR_OUTPUT,
			"the relay at %s is unreachable (%s); recorded data %s", link->at,
			*problem ? problem : strerror(-error),
			link->config.snapshot ? "stays in the buffers" :
			link->config.spool    ? "goes to the spool" :
						"waits in the buffers");
	}
	link->error = error;
	link->retry_ns = now_ns() + PAUSE_NS;
	if (error == -EREMOTEIO && (link->connecting || !relay_conn_may_move(link)))
		return error;
	if (error == -EREMOTEIO) /* the relay may be full: try the next one */
		relay_conn_move(link);
	wire_close(&link->wire);
	while (link->nr_posted)
		end_post(link, error);
	return error;
}

static int relay_conn_receive(struct relay_conn *link, uint16_t type, uint32_t serial,
			      struct decoder *ret)
{
	struct err said = { 0 };
	int error = wire_receive(&link->wire, type, serial, ret, &said);

	link->last_reply_ns = now_ns();
	return error < 0 ? relay_conn_fail(link, error, error == -EREMOTEIO ? &said : NULL) : 0;
}

/* A relay may close an idle connection; the sender reconnects only when it has data. */
static bool relay_conn_idle_expired(const struct relay_conn *link)
{
	return link->idle_ns && now_ns() - link->last_reply_ns > link->idle_ns / 4 * 3;
}

int relay_conn_check(struct relay_conn *link)
{
	if (link->wire.chan.fd < 0 || relay_conn_is_open(link))
		return 0;
	if (!relay_conn_idle_expired(link))
		return relay_conn_fail(link, -ECONNRESET, NULL);
	wire_close(&link->wire);
	return 0;
}

/* The answer to the oldest packet on its way. */
static void collect_post(struct relay_conn *link)
{
	struct decoder dec;
	int error = relay_conn_receive(link, MSG_rel_packet, link->posted[0].serial, &dec);

	if (link->nr_posted && (error == 0 || error == -EREMOTEIO))
		end_post(link, error);
}

static int relay_conn_call(struct relay_conn *link, const struct encoder *enc, struct decoder *ret)
{
	int error;

	while (link->nr_posted)
		collect_post(link);
	if (link->wire.chan.fd < 0)
		return relay_conn_not_connected(link);
	error = wire_send(&link->wire, enc, NULL);
	if (error < 0)
		return relay_conn_fail(link, error, NULL);
	return relay_conn_receive(link, link->wire.type, link->wire.serial, ret);
}

/* --- connecting ------------------------------------------------------------------ */

static void relay_conn_note_store(struct relay_conn *link, bool store)
{
	if (store && !link->store && (!link->config.spool || link->config.snapshot))
		log_warn("%s: the relay at %s has a store, but no copy is kept here: with the "
			 "relay's disk, data is lost that the store does not have yet%s",
			 link->config.name, link->at,
			 link->config.snapshot ? "" : "; give the session a spool (--spool)");
	link->store = store;
}

bool relay_conn_has_store(const struct relay_conn *link)
{
	return link->store;
}

static int send_hello(struct relay_conn *link)
{
	struct req_rel_hello req = { LTT_VERSION, RELAY_PROTOCOL };
	uint8_t buf[RELAY_CONN_SMALL_BYTES];
	struct rep_rel_hello rep;
	struct err err = { 0 };
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
	relay_conn_note_store(link, rep.store);
	if (rep.protocol >= RELAY_PROTOCOL)
		return 0;
	err_set(&err, ERR_UNSUPPORTED,
		"its version of the protocol is %u, and %u is needed; upgrade it", rep.protocol,
		RELAY_PROTOCOL);
	return relay_conn_fail(link, -EREMOTEIO, &err);
}

static void note_live_url(struct relay_conn *link, const struct rep_rel_session *rep)
{
	char text[TCP_TEXT_BYTES], *end;
	const char *host = link->url.host;

	tcp_text(&link->addr, text);
	if (!link->named && (end = strrchr(text, ':'))) {
		*end = '\0';
		host = text;
	}
	pthread_mutex_lock(&link->facts_lock);
	*link->facts.live_url = '\0';
	if (rep->live_port && *rep->live_name)
		snprintf(link->facts.live_url, sizeof(link->facts.live_url),
			 link->named && strchr(host, ':') ? "%s[%s]:%u/host/%s" :
							    "%s%s:%u/host/%s",
			 link->wire.chan.tls ? "tls://" : "net://", host, rep->live_port,
			 rep->live_name);
	pthread_mutex_unlock(&link->facts_lock);
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
		.snapshot = link->config.snapshot ? link->config.snapshot : "",
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
	note_live_url(link, &rep);
	return 0;
}

static int send_trace(struct relay_conn *link, struct chunk_trace *dir)
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

/* The relay read its clock between request and reply: the fastest reply is the most exact. */
static int compare_clocks(struct relay_conn *link)
{
	struct req_rel_clock req = { 0 };
	struct req_rel_clock best = { 0, UINT64_MAX };
	uint64_t now;

	for (int i = 0; i < CLOCK_SAMPLES; i++) {
		uint64_t steady = now_ns(), begin = realtime_ns(), took;
		int ret = request_clock(link, &req, &now);

		if (ret < 0)
			return ret;
		took = now_ns() - steady;
		if (took / 2 + 1 < best.error_ns)
			best = (struct req_rel_clock){ (int64_t)(now - begin - took / 2),
						       took / 2 + 1 };
	}
	pthread_mutex_lock(&link->facts_lock);
	link->facts.clock_offset_ns = best.offset_ns;
	link->facts.clock_error_ns = best.error_ns;
	pthread_mutex_unlock(&link->facts_lock);
	return request_clock(link, &best, &now);
}

uint32_t relay_conn_epoch(const struct relay_conn *link)
{
	return link->epoch;
}

struct relay_facts relay_conn_facts(struct relay_conn *link)
{
	struct relay_facts facts;

	pthread_mutex_lock(&link->facts_lock);
	facts = link->facts;
	pthread_mutex_unlock(&link->facts_lock);
	return facts;
}

/* --- where it is ------------------------------------------------------------------- */

static bool is_same_addr(const struct tcp_addr *a, const struct tcp_addr *b)
{
	return a->len == b->len && memcmp(&a->sa, &b->sa, a->len) == 0;
}

/* The one that is in use comes first. */
static void begin_with_addr(struct name_addrs *addrs, const struct tcp_addr *used)
{
	for (unsigned int i = 1; i < addrs->nr; i++)
		if (is_same_addr(&addrs->addr[i], used)) {
			addrs->addr[i] = addrs->addr[0];
			addrs->addr[0] = *used;
		}
}

/* The current ones; if they can't be read, the previous ones. */
static int find_addrs(struct relay_conn *link)
{
	struct name_addrs found;
	int error;

	if (!link->named)
		return link->known.nr ? 0 : -EHOSTUNREACH;
	wire_close(&link->wire);
	error = relay_conn_names_find(&link->lookup, &link->url, &link->wire, &found,
				      &link->problem);
	if (error == 0)
		link->known = found;
	else if (link->known.nr)
		error = 0;
	begin_with_addr(&link->known, &link->addr);
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
	struct chunk_trace *dir;
	int ret = connect_wire(link);

	if (ret < 0)
		return ret;
	ret = send_hello(link);
	if (ret == 0)
		ret = send_session(link);
	if (ret == 0)
		ret = compare_clocks(link);
	list_for_each(dir, link->traces, node)
		ret = ret == 0 ? send_trace(link, dir) : ret;
	if (ret < 0) {
		wire_close(&link->wire);
		return ret;
	}
	link->epoch++;
	if (link->watch)
		link->watch(link->watch_data, link->wire.chan.fd);
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

/* Try the next relay, where one is unreachable or full. All of them take some time: the next
 * attempt continues where this one ends. */
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

/* With its connection, the relay drops a snapshot: there is no other one. */
static int snapshot_is_cut(struct relay_conn *link)
{
	if (link->wire.chan.fd < 0)
		return relay_conn_not_connected(link);
	return relay_conn_fail(link, -ECONNRESET, NULL);
}

int relay_conn_open(struct relay_conn *link)
{
	if (link->shut_down || (link->wire.chan.fd < 0 && now_ns() < link->retry_ns))
		return relay_conn_not_connected(link);
	if (relay_conn_is_open(link))
		return 0;
	return link->config.snapshot && link->epoch ? snapshot_is_cut(link) : connect_any(link);
}

int relay_conn_trace(struct relay_conn *link, struct chunk_trace *dir)
{
	uint32_t epoch = link->epoch;
	int ret = relay_conn_open(link);

	/* on a new connection it has been sent already */
	if (ret < 0 || epoch != link->epoch)
		return ret;
	ret = send_trace(link, dir);
	if (ret < 0) /* it is sent again on the next one: the relay may have room then */
		wire_close(&link->wire);
	return ret;
}

/* --- metadata -------------------------------------------------------------------- */

/* @bytes: that the relay has of it. */
static int send_metadata(struct relay_conn *link, const struct chunk_trace *dir, const void *text,
			 uint32_t len, uint64_t *bytes)
{
	struct req_rel_metadata req = { dir->id, { text, len } };
	AUTO_FREE uint8_t *buf = xalloc(RELAY_CONN_SMALL_BYTES + len);
	struct rep_rel_metadata rep;
	struct encoder enc;
	struct decoder dec;
	int ret;

	wire_begin(&link->wire, &enc, buf, RELAY_CONN_SMALL_BYTES + len, MSG_rel_metadata);
	req_rel_metadata_encode(&enc, &req);
	ret = relay_conn_call(link, &enc, &dec);
	if (ret < 0)
		return ret;
	if (rep_rel_metadata_decode(&dec, &rep) < 0 || rep.bytes <= *bytes)
		return relay_conn_fail(link, -EBADMSG, NULL);
	*bytes = rep.bytes;
	return 0;
}

int relay_conn_metadata(struct relay_conn *link, struct chunk_trace *dir, const void *text,
			uint32_t len)
{
	int ret = relay_conn_open(link);

	return ret < 0 ? ret : send_metadata(link, dir, text, len, &dir->metadata_bytes);
}

int relay_conn_metadata_behind(struct relay_conn *link, struct chunk_trace *dir)
{
	int ret = 0;

	while (ret == 0 && dir->sent_bytes < dir->metadata_bytes) {
		AUTO_FREE char *text = NULL;
		uint32_t len = 0;

		ret = chunk_trace_text(dir, dir->sent_bytes, &text, &len);
		if (ret == 0)
			ret = send_metadata(link, dir, text, len, &dir->sent_bytes);
	}
	return ret;
}

int relay_conn_all_metadata(struct relay_conn *link)
{
	struct chunk_trace *dir;
	int ret = 0;

	list_for_each(dir, link->traces, node)
		ret = ret == 0 ? relay_conn_metadata_behind(link, dir) : ret;
	return ret;
}

/* --- streams --------------------------------------------------------------------- */

static bool relay_conn_is_header(const struct blob *blob, const struct packet_stream *stream,
				 struct packet_header *ret)
{
	if (blob->len != sizeof(*ret))
		return false;
	memcpy(ret, blob->data, sizeof(*ret));
	return packet_check(ret, stream, UINT64_MAX) == PACKET_FITS;
}

static int relay_conn_take_last(struct relay_conn *link, struct decoder *dec,
				const struct packet_stream *stream, struct packet_header *ret,
				struct relay_conn_begun *ret_begun)
{
	struct relay_conn_begun begun = { 0 };
	struct rep_rel_stream rep;

	if (rep_rel_stream_decode(dec, &rep) < 0)
		return relay_conn_fail(link, -EBADMSG, NULL);
	if (rep.begun.len && relay_conn_is_header(&rep.begun, stream, &begun.header))
		begun.bytes = rep.begun_bytes;
	if (ret_begun)
		*ret_begun = begun;
	*ret = (struct packet_header){ 0 };
	if (rep.last.len && !relay_conn_is_header(&rep.last, stream, ret))
		return relay_conn_fail(link, -EBADMSG, NULL);
	return 0;
}

bool relay_conn_knows(const struct relay_conn *link, const struct relay_conn_place *place)
{
	return place->id && place->epoch == link->epoch;
}

int relay_conn_stream(struct relay_conn *link, const struct stream_config *config, uint32_t cpu,
		      struct relay_conn_place *place, struct packet_header *ret_last,
		      struct relay_conn_begun *ret_begun)
{
	struct req_rel_stream req = {
		.trace = config->trace->id,
		.channel = config->channel,
		.cpu = cpu,
		.stream_class = config->stream_class,
		.first_instance = config->first_instance,
		.tracefile_size = config->tracefile_size,
		.tracefile_count = config->tracefile_count,
	};
	const struct packet_stream stream = stream_config_packets(config, cpu);
	uint8_t buf[RELAY_CONN_SMALL_BYTES];
	struct encoder enc;
	struct decoder dec;
	int ret = relay_conn_open(link);

	if (ret < 0)
		return ret;
	if (!place->id)
		place->id = ++link->next_stream;
	req.stream = place->id;
	wire_begin(&link->wire, &enc, buf, sizeof(buf), MSG_rel_stream);
	req_rel_stream_encode(&enc, &req);
	ret = relay_conn_call(link, &enc, &dec);
	if (ret == 0)
		ret = relay_conn_take_last(link, &dec, &stream, ret_last, ret_begun);
	if (ret < 0)
		return ret;
	if (packet_is_set(ret_last)) /* its acknowledgement was lost */
		relay_conn_keep(link);
	place->epoch = link->epoch;
	return 0;
}

/* @body: of the packet, or a part of it that begins at @at. Return: 0 or negative errno: the
 * connection is of no use any more. */
static int relay_conn_send_packet(struct relay_conn *link, uint32_t stream,
				  const struct packet_header *header, const struct wire_body *body,
				  uint64_t at, bool chained, uint32_t *ret_serial)
{
	bool whole = body->bytes == packet_body_bytes(header);
	struct req_rel_packet req = {
		.stream = stream,
		.header = { (const uint8_t *)header, sizeof(*header) },
		.sum_behind = body->summed,
		.packed = body->packer != NULL,
		.part_at = at,
		.part_bytes = whole ? 0 : body->bytes,
		.chained = chained,
	};
	uint8_t buf[RELAY_CONN_SMALL_BYTES];
	struct encoder enc;

	wire_begin(&link->wire, &enc, buf, sizeof(buf), MSG_rel_packet);
	req_rel_packet_encode(&enc, &req);
	*ret_serial = link->wire.serial;
	return wire_send(&link->wire, &enc, body);
}

/* It counts as posted while it is sent, so that the link's state includes it. */
static void post_packet(struct relay_conn *link, uint32_t stream,
			const struct packet_header *header, const struct wire_body *body,
			uint64_t at, bool chained, relay_conn_done done, void *data)
{
	struct relay_conn_posted *post;
	int error;

	while (link->nr_posted &&
	       (link->nr_posted == RELAY_CONN_MAX_POSTED || wire_has_answer(&link->wire)))
		collect_post(link);
	post = &link->posted[link->nr_posted++];
	*post = (struct relay_conn_posted){ .done = done, .data = data };
	if (link->wire.chan.fd < 0) {
		end_post(link, relay_conn_not_connected(link));
		return;
	}
	error = relay_conn_send_packet(link, stream, header, body, at, chained, &post->serial);
	if (error < 0)
		relay_conn_fail(link, error, NULL);
}

void relay_conn_post(struct relay_conn *link, uint32_t stream, const struct packet_header *header,
		     const void *body, const struct splice_source *source, relay_conn_done done,
		     void *data)
{
	struct wire_body whole = {
		.data = body,
		.bytes = packet_body_bytes(header),
		.summed = !header->crc32c,
		.packer = link->packer,
		.source = source,
	};

	if (whole.summed)
		whole.sum = packet_checksum(header, NULL, 0);
	post_packet(link, stream, header, &whole, 0, false, done, data);
}

void relay_conn_post_part(struct relay_conn *link, uint32_t stream,
			  const struct packet_header *header, const uint8_t *body, uint64_t at,
			  uint64_t bytes, bool chained, relay_conn_done done, void *data)
{
	const struct wire_body part = { body + at, bytes, .packer = link->packer };

	post_packet(link, stream, header, &part, at, chained, done, data);
}

uint64_t relay_conn_part_bytes(const struct relay_conn *link)
{
	return MAX(link->wire.rate, (uint64_t)PART_MIN_BYTES);
}

bool relay_conn_is_slow(const struct relay_conn *link, uint64_t bytes)
{
	uint64_t rate = wire_rate(&link->wire);

	return bytes > PART_MIN_BYTES && rate < FAST_RATE && bytes > rate / SLOW_PER_S;
}

bool relay_conn_is_posting(const struct relay_conn *link)
{
	return link->nr_posted;
}

int relay_conn_drain(struct relay_conn *link)
{
	int error;

	while (link->nr_posted)
		collect_post(link);
	error = link->post_error;
	link->post_error = 0;
	return error;
}

/* Its result is the result of relay_conn_drain(). */
static void ignore(void *data, int error)
{
	(void)data;
	(void)error;
}

int relay_conn_packet(struct relay_conn *link, uint32_t stream, const struct packet_header *header,
		      const void *body)
{
	relay_conn_post(link, stream, header, body, NULL, ignore, NULL);
	return relay_conn_drain(link);
}

int relay_conn_beacon(struct relay_conn *link, uint64_t time)
{
	struct req_rel_beacon req = { time };
	uint8_t buf[RELAY_CONN_SMALL_BYTES];
	struct encoder enc;
	struct decoder dec;
	int ret = relay_conn_open(link);

	if (ret < 0)
		return ret;
	wire_begin(&link->wire, &enc, buf, sizeof(buf), MSG_rel_beacon);
	req_rel_beacon_encode(&enc, &req);
	return relay_conn_call(link, &enc, &dec);
}

char *relay_conn_name_clear(const char *name)
{
	return xasprintf("%s" RELAY_CONN_ONCE "%llx", name, (unsigned long long)realtime_ns());
}

int relay_conn_turn(struct relay_conn *link, const char *name, bool clear,
		    struct relay_conn_turned *ret_turned)
{
	struct req_rel_turn req = { name, clear };
	uint8_t buf[RELAY_CONN_SMALL_BYTES];
	struct rep_rel_turn rep;
	struct encoder enc;
	struct decoder dec;
	int ret;

	wire_begin(&link->wire, &enc, buf, sizeof(buf), MSG_rel_turn);
	req_rel_turn_encode(&enc, &req);
	ret = relay_conn_call(link, &enc, &dec);
	if (ret == 0 && rep_rel_turn_decode(&dec, &rep) < 0)
		ret = relay_conn_fail(link, -EBADMSG, NULL);
	if (ret == 0)
		*ret_turned = (struct relay_conn_turned){ rep.made, rep.bytes };
	return ret;
}

/* Of the requested streams. */
static void take_durable(struct relay_conn_durable *streams, unsigned int nr,
			 const struct msg_rel_stream_durable *one)
{
	for (unsigned int i = 0; i < nr; i++)
		if (streams[i].id == one->stream) {
			streams[i].known = true;
			streams[i].seq = one->seq;
		}
}

int relay_conn_durable(struct relay_conn *link, struct relay_conn_durable *streams, unsigned int nr,
		       bool flush, char ret_problem[RELAY_CONN_PROBLEM_BYTES])
{
	uint8_t buf[RELAY_CONN_SMALL_BYTES], ids[RELAY_CONN_SMALL_BYTES / 2];
	struct req_rel_durable req = { .flush = flush };
	struct msg_rel_stream_durable one;
	struct rep_rel_durable rep;
	struct encoder enc;
	struct decoder dec;
	int ret;

	encoder_init(&enc, ids, sizeof(ids));
	for (unsigned int i = 0; i < nr; i++)
		msg_rel_stream_id_add(&enc, &(struct msg_rel_stream_id){ streams[i].id });
	req.streams = encoder_list(&enc);
	wire_begin(&link->wire, &enc, buf, sizeof(buf), MSG_rel_durable);
	req_rel_durable_encode(&enc, &req);
	ret = relay_conn_call(link, &enc, &dec);
	if (ret < 0)
		return ret;
	if (rep_rel_durable_decode(&dec, &rep) < 0)
		return relay_conn_fail(link, -EBADMSG, NULL);
	while (msg_rel_stream_durable_next(&rep.streams, &one))
		take_durable(streams, nr, &one);
	snprintf(ret_problem, RELAY_CONN_PROBLEM_BYTES, "%s", rep.problem);
	return 0;
}

bool relay_conn_stream_end(struct relay_conn *link, const struct relay_conn_place *place)
{
	struct req_rel_stream_end req = { place->id };
	uint8_t buf[RELAY_CONN_SMALL_BYTES];
	struct encoder enc;
	struct decoder dec;

	if (!relay_conn_knows(link, place) || link->shut_down || !relay_conn_is_open(link))
		return link->shut_down;
	wire_begin(&link->wire, &enc, buf, sizeof(buf), MSG_rel_stream_end);
	req_rel_stream_end_encode(&enc, &req);
	return relay_conn_call(link, &enc, &dec) == 0;
}

int relay_conn_end(struct relay_conn *link, bool unfinished)
{
	struct req_rel_end req = { unfinished };
	uint8_t buf[RELAY_CONN_SMALL_BYTES];
	struct encoder enc;
	struct decoder dec;
	/* a relay that was restarted meanwhile has to know, too, that no sender reconnects */
	int ret = relay_conn_open(link);

	if (ret < 0)
		return ret;
	wire_begin(&link->wire, &enc, buf, sizeof(buf), MSG_rel_end);
	req_rel_end_encode(&enc, &req);
	ret = relay_conn_call(link, &enc, &dec);
	wire_close(&link->wire);
	return ret;
}
