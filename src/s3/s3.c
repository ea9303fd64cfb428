/* SPDX-License-Identifier: GPL-2.0-only */
#include "s3.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <time.h>

#include "answer.h"
#include "base/mem.h"
#include "base/text.h"
#include "credentials.h"
#include "encode.h"
#include "http.h"
#include "io/loop.h"
#include "xml/libxml.h"

#define SCHEME "s3://"
#define MAX_BUCKET 255u
#define MAX_NAME 1024u /* bytes of a key, which is the limit of the API */
#define MAX_PAGES 1000000u
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)
#define PAUSE_LEAST_MS 100u
#define PAUSE_MOST_MS 20000u
#define REQUEST_BYTES (UINT64_C(64) << 20)
#define SAMPLE 16u /* one large object in so many is read back */
#define SMALL_BYTES (256u << 10)
#define CHECK_BYTES ((size_t)16 << 20) /* that are read back at once */
#define STORE_ATTEMPTS 4u /* until an object that is not found after it was stored is a failure */

/* @base: URL of the bucket, to which '/' and a key are added. @prefix: "" or ends with '/'. */
struct s3 {
	struct s3_settings settings;
	struct http http;
	struct account account;
	char *url, *base, *prefix, *region, *host;
	int64_t skew_s;
	unsigned int stored;
};

/* One request that is repeated; @what: it, in a sentence. */
struct call {
	const char *what, *name;
	struct http_request request;
	struct http_answer answer;
	bool absent_is_fine;
	unsigned int attempts;
	uint64_t deadline_ns;
	bool renewed, skewed;
	char reason[256]; /* why it is repeated */
};

/* --- opening --------------------------------------------------------------------------- */

static bool bucket_is_valid(const char *name, size_t len)
{
	return len >= 1 && len <= MAX_BUCKET &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_") >=
		       len &&
	       name[0] != '.';
}

/* Split the URL into bucket and prefix. */
static int read_url(struct s3 *s3, const char *url, char **ret_bucket, struct err *err)
{
	const char *bucket = url + strlen(SCHEME), *slash;
	size_t len;

	if (strncmp(url, SCHEME, strlen(SCHEME)) != 0)
		return err_set(err, ERR_INVALID,
			       "%.200s: not the URL of an object store; use "
			       "s3://BUCKET/PREFIX",
			       url);
	slash = strchrnul(bucket, '/');
	len = (size_t)(slash - bucket);
	if (!bucket_is_valid(bucket, len))
		return err_set(
			err, ERR_INVALID,
			"%.200s: the name of the bucket is invalid; use letters, digits, '.', "
			"'-' and '_': s3://BUCKET/PREFIX",
			url);
	slash += strspn(slash, "/");
	s3->url = xstrdup(url);
	s3->prefix = xasprintf("%s%s", slash, *slash && slash[strlen(slash) - 1] != '/' ? "/" : "");
	*ret_bucket = xasprintf("%.*s", (int)len, bucket);
	return 0;
}

/* HOST[:PORT][/PATH], without user, query, or another scheme. */
static bool endpoint_is_valid(const char *host, size_t len)
{
	return len && len < 200 && strcspn(host, "@?#\\ \t\r\n") >= len && !strstr(host, "//");
}

/* An own store has the bucket in the path; AWS has it in the name of the host, which a certificate
 * covers unless there is a dot in it. */
static int make_base(struct s3 *s3, const char *bucket, struct err *err)
{
	const char *endpoint = account_endpoint(&s3->account);
	const char *scheme = "https://", *host;
	size_t len;

	if (!endpoint && !strchr(bucket, '.') && !strpbrk(bucket, "_ABCDEFGHIJKLMNOPQRSTUVWXYZ")) {
		s3->host = xasprintf("https://%s.s3.%s.amazonaws.com", bucket, s3->region);
		s3->base = xstrdup(s3->host);
		return 0;
	}
	if (!endpoint) {
		s3->host = xasprintf("https://s3.%s.amazonaws.com", s3->region);
		s3->base = xasprintf("%s/%s", s3->host, bucket);
		return 0;
	}
	if (strncasecmp(endpoint, "http://", 7) == 0)
		scheme = "http://";
	host = endpoint + (strncasecmp(endpoint, scheme, strlen(scheme)) == 0 ? strlen(scheme) : 0);
	len = strlen(host);
	while (len && host[len - 1] == '/')
		len--;
	if (!endpoint_is_valid(host, len))
		return err_set(err, ERR_INVALID,
			       "%.100s: endpoint '%.100s' is invalid; use https://HOST[:PORT]",
			       s3->url, endpoint);
	s3->host = xasprintf("%s%.*s", scheme, (int)len, host);
	s3->base = xasprintf("%s/%s", s3->host, bucket);
	return 0;
}

