/* SPDX-License-Identifier: GPL-2.0-only */
#include "uplink.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/mem.h"
#include "now.h"
#include "proto/relay.h"
#include "trace/crc32c.h"
#include "uplink_keys.h"
#include "wire.h"

/* After a failure nothing is tried so soon again: many streams ask, one after the other. */
#define PAUSE_NS 40000000ull
#define CLOCK_SAMPLES 4
#define SMALL_BYTES 2048u /* of a request but its text, header or body */

struct uplink {
	struct uplink_config config;
	const struct list_node *traces;
	struct tcp_addr addr;
	struct wire wire;
	uint32_t epoch;
	uint64_t features; /* of the relay */
	pthread_mutex_t clock_lock;
	int64_t clock_offset_ns;
	uint64_t clock_error_ns;
	uint32_t next_stream;
	uint64_t retry_ns; /* not before */
	int error;	   /* of the last attempt */
	bool given_up;
	struct err err; /* what the relay has said, or we */
};

void uplink_config_fini(struct uplink_config *config)
{
	free(TAKE(config->addr));
	free(TAKE(config->host));
	free(TAKE(config->name));
	free(TAKE(config->stamp));
}

struct uplink *uplink_new(struct uplink_config *config, const struct list_node *traces)
{
	struct uplink *link = xalloc(sizeof(*link));

	link->config = *config;
	*config = (struct uplink_config){ 0 };
	link->traces = traces;
	wire_init(&link->wire);
	pthread_mutex_init(&link->clock_lock, NULL);
	return link;
}

struct uplink *uplink_free(struct uplink *link)
{
	if (!link)
		return NULL;
	wire_close(&link->wire);
	uplink_config_fini(&link->config);
	pthread_mutex_destroy(&link->clock_lock);
	free(link);
	return NULL;
}

uint32_t uplink_epoch(const struct uplink *link)
{
	return link->epoch;
}

bool uplink_is_live(const struct uplink *link)
{
	return link->config.live_us;
}

const char *uplink_problem(const struct uplink *link)
{
	return link->err.text;
}

void uplink_set_meanwhile(struct uplink *link, wire_meanwhile meanwhile, void *data)
{
	link->wire.meanwhile = meanwhile;
	link->wire.data = data;
}

void uplink_give_up(struct uplink *link)
{
	link->given_up = true;
}

/* --- requests ------------------------------------------------------------------- */

/* A relay that refuses is there: the connection stays, unless it makes no sense to go on. */
static int fail(struct uplink *link, int error, const struct err *said)
{
	link->err = (struct err){ 0 };
	if (said) {
		err_set(&link->err, ERR_OUTPUT, "the relay at %s: %s", link->config.addr,
			said->text);
	} else {
		const char *problem = wire_problem(&link->wire);

		err_set(&link->err, ERR_OUTPUT,
			"the relay at %s is away (%s): what is recorded %s", link->config.addr,
			*problem ? problem : strerror(-error),
			link->config.spool ? "goes to the spool" : "waits in the buffers");
	}
	if (error != -EREMOTEIO)
		wire_close(&link->wire);
	link->error = error;
	link->retry_ns = now_ns() + PAUSE_NS;
	return error;
}

static int call(struct uplink *link, const struct encoder *enc, const struct wire_body *body,
		struct decoder *ret)
{
	struct err said = { 0 };
	int error = wire_call(&link->wire, enc, body, ret, &said);

	return error < 0 ? fail(link, error, error == -EREMOTEIO ? &said : NULL) : 0;
}

static int hello(struct uplink *link)
{
	struct req_rel_hello req = { LTT_VERSION, 0 };
	uint8_t buf[SMALL_BYTES];
	struct rep_rel_hello rep;
	struct encoder enc;
	struct decoder dec;
	int ret;

	wire_begin(&link->wire, &enc, buf, sizeof(buf), MSG_rel_hello);
	req_rel_hello_encode(&enc, &req);
	ret = call(link, &enc, NULL, &dec);
	if (ret < 0)
		return ret;
	if (rep_rel_hello_decode(&dec, &rep) < 0)
		return fail(link, -EBADMSG, NULL);
	link->features = rep.features;
	if (link->config.live_us && !(rep.features & RELAY_FEATURE_LIVE))
		return fail(link, -EREMOTEIO,
			    &(struct err){ ERR_UNSUPPORTED, "it is too old for live sessions" });
	if (link->config.spool && !(rep.features & RELAY_FEATURE_SPOOL))
		return fail(link, -EREMOTEIO,
			    &(struct err){ ERR_UNSUPPORTED,
					   "it is too old for senders with a spool" });
	return 0;
}

static int tell_session(struct uplink *link)
{
	struct utsname host = { .nodename = "host" };
	struct req_rel_session req = {
		.host = host.nodename,
		.name = link->config.name,
		.stamp = link->config.stamp,
		.id = { link->config.id, UPLINK_ID_BYTES },
		.live_us = link->config.live_us,
	};
	uint8_t buf[SMALL_BYTES];
	struct encoder enc;
	struct decoder dec;

	uname(&host);
	wire_begin(&link->wire, &enc, buf, sizeof(buf), MSG_rel_session);
	req_rel_session_encode(&enc, &req);
	return call(link, &enc, NULL, &dec);
}

