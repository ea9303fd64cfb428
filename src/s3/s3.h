/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s3.h - client of an object store with the S3 API: objects below s3://BUCKET/PREFIX. A handle is
 * used by one thread at a time, and blocks it: uploads have threads of their own.
 *
 * A request that fails for a reason that may pass (no connection, no progress, 429, 5xx, a torn
 * answer) is repeated, with pauses that grow and vary, until settings.patience_s is over. Any other
 * failure returns at once, with a sentence that has the URL, the store's code and the remedy.
 * Secrets are in no sentence.
 *
 * Codes: ERR_INVALID: there is no such object, or the URL or a setting is invalid; ERR_DENIED: no
 * credentials, or the store rejects them; ERR_LIMIT: a quota of the store is used up;
 * ERR_NO_ANSWER: a later attempt may succeed; ERR_INTERRUPTED: *settings.stop; ERR_OUTPUT: other
 * refusals; ERR_UNSUPPORTED: built without libcurl.
 */
#ifndef S3_S3_H
#define S3_S3_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

#define S3_MAX_ANSWER (UINT64_C(256) << 20) /* bytes of an object that one answer may have */

struct s3;

/**
 * struct s3_settings - kept by the caller while a handle is open. NULL: from the environment, then
 * from ~/.aws/config, then from the metadata of the machine (credentials only).
 * @endpoint: https://HOST[:PORT]; without a scheme it is https. http:// has to be written out.
 * @ca_file: certificates of authorities instead of the system's.
 * @stop: read while a request or a pause lasts: true ends it. NULL: never.
 * @connect_s, @stall_s: time limits of a connection attempt, and without any progress; 0: 10, 20.
 * @request_bytes: more bytes of an object are read by several requests; 0: 64 MiB.
 * @patience_s: for how long one call repeats failed requests; 0: 30.
 */
struct s3_settings {
	const char *endpoint, *region, *credentials_file, *ca_file;
	const bool *stop;
	unsigned int connect_s, stall_s, patience_s;
	uint64_t request_bytes;
};

/** @url: s3://BUCKET[/PREFIX]. Reads settings and credentials; sends nothing to the store. */
int s3_open(const char *url, const struct s3_settings *settings, struct s3 **ret,
	    struct err *err) MUST_CHECK;
struct s3 *s3_close(struct s3 *s3);

/**
 * s3_put() - store an object, or replace it by equal content. Checks that the store has it: its
 * length, and the bytes of those of up to 256 KiB and of one in sixteen of the others.
 * @name: below PREFIX, any bytes; '/' separates.
 */
int s3_put(struct s3 *s3, const char *name, const void *data, size_t len,
	   struct err *err) MUST_CHECK;
/**
 * s3_get() - append bytes of an object to @ret.
 * @at: negative: so many bytes at the end of the object, up to S3_MAX_ANSWER. @len: 0: to the end,
 * up to that likewise.
 */
int s3_get(struct s3 *s3, const char *name, int64_t at, uint64_t len, struct buf *ret,
	   struct err *err) MUST_CHECK;
/** Names begin with @prefix; both are below PREFIX. @each: not 0: the end, and returned. */
int s3_list(struct s3 *s3, const char *prefix,
	    int (*each)(void *data, const char *name, uint64_t bytes), void *data,
	    struct err *err) MUST_CHECK;
/** An object that is not there is removed. */
int s3_remove(struct s3 *s3, const char *name, struct err *err) MUST_CHECK;

#endif