static int s3_setup(struct s3 *s3, const char *url, struct err *err)
{
	char *bucket AUTO_FREE = NULL;
	const char *region;
	int rc = read_url(s3, url, &bucket, err);

	if (rc == 0)
		rc = http_init(&s3->http, err);
	if (rc == 0 && !libxml(err))
		rc = err->code;
	if (rc == 0)
		rc = account_init(&s3->account, &s3->settings, err);
	if (rc != 0)
		return rc;
	region = account_region(&s3->account);
	s3->region = xstrdup(region ? region : "us-east-1");
	if (!bucket_is_valid(s3->region, strlen(s3->region)))
		return err_set(err, ERR_INVALID, "region '%.60s' is invalid; correct AWS_REGION",
			       s3->region);
	return make_base(s3, bucket, err);
}

int s3_open(const char *url, const struct s3_settings *settings, struct s3 **ret, struct err *err)
{
	struct s3 *s3 = xalloc(sizeof(*s3));

	if (settings)
		s3->settings = *settings;
	s3->settings.connect_s = s3->settings.connect_s ? s3->settings.connect_s : 10;
	s3->settings.stall_s = s3->settings.stall_s ? s3->settings.stall_s : 20;
	s3->settings.patience_s = s3->settings.patience_s ? s3->settings.patience_s : 30;
	if (!s3->settings.request_bytes)
		s3->settings.request_bytes = REQUEST_BYTES;
	if (s3_setup(s3, url, err) != 0) {
		s3_close(s3);
		return err->code;
	}
	*ret = s3;
	return 0;
}

struct s3 *s3_close(struct s3 *s3)
{
	if (!s3)
		return NULL;
	account_fini(&s3->account);
	http_fini(&s3->http);
	free(s3->url);
	free(s3->base);
	free(s3->prefix);
	free(s3->region);
	free(s3->host);
	free(s3);
	return NULL;
}

/* --- failures --------------------------------------------------------------------------- */

static const struct {
	unsigned int status;
	const char *code; /* NULL: any, or none */
	enum err_code err;
	const char *remedy;
} refusals[] = {
	{ 0, "RequestTimeTooSkewed", ERR_DENIED,
	  "set the clocks of this machine and of the store" },
	{ 0, "InvalidAccessKeyId", ERR_DENIED, "correct the access key" },
	{ 0, "SignatureDoesNotMatch", ERR_DENIED, "correct the secret key and the region" },
	{ 0, "ExpiredToken", ERR_DENIED, "renew the credentials" },
	{ 0, "InvalidToken", ERR_DENIED, "renew the credentials" },
	{ 0, "TokenRefreshRequired", ERR_DENIED, "renew the credentials" },
	{ 0, "NoSuchBucket", ERR_OUTPUT, "create the bucket, or correct its name" },
	{ 0, "InvalidBucketName", ERR_INVALID, "correct the name of the bucket" },
	{ 0, "NoSuchKey", ERR_INVALID, "correct the name" },
	{ 0, "QuotaExceeded", ERR_LIMIT, "remove objects, or raise the quota of the store" },
	{ 507, NULL, ERR_LIMIT, "remove objects, or raise the quota of the store" },
	{ 0, "PermanentRedirect", ERR_INVALID, "set AWS_REGION to the region of the bucket" },
	{ 0, "AuthorizationHeaderMalformed", ERR_INVALID,
	  "set AWS_REGION to the region of the bucket" },
	{ 401, NULL, ERR_DENIED, "correct the credentials" },
	{ 403, NULL, ERR_DENIED, "grant the access key these rights on the bucket" },
	{ 404, NULL, ERR_INVALID, "correct the bucket and the name" },
	{ 416, NULL, ERR_INVALID, "read within the object" },
	{ 413, NULL, ERR_OUTPUT, "raise the store's limit for the size of an object" },
	{ 501, NULL, ERR_OUTPUT, "use a store that has this operation" },
};

