/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bucket.h - a place for objects, named by an URL: a bucket of a store with the S3 API, or a
 * directory. Objects are whole or not there, and are put again without harm. Names are paths below
 * the URL's, with '/' between valid names (base/str.h). A handle is used by one thread.
 */
#ifndef ARCHIVE_BUCKET_H
#define ARCHIVE_BUCKET_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define BUCKET_NAME_MAX 1000 /* bytes; S3 allows 1,024, with the prefix */

struct bucket;

struct bucket_ops {
	int (*put)(void *data, const char *name, const void *bytes, size_t len, struct err *err);
	int (*get)(void *data, const char *name, int64_t at, uint64_t len, uint8_t **ret,
		   size_t *ret_len, struct err *err);
	int (*list)(void *data, const char *prefix, int (*each)(void *of, const char *name),
		    void *of, struct err *err);
	void (*close)(void *data);
};

/** Open s3://BUCKET/PREFIX or file:///DIR. Return: 0 or the code in @err. */
int bucket_open(const char *url, struct bucket **ret, struct err *err) MUST_CHECK;
struct bucket *bucket_close(struct bucket *bucket);

/** Put an object. After success it is durable. Return: 0 or the code in @err. */
int bucket_put(struct bucket *bucket, const char *name, const void *bytes, size_t len,
	       struct err *err) MUST_CHECK;
/** Read @len bytes from offset @at; negative: the last bytes of an object, which may be shorter.
 *  @ret: allocated. Return: 0 or the code in @err; ERR_OUTPUT: it is not as long. */
int bucket_get(struct bucket *bucket, const char *name, int64_t at, uint64_t len, uint8_t **ret,
	       size_t *ret_len, struct err *err) MUST_CHECK;
/** Call @each for the objects whose names begin with @prefix, whole names, in any order, until it
 *  returns not 0. Return: 0, that, or the code in @err. */
int bucket_list(struct bucket *bucket, const char *prefix, int (*each)(void *of, const char *name),
		void *of, struct err *err) MUST_CHECK;

/* The kinds, for bucket_open(). Return: 0 or the code in @err. */
extern const struct bucket_ops bucket_dir_ops, bucket_s3_ops;
int bucket_dir_open(const char *path, void **ret, struct err *err) MUST_CHECK;
int bucket_s3_open(const char *url, void **ret, struct err *err) MUST_CHECK;

#endif
