/* SPDX-License-Identifier: GPL-2.0-only */
/* verbs.c - the verbs for certificates; psk.c has the one for pre-shared keys. */
#include "verbs.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cert.h"
#include "io/tls_keys.h"
#include "place.h"

#define CA_DAYS 3650u
#define OWN_DAYS 365u
#define CA_NAME "ltt-keys authority"

/* An authority, and of one machine the requested files. */
struct office {
	int dir, own;
	struct authority ca;
	char *ca_crt;
};

#define OFFICE_INIT                  \
	{                            \
		.dir = -1, .own = -1 \
	}

static void office_fini(struct office *office)
{
	authority_fini(&office->ca);
	free(office->ca_crt);
	close_fd(office->own);
	close_fd(office->dir);
}

static unsigned int days(const struct order *order, unsigned int usual)
{
	return order->days ? order->days : usual;
}

static void keys_erase(gnutls_datum_t *text)
{
	if (text->data)
		gnutls_memset(text->data, 0, text->size);
	gnutls_free(text->data);
}

int verb_ca(const struct order *order, struct err *err)
{
	AUTO_FD int dir = place_open(AT_FDCWD, order->dir, true, err);
	gnutls_datum_t key CLEANUP(keys_erase) = { 0 }, crt CLEANUP(keys_erase) = { 0 };

	if (dir < 0 || authority_new(CA_NAME, days(order, CA_DAYS), &key, &crt, err) ||
	    place_write(dir, PLACE_CA_KEY, &key, true, PLACE_NEW, err) ||
	    place_write(dir, TLS_FILE_CA, &crt, false, PLACE_NEW, err))
		return err->code;
	printf("%s/" PLACE_CA_KEY " must stay here: its owner can create any relay and any host\n",
	       order->dir);
	return 0;
}

/* @make: the machine's folder may be new. */
static int office_open(struct office *office, const struct order *order, bool make, struct err *err)
{
	char *key CLEANUP(tls_file_forget) = NULL;

	for (size_t i = 0; i < order->nr; i++)
		if (name_check(order->names[i]))
			return err_set(err, ERR_INVALID, "the host name '%.80s' %s",
				       order->names[i], name_check(order->names[i]));
	office->dir = place_open(AT_FDCWD, order->dir, false, err);
	if (office->dir < 0 || place_read(office->dir, PLACE_CA_KEY, true, &key, err) ||
	    place_read(office->dir, TLS_FILE_CA, false, &office->ca_crt, err) ||
	    authority_load(&office->ca, key, office->ca_crt, err))
		return err->code;
	office->own = place_open(office->dir, order->names[0], make, err);
	return err->code;
}

static int make_machine(const struct order *order, enum cert_kind kind, struct err *err)
{
	struct office office CLEANUP(office_fini) = OFFICE_INIT;
	gnutls_datum_t key CLEANUP(keys_erase) = { 0 }, crt CLEANUP(keys_erase) = { 0 }, ca;

	if (office_open(&office, order, true, err) ||
	    cert_new(&office.ca, kind, order->names, order->nr, days(order, OWN_DAYS), &key, &crt,
		     err))
		return err->code;
	ca = (gnutls_datum_t){ (unsigned char *)office.ca_crt, (unsigned)strlen(office.ca_crt) };
	if (place_write(office.own, TLS_FILE_KEY, &key, true, PLACE_NEW, err) ||
	    place_write(office.own, TLS_FILE_CERT, &crt, false, PLACE_NEW, err) ||
	    place_write(office.own, TLS_FILE_CA, &ca, false, PLACE_NEW, err))
		return err->code;
	printf("%s/%s is the directory of keys for %s\n", order->dir, order->names[0],
	       order->names[0]);
	return 0;
}

int verb_relay(const struct order *order, struct err *err)
{
	return make_machine(order, CERT_RELAY, err);
}

int verb_host(const struct order *order, struct err *err)
{
	return make_machine(order, CERT_HOST, err);
}

int verb_viewer(const struct order *order, struct err *err)
{
	return make_machine(order, CERT_VIEWER, err);
}

int verb_renew(const struct order *order, struct err *err)
{
	struct office office CLEANUP(office_fini) = OFFICE_INIT;
	gnutls_datum_t crt CLEANUP(keys_erase) = { 0 };
	AUTO_FREE char *old = NULL;

	if (office_open(&office, order, false, err) ||
	    place_read(office.own, TLS_FILE_CERT, false, &old, err) ||
	    cert_renew(&office.ca, old, days(order, OWN_DAYS), &crt, err) ||
	    place_write(office.own, TLS_FILE_CERT, &crt, false, PLACE_REPLACE, err))
		return err->code;
	printf("%s/%s/" TLS_FILE_CERT " replaces the one at %s\n", order->dir, order->names[0],
	       order->names[0]);
	return 0;
}

int verb_revoke(const struct order *order, struct err *err)
{
	struct office office CLEANUP(office_fini) = OFFICE_INIT;
	gnutls_datum_t crl CLEANUP(keys_erase) = { 0 };
	AUTO_FREE char *crt = NULL, *old = NULL;

	if (office_open(&office, order, false, err) ||
	    tls_file_read(office.dir, order->dir, TLS_FILE_CRL, false, &old, err) ||
	    place_read(office.own, TLS_FILE_CERT, false, &crt, err) ||
	    cert_revoke(&office.ca, crt, old, days(order, CA_DAYS), &crl, err) ||
	    place_write(office.dir, TLS_FILE_CRL, &crl, false, PLACE_REPLACE, err))
		return err->code;
	printf("%s/" TLS_FILE_CRL " is for the directory of keys of each relay\n", order->dir);
	return 0;
}

int verb_show(const struct order *order, struct err *err)
{
	for (size_t i = 0; i < order->nr; i++) {
		AUTO_FD int dir = place_open(AT_FDCWD, order->names[i], false, err);
		AUTO_FREE char *crt = NULL, *line = NULL;

		if (dir < 0 || place_read(dir, TLS_FILE_CERT, false, &crt, err))
			return err->code;
		line = cert_show(crt);
		if (!line)
			return err_set(err, ERR_INVALID,
				       "%s/" TLS_FILE_CERT " is not a certificate",
				       order->names[i]);
		printf("%s: %s\n", order->names[i], line);
	}
	return 0;
}

static int keys_check(const char *dir, struct err *err)
{
	struct tls_keys *keys;
	AUTO_FREE char *sentence = NULL;

	if (tls_keys_load(dir, &keys, err) != 0)
		return err->code;
	sentence = tls_keys_expiry(keys, dir);
	tls_keys_unref(keys);
	if (sentence)
		puts(sentence);
	return 0;
}

int verb_check(const struct order *order, struct err *err)
{
	AUTO_FREE char *usual = order->nr ? NULL : tls_keys_default_dir();

	if (!order->nr && !usual)
		return err_set(err, ERR_INVALID, "HOME is not set: name the directory of the keys");
	if (usual)
		return keys_check(usual, err);
	for (size_t i = 0; i < order->nr && err->code == 0; i++)
		(void)!keys_check(order->names[i], err);
	return err->code;
}
