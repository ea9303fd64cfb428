/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * live.h - finds the live sessions of a relay, with the viewers' protocol (LTTng-live 2.4),
 * unencrypted. Runs in the caller's thread.
 */
#ifndef CTL_TRACE_LIVE_H
#define CTL_TRACE_LIVE_H

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/macros.h"

#define LIVE_HOST_BYTES 256

/**
 * struct live_url - net://RELAY[:PORT][/host/HOST/SESSION].
 * @shown: RELAY[:PORT] in sentences: another one than @relay if a tunnel leads to it.
 * @host, @session: point into the URL; NULL: it names no session.
 */
struct live_url {
	char shown[LIVE_HOST_BYTES + 8];
	char relay[LIVE_HOST_BYTES];
	char port[8];
	const char *host;
	size_t host_len;
	const char *session;
};

/** Parse the URL of a relay or of a live session. @origin: the URL to which a tunnel leads, or
 *  NULL. Return: 0; -EINVAL: it is malformed. */
int live_url_parse(const char *url, const char *origin, struct live_url *ret) MUST_CHECK;

/**
 * live_find() - check that the relay has the live session @url. Return: 0; ERR_NO_SESSION: it has
 * not, and @err names some that it has; another code: the relay did not answer.
 */
int live_find(const struct live_url *url, struct err *err) MUST_CHECK;

/** The same, for read/live/live.h: of all that have this name. @ret: with the connection. */
struct live_session;
int live_connect_to(const struct live_url *url, struct live_session *ret,
		    struct err *err) MUST_CHECK;

/** Print the URL of each live session that the relay has, as babeltrace2 does. @scheme: of these
 *  URLs. @ret_nr: their number. Return: 0 or the code in @err. */
int live_list(const struct live_url *url, const char *scheme, FILE *out, uint32_t *ret_nr,
	      struct err *err) MUST_CHECK;

#endif
