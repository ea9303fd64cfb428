/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TLS between two ends in one process, step by step: which peers accept each other, by which
 * keys, and the message that each receives; bytes in both directions, however they are cut; a
 * handshake that is older, recorded, replayed, cut short or garbage is refused.
 */
#include <sys/random.h>

#include "lib/tls_pair.h"

#define SOME (300u << 10)

static void accepted(const char *host, const char *name, const char *peer)
{
	struct tls_pair p;

	tls_pair_connect(&p, "relay", host, name);
	CHECK(p.relay_ret == 0 && p.host_ret == 0);
	CHECK_IS(strcmp(chan_peer(&p.relay), peer), ==, 0);
	tls_pair_close(&p);
}

/* @by_host, @by_relay: NULL: it accepted the other. */
static void refused(const char *relay, const char *host, const char *name, const char *by_host,
		    const char *by_relay)
{
	struct tls_pair p;
	char byte;

	tls_pair_connect(&p, relay, host, name);
	if (p.host_ret == 0) /* it has had no answer yet */
		CHECK_IS(chan_recv(&p.host, &byte, 1), ==, -EPROTO);
	if (p.relay_ret == 0)
		FAIL("%s got in at %s", host, relay);
	if (by_host && !strstr(chan_problem(&p.host), by_host))
		FAIL("%s at %s: the host's problem: '%s'", host, relay, chan_problem(&p.host));
	if (by_relay && !strstr(chan_problem(&p.relay), by_relay))
		FAIL("%s at %s: the relay's problem: '%s'", host, relay, chan_problem(&p.relay));
	tls_pair_close(&p);
}

static void who_gets_in(void)
{
	accepted("web1", "relay.example", "web1");
	accepted("db2", "anything", "db2");
	refused("relay", "old", "relay.example", "this host's certificate expired on 20",
		"its certificate expired on 20");
	refused("relay", "early", "relay.example", "it rejects the local keys", "not valid yet");
	refused("relay", "slash", "relay.example", "it rejects the local keys", "no valid name");
	refused("relay", "theirs", "relay.example", "it rejects the local keys", "not signed by");
	refused("relay", "relay2", "relay.example", "it rejects the local keys",
		"was not issued for a host");
	refused("relay", "doubter", "relay.example", "not signed by", "it rejects the local keys");
	refused("relay", "web1", "relay.exampl", "is not for the name",
		"it rejects the local keys");
	refused("relay2", "web1", "relay.example", "is not for the name",
		"it rejects the local keys");
	refused("web1", "web1", "web1", "was not", "it rejects the local keys");
	refused("oldrelay", "web1", "relay.example", "the relay's certificate expired on 20",
		"this relay's certificate expired on 20");
	refused("relay", "wrong", "relay.example", NULL, NULL);
	refused("relay", "unknown", "relay.example", NULL, NULL);
	refused("db2", "web1", "relay.example", NULL, NULL);
}

static void taken_back(void)
{
	tls_pair_revoke("relay", "web1");
	refused("relay", "web1", "relay.example", "it rejects the local keys", "has been revoked");
	accepted("db2", "relay.example", "db2");
	tls_pair_restore("relay");
}

/* --- bytes ------------------------------------------------------------------------------------ */

static size_t push(struct chan *to, const uint8_t *data, size_t done)
{
	const struct iovec iov[3] = {
		{ (void *)(data + done), MIN(SOME - done, 5u) },
		{ (void *)(data + done + MIN(SOME - done, 5u)),
		  SOME - done - MIN(SOME - done, 5u) },
	};
	ssize_t n = done < SOME ? chan_send(to, iov, 2) : 0;

	CHECK(n >= 0 || n == -EAGAIN);
	return n > 0 ? (size_t)n : 0;
}