static int tell_trace(struct uplink *link, struct tracedir *dir)
{
	struct req_rel_trace req = { dir->id,
				     dir->path,
				     { dir->uuid, sizeof(dir->uuid) },
				     dir->metadata_bytes,
				     link->config.spool };
	uint8_t buf[SMALL_BYTES];
	struct rep_rel_trace rep;
	struct encoder enc;
	struct decoder dec;
	int ret;

	wire_begin(&link->wire, &enc, buf, sizeof(buf), MSG_rel_trace);
	req_rel_trace_encode(&enc, &req);
	ret = call(link, &enc, NULL, &dec);
	if (ret < 0 || !link->config.spool)
		return ret;
	if (rep_rel_trace_decode(&dec, &rep) < 0 || rep.bytes > dir->metadata_bytes)
		return fail(link, -EBADMSG, NULL);
	dir->sent_bytes = rep.bytes;
	return 0;
}

/* --- clocks ---------------------------------------------------------------------- */

static uint64_t realtime_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int ask_clock(struct uplink *link, const struct req_rel_clock *req, uint64_t *ret_now_ns)
{
	uint8_t buf[SMALL_BYTES];
	struct rep_rel_clock rep;
	struct encoder enc;
	struct decoder dec;
	int ret;

	wire_begin(&link->wire, &enc, buf, sizeof(buf), MSG_rel_clock);
	req_rel_clock_encode(&enc, req);
	ret = call(link, &enc, NULL, &dec);
	if (ret < 0)
		return ret;
	if (rep_rel_clock_decode(&dec, &rep) < 0)
		return fail(link, -EBADMSG, NULL);
	*ret_now_ns = rep.now_ns;
	return 0;
}

/* The relay looked at its clock somewhere between the question and the answer: the quickest
 * answer says most. */
static int compare_clocks(struct uplink *link)
{
	struct req_rel_clock req = { 0 };
	struct req_rel_clock best = { 0, UINT64_MAX };
	uint64_t now;

	for (int i = 0; i < CLOCK_SAMPLES; i++) {
		uint64_t steady = now_ns(), begin = realtime_ns(), took;
		int ret = ask_clock(link, &req, &now);

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
	return ask_clock(link, &best, &now);
}

void uplink_clock(struct uplink *link, int64_t *ret_offset_ns, uint64_t *ret_error_ns)
{
	pthread_mutex_lock(&link->clock_lock);
	*ret_offset_ns = link->clock_offset_ns;
	*ret_error_ns = link->clock_error_ns;
	pthread_mutex_unlock(&link->clock_lock);
}

/* Keys are read anew each time: they may have been renewed. */
static int connect_wire(struct uplink *link)
{
	struct tls_keys *keys = NULL;
	struct err err = { 0 };
	int ret;

	if (uplink_secure(&link->config, &link->addr, &keys, &err))
		return fail(link, -ENOKEY, &err);
	ret = wire_connect(&link->wire, &link->addr, keys, link->config.host);
	tls_keys_unref(keys);
	return ret < 0 ? fail(link, ret, NULL) : 0;
}

static int connect_relay(struct uplink *link)
{
	struct tracedir *dir;
	int ret = connect_wire(link);

	if (ret < 0)
		return ret;
	ret = hello(link);
	if (ret == 0)
		ret = tell_session(link);
	if (ret == 0 && link->features & RELAY_FEATURE_CLOCK)
		ret = compare_clocks(link);
	list_for_each(dir, link->traces, node)
		ret = ret == 0 ? tell_trace(link, dir) : ret;
	if (ret < 0) {
		wire_close(&link->wire);
		return ret;
	}
	link->epoch++;
	return 0;
}

int uplink_up(struct uplink *link)
{
	if (link->given_up || (link->wire.chan.fd < 0 && now_ns() < link->retry_ns))
		return link->error ? link->error : -ENOTCONN;
	return wire_is_up(&link->wire) ? 0 : connect_relay(link);
}

int uplink_trace(struct uplink *link, struct tracedir *dir)
{
	uint32_t epoch = link->epoch;
	int ret = uplink_up(link);

	/* on a new connection it has been told already */
	return ret < 0 || epoch != link->epoch ? ret : tell_trace(link, dir);
}

/* @bytes: that the relay has of it. */
static int send_metadata(struct uplink *link, const struct tracedir *dir, const void *text,
			 uint32_t len, uint64_t *bytes)
{
	struct req_rel_metadata req = { dir->id, { text, len } };
	AUTO_FREE uint8_t *buf = NULL;
	struct rep_rel_metadata rep;
	struct encoder enc;
	struct decoder dec;
	int ret;

	buf = xalloc(SMALL_BYTES + len);
	wire_begin(&link->wire, &enc, buf, SMALL_BYTES + len, MSG_rel_metadata);
	req_rel_metadata_encode(&enc, &req);
	ret = call(link, &enc, NULL, &dec);
	if (ret < 0)
		return ret;
	if (rep_rel_metadata_decode(&dec, &rep) < 0 || rep.bytes <= *bytes)
		return fail(link, -EBADMSG, NULL);
	*bytes = rep.bytes;
	return 0;
}

int uplink_metadata(struct uplink *link, struct tracedir *dir, const void *text, uint32_t len)
{
	int ret = uplink_up(link);

	return ret < 0 ? ret : send_metadata(link, dir, text, len, &dir->metadata_bytes);
}

int uplink_metadata_behind(struct uplink *link, struct tracedir *dir)
{
	int ret = 0;

	while (ret == 0 && dir->sent_bytes < dir->metadata_bytes) {
		AUTO_FREE char *text = NULL;
		uint32_t len = 0;

		ret = tracedir_text(dir, dir->sent_bytes, &text, &len);
		if (ret == 0)
			ret = send_metadata(link, dir, text, len, &dir->sent_bytes);
	}
	return ret;
}

int uplink_all_metadata(struct uplink *link)
{
	struct tracedir *dir;
	int ret = 0;

	list_for_each(dir, link->traces, node)
		ret = ret == 0 ? uplink_metadata_behind(link, dir) : ret;
	return ret;
}

/* --- streams --------------------------------------------------------------------- */

static int take_last(struct uplink *link, struct decoder *dec, const struct stream_config *config,
		     struct packet_header *ret)
{
	struct rep_rel_stream rep;

	if (rep_rel_stream_decode(dec, &rep) < 0 || (rep.last.len && rep.last.len != sizeof(*ret)))
		return fail(link, -EBADMSG, NULL);
	if (!rep.last.len)
		return 0;
	memcpy(ret, rep.last.data, sizeof(*ret));
	if (ret->magic != PACKET_MAGIC ||
	    memcmp(ret->uuid, config->trace->uuid, sizeof(ret->uuid)) != 0 ||
	    ret->packet_size / 8 < sizeof(*ret))
		return fail(link, -EBADMSG, NULL);
	return 1;
}

int uplink_stream(struct uplink *link, const struct stream_config *config, uint32_t cpu,
		  uint32_t *id, struct packet_header *ret_last)
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
	uint8_t buf[SMALL_BYTES];
	struct encoder enc;
	struct decoder dec;
	int ret = uplink_up(link);

	if (ret < 0)
		return ret;
	if (!*id)
		*id = ++link->next_stream;
	req.stream = *id;
	wire_begin(&link->wire, &enc, buf, sizeof(buf), MSG_rel_stream);
	req_rel_stream_encode(&enc, &req);
	ret = call(link, &enc, NULL, &dec);
	return ret < 0 ? ret : take_last(link, &dec, config, ret_last);
}

