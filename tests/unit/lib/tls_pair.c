/* SPDX-License-Identifier: GPL-2.0-only */
#include "tls_pair.h"

#define DAYS 10

char tls_pair_top[] = "keys-XXXXXX";

struct authority tls_pair_ours, tls_pair_theirs;

char *tls_pair_our_ca, *tls_pair_their_ca;

static char *tls_pair_text(gnutls_datum_t *pem)
{
	char *text = xstrdup((const char *)pem->data);

	gnutls_free(pem->data);
	return text;
}

void tls_pair_put(const char *dir, const char *name, const char *text, mode_t mode)
{
	AUTO_FREE char *path = xasprintf("%s/%s/%s", tls_pair_top, dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	CHECK(fchmod(fd, mode) == 0 && close(fd) == 0);
}

void tls_pair_make_dir(const char *dir)
{
	AUTO_FREE char *path = xasprintf("%s/%s", tls_pair_top, dir);

	CHECK_IS(mkdir(path, 0700), ==, 0);
}

static char *tls_pair_make_authority(struct authority *ret)
{
	gnutls_datum_t key, crt;
	AUTO_FREE char *key_text = NULL;
	struct err err = { 0 };
	char *text;

	CHECK_IS(authority_new("test", DAYS, &key, &crt, &err), ==, 0);
	key_text = tls_pair_text(&key);
	text = tls_pair_text(&crt);
	CHECK_IS(authority_load(ret, key_text, text, &err), ==, 0);
	return text;
}

/* The same certificate, believed from @begin to @end, in seconds from now. */
static char *tls_pair_date(const struct authority *ca, const char *text, time_t begin, time_t end)
{
	const gnutls_datum_t pem = { (unsigned char *)text, (unsigned int)strlen(text) };
	gnutls_x509_crt_t crt;
	gnutls_datum_t out;

	CHECK_IS(gnutls_x509_crt_init(&crt), ==, 0);
	CHECK_IS(gnutls_x509_crt_import(crt, &pem, GNUTLS_X509_FMT_PEM), ==, 0);
	CHECK_IS(gnutls_x509_crt_set_activation_time(crt, time(NULL) + begin), ==, 0);
	CHECK_IS(gnutls_x509_crt_set_expiration_time(crt, time(NULL) + end), ==, 0);
	CHECK_IS(gnutls_x509_crt_sign2(crt, ca->crt, ca->key, GNUTLS_DIG_SHA256, 0), ==, 0);
	CHECK_IS(gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, &out), ==, 0);
	gnutls_x509_crt_deinit(crt);
	return tls_pair_text(&out);
}

void tls_pair_make_machine(const char *dir, enum cert_kind kind, const struct authority *ca,
			   const char *believed, char *name, time_t begin, time_t end)
{
	AUTO_FREE char *key_text = NULL, *crt_text = NULL, *crt_dated = NULL;
	gnutls_datum_t key, crt;
	struct err err = { 0 };

	tls_pair_make_dir(dir);
	CHECK_IS(cert_new(ca, kind, &name, 1, DAYS, &key, &crt, &err), ==, 0);
	key_text = tls_pair_text(&key);
	crt_text = tls_pair_text(&crt);
	crt_dated = tls_pair_date(ca, crt_text, begin, end);
	tls_pair_put(dir, TLS_FILE_KEY, key_text, 0600);
	tls_pair_put(dir, TLS_FILE_CERT, crt_dated, 0644);
	tls_pair_put(dir, TLS_FILE_CA, believed, 0644);
}