static size_t take(struct chan *from, uint8_t *data, size_t done, size_t most)
{
	ssize_t n = done < SOME ? chan_recv(from, data + done, MIN(SOME - done, most)) : 0;

	CHECK(n > 0 || n == -EAGAIN || done == SOME);
	if (n > 0 && (size_t)n < MIN(SOME - done, most))
		CHECK(!chan_pending(from));
	return n > 0 ? (size_t)n : 0;
}

/* Both directions at once; reads of all sizes; the buffers are far smaller than the data. */
static void there_and_back(void)
{
	uint8_t *data = xalloc(SOME), *near = xalloc(SOME), *far = xalloc(SOME);
	size_t out[2] = { 0 }, in[2] = { 0 };
	struct tls_pair p;

	tls_pair_connect(&p, "relay", "web1", "relay.example");
	CHECK(p.relay_ret == 0 && p.host_ret == 0);
	CHECK_IS(getrandom(data, SOME, 0), ==, SOME);
	for (size_t i = 0; in[0] < SOME || in[1] < SOME; i++) {
		CHECK_IS(i, <, 1000000);
		out[0] += push(&p.host, data, out[0]);
		out[1] += push(&p.relay, data, out[1]);
		in[0] += take(&p.relay, far, in[0], 1 + i * 37 % 20000);
		in[1] += take(&p.host, near, in[1], 1 + i * 91 % 20000);
	}
	CHECK(memcmp(data, far, SOME) == 0 && memcmp(data, near, SOME) == 0);
	chan_fini(&p.host);
	CHECK_IS(chan_recv(&p.relay, far, 1), ==, 0); /* it has sent close_notify */
	chan_init(&p.host, p.fds[1], NULL);
	tls_pair_close(&p);
	free(data);
	free(near);
	free(far);
}

/* --- hostile peers ----------------------------------------------------------- */

/* Record the bytes that an accepted host sent to a relay. Return: their number. */
static size_t record(uint8_t *buf, size_t cap)
{
	struct tls_keys *keys = tls_pair_keys("relay"), *host_keys = tls_pair_keys("web1");
	struct chan relay, host;
	int near[2], far[2];
	size_t len = 0;
	struct tls *tls;
	uint8_t bytes[4096];
	const struct iovec word = { (void *)"word", 4 };

	tls_pair_sockets(near); /* the host speaks here, and we carry it over */
	tls_pair_sockets(far);
	CHECK_IS(tls_new_server(keys, far[1], &tls), ==, 0);
	chan_init(&relay, far[1], tls);
	CHECK_IS(tls_new_client(host_keys, near[0], "relay.example", &tls), ==, 0);
	chan_init(&host, near[0], tls);
	for (int i = 0; i < TLS_PAIR_STEPS; i++) {
		ssize_t n;

		if (host.up ? i == TLS_PAIR_STEPS / 2 && chan_send(&host, &word, 1) != 4 :
			      chan_open(&host) == -EPROTO)
			FAIL("a host can't be recorded");
		while ((n = read(near[1], bytes, sizeof(bytes))) > 0) {
			CHECK(len + (size_t)n <= cap && write(far[0], bytes, (size_t)n) == n);
			memcpy(buf + len, bytes, (size_t)n);
			len += (size_t)n;
		}
		if (!relay.up)
			(void)!chan_open(&relay);
		while ((n = read(far[0], bytes, sizeof(bytes))) > 0)
			CHECK_IS(write(near[1], bytes, (size_t)n), ==, n);
	}
	CHECK(relay.up && chan_recv(&relay, bytes, 4) == 4 && memcmp(bytes, "word", 4) == 0);
	chan_fini(&relay);
	chan_fini(&host);
	for (int i = 0; i < 2; i++) {
		close(near[i]);
		close(far[i]);
	}
	tls_keys_unref(keys);
	tls_keys_unref(host_keys);
	return len;
}

