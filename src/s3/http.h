/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * http.h - one request by libcurl and its answer, signed (AWS signature 4) if it has credentials.
 * Certificates are always verified, redirections never followed. Belongs to one handle of a store.
 */
#ifndef S3_HTTP_H
#define S3_HTTP_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

#define HTTP_MAX_HEADERS 4u

struct credentials;

struct http {
	void *curl;
	char reason[256]; /* why the last request has no answer */
};

/**
 * struct http_request - @url: encoded, its query sorted. @range: "FIRST-LAST", as in the header.
 * @credentials, @region: for the signature; NULL: none. @skew_s: the store's clock less ours.
 * @max_bytes: a longer answer is a failure. @near: to a service of this machine, never by a proxy.
 */
struct http_request {
	const char *method, *url, *range, *region, *ca_file;
	const char *headers[HTTP_MAX_HEADERS];
	const void *body;
	size_t len;
	const struct credentials *credentials;
	int64_t skew_s;
	uint64_t max_bytes;
	unsigned int connect_s, stall_s;
	const bool *stop;
	bool near;
};

/** struct http_answer - @length: of the object. @date_s: 0: the answer has no date. */
struct http_answer {
	unsigned int status;
	struct buf body;
	uint64_t length;
	unsigned int retry_after_s;
	int64_t date_s;
	char region[64];
};

enum http_result {
	HTTP_ANSWERED,
	HTTP_PASSES,  /* no answer, for a reason that may pass */
	HTTP_STOPPED, /* by *stop */
	HTTP_FAILED,  /* for good */
};

int http_init(struct http *http, struct err *err) MUST_CHECK;
void http_fini(struct http *http);
/** @ret: to be released by http_answer_fini(), whatever the result. */
enum http_result http_send(struct http *http, const struct http_request *request,
			   struct http_answer *ret);
void http_answer_fini(struct http_answer *answer);

#endif
