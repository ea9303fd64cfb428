/* SPDX-License-Identifier: GPL-2.0-only */
#include "http.h"

#ifdef HAVE_CURL
#include <curl/curl.h>
#include <gnutls/crypto.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/mem.h"
#include "credentials.h"

#define PART_BYTES (256L << 10)	   /* of one system call, at most */
#define BODY_AT_ONCE (16ull << 20) /* of memory for an answer that has not come yet */

struct transfer {
	const struct http_request *request;
	struct http_answer *answer;
	size_t sent;
	struct curl_slist *headers;
};

static pthread_once_t global_once = PTHREAD_ONCE_INIT;
static CURLcode global_result;

static void global_init(void)
{
	global_result = curl_global_init(CURL_GLOBAL_DEFAULT);
}

int http_init(struct http *http, struct err *err)
{
	pthread_once(&global_once, global_init);
	http->curl = global_result == CURLE_OK ? curl_easy_init() : NULL;
	return http->curl ? 0 : err_set(err, ERR_INTERNAL, "libcurl can't be initialised");
}

void http_fini(struct http *http)
{
	curl_easy_cleanup(http->curl);
	http->curl = NULL;
}

void http_answer_fini(struct http_answer *answer)
{
	buf_fini(&answer->body);
}

/* --- callbacks ------------------------------------------------------------------------- */

static size_t http_on_body(char *data, size_t one, size_t len, void *arg)
{
	struct transfer *t = arg;

	(void)one;
	if (len > t->request->max_bytes - t->answer->body.len)
		return 0;
	buf_append(&t->answer->body, data, len);
	return len;
}

static size_t http_on_send(char *to, size_t one, size_t room, void *arg)
{
	struct transfer *t = arg;
	size_t n = MIN(one * room, t->request->len - t->sent);

	if (n)
		memcpy(to, (const char *)t->request->body + t->sent, n);
	t->sent += n;
	return n;
}

static int http_on_seek(void *arg, curl_off_t offset, int origin)
{
	struct transfer *t = arg;

	if (origin != SEEK_SET || offset < 0 || (uint64_t)offset > t->request->len)
		return CURL_SEEKFUNC_FAIL;
	t->sent = (size_t)offset;
	return CURL_SEEKFUNC_OK;
}

/* The value of a header line, if it has this name; blanks are cut. */
static bool http_header(const char *line, size_t len, const char *name, char *ret, size_t size)
{
	size_t at = strlen(name);

	if (len <= at || strncasecmp(line, name, at) != 0 || line[at] != ':')
		return false;
	for (at++; at < len && strchr(" \t", line[at]);)
		at++;
	while (len > at && strchr(" \t\r\n", line[len - 1]))
		len--;
	snprintf(ret, size, "%.*s", (int)(len - at), line + at);
	return true;
}

static size_t http_on_header(char *line, size_t one, size_t len, void *arg)
{
	struct transfer *t = arg;
	char value[64];

	(void)one;
	if (http_header(line, len, "retry-after", value, sizeof(value)))
		t->answer->retry_after_s = (unsigned int)MIN(strtoul(value, NULL, 10), 3600ul);
	else if (http_header(line, len, "date", value, sizeof(value)))
		t->answer->date_s = MAX(curl_getdate(value, NULL), 0);
	else if (*t->request->method == 'G' &&
		 http_header(line, len, "content-length", value, sizeof(value)))
		buf_reserve(&t->answer->body, (size_t)MIN(strtoull(value, NULL, 10), BODY_AT_ONCE));
	else if (http_header(line, len, "x-amz-bucket-region", value, sizeof(value)))
		memcpy(t->answer->region, value, sizeof(value));
	return len;
}

static int http_on_progress(void *arg, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	const struct transfer *t = arg;

	(void)a, (void)b, (void)c, (void)d;
	return t->request->stop && __atomic_load_n(t->request->stop, __ATOMIC_RELAXED);
}

/* --- a request -------------------------------------------------------------------------- */

/* The store compares it with the bytes. Over TLS, whose records have checksums, they are not read
 * once more. */
static void hash_header(const struct http_request *request, char *ret, size_t size)
{
	unsigned char sum[32];
	int n = snprintf(ret, size, "x-amz-content-sha256: ");

	if (request->len && strncmp(request->url, "https:", 6) == 0) {
		snprintf(ret + n, size - (size_t)n, "UNSIGNED-PAYLOAD");
		return;
	}
	if (gnutls_hash_fast(GNUTLS_DIG_SHA256, request->body ? request->body : "", request->len,
			     sum) < 0)
		memset(sum, 0, sizeof(sum)); /* which the store rejects */
	for (size_t i = 0; i < sizeof(sum); i++)
		n += snprintf(ret + n, size - (size_t)n, "%02x", sum[i]);
}

static void add_header(struct transfer *t, const char *line)
{
	struct curl_slist *longer = curl_slist_append(t->headers, line);

	if (longer)
		t->headers = longer;
}