static int s3_refuse(struct s3 *s3, const struct call *call, const struct answer_error *error,
		     struct err *err)
{
	const char *remedy = "see the log of the store";
	enum err_code code = ERR_OUTPUT;
	const char *region = *error->region ? error->region : call->answer.region;

	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		if ((refusals[i].status && refusals[i].status != call->answer.status) ||
		    (refusals[i].code && strcmp(refusals[i].code, error->code) != 0))
			continue;
		code = refusals[i].err;
		remedy = refusals[i].remedy;
		break;
	}
	return err_set(err, code, "%.100s%s%.60s: %s: %.60s answers %u%s%s%s%.60s%s; %s%s%.20s",
		       s3->url, *call->name ? ": " : "", call->name, call->what, s3->host,
		       call->answer.status, *error->code ? " " : "", error->code,
		       *error->message ? " (" : "", error->message, *error->message ? ")" : "",
		       remedy, *region ? ": " : "", region);
}

static int s3_no_answer(struct s3 *s3, const struct call *call, struct err *err)
{
	return err_set(err, ERR_NO_ANSWER,
		       "%.100s%s%.60s: %s: %.60s: %.100s (%u attempts); check the store and the "
		       "network",
		       s3->url, *call->name ? ": " : "", call->name, call->what, s3->host,
		       call->reason, call->attempts);
}

/* --- repetition --------------------------------------------------------------------------- */

static bool stopped(const struct s3 *s3)
{
	return s3->settings.stop && __atomic_load_n(s3->settings.stop, __ATOMIC_RELAXED);
}

/* Any of the upper half of the pause: many clients do not come back at once. */
static uint64_t pause_ms(unsigned int attempts, unsigned int least_s)
{
	uint64_t most = MIN((uint64_t)PAUSE_LEAST_MS << MIN(attempts, 10u), PAUSE_MOST_MS);
	unsigned int random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = (unsigned int)loop_now_ns();
	most = most / 2 + random % (most / 2 + 1);
	return MAX(most, least_s * UINT64_C(1000));
}

/* Return: whether there is time for another attempt. */
static bool s3_pause(struct s3 *s3, const struct call *call)
{
	uint64_t now = loop_now_ns();
	uint64_t until = now + pause_ms(call->attempts, call->answer.retry_after_s) * NS_PER_MS;

	if (until > call->deadline_ns)
		return false;
	for (; now < until && !stopped(s3); now = loop_now_ns()) {
		uint64_t part = MIN(until - now, 50 * NS_PER_MS);

		nanosleep(&(struct timespec){ 0, (long)part }, NULL);
	}
	return true;
}

static bool status_passes(unsigned int status, const char *code)
{
	static const char *const codes[] = {
		"RequestTimeout",   "SlowDown",	  "InternalError",
		"OperationAborted", "Throttling", "ThrottlingException",
		"IncompleteBody",   "BadDigest",  "XAmzContentSHA256Mismatch"
	};

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		if (strcmp(code, codes[i]) == 0)
			return true;
	return status == 408 || status == 429 || status == 500 || status == 502 || status == 503 ||
	       status == 504;
}

/* Credentials that were renewed since, or another clock, each once. */
static bool may_mend(struct s3 *s3, struct call *call, const char *code)
{
	static const char *const stale[] = { "ExpiredToken", "InvalidToken", "InvalidAccessKeyId",
					     "TokenRefreshRequired" };

	if (!call->skewed && call->answer.date_s &&
	    (strcmp(code, "RequestTimeTooSkewed") == 0 || strcmp(code, "RequestExpired") == 0)) {
		call->skewed = true;
		s3->skew_s = call->answer.date_s - (int64_t)time(NULL);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(stale) && !call->renewed; i++)
		if (strcmp(code, stale[i]) == 0 && s3->account.fetched_s)
			return call->renewed = true;
	return false;
}

enum verdict { CALL_DONE, CALL_AGAIN, CALL_NOW, CALL_FAILED };