int uplink_packet(struct uplink *link, uint32_t stream, const struct packet_header *header,
		  const void *body, uint64_t len)
{
	bool summed = !header->crc32c && (link->features & RELAY_FEATURE_SUM_BEHIND);
	struct packet_header head = *header;
	struct req_rel_packet req = { stream, { (uint8_t *)&head, sizeof(head) }, summed };
	struct wire_body whole = { body, len, summed, 0 };
	uint8_t buf[SMALL_BYTES];
	struct encoder enc;
	struct decoder dec;

	if (link->wire.chan.fd < 0) /* the relay has to be told of the stream first */
		return link->error ? link->error : -ENOTCONN;
	if (summed)
		whole.sum = crc32c(0, &head, sizeof(head));
	else if (!head.crc32c)
		head.crc32c = packet_checksum(&head, body, len);
	wire_begin(&link->wire, &enc, buf, sizeof(buf), MSG_rel_packet);
	req_rel_packet_encode(&enc, &req);
	return call(link, &enc, &whole, &dec);
}

int uplink_beacon(struct uplink *link, uint64_t time)
{
	struct req_rel_beacon req = { time };
	uint8_t buf[SMALL_BYTES];
	struct encoder enc;
	struct decoder dec;
	int ret = uplink_up(link);

	if (ret < 0)
		return ret;
	wire_begin(&link->wire, &enc, buf, sizeof(buf), MSG_rel_beacon);
	req_rel_beacon_encode(&enc, &req);
	return call(link, &enc, NULL, &dec);
}

void uplink_stream_end(struct uplink *link, uint32_t stream, uint32_t epoch)
{
	struct req_rel_stream_end req = { stream };
	uint8_t buf[SMALL_BYTES];
	struct encoder enc;
	struct decoder dec;

	if (epoch != link->epoch || link->given_up || !wire_is_up(&link->wire))
		return;
	wire_begin(&link->wire, &enc, buf, sizeof(buf), MSG_rel_stream_end);
	req_rel_stream_end_encode(&enc, &req);
	(void)!call(link, &enc, NULL, &dec);
}

void uplink_end(struct uplink *link)
{
	uint8_t buf[SMALL_BYTES];
	struct encoder enc;
	struct decoder dec;

	/* also one that was started anew since has to know that nobody comes back */
	if (uplink_up(link) < 0)
		return;
	wire_begin(&link->wire, &enc, buf, sizeof(buf), MSG_rel_end);
	(void)!call(link, &enc, NULL, &dec);
	wire_close(&link->wire);
}
