/* SPDX-License-Identifier: GPL-2.0-only */
/* tls_pair.h - a relay and a host in one process, with keys of all kinds in directories. */
#ifndef UNIT_TLS_PAIR_H
#define UNIT_TLS_PAIR_H

#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#include "base/mem.h"
#include "check.h"
#include "io/chan.h"
#include "keys/cert.h"

#define FAIL(...)                             \
	do {                                  \
		fprintf(stderr, __VA_ARGS__); \
		fputc('\n', stderr);          \
		exit(1);                      \
	} while (0)

#define DAYS 10
#define STEPS 1000

static char top[] = "keys-XXXXXX";
static struct authority ours, theirs;
static char *our_ca, *their_ca;

/* --- directories of keys ------------------------------------------------------------------ */

static char *text_of(gnutls_datum_t *pem)
{
	char *text = xstrdup((const char *)pem->data);

	gnutls_free(pem->data);
	return text;
}

static void put(const char *dir, const char *name, const char *text, mode_t mode)
{
	AUTO_FREE char *path = xasprintf("%s/%s/%s", top, dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	CHECK(fchmod(fd, mode) == 0 && close(fd) == 0);
}

static void make_dir(const char *dir)
{
	AUTO_FREE char *path = xasprintf("%s/%s", top, dir);

	CHECK(mkdir(path, 0700) == 0);
}

static char *make_authority(struct authority *ret)
{
	gnutls_datum_t key, crt;
	AUTO_FREE char *key_text = NULL;
	struct err err = { 0 };
	char *text;

	CHECK(authority_new("test", DAYS, &key, &crt, &err) == 0);
	key_text = text_of(&key);
	text = text_of(&crt);
	CHECK(authority_load(ret, key_text, text, &err) == 0);
	return text;
}

/* The same certificate, believed from @begin to @end, in seconds from now. */
static char *dated(const struct authority *ca, const char *text, time_t begin, time_t end)
{
	const gnutls_datum_t pem = { (unsigned char *)text, (unsigned int)strlen(text) };
	gnutls_x509_crt_t crt;
	gnutls_datum_t out;

	CHECK(gnutls_x509_crt_init(&crt) == 0);
	CHECK(gnutls_x509_crt_import(crt, &pem, GNUTLS_X509_FMT_PEM) == 0);
	CHECK(gnutls_x509_crt_set_activation_time(crt, time(NULL) + begin) == 0);
	CHECK(gnutls_x509_crt_set_expiration_time(crt, time(NULL) + end) == 0);
	CHECK(gnutls_x509_crt_sign2(crt, ca->crt, ca->key, GNUTLS_DIG_SHA256, 0) == 0);
	CHECK(gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, &out) == 0);
	gnutls_x509_crt_deinit(crt);
	return text_of(&out);
}

static void make_machine(const char *dir, enum cert_kind kind, const struct authority *ca,
			 const char *believed, char *name, time_t begin, time_t end)
{
	AUTO_FREE char *key_text = NULL, *crt_text = NULL, *crt_dated = NULL;
	gnutls_datum_t key, crt;
	struct err err = { 0 };

	make_dir(dir);
	CHECK(cert_new(ca, kind, &name, 1, DAYS, &key, &crt, &err) == 0);
	key_text = text_of(&key);
	crt_text = text_of(&crt);
	crt_dated = dated(ca, crt_text, begin, end);
	put(dir, TLS_FILE_KEY, key_text, 0600);
	put(dir, TLS_FILE_CERT, crt_dated, 0644);
	put(dir, TLS_FILE_CA, believed, 0644);
}

#define PSK_A "db1:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"
#define PSK_B "db2:F00102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"
#define PSK_WRONG "db1:ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"

