/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tls_priv.h - shared by tls.c and tls_keys.c, the only files that use GnuTLS. */
#ifndef IO_TLS_PRIV_H
#define IO_TLS_PRIV_H

#include <gnutls/gnutls.h>
#include <stdatomic.h>

#include "tls_keys.h"

#define TLS_PSK_MOST 64u /* bytes of a key */
#define TLS_PSK_LEAST 16u

struct tls_psk {
	char *name;
	uint8_t key[TLS_PSK_MOST];
	size_t len;
	bool is_viewer;
};

struct tls_keys {
	atomic_uint refs;
	gnutls_certificate_credentials_t cert; /* NULL: there is none */
	gnutls_psk_server_credentials_t psk_server;
	gnutls_psk_client_credentials_t psk_client;
	struct tls_psk *psks;
	size_t nr_psks;
};

/* Return: NULL: there is none of that name. */
const struct tls_psk *tls_psk_find(const struct tls_keys *keys, const char *name);

/* In tls.c: the keys of a session, and the verification of the peer's certificate. */
const struct tls_keys *tls_keys_of(gnutls_session_t session);
int tls_verify(gnutls_session_t session);

#endif