static void http_sign(CURL *curl, struct transfer *t)
{
	const struct http_request *request = t->request;
	const struct credentials *c = request->credentials;
	char *kind AUTO_FREE = xasprintf("aws:amz:%s:s3", request->region), line[128];
	time_t now = time(NULL) + request->skew_s;
	struct tm tm;

	curl_easy_setopt(curl, CURLOPT_AWS_SIGV4, kind);
	curl_easy_setopt(curl, CURLOPT_USERNAME, c->key);
	curl_easy_setopt(curl, CURLOPT_PASSWORD, c->secret);
	hash_header(request, line, sizeof(line));
	add_header(t, line);
	if (request->skew_s && gmtime_r(&now, &tm) &&
	    strftime(line, sizeof(line), "x-amz-date: %Y%m%dT%H%M%SZ", &tm))
		add_header(t, line);
	if (c->token) {
		char *token AUTO_FREE = xasprintf("x-amz-security-token: %s", c->token);

		add_header(t, token);
	}
}

static void http_method(CURL *curl, struct transfer *t)
{
	const struct http_request *request = t->request;

	if (strcmp(request->method, "HEAD") == 0) {
		curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
	} else if (strcmp(request->method, "PUT") == 0) {
		curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
		curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)request->len);
		curl_easy_setopt(curl, CURLOPT_READFUNCTION, http_on_send);
		curl_easy_setopt(curl, CURLOPT_READDATA, t);
		curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, http_on_seek);
		curl_easy_setopt(curl, CURLOPT_SEEKDATA, t);
		curl_easy_setopt(curl, CURLOPT_EXPECT_100_TIMEOUT_MS, 300L);
	} else if (strcmp(request->method, "GET") != 0) {
		curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
	}
}

static void http_options(CURL *curl, const struct http_request *request, struct transfer *t)
{
	curl_easy_setopt(curl, CURLOPT_URL, request->url);
	curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, PART_BYTES);
	curl_easy_setopt(curl, CURLOPT_UPLOAD_BUFFERSIZE, PART_BYTES);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)request->connect_s);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)request->stall_s);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, http_on_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, t);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, http_on_header);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, t);
	curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, http_on_progress);
	curl_easy_setopt(curl, CURLOPT_XFERINFODATA, t);
	curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(curl, CURLOPT_RANGE, request->range);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "ltt-control/" LTT_VERSION);
	if (request->ca_file)
		curl_easy_setopt(curl, CURLOPT_CAINFO, request->ca_file);
	/* A folder is read beside the file, each time, and would be trusted beside @ca_file. */
	if (request->ca_file || curl_version_info(CURLVERSION_NOW)->cainfo)
		curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
	if (request->near)
		curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
}

static enum http_result http_judge(CURLcode code)
{
	switch (code) {
	case CURLE_OK:
		return HTTP_ANSWERED;
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_CONNECT:
	case CURLE_OPERATION_TIMEDOUT:
	case CURLE_PARTIAL_FILE:
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_SEND_FAIL_REWIND:
	case CURLE_RECV_ERROR:
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_HTTP2:
	case CURLE_HTTP2_STREAM:
	case CURLE_WEIRD_SERVER_REPLY:
		return HTTP_PASSES;
	case CURLE_ABORTED_BY_CALLBACK:
		return HTTP_STOPPED;
	default:
		return HTTP_FAILED;
	}
}

enum http_result http_send(struct http *http, const struct http_request *request,
			   struct http_answer *ret)
{
	struct transfer t = { .request = request, .answer = ret };
	curl_off_t length = 0;
	long status = 0;
	CURLcode code;

	*ret = (struct http_answer){ 0 };
	curl_easy_reset(http->curl); /* connections stay */
	curl_easy_setopt(http->curl, CURLOPT_ERRORBUFFER, http->reason);
	http_options(http->curl, request, &t);
	http_method(http->curl, &t);
	for (size_t i = 0; i < HTTP_MAX_HEADERS && request->headers[i]; i++)
		add_header(&t, request->headers[i]);
	if (request->credentials)
		http_sign(http->curl, &t);
	curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, t.headers);
	*http->reason = '\0';
	code = curl_easy_perform(http->curl);
	curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(http->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
	ret->status = (unsigned int)status;
	ret->length = length > 0 ? (uint64_t)length : 0;
	curl_slist_free_all(t.headers);
	if (code == CURLE_WRITE_ERROR)
		snprintf(http->reason, sizeof(http->reason), "an answer of more than %llu bytes",
			 (unsigned long long)request->max_bytes);
	else if (code != CURLE_OK && !*http->reason)
		snprintf(http->reason, sizeof(http->reason), "%s", curl_easy_strerror(code));
	return http_judge(code);
}
#else
int http_init(struct http *http, struct err *err)
{
	(void)http;
	return err_set(
		err, ERR_UNSUPPORTED,
		"this build has no client of object stores; use a directory (file:///DIR), or "
		"install libcurl's GnuTLS variant (Debian: libcurl4-gnutls-dev) and configure "
		"and build again");
}

void http_fini(struct http *http)
{
	(void)http;
}

void http_answer_fini(struct http_answer *answer)
{
	buf_fini(&answer->body);
}

enum http_result http_send(struct http *http, const struct http_request *request,
			   struct http_answer *ret)
{
	(void)http, (void)request;
	*ret = (struct http_answer){ 0 };
	return HTTP_FAILED;
}
#endif
