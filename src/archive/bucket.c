/* SPDX-License-Identifier: GPL-2.0-only */
#include "bucket.h"

#include <string.h>

#include "base/mem.h"

#define S3 "s3://"
#define FILES "file://"

struct bucket {
	const struct bucket_ops *ops;
	void *data;
};

int bucket_open(const char *url, struct bucket **ret, struct err *err)
{
	struct bucket bucket = { 0 };
	int result;

	if (strncmp(url, S3, strlen(S3)) == 0) {
		bucket.ops = &bucket_s3_ops;
		result = bucket_s3_open(url, &bucket.data, err);
	} else if (strncmp(url, FILES "/", strlen(FILES "/")) == 0) {
		bucket.ops = &bucket_dir_ops;
		result = bucket_dir_open(url + strlen(FILES), &bucket.data, err);
	} else {
		return err_set(err, ERR_INVALID,
			       "'%.200s' is no store: use s3://BUCKET/PREFIX or file:///DIR", url);
	}
	if (result)
		return result;
	*ret = xalloc(sizeof(**ret));
	**ret = bucket;
	return 0;
}

struct bucket *bucket_close(struct bucket *bucket)
{
	if (bucket)
		bucket->ops->close(bucket->data);
	free(bucket);
	return NULL;
}

int bucket_put(struct bucket *bucket, const char *name, const void *bytes, size_t len,
	       struct err *err)
{
	return bucket->ops->put(bucket->data, name, bytes, len, err);
}

int bucket_get(struct bucket *bucket, const char *name, int64_t at, uint64_t len, uint8_t **ret,
	       size_t *ret_len, struct err *err)
{
	return bucket->ops->get(bucket->data, name, at, len, ret, ret_len, err);
}

int bucket_list(struct bucket *bucket, const char *prefix, int (*each)(void *of, const char *name),
		void *of, struct err *err)
{
	return bucket->ops->list(bucket->data, prefix, each, of, err);
}