void tls_pair_begin(void)
{
	const time_t day = 86400;

	CHECK_IS(gnutls_global_init(), ==, 0);
	CHECK(mkdtemp(tls_pair_top));
	tls_pair_our_ca = tls_pair_make_authority(&tls_pair_ours);
	tls_pair_their_ca = tls_pair_make_authority(&tls_pair_theirs);
	tls_pair_make_machine("relay", CERT_RELAY, &tls_pair_ours, tls_pair_our_ca,
			      (char *)"relay.example", -day, day);
	tls_pair_put("relay", TLS_FILE_PSK, "# shared\n" PSK_A PSK_B, 0600);
	tls_pair_make_machine("web1", CERT_HOST, &tls_pair_ours, tls_pair_our_ca, (char *)"web1",
			      -day, day);
	tls_pair_make_machine("old", CERT_HOST, &tls_pair_ours, tls_pair_our_ca, (char *)"old",
			      -2 * day, -day);
	tls_pair_make_machine("early", CERT_HOST, &tls_pair_ours, tls_pair_our_ca, (char *)"early",
			      day, 2 * day);
	tls_pair_make_machine("slash", CERT_HOST, &tls_pair_ours, tls_pair_our_ca,
			      (char *)"../../etc", -day, day);
	tls_pair_make_machine("theirs", CERT_HOST, &tls_pair_theirs, tls_pair_our_ca,
			      (char *)"web1", -day, day);
	tls_pair_make_machine("doubter", CERT_HOST, &tls_pair_ours, tls_pair_their_ca,
			      (char *)"web1", -day, day);
	tls_pair_make_machine("relay2", CERT_RELAY, &tls_pair_ours, tls_pair_our_ca,
			      (char *)"relay2", -day, day);
	tls_pair_make_machine("oldrelay", CERT_RELAY, &tls_pair_ours, tls_pair_our_ca,
			      (char *)"relay.example", -2 * day, -day);
	tls_pair_make_dir("db2");
	tls_pair_put("db2", TLS_FILE_PSK, PSK_B, 0600);
	tls_pair_make_dir("wrong");
	tls_pair_put("wrong", TLS_FILE_PSK, PSK_WRONG, 0600);
	tls_pair_make_dir("unknown");
	tls_pair_put("unknown", TLS_FILE_PSK, "x" PSK_A, 0600);
}

void tls_pair_end(void)
{
	authority_fini(&tls_pair_ours);
	authority_fini(&tls_pair_theirs);
	free(tls_pair_our_ca);
	free(tls_pair_their_ca);
}

void tls_pair_revoke(const char *relay, const char *host)
{
	AUTO_FREE char *path = xasprintf("%s/%s/" TLS_FILE_CERT, tls_pair_top, host), *list = NULL;
	char crt[4096] = "";
	gnutls_datum_t crl;
	struct err err = { 0 };
	FILE *f = fopen(path, "re");

	CHECK(f && fread(crt, 1, sizeof(crt) - 1, f) > 0 && fclose(f) == 0);
	CHECK_IS(cert_revoke(&tls_pair_ours, crt, NULL, DAYS, &crl, &err), ==, 0);
	list = tls_pair_text(&crl);
	tls_pair_put(relay, TLS_FILE_CRL, list, 0644);
}

void tls_pair_restore(const char *relay)
{
	AUTO_FREE char *path = xasprintf("%s/%s/" TLS_FILE_CRL, tls_pair_top, relay);

	CHECK_IS(unlink(path), ==, 0);
}

struct tls_keys *tls_pair_keys(const char *dir)
{
	AUTO_FREE char *path = xasprintf("%s/%s", tls_pair_top, dir);
	struct tls_keys *keys = NULL;
	struct err err = { 0 };

	if (tls_keys_load(path, &keys, &err))
		FAIL("%s", err.text);
	return keys;
}

void tls_pair_sockets(int fds[2])
{
	const int small = 8192; /* so that much of it does not fit */

	CHECK_IS(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), ==, 0);
	for (int i = 0; i < 2; i++)
		setsockopt(fds[i], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
}

void tls_pair_connect(struct tls_pair *p, const char *relay, const char *host, const char *name)
{
	struct tls_keys *keys[2] = { tls_pair_keys(relay), tls_pair_keys(host) };
	struct tls *tls;

	tls_pair_sockets(p->fds);
	CHECK_IS(tls_new_server(keys[0], p->fds[0], &tls), ==, 0);
	chan_init(&p->relay, p->fds[0], tls);
	CHECK_IS(tls_new_client(keys[1], p->fds[1], name, &tls), ==, 0);
	chan_init(&p->host, p->fds[1], tls);
	tls_keys_unref(keys[0]);
	tls_keys_unref(keys[1]);
	p->relay_ret = p->host_ret = -EAGAIN;
	for (int i = 0; i < TLS_PAIR_STEPS; i++) {
		if (p->host_ret == -EAGAIN)
			p->host_ret = chan_open(&p->host);
		if (p->relay_ret == -EAGAIN)
			p->relay_ret = chan_open(&p->relay);
	}
}

void tls_pair_close(struct tls_pair *p)
{
	chan_fini(&p->relay);
	chan_fini(&p->host);
	close(p->fds[0]);
	close(p->fds[1]);
}
