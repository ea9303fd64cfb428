/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * link.h - a connection to a relay's port for viewers: one request at a time, and the caller waits
 * for the answer. Owned by main(); runs in ltt-tunnel's only thread. Each wait ends when the viewer
 * disconnects, or when the relay is silent for too long.
 */
#ifndef TUNNEL_LINK_H
#define TUNNEL_LINK_H

#include <stdint.h>

#include "base/err.h"
#include "io/chan.h"

#define LINK_HOST_BYTES 256
#define LINK_SILENT_MS 20000 /* longest wait for an answer */

/** The address of a relay, from tls:// or net://RELAY[:PORT][/PATH]. */
struct place {
	char host[LINK_HOST_BYTES], port[8];
	const char *path; /* with its slash; or "" */
	bool is_tls;
};

/** Return: 0 or -EINVAL. */
int place_parse(const char *url, struct place *ret) MUST_CHECK;

struct link {
	const struct place *place;
	struct tls_keys *keys; /* NULL: none are needed */
	struct chan chan;      /* owns its descriptor, -1 while it is closed */
	int viewer_fd;	       /* -1: there is no viewer yet */
	int silent_ms;	       /* timeout of a relay */
};

void link_init(struct link *link, const struct place *place, struct tls_keys *keys);
/** Return: 0; ERR_DENIED: the keys were rejected, retrying is pointless; or another code in
 *  @err. */
int link_open(struct link *link, struct err *err) MUST_CHECK;
void link_close(struct link *link);
bool link_is_open(const struct link *link);

/** Send a request. Return: 0; -ECANCELED: the viewer hung up, or sent another request before its
 *  answer; another negative errno. */
int link_request(struct link *link, uint32_t command, const void *body, size_t len) MUST_CHECK;
/** Receive @len bytes of the answer. Return: as above. */
int link_read(struct link *link, void *buf, size_t len) MUST_CHECK;
/** Text for an error of link_request() or link_read(). */
const char *link_problem(const struct link *link, int error);
/** Wait for @ms. Return: 0 or -ECANCELED. */
int link_rest(const struct link *link, int ms) MUST_CHECK;

#endif
