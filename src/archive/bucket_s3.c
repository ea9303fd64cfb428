/* SPDX-License-Identifier: GPL-2.0-only */
/* bucket_s3.c - a bucket of a store with the S3 API; settings are from the environment. */
#include "base/mem.h"
#include "bucket.h"
#include "s3/s3.h"

/** A caller of s3_list(). */
struct lister {
	int (*each)(void *of, const char *name);
	void *of;
};

static int bucket_s3_put(void *data, const char *name, const void *bytes, size_t len,
			 struct err *err)
{
	return s3_put(data, name, bytes, len, err);
}

static int bucket_s3_get(void *data, const char *name, int64_t at, uint64_t len, uint8_t **ret,
			 size_t *ret_len, struct err *err)
{
	struct buf buf = { 0 };

	/* no range has no bytes */
	if (at >= 0 && !len)
		*ret = xalloc(1);
	else if (s3_get(data, name, at, len, &buf, err) == 0)
		*ret = buf.data ? TAKE(buf.data) : xalloc(1);
	if (!err->code && at >= 0 && buf.len != len) {
		free(TAKE(*ret));
		err_set(err, ERR_OUTPUT, "%s is shorter than it was written", name);
	}
	*ret_len = buf.len;
	buf_fini(&buf);
	return err->code;
}

static int take_listed(void *data, const char *name, uint64_t bytes)
{
	const struct lister *lister = data;

	(void)bytes;
	return lister->each(lister->of, name);
}

static int bucket_s3_list(void *data, const char *prefix, int (*each)(void *of, const char *name),
			  void *of, struct err *err)
{
	struct lister lister = { each, of };

	return s3_list(data, prefix, take_listed, &lister, err);
}

static void bucket_s3_close(void *data)
{
	s3_close(data);
}

const struct bucket_ops bucket_s3_ops = { bucket_s3_put, bucket_s3_get, bucket_s3_list,
					  bucket_s3_close };

int bucket_s3_open(const char *url, void **ret, struct err *err)
{
	static const struct s3_settings settings;
	struct s3 *s3;

	if (s3_open(url, &settings, &s3, err))
		return err->code;
	*ret = s3;
	return 0;
}
