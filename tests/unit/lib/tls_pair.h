/* SPDX-License-Identifier: GPL-2.0-only */
/* tls_pair.h - a relay and a host in one process, with keys of all kinds in directories. */
#ifndef TESTS_TLS_PAIR_H
#define TESTS_TLS_PAIR_H

#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#include "../check.h"
#include "base/mem.h"
#include "io/chan.h"
#include "keys/cert.h"

#define FAIL(...)                             \
	do {                                  \
		fprintf(stderr, __VA_ARGS__); \
		fputc('\n', stderr);          \
		exit(1);                      \
	} while (0)

#define TLS_PAIR_STEPS 1000

/** The directory of all keys. */
extern char tls_pair_top[sizeof("keys-XXXXXX")];
/** The authority of the relay and its hosts, and a foreign one, with their certificates. */
extern struct authority tls_pair_ours, tls_pair_theirs;
extern char *tls_pair_our_ca, *tls_pair_their_ca;

/* --- directories of keys ------------------------------------------------------------------ */

/** Write a file of mode @mode in the directory @dir of keys. */
void tls_pair_put(const char *dir, const char *name, const char *text, mode_t mode);

/** Make a directory of keys. */
void tls_pair_make_dir(const char *dir);

/** Make the keys of a machine: a certificate by @ca, valid from @begin to @end in seconds from
 * now, and @believed, the authority that it trusts. */
void tls_pair_make_machine(const char *dir, enum cert_kind kind, const struct authority *ca,
			   const char *believed, char *name, time_t begin, time_t end);

#define PSK_A "db1:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"
#define PSK_B "db2:F00102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"
#define PSK_WRONG "db1:ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"

/** Make the authorities and all directories of keys. */
void tls_pair_begin(void);

/** Free the authorities. */
void tls_pair_end(void);

/** Write a list in which our authority has revoked the certificate of @host, for @relay. */
void tls_pair_revoke(const char *relay, const char *host);

/** Remove the list of tls_pair_revoke(). */
void tls_pair_restore(const char *relay);

/** Load the keys of a directory. */
struct tls_keys *tls_pair_keys(const char *dir);

/* --- two ends ------------------------------------------------------------------------------- */

struct tls_pair {
	int fds[2];
	struct chan relay, host;
	int relay_ret, host_ret;
};

/** Make a pair of sockets with small buffers. */
void tls_pair_sockets(int fds[2]);

/** Shake hands between the keys of @relay and of @host, which expects @name. */
void tls_pair_connect(struct tls_pair *p, const char *relay, const char *host, const char *name);

/** Close both ends. */
void tls_pair_close(struct tls_pair *p);

#endif