static enum verdict s3_judge(struct s3 *s3, struct call *call, enum http_result result,
			     struct err *err)
{
	struct answer_error error = { 0 };
	unsigned int status = call->answer.status;

	if (result == HTTP_STOPPED) {
		err_set(err, ERR_INTERRUPTED, "%.200s: interrupted", s3->url);
		return CALL_FAILED;
	}
	if (result == HTTP_PASSES) {
		snprintf(call->reason, sizeof(call->reason), "%s", s3->http.reason);
		return CALL_AGAIN;
	}
	if (result == HTTP_FAILED) {
		err_set(err, ERR_OUTPUT,
			"%.100s: %s: %.100s: %.150s; correct the endpoint, or its "
			"certificate",
			s3->url, call->what, s3->host, s3->http.reason);
		return CALL_FAILED;
	}
	if (status / 100 == 2 || ((status == 404 || status == 416) && call->absent_is_fine))
		return CALL_DONE;
	answer_error(&call->answer.body, &error);
	if (may_mend(s3, call, error.code))
		return CALL_NOW;
	if (status_passes(status, error.code)) {
		snprintf(call->reason, sizeof(call->reason), "answers %u %s", status, error.code);
		return CALL_AGAIN;
	}
	s3_refuse(s3, call, &error, err);
	return CALL_FAILED;
}

static enum verdict s3_attempt(struct s3 *s3, struct call *call, struct err *err)
{
	struct err why = { 0 };
	int rc = account_refresh(&s3->account, &s3->http, call->renewed, &why);

	http_answer_fini(&call->answer);
	call->answer = (struct http_answer){ 0 };
	call->attempts++;
	if (rc == ERR_NO_ANSWER) {
		snprintf(call->reason, sizeof(call->reason), "%.255s", why.text);
		return CALL_AGAIN;
	}
	if (rc != 0) {
		*err = why;
		return CALL_FAILED;
	}
	call->request.credentials = &s3->account.current;
	call->request.skew_s = s3->skew_s;
	return s3_judge(s3, call, http_send(&s3->http, &call->request, &call->answer), err);
}

/* The answer is released by the caller. */
static int s3_call(struct s3 *s3, struct call *call, struct err *err)
{
	const struct s3_settings *set = &s3->settings;
	enum verdict verdict;

	call->request.region = s3->region;
	call->request.ca_file = account_ca_file(&s3->account);
	call->request.connect_s = set->connect_s;
	call->request.stall_s = set->stall_s;
	call->request.stop = set->stop;
	call->request.max_bytes = MAX(call->request.max_bytes, ANSWER_MAX_BYTES);
	if (!call->deadline_ns)
		call->deadline_ns = loop_now_ns() + set->patience_s * NS_PER_S;
	do {
		verdict = s3_attempt(s3, call, err);
		if (verdict == CALL_AGAIN && !s3_pause(s3, call))
			return s3_no_answer(s3, call, err);
		if (stopped(s3) && (verdict == CALL_AGAIN || verdict == CALL_NOW))
			return err_set(err, ERR_INTERRUPTED, "%.200s: interrupted", s3->url);
	} while (verdict == CALL_AGAIN || verdict == CALL_NOW);
	return verdict == CALL_DONE ? 0 : (int)err->code;
}

/* --- operations ---------------------------------------------------------------------------- */

static int object_url(struct s3 *s3, const char *name, struct buf *ret, struct err *err)
{
	if (!*name || strlen(s3->prefix) + strlen(name) > MAX_NAME)
		return err_set(
			err, ERR_INVALID,
			"%.100s: %.100s: the name of an object has to have 1 to %u bytes, with "
			"the prefix; use a shorter prefix",
			s3->url, name, MAX_NAME);
	buf_append(ret, s3->base, strlen(s3->base));
	buf_append(ret, "/", 1);
	encode_append(ret, s3->prefix, '/');
	encode_append(ret, name, '/');
	return 0;
}

static int object_call(struct s3 *s3, struct call *call, struct err *err)
{
	struct buf url = { 0 };
	int rc = object_url(s3, call->name, &url, err);

	if (rc == 0) {
		call->request.url = buf_text(&url);
		rc = s3_call(s3, call, err);
	}
	buf_fini(&url);
	return rc;
}