static void make_all(void)
{
	const time_t day = 86400;

	CHECK(gnutls_global_init() == 0);
	CHECK(mkdtemp(top));
	our_ca = make_authority(&ours);
	their_ca = make_authority(&theirs);
	make_machine("relay", CERT_RELAY, &ours, our_ca, (char *)"relay.example", -day, day);
	put("relay", TLS_FILE_PSK, "# shared\n" PSK_A PSK_B, 0600);
	make_machine("web1", CERT_HOST, &ours, our_ca, (char *)"web1", -day, day);
	make_machine("old", CERT_HOST, &ours, our_ca, (char *)"old", -2 * day, -day);
	make_machine("early", CERT_HOST, &ours, our_ca, (char *)"early", day, 2 * day);
	make_machine("slash", CERT_HOST, &ours, our_ca, (char *)"../../etc", -day, day);
	make_machine("theirs", CERT_HOST, &theirs, our_ca, (char *)"web1", -day, day);
	make_machine("doubter", CERT_HOST, &ours, their_ca, (char *)"web1", -day, day);
	make_machine("relay2", CERT_RELAY, &ours, our_ca, (char *)"relay2", -day, day);
	make_machine("oldrelay", CERT_RELAY, &ours, our_ca, (char *)"relay.example", -2 * day,
		     -day);
	make_dir("db2");
	put("db2", TLS_FILE_PSK, PSK_B, 0600);
	make_dir("wrong");
	put("wrong", TLS_FILE_PSK, PSK_WRONG, 0600);
	make_dir("unknown");
	put("unknown", TLS_FILE_PSK, "x" PSK_A, 0600);
}

static void forget_all(void)
{
	authority_fini(&ours);
	authority_fini(&theirs);
	free(our_ca);
	free(their_ca);
}

/* The relay hears that our authority does not stand for the host any more. */
static inline void take_back(const char *relay, const char *host)
{
	AUTO_FREE char *path = xasprintf("%s/%s/" TLS_FILE_CERT, top, host), *list = NULL;
	char crt[4096] = "";
	gnutls_datum_t crl;
	struct err err = { 0 };
	FILE *f = fopen(path, "re");

	CHECK(f && fread(crt, 1, sizeof(crt) - 1, f) > 0 && fclose(f) == 0);
	CHECK(cert_revoke(&ours, crt, NULL, DAYS, &crl, &err) == 0);
	list = text_of(&crl);
	put(relay, TLS_FILE_CRL, list, 0644);
}

static inline void forgive(const char *relay)
{
	AUTO_FREE char *path = xasprintf("%s/%s/" TLS_FILE_CRL, top, relay);

	CHECK(unlink(path) == 0);
}

static struct tls_keys *keys_of(const char *dir)
{
	AUTO_FREE char *path = xasprintf("%s/%s", top, dir);
	struct tls_keys *keys = NULL;
	struct err err = { 0 };

	if (tls_keys_load(path, &keys, &err))
		FAIL("%s", err.text);
	return keys;
}

/* --- two ends ------------------------------------------------------------------------------- */

struct pair {
	int fds[2];
	struct chan relay, host;
	int relay_ret, host_ret;
};

static void sockets(int fds[2])
{
	const int small = 8192; /* so that much of it does not fit */

	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
	for (int i = 0; i < 2; i++)
		setsockopt(fds[i], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
}

static inline void meet(struct pair *p, const char *relay, const char *host, const char *name)
{
	struct tls_keys *keys[2] = { keys_of(relay), keys_of(host) };
	struct tls *tls;

	sockets(p->fds);
	CHECK(tls_new_server(keys[0], p->fds[0], &tls) == 0);
	chan_init(&p->relay, p->fds[0], tls);
	CHECK(tls_new_client(keys[1], p->fds[1], name, &tls) == 0);
	chan_init(&p->host, p->fds[1], tls);
	tls_keys_unref(keys[0]);
	tls_keys_unref(keys[1]);
	p->relay_ret = p->host_ret = -EAGAIN;
	for (int i = 0; i < STEPS; i++) {
		if (p->host_ret == -EAGAIN)
			p->host_ret = chan_open(&p->host);
		if (p->relay_ret == -EAGAIN)
			p->relay_ret = chan_open(&p->relay);
	}
}

static inline void part(struct pair *p)
{
	chan_fini(&p->relay);
	chan_fini(&p->host);
	close(p->fds[0]);
	close(p->fds[1]);
}

#endif
