/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Established connections when the keys change: a peer that would still be accepted continues,
 * one that would not is found, whichever way it was authenticated.
 */
#include "lib/tls_pair.h"

#define PSK_CHANGED "db2:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"

static void goes_on(struct tls_pair *p)
{
	const struct iovec word = { (void *)"word", 4 };
	char got[4];

	CHECK_IS(chan_send(&p->host, &word, 1), ==, 4);
	CHECK(chan_recv(&p->relay, got, sizeof(got)) == 4 && memcmp(got, "word", 4) == 0);
}

/* @why: NULL: the connection continues. */
static void recheck(struct tls_pair *p, const char *dir, const char *why)
{
	struct tls_keys *keys = tls_pair_keys(dir);
	int ret = chan_recheck(&p->relay, keys);

	tls_keys_unref(keys);
	if (ret != (why ? -EPROTO : 0) || !strstr(chan_problem(&p->relay), why ? why : ""))
		FAIL("with the keys of %s: %d, '%s'; wanted '%s'", dir, ret,
		     chan_problem(&p->relay), why ? why : "to go on");
	if (!why)
		goes_on(p);
}

static void met(struct tls_pair *p, const char *host, const char *peer)
{
	tls_pair_connect(p, "relay", host, "relay.example");
	CHECK(p->relay_ret == 0 && p->host_ret == 0);
	recheck(p, "relay", NULL);
	CHECK_IS(strcmp(chan_peer(&p->relay), peer), ==, 0);
}

static void by_certificate(void)
{
	struct tls_pair web1, other;

	met(&web1, "web1", "web1");
	met(&other, "web2", "web2");
	tls_pair_revoke("relay", "web1");
	recheck(&web1, "relay", "has been revoked");
	recheck(&other, "relay", NULL);
	tls_pair_restore("relay");
	recheck(&other, "doubter", "not signed by an authority");
	tls_pair_close(&web1);
	tls_pair_close(&other);
	met(&web1, "web1", "web1");
	recheck(&web1, "db2", "certificates are no longer accepted");
	tls_pair_close(&web1);
}

static void by_key(void)
{
	struct tls_pair p;

	met(&p, "db2", "db2");
	recheck(&p, "db2", NULL); /* has its key, and nothing else */
	recheck(&p, "wrong", "has been revoked");
	tls_pair_close(&p);
	met(&p, "db2", "db2");
	recheck(&p, "changed", "has been revoked");
	tls_pair_close(&p);
	met(&p, "db2", "db2");
	recheck(&p, "web1", "has been revoked");
	tls_pair_close(&p);
}

/* A peer that is not authenticated yet starts again. */
static void in_between(void)
{
	struct tls_keys *keys = tls_pair_keys("relay");
	struct tls_pair p;
	struct tls *tls;

	tls_pair_sockets(p.fds);
	CHECK_IS(tls_new_server(keys, p.fds[0], &tls), ==, 0);
	chan_init(&p.relay, p.fds[0], tls);
	chan_init(&p.host, p.fds[1], NULL);
	CHECK_IS(chan_open(&p.relay), ==, -EAGAIN);
	recheck(&p, "relay", "the local keys changed");
	tls_pair_close(&p);
	tls_keys_unref(keys);
}

/* Nothing was proven, and nothing can be taken back. */
static void in_the_clear(void)
{
	struct tls_pair p;

	tls_pair_sockets(p.fds);
	chan_init(&p.relay, p.fds[0], NULL);
	chan_init(&p.host, p.fds[1], NULL);
	recheck(&p, "relay", NULL);
	tls_pair_close(&p);
}

int main(void)
{
	tls_pair_begin();
	tls_pair_make_machine("web2", CERT_HOST, &tls_pair_ours, tls_pair_our_ca, (char *)"web2",
			      -86400, 86400);
	tls_pair_make_dir("changed");
	tls_pair_put("changed", TLS_FILE_PSK, PSK_CHANGED, 0600);
	by_certificate();
	by_key();
	in_between();
	in_the_clear();
	tls_pair_end();
	return 0;
}
