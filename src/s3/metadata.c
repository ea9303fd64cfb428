/* SPDX-License-Identifier: GPL-2.0-only */
#include "metadata.h"

#include <json-c/json.h>
#include <string.h>

#include "base/mem.h"

#define SERVICE "http://169.254.169.254"
#define ROLES "/latest/meta-data/iam/security-credentials/"
#define MAX_BYTES 16384u

/* Return: HTTP_ANSWERED: @ret is the text of an answer with status 200. */
static enum http_result call(struct http *http, const char *method, const char *path,
			     const char *header, const bool *stop, struct buf *ret,
			     unsigned int *ret_status)
{
	const char *base = getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT");
	char *url AUTO_FREE = xasprintf("%s%s", base && *base ? base : SERVICE, path);
	struct http_request request = {
		.method = method,
		.url = url,
		.headers = { header },
		.max_bytes = MAX_BYTES,
		.connect_s = 1,
		.stall_s = 2,
		.stop = stop,
		.near = true,
	};
	struct http_answer answer;
	enum http_result result = http_send(http, &request, &answer);

	*ret_status = answer.status;
	buf_fini(ret);
	*ret = answer.body;
	answer.body = (struct buf){ 0 };
	http_answer_fini(&answer);
	return result;
}

static const char *json_text(json_object *object, const char *name)
{
	json_object *member;

	return json_object_object_get_ex(object, name, &member) &&
			       json_object_is_type(member, json_type_string) ?
		       json_object_get_string(member) :
		       NULL;
}

/* 2026-11-29T22:13:07Z; 0: it is not. */
static int64_t time_of(const char *text)
{
	struct tm tm = { 0 };
	const char *end = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;

	return end && *end == 'Z' ? (int64_t)timegm(&tm) : 0;
}

bool metadata_parse(const char *text, struct credentials *ret)
{
	json_object *object = json_tokener_parse(text);
	const char *key = json_text(object, "AccessKeyId");
	const char *secret = json_text(object, "SecretAccessKey");
	const char *token = json_text(object, "Token");
	int64_t expires_s = time_of(json_text(object, "Expiration"));
	bool complete = key && *key && secret && *secret && token && expires_s > 0;

	if (complete)
		*ret = (struct credentials){ xstrdup(key), xstrdup(secret), xstrdup(token),
					     expires_s };
	json_object_put(object);
	return complete;
}

static enum metadata_result not_answered(struct err *err, const char *part, unsigned int status)
{
	if (status)
		err_set(err, ERR_NO_ANSWER,
			"the metadata service of this machine answers %u for %s; check the role of "
			"the machine",
			status, part);
	else
		err_set(err, ERR_NO_ANSWER,
			"the metadata service of this machine does not answer; check its network");
	return status == 404 || status == 0 ? METADATA_NONE : METADATA_FAILED;
}

static enum metadata_result fetch_role(struct http *http, const bool *stop, const char *header,
				       struct credentials *ret, struct buf *text, struct err *err)
{
	unsigned int status;
	char *path AUTO_FREE = NULL;

	if (call(http, "GET", ROLES, header, stop, text, &status) != HTTP_ANSWERED || status != 200)
		return not_answered(err, "its role", status);
	path = xasprintf(ROLES "%.*s", (int)strcspn(buf_text(text), "\r\n"), buf_text(text));
	if (call(http, "GET", path, header, stop, text, &status) != HTTP_ANSWERED || status != 200)
		return not_answered(err, "the credentials of its role", status);
	if (metadata_parse(buf_text(text), ret))
		return METADATA_FETCHED;
	err_set(err, ERR_NO_ANSWER,
		"the metadata service of this machine sends no complete credentials; check the role "
		"of the machine");
	return METADATA_FAILED;
}

enum metadata_result metadata_fetch(struct http *http, const bool *stop, struct credentials *ret,
				    struct err *err)
{
	const char *disabled = getenv("AWS_EC2_METADATA_DISABLED");
	char *header AUTO_FREE = NULL;
	enum metadata_result result;
	struct buf text = { 0 };
	unsigned int status;

	if (disabled && strcasecmp(disabled, "true") == 0)
		return not_answered(err, "", 0);
	if (call(http, "PUT", "/latest/api/token", "X-aws-ec2-metadata-token-ttl-seconds: 300",
		 stop, &text, &status) != HTTP_ANSWERED ||
	    status != 200) {
		result = not_answered(err, "a token", status);
	} else {
		header = xasprintf("X-aws-ec2-metadata-token: %.*s",
				   (int)strcspn(buf_text(&text), "\r\n"), buf_text(&text));
		result = fetch_role(http, stop, header, ret, &text, err);
	}
	if (text.data)
		explicit_bzero(text.data, text.size);
	buf_fini(&text);
	return result;
}
