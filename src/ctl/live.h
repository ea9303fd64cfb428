/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * live.h - lists the live sessions of a relay, with the viewers' protocol (LTTng-live 2.4),
 * unencrypted. Runs in the caller's thread.
 */
#ifndef CTL_LIVE_H
#define CTL_LIVE_H

#include "base/err.h"
#include "base/macros.h"

#define LIVE_HOST_BYTES 256

/** struct live_url - net://RELAY[:PORT]/host/HOST/SESSION. @host, @session: point into the URL. */
struct live_url {
	char relay[LIVE_HOST_BYTES];
	char port[8];
	const char *host;
	size_t host_len;
	const char *session;
};

/** Parse the URL of a live session. Return: 0; -EINVAL: it is malformed, or names no session. */
int live_url_parse(const char *url, struct live_url *ret) MUST_CHECK;

/**
 * live_find() - check that the relay has the live session @url. Return: 0; ERR_NO_SESSION: it has
 * not, and @err names some that it has; another code: the relay did not answer.
 */
int live_find(const struct live_url *url, struct err *err) MUST_CHECK;

#endif
