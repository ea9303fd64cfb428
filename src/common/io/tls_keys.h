/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tls_keys.h - the keys of one machine, and its trusted authorities: a
 * directory with files of fixed names, as created by ltt-keys(1). Constant once loaded,
 * reference-counted; any thread.
 *
 *   ca.crt    authorities whose certificates are trusted (PEM)
 *   own.crt   certificate of this machine, and the chain from it to an authority
 *   own.key   its private key
 *   crl.pem   revoked certificates (may be missing)
 *   psk       NAME:HEX, a line each: pre-shared keys, instead of certificates or in addition. At
 *             a host the first line is its own. NAME:HEX:viewer: at a relay, a key for viewing
 *             only.
 */
#ifndef IO_TLS_KEYS_H
#define IO_TLS_KEYS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/macros.h"

struct tls_keys;

#define TLS_FILE_CA "ca.crt"
#define TLS_FILE_CERT "own.crt"
#define TLS_FILE_KEY "own.key"
#define TLS_FILE_CRL "crl.pem"
#define TLS_FILE_PSK "psk"

/* Of a certificate's subject (organizational unit), or of a line of `psk`: such a peer may only
 * view. */
#define TLS_UNIT_VIEWER "viewer"

/** The default directory: LTT_KEYS, else /etc/ltt/keys for root and
 *  ~/.ltt-keys for others. Allocated; NULL: there is no home. */
char *tls_keys_default_dir(void);

/** Load @path. Secrets that others may read are rejected. Return: 0 or the code in @err. */
int tls_keys_load(const char *path, struct tls_keys **ret, struct err *err) MUST_CHECK;
/** The same from an open directory; @path: for messages. */
int tls_keys_load_at(int dir_fd, const char *path, struct tls_keys **ret,
		     struct err *err) MUST_CHECK;
struct tls_keys *tls_keys_ref(struct tls_keys *keys);
struct tls_keys *tls_keys_unref(struct tls_keys *keys);

/** A sentence about the certificate of @path if it expires within 30 days, or has expired.
 *  Allocated; NULL: it does not, or there is none. */
char *tls_keys_expiry(const struct tls_keys *keys, const char *path);

/** Read a file of the directory, at most 1 MB. @secret: reject it if others may read it.
 *  Return: 0, with the text in @ret (NULL: there is no such file); or the code in @err. */
int tls_file_read(int dir_fd, const char *path, const char *name, bool secret, char **ret,
		  struct err *err) MUST_CHECK;
/** Overwrite and free a text from tls_file_read(); for CLEANUP(). */
void tls_file_forget(char **text);

#endif
