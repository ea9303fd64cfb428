/* SPDX-License-Identifier: GPL-2.0-only */
#include "answer.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/text.h"
#include "encode.h"
#include "xml/xml.h"

static const char *child(const struct element *parent, const char *name)
{
	for (const struct element *e = parent->first; e; e = e->next)
		if (strcmp(e->name, name) == 0)
			return e->text;
	return NULL;
}

static void take(char *to, size_t size, const char *text)
{
	char *escaped AUTO_FREE = text_escape(text ? text : "");

	snprintf(to, size, "%s", escaped);
}

void answer_error(const struct buf *document, struct answer_error *ret)
{
	struct problems problems = { .file = "answer" };
	struct xml xml;

	*ret = (struct answer_error){ 0 };
	if (document->len && document->len <= ANSWER_MAX_BYTES &&
	    xml_parse((const char *)document->data, document->len, &xml, &problems) == 0) {
		if (strcmp(xml.root->name, "Error") == 0) {
			take(ret->code, sizeof(ret->code), child(xml.root, "Code"));
			take(ret->message, sizeof(ret->message), child(xml.root, "Message"));
			take(ret->region, sizeof(ret->region), child(xml.root, "Region"));
		}
		xml_fini(&xml);
	}
	problems_fini(&problems);
}

static int bad_list(struct err *err, const char *problem)
{
	return err_set(err, ERR_BAD_MESSAGE, "%s", problem);
}

static int read_entry(const struct element *e, bool encoded,
		      int (*each)(void *data, const char *key, uint64_t bytes), void *data,
		      struct err *err)
{
	const char *key = child(e, "Key"), *size = child(e, "Size");
	char *name AUTO_FREE = key ? xstrdup(key) : NULL;
	uint64_t bytes;

	if (!name || !*name)
		return bad_list(err, "an entry of the list has no key");
	if (!size || parse_u64(size, &bytes) != 0)
		return bad_list(err, "an entry of the list has no size");
	if (encoded)
		encode_undo(name);
	return each(data, name, bytes);
}

static int read_entries(const struct element *root,
			int (*each)(void *data, const char *key, uint64_t bytes), void *data,
			struct answer_page *ret, struct err *err)
{
	const char *encoding = child(root, "EncodingType"), *more = child(root, "IsTruncated");
	const char *next = child(root, "NextContinuationToken");
	bool encoded = encoding && strcmp(encoding, "url") == 0;

	for (const struct element *e = root->first; e; e = e->next) {
		int rc = strcmp(e->name, "Contents") == 0 ?
				 read_entry(e, encoded, each, data, err) :
				 0;

		if (rc != 0)
			return rc;
		ret->nr += strcmp(e->name, "Contents") == 0;
	}
	if (!more || strcmp(more, "true") != 0)
		return 0;
	if (!next || !*next)
		return bad_list(err, "the list is cut, and has no token to continue");
	ret->next = xstrdup(next);
	return 0;
}

int answer_list(const struct buf *document,
		int (*each)(void *data, const char *key, uint64_t bytes), void *data,
		struct answer_page *ret, struct err *err)
{
	struct problems problems = { .file = "list" };
	struct xml xml;
	int rc;

	*ret = (struct answer_page){ 0 };
	if (document->len > ANSWER_MAX_BYTES ||
	    xml_parse((const char *)document->data, document->len, &xml, &problems) != 0) {
		rc = bad_list(err, problems.nr ? problems.texts[0] : "the list is too long");
	} else {
		rc = strcmp(xml.root->name, "ListBucketResult") == 0 ?
			     read_entries(xml.root, each, data, ret, err) :
			     bad_list(err, "the answer is no list of objects");
		xml_fini(&xml);
	}
	problems_fini(&problems);
	return rc;
}