/* Return: the outcome of a relay that receives @data, and then nothing. */
static int listen_to(const uint8_t *data, size_t len)
{
	struct tls_keys *keys = tls_pair_keys("relay");
	struct chan relay;
	struct tls *tls;
	int fds[2], ret = -EAGAIN;
	size_t done = 0;

	tls_pair_sockets(fds);
	CHECK_IS(tls_new_server(keys, fds[1], &tls), ==, 0);
	chan_init(&relay, fds[1], tls);
	for (int i = 0; i < TLS_PAIR_STEPS && ret == -EAGAIN; i++) {
		ssize_t n = done < len ? send(fds[0], data + done, len - done, MSG_NOSIGNAL) : 0;

		done += n > 0 ? (size_t)n : 0;
		ret = chan_open(&relay);
		CHECK(ret < 0 && !relay.up && !chan_peer(&relay));
	}
	if (ret == -EPROTO) { /* the rest is discarded until the peer closes */
		CHECK(chan_open(&relay) == -EAGAIN || done == len);
		close(fds[0]);
		for (int i = 0; (ret = chan_open(&relay)) == -EAGAIN; i++)
			CHECK_IS(i, <, TLS_PAIR_STEPS);
		CHECK_IS(ret, ==, -ECONNRESET);
		ret = -EPROTO;
	} else {
		close(fds[0]);
	}
	chan_fini(&relay);
	close(fds[1]);
	tls_keys_unref(keys);
	return ret;
}

static void replayed(void)
{
	uint8_t buf[8192], garbage[512];
	size_t len = record(buf, sizeof(buf));

	CHECK_IS(listen_to(buf, len), ==, -EPROTO);
	for (size_t part = 0; part < 400; part += 13) /* half a handshake: it waits */
		CHECK(listen_to(buf, part < len ? part : len) == -EAGAIN || part > 100);
	for (int i = 0; i < 50; i++) {
		CHECK_IS(getrandom(garbage, sizeof(garbage), 0), ==, sizeof(garbage));
		garbage[0] =
			i % 2 ? 22 : garbage[0]; /* a record of a handshake, or not even that */
		listen_to(garbage, sizeof(garbage));
		CHECK_IS(len, >, 300);
		buf[(size_t)i * 7 % 300] ^= garbage[1] | 1;
		listen_to(buf, len);
	}
	CHECK_IS(listen_to((const uint8_t *)"GET / HTTP/1.1\r\nHost: relay\r\n\r\n", 31), ==,
		 -EPROTO);
}

/* A client made with the library directly, configured by @priority and @flags. */
static int foreign(const char *priority, unsigned int flags, bool *ret_ticket)
{
	gnutls_certificate_credentials_t cred;
	AUTO_FREE char *key = xasprintf("%s/web1/" TLS_FILE_KEY, tls_pair_top);
	AUTO_FREE char *crt = xasprintf("%s/web1/" TLS_FILE_CERT, tls_pair_top);
	struct tls_keys *keys = tls_pair_keys("relay");
	gnutls_session_t session;
	struct chan relay;
	struct tls *tls;
	int fds[2], ret = -EAGAIN, client = GNUTLS_E_AGAIN;
	char byte;

	tls_pair_sockets(fds);
	CHECK_IS(gnutls_certificate_allocate_credentials(&cred), ==, 0);
	CHECK_IS(gnutls_certificate_set_x509_key_file(cred, crt, key, GNUTLS_X509_FMT_PEM), ==, 0);
	CHECK_IS(gnutls_init(&session, GNUTLS_CLIENT | GNUTLS_NONBLOCK | flags), ==, 0);
	CHECK_IS(gnutls_priority_set_direct(session, priority, NULL), ==, 0);
	CHECK_IS(gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, cred), ==, 0);
	gnutls_transport_set_int(session, fds[0]);
	CHECK_IS(tls_new_server(keys, fds[1], &tls), ==, 0);
	chan_init(&relay, fds[1], tls);
	for (int i = 0; i < TLS_PAIR_STEPS; i++) {
		if (client == GNUTLS_E_AGAIN)
			client = gnutls_handshake(session);
		if (ret == -EAGAIN)
			ret = chan_open(&relay);
	}
	if (client == 0) /* where a ticket would be */
		CHECK_IS(gnutls_record_recv(session, &byte, 1), ==, GNUTLS_E_AGAIN);
	*ret_ticket = gnutls_session_get_flags(session) & GNUTLS_SFLAGS_SESSION_TICKET;
	gnutls_deinit(session);
	gnutls_certificate_free_credentials(cred);
	chan_fini(&relay);
	close(fds[0]);
	close(fds[1]);
	tls_keys_unref(keys);
	return ret;
}

