/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cert.h - a certificate authority and its certificates, in memory: keys on the curve P-256,
 * certificates of hosts with one purpose each. Used by ltt-keys' only thread. Returned PEM text is
 * freed with gnutls_free().
 */
#ifndef KEYS_CERT_H
#define KEYS_CERT_H

#include <gnutls/x509.h>

#include "base/err.h"

/** The purpose of a certificate. */
enum cert_kind {
	CERT_RELAY,  /* of a relay: a TLS server */
	CERT_HOST,   /* of a traced host: a TLS client */
	CERT_VIEWER, /* of a client that may only view: its unit is TLS_UNIT_VIEWER */
};

struct authority {
	gnutls_x509_privkey_t key;
	gnutls_x509_crt_t crt;
};

/* Return: 0 or the code in @err. */
int authority_new(const char *name, unsigned int days, gnutls_datum_t *ret_key,
		  gnutls_datum_t *ret_crt, struct err *err) MUST_CHECK;
int authority_load(struct authority *ca, const char *key, const char *crt,
		   struct err *err) MUST_CHECK;
void authority_fini(struct authority *ca);

/** Make a certificate. @names: the first is the subject's name; the certificate of a relay is valid
 *  for all of them, which may be addresses. */
int cert_new(const struct authority *ca, enum cert_kind kind, char *const *names, size_t nr,
	     unsigned int days, gnutls_datum_t *ret_key, gnutls_datum_t *ret_crt,
	     struct err *err) MUST_CHECK;
/** The same certificate as @old, valid for @days from now. */
int cert_renew(const struct authority *ca, const char *old, unsigned int days,
	       gnutls_datum_t *ret_crt, struct err *err) MUST_CHECK;
/** A revocation list with @crt added. @old: the previous one; NULL: none. */
int cert_revoke(const struct authority *ca, const char *crt, const char *old, unsigned int days,
		gnutls_datum_t *ret_crl, struct err *err) MUST_CHECK;
/** One line that describes a certificate, allocated; NULL: not a certificate. */
char *cert_show(const char *crt);

#endif