static void make_range(char *to, size_t size, int64_t at, uint64_t len)
{
	if (at < 0)
		snprintf(to, size, "%" PRId64, at);
	else if (len)
		snprintf(to, size, "%" PRId64 "-%" PRIu64, at, (uint64_t)at + len - 1);
	else
		snprintf(to, size, "%" PRId64 "-", at);
}

/* Whether the bytes from @at on are in the answer; a store that knows no ranges sends all. */
static bool answer_equals(const struct http_answer *answer, const uint8_t *data, size_t len,
			  size_t at, size_t nr)
{
	size_t first = answer->status == 206 ? at : 0, wanted = answer->status == 206 ? nr : len;

	return answer->body.len == wanted &&
	       (!wanted || memcmp(answer->body.data, data + first, wanted) == 0);
}

/* Of an object the length, or the @nr bytes from @at on. Return: 0: the store has it; -1: it has
 * not; else a code. */
static int s3_check_part(struct s3 *s3, const char *name, const uint8_t *data, size_t len,
			 size_t at, size_t nr, struct err *err)
{
	char range[64];
	struct call call = {
		.what = "check of a stored object",
		.name = name,
		.request = { .method = data ? "GET" : "HEAD",
			     .range = nr < len ? range : NULL,
			     .max_bytes = len },
		.absent_is_fine = true,
	};
	int rc;

	make_range(range, sizeof(range), (int64_t)at, nr);
	rc = object_call(s3, &call, err);
	if (rc == 0 &&
	    (call.answer.status / 100 != 2 ||
	     !(data ? answer_equals(&call.answer, data, len, at, nr) : call.answer.length == len)))
		rc = -1;
	http_answer_fini(&call.answer);
	return rc;
}

/* A large object is read back in parts, in bounded memory. */
static int s3_check(struct s3 *s3, const char *name, const void *data, size_t len, bool whole,
		    struct err *err)
{
	size_t at = 0;
	int rc;

	if (!whole)
		return s3_check_part(s3, name, NULL, len, 0, len, err);
	do {
		size_t nr = MIN(len - at, CHECK_BYTES);

		rc = s3_check_part(s3, name, data, len, at, nr, err);
		at += nr;
	} while (rc == 0 && at < len);
	return rc;
}

static int s3_store(struct s3 *s3, const char *name, const void *data, size_t len, struct err *err)
{
	struct call call = {
		.what = "upload",
		.name = name,
		.request = { .method = "PUT",
			     .body = data,
			     .len = len,
			     .headers = { "Content-Type: application/octet-stream" } },
	};
	int rc = object_call(s3, &call, err);

	http_answer_fini(&call.answer);
	return rc;
}

int s3_put(struct s3 *s3, const char *name, const void *data, size_t len, struct err *err)
{
	bool whole = s3->stored++ % SAMPLE == 0 || len <= SMALL_BYTES;
	struct call pause = { 0 };
	int rc;

	while (pause.attempts++ < STORE_ATTEMPTS) {
		rc = s3_store(s3, name, data, len, err);
		if (rc == 0)
			rc = s3_check(s3, name, data, len, whole, err);
		if (rc >= 0)
			return rc;
		pause.deadline_ns = UINT64_MAX;
		s3_pause(s3, &pause);
	}
	return err_set(
		err, ERR_OUTPUT,
		"%.100s: %.60s: %.60s answers that the object is stored, and it does not have "
		"it; check the disks and the log of the store",
		s3->url, name, s3->host);
}

/* A store that knows no ranges sends the whole object, with another status. */
static void take_range(const struct http_answer *answer, int64_t at, uint64_t len, struct buf *ret)
{
	uint64_t have = answer->body.len, first = 0, nr = have;

	if (answer->status != 206) {
		first = at >= 0 ? MIN((uint64_t)at, have) :
				  have - MIN((uint64_t)0 - (uint64_t)at, have);
		nr = have - first;
	}
	buf_append(ret, answer->body.data + first, len ? MIN(nr, len) : nr);
}

/* One request. */
static int s3_get_piece(struct s3 *s3, const char *name, int64_t at, uint64_t len, struct buf *ret,
			struct err *err)
{
	char range[64];
	struct call call = {
		.what = "download",
		.name = name,
		.request = { .method = "GET",
			     .range = at || len ? range : NULL,
			     .max_bytes = S3_MAX_ANSWER },
	};
	int rc;