static void older(void)
{
	bool ticket;

	CHECK(foreign("NORMAL:-VERS-ALL:+VERS-TLS1.3", 0, &ticket) == 0 && !ticket);
	CHECK(foreign("NORMAL", GNUTLS_ENABLE_EARLY_DATA, &ticket) == 0 && !ticket);
	CHECK_IS(foreign("NORMAL:-VERS-ALL:+VERS-TLS1.2", 0, &ticket), ==, -EPROTO);
	CHECK_IS(foreign("NORMAL:-VERS-ALL:+VERS-TLS1.1:+VERS-TLS1.2", 0, &ticket), ==, -EPROTO);
}

/* --- files that can't be used ----------------------------------------- */

static void not_loaded(const char *dir, const char *wanted)
{
	AUTO_FREE char *path = xasprintf("%s/%s", tls_pair_top, dir);
	struct tls_keys *keys = NULL;
	struct err err = { 0 };

	CHECK(tls_keys_load(path, &keys, &err) == (int)err.code && err.code && !keys);
	if (!strstr(err.text, wanted))
		FAIL("%s: want '%s', got '%s'", dir, wanted, err.text);
}

static void files(void)
{
	static const char *const bad[] = { "db1",
					   "db1:",
					   "db1:00",
					   ":000102030405060708090a0b0c0d0e0f",
					   "a/b:000102030405060708090a0b0c0d0e0f",
					   "x:0g0102030405060708090a0b0c0d0e0f",
					   "x:000102030405060708090a0b0c0d0e0f1" };

	not_loaded("nowhere", "there are no keys in");
	tls_pair_make_dir("empty");
	not_loaded("empty", "has neither own.key nor psk");
	tls_pair_make_dir("files");
	tls_pair_put("files", TLS_FILE_PSK, PSK_A, 0640);
	not_loaded("files", "can be read or changed by others (mode 0640)");
	tls_pair_put("files", TLS_FILE_PSK, PSK_A, 0604);
	not_loaded("files", "can be read or changed by others (mode 0604)");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		AUTO_FREE char *text = xasprintf(PSK_B "%s\n", bad[i]);

		tls_pair_put("files", TLS_FILE_PSK, text, 0600);
		not_loaded("files", "line 2: this is not NAME:HEX");
	}
	tls_pair_put("files", TLS_FILE_PSK, PSK_A, 0600);
	tls_pair_put("files", TLS_FILE_KEY, "no key", 0600);
	not_loaded("files", "has own.key, but no ca.crt");
	tls_pair_put("files", TLS_FILE_CA, tls_pair_our_ca, 0644);
	not_loaded("files", "has own.key, but no own.crt");
	tls_pair_put("files", TLS_FILE_CERT, tls_pair_our_ca, 0644);
	not_loaded("files", "can't be used");
	tls_pair_put("files", TLS_FILE_CERT, tls_pair_our_ca, 0666);
	not_loaded("files", "can be changed by others (mode 0666)");
	tls_pair_put("web1", TLS_FILE_CRL, "garbage", 0644);
	not_loaded("web1", "is not a revocation list of an authority");
}

int main(void)
{
	tls_pair_begin();
	who_gets_in();
	there_and_back();
	taken_back();
	replayed();
	older();
	files();
	tls_pair_end();
	return 0;
}
