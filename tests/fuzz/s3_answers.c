/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Texts of an object store, of the files of credentials and of the metadata service of a machine:
 * the first byte is one of "lecm" (list, error, credentials, metadata), the rest is the text.
 */
#include <string.h>

#include "base/mem.h"
#include "must_hold.h"
#include "s3/answer.h"
#include "s3/metadata.h"
#include "s3/profile.h"

#define SOURCE_LIMIT 65536u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct keys {
	unsigned int nr;
	uint64_t sum;
};

static int keys_add(void *data, const char *key, uint64_t bytes)
{
	struct keys *keys = data;

	MUST_HOLD(*key);
	keys->nr++;
	keys->sum += bytes;
	return 0;
}

static void read_list(const struct buf *text)
{
	struct answer_page page = { 0 };
	struct err err = { 0 };
	struct keys keys = { 0 };
	int rc = answer_list(text, keys_add, &keys, &page, &err);

	MUST_HOLD(rc == (int)err.code && !rc == !*err.text);
	MUST_HOLD(rc || keys.nr == page.nr);
	MUST_HOLD(!page.next || (!rc && *page.next));
	free(page.next);
}

static void read_error(const struct buf *text)
{
	struct answer_error error;

	answer_error(text, &error);
	MUST_HOLD(memchr(error.code, 0, sizeof(error.code)));
	for (const char *c = error.message; *c; c++)
		MUST_HOLD((unsigned char)*c >= ' ');
}

static void read_profile(const char *text)
{
	struct profile profile = { 0 };

	profile_read(&profile, text, "default");
	MUST_HOLD(!profile.key || (*profile.key && !strchr(profile.key, '\n')));
	profile_fini(&profile);
	MUST_HOLD(!profile.key);
}

static void read_metadata(const char *text)
{
	struct credentials c = { 0 };

	MUST_HOLD(!metadata_parse(text, &c) || (*c.key && *c.secret && c.token && c.expires_s > 0));
	credentials_fini(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf text = { 0 };

	if (size < 1 || size > SOURCE_LIMIT)
		return 0;
	buf_append(&text, data + 1, size - 1);
	switch (*data) {
	case 'l':
		read_list(&text);
		break;
	case 'e':
		read_error(&text);
		break;
	case 'c':
		read_profile(buf_text(&text));
		break;
	case 'm':
		read_metadata(buf_text(&text));
		break;
	default:
		break;
	}
	buf_fini(&text);
	return 0;
}