	make_range(range, sizeof(range), at, len);
	rc = object_call(s3, &call, err);
	if (rc == 0)
		take_range(&call.answer, at, len, ret);
	http_answer_fini(&call.answer);
	return rc;
}

int s3_get(struct s3 *s3, const char *name, int64_t at, uint64_t len, struct buf *ret,
	   struct err *err)
{
	uint64_t most = s3->settings.request_bytes;
	size_t begin = ret->len;
	int rc;

	if (at < 0 || !len)
		return s3_get_piece(s3, name, at, len, ret, err);
	do { /* to the end of the object, if that is before */
		uint64_t got = ret->len - begin, piece = MIN(len - got, most);

		rc = s3_get_piece(s3, name, at + (int64_t)got, piece, ret, err);
		if (rc == 0 && ret->len - begin - got < piece)
			break;
	} while (rc == 0 && ret->len - begin < len);
	return rc;
}

int s3_remove(struct s3 *s3, const char *name, struct err *err)
{
	struct call call = {
		.what = "removal",
		.name = name,
		.request = { .method = "DELETE" },
	};
	int rc = object_call(s3, &call, err);

	http_answer_fini(&call.answer);
	return rc;
}

/* --- lists -------------------------------------------------------------------------------- */

struct listing {
	size_t skip; /* length of the prefix */
	const char *prefix;
	int (*each)(void *data, const char *name, uint64_t bytes);
	void *data;
};

/* One that is not below the prefix was not requested. */
static int s3_entry(void *data, const char *key, uint64_t bytes)
{
	const struct listing *l = data;

	if (strncmp(key, l->prefix, l->skip) != 0 || !key[l->skip])
		return 0;
	return l->each(l->data, key + l->skip, bytes);
}

/* The signature demands that the names of the query are sorted. */
static void list_url(struct s3 *s3, const char *prefix, const char *token, struct buf *ret)
{
	static const char query[] = "encoding-type=url&list-type=2&max-keys=1000&prefix=";

	buf_append(ret, s3->base, strlen(s3->base));
	buf_append(ret, "/?", 2);
	if (token) {
		buf_append(ret, "continuation-token=", 19);
		encode_append(ret, token, 0);
		buf_append(ret, "&", 1);
	}
	buf_append(ret, query, sizeof(query) - 1);
	encode_append(ret, s3->prefix, 0);
	encode_append(ret, prefix, 0);
}

static int list_page(struct s3 *s3, const char *prefix, char **token, struct listing *l,
		     struct err *err)
{
	struct call call = { .what = "list", .name = prefix, .request = { .method = "GET" } };
	struct answer_page page = { 0 };
	struct buf url = { 0 };
	struct err why = { 0 };
	int rc;

	list_url(s3, prefix, *token, &url);
	call.request.url = buf_text(&url);
	rc = s3_call(s3, &call, err);
	if (rc == 0) {
		rc = answer_list(&call.answer.body, s3_entry, l, &page, &why);
		if (why.code)
			rc = err_set(
				err, ERR_BAD_MESSAGE,
				"%.100s: list of %.60s: %.60s: %.100s; check that the endpoint is an "
				"object store",
				s3->url, prefix, s3->host, why.text);
	}
	if (rc == 0 && page.next && *token && strcmp(page.next, *token) == 0)
		rc = err_set(
			err, ERR_BAD_MESSAGE,
			"%.100s: list of %.60s: %.60s sends one page again and again; check the "
			"store",
			s3->url, prefix, s3->host);
	free(*token);
	*token = page.next;
	buf_fini(&url);
	http_answer_fini(&call.answer);
	return rc;
}

int s3_list(struct s3 *s3, const char *prefix,
	    int (*each)(void *data, const char *name, uint64_t bytes), void *data, struct err *err)
{
	struct listing l = { strlen(s3->prefix), s3->prefix, each, data };
	char *token AUTO_FREE = NULL;
	unsigned int pages = 0;
	int rc;

	do {
		rc = list_page(s3, prefix, &token, &l, err);
	} while (rc == 0 && token && ++pages < MAX_PAGES);
	return rc;
}
