/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s3_client [WORD...] - without a word: encoding, profiles, answers, URLs. With words, calls of
 * the client for tests/e2e/s3-client.test, which has a store:
 *
 *     URL [patience=S] [stall=S] [connect=S] [ca=FILE] [credentials=FILE] [stop=MS] [request=BYTES]
 *         {put NAME FILE | many NAME NR BYTES | get NAME AT LEN | list PREFIX | remove NAME |
 *          wait}...
 *
 * A line for each call: "ok", or the code of the failure and the sentence.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "check.h"
#include "s3/answer.h"
#include "s3/encode.h"
#include "s3/metadata.h"
#include "s3/profile.h"
#include "s3/s3.h"

static bool stop;

/* --- without a store ------------------------------------------------------------------- */

static void encodings(void)
{
	struct buf buf = { 0 };
	char text[] = "a%2fb%3D%zz%2%00%41";

	encode_append(&buf, "host=a/b c%\xc3\xa4~.-_", '/');
	CHECK_IS(strcmp(buf_text(&buf), "host%3Da/b%20c%25%C3%A4~.-_"), ==, 0);
	buf.len = 0;
	encode_append(&buf, "a/b", 0);
	CHECK_IS(strcmp(buf_text(&buf), "a%2Fb"), ==, 0);
	buf_fini(&buf);
	encode_undo(text);
	CHECK_IS(strcmp(text, "a/b=%zz%2%00A"), ==, 0);
}

static void profiles(void)
{
	static const char credentials[] = "# a comment\n[other]\naws_access_key_id = no\n"
					  "[ mine ]\r\n aws_access_key_id = nested\n"
					  "aws_access_key_id=KEY \r\n"
					  "aws_secret_access_key = se=cr/et+\n#region = no\n";
	static const char config[] = "[profile  mine]\nregion=eu-1\ns3 =\n  endpoint_url = no\n"
				     "endpoint_url = http://x\naws_access_key_id = later\n"
				     "credential_process = a\n[broken\nregion = no";
	struct profile profile = { 0 };

	profile_read(&profile, credentials, "mine");
	CHECK(!profile.region && !profile.others && !profile.token);
	profile_read(&profile, config, "mine");
	CHECK_IS(strcmp(profile.key, "KEY"), ==, 0);
	CHECK_IS(strcmp(profile.secret, "se=cr/et+"), ==, 0);
	CHECK_IS(strcmp(profile.region, "eu-1"), ==, 0);
	CHECK_IS(strcmp(profile.endpoint, "http://x"), ==, 0);
	CHECK_IS(strcmp(profile.others, "credential_process"), ==, 0);
	profile_fini(&profile);
	profile_read(&profile, credentials, "none");
	CHECK(!profile.key && !profile.secret);
	profile_fini(&profile);
}

static void metadata(void)
{
	static const char good[] =
		"{\"Code\":\"Success\",\"AccessKeyId\":\"K\",\"SecretAccessKey\":"
		"\"S\",\"Token\":\"T\",\"Expiration\":\"2026-01-02T03:04:05Z\"}";
	struct credentials c = { 0 };

	CHECK(metadata_parse(good, &c));
	CHECK_IS(c.expires_s, ==, 1767323045);
	CHECK(strcmp(c.key, "K") == 0 && strcmp(c.secret, "S") == 0 && strcmp(c.token, "T") == 0);
	credentials_fini(&c);
	CHECK(!metadata_parse("{\"AccessKeyId\":\"K\"}", &c));
	CHECK(!metadata_parse("[1]", &c) && !metadata_parse("", &c) && !metadata_parse("null", &c));
}

struct found {
	char names[100];
	uint64_t bytes;
	int end;
};

static int found_add(void *data, const char *name, uint64_t bytes)
{
	struct found *found = data;

	strncat(found->names, name, sizeof(found->names) - strlen(found->names) - 1);
	strcat(found->names, ";");
	found->bytes += bytes;
	return found->end;
}

static int list_of(const char *text, struct found *found, struct answer_page *page)
{
	struct buf document = { 0 };
	struct err err = { 0 };
	int rc;

	*found = (struct found){ .end = found->end };
	buf_append(&document, text, strlen(text));
	rc = answer_list(&document, found_add, found, page, &err);
	CHECK(rc == (int)err.code || rc == found->end);
	buf_fini(&document);
	return rc;
}

static void answers(void)
{
	static const char list[] =
		"<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/\">"
		"<EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>"
		"<NextContinuationToken>a&amp;b</NextContinuationToken>"
		"<Contents><Key>p/x%3D1</Key><Size>5</Size></Contents>"
		"<Contents><Key>p/y</Key><Size>6</Size></Contents></ListBucketResult>";
	static const char error[] =
		"<Error><Code>NoSuchBucket</Code><Message>a\x1b</Message></Error>",
			  refused[] = "<Error><Code>Slow\nDown</Code><Message>m</Message></Error>";
	struct found found = { 0 };
	struct answer_page page = { 0 };
	struct answer_error e;
	struct buf document = { 0 };

	CHECK_IS(list_of(list, &found, &page), ==, 0);
	CHECK_IS(strcmp(found.names, "p/x=1;p/y;"), ==, 0);
	CHECK(found.bytes == 11 && page.nr == 2 && strcmp(page.next, "a&b") == 0);
	free(page.next);
	found.end = 7;
	CHECK_IS(list_of(list, &found, &page), ==, 7);
	CHECK_IS(strcmp(found.names, "p/x=1;"), ==, 0);
	found.end = 0;
	CHECK_IS(list_of("<html/>", &found, &page), ==, ERR_BAD_MESSAGE);
	CHECK_IS(list_of("<ListBucketResult>", &found, &page), ==, ERR_BAD_MESSAGE);
	CHECK_IS(list_of("", &found, &page), ==, ERR_BAD_MESSAGE);
	CHECK_IS(list_of("<ListBucketResult><Contents><Key>a</Key><Size>-1</Size></Contents>"
			 "</ListBucketResult>",
			 &found, &page),
		 ==, ERR_BAD_MESSAGE);
	CHECK_IS(list_of("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
			 &found, &page),
		 ==, ERR_BAD_MESSAGE);
	CHECK_IS(list_of("<!DOCTYPE x [<!ENTITY a \"b\">]><ListBucketResult/>", &found, &page), ==,
		 ERR_BAD_MESSAGE);
	answer_error(&document, &e);
	CHECK(!*e.code && !*e.message);
	buf_append(&document, error, sizeof(error) - 1);
	answer_error(&document, &e);
	CHECK(!*e.code); /* a control byte is no XML */
	document.len = 0;
	buf_append(&document, refused, sizeof(refused) - 1);
	answer_error(&document, &e);
	CHECK_IS(strcmp(e.code, "Slow\\x0aDown"), ==, 0);
	CHECK_IS(strcmp(e.message, "m"), ==, 0);
	buf_fini(&document);
}

static int open_code(const char *url, const char *endpoint)
{
	struct s3_settings settings = { .endpoint = endpoint };
	struct err err = { 0 };
	struct s3 *s3 = NULL;
	int rc = s3_open(url, &settings, &s3, &err);

	CHECK(rc == (int)err.code && !rc == !!s3 && !rc == !*err.text);
	s3_close(s3);
	return rc;
}

static void urls(void)
{
	if (open_code("s3://bucket", NULL) == ERR_UNSUPPORTED)
		return;
	CHECK_IS(open_code("s3://bucket/a/b=c/", "host:9000"), ==, 0);
	CHECK_IS(open_code("s3://bucket", "https://host/path/"), ==, 0);
	CHECK_IS(open_code("s3://bucket", "http://[::1]:80"), ==, 0);
	CHECK_IS(open_code("s3://", NULL), ==, ERR_INVALID);
	CHECK_IS(open_code("s3:///x", NULL), ==, ERR_INVALID);
	CHECK_IS(open_code("s3://a b/x", NULL), ==, ERR_INVALID);
	CHECK_IS(open_code("http://bucket", NULL), ==, ERR_INVALID);
	CHECK_IS(open_code("s3://bucket", "ftp://host"), ==, ERR_INVALID);
	CHECK_IS(open_code("s3://bucket", "https://me@host"), ==, ERR_INVALID);
	CHECK_IS(open_code("s3://bucket", "https://"), ==, ERR_INVALID);
}

/* --- with a store ---------------------------------------------------------------------- */

struct order {
	const char *verb;
	int words;
	int (*run)(struct s3 *s3, char **words, struct err *err);
};

static int run_put(struct s3 *s3, char **words, struct err *err)
{
	FILE *f = fopen(words[1], "r");
	struct buf data = { 0 };
	char part[65536];
	size_t n;
	int rc;

	CHECK(f);
	while ((n = fread(part, 1, sizeof(part), f)))
		buf_append(&data, part, n);
	fclose(f);
	rc = s3_put(s3, words[0], data.data, data.len, err);
	buf_fini(&data);
	return rc;
}

/* Objects NAME0 to NAMEn of so many bytes. */
static int run_many(struct s3 *s3, char **words, struct err *err)
{
	size_t len = (size_t)atol(words[2]);
	char *data AUTO_FREE = xalloc(len + 1);
	int rc = 0;

	for (int i = 0; i < atoi(words[1]) && rc == 0; i++) {
		char *name AUTO_FREE = xasprintf("%s%d", words[0], i);

		memset(data, i + 1, len);
		rc = s3_put(s3, name, data, len, err);
	}
	return rc;
}

static int run_get(struct s3 *s3, char **words, struct err *err)
{
	struct buf got = { 0 };
	int rc = s3_get(s3, words[0], atoll(words[1]), (uint64_t)atoll(words[2]), &got, err);

	if (rc == 0)
		printf("%zu %.60s\n", got.len, buf_text(&got));
	buf_fini(&got);
	return rc;
}

static int print_entry(void *data, const char *name, uint64_t bytes)
{
	unsigned int *nr = data;

	if (++*nr <= 20)
		printf("  %s %" PRIu64 "\n", name, bytes);
	return 0;
}

static int run_list(struct s3 *s3, char **words, struct err *err)
{
	unsigned int nr = 0;
	int rc = s3_list(s3, words[0], print_entry, &nr, err);

	if (rc == 0)
		printf("%u objects\n", nr);
	return rc;
}

static int run_remove(struct s3 *s3, char **words, struct err *err)
{
	return s3_remove(s3, words[0], err);
}

static int run_wait(struct s3 *s3, char **words, struct err *err)
{
	(void)s3, (void)err;
	printf("waits\n");
	fflush(stdout);
	(void)words;
	return getchar() == EOF;
}

static const struct order orders[] = {
	{ "put", 2, run_put },	 { "many", 3, run_many },     { "get", 3, run_get },
	{ "list", 1, run_list }, { "remove", 1, run_remove }, { "wait", 0, run_wait },
};

static void *stopper(void *arg)
{
	int ms = atoi(arg);

	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000L }, NULL);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	return NULL;
}

static bool take_setting(char *word, struct s3_settings *settings)
{
	const char *value = strchr(word, '=');
	pthread_t thread;

	if (!value++)
		return false;
	if (strncmp(word, "patience=", 9) == 0)
		settings->patience_s = (unsigned int)atoi(value);
	else if (strncmp(word, "stall=", 6) == 0)
		settings->stall_s = (unsigned int)atoi(value);
	else if (strncmp(word, "connect=", 8) == 0)
		settings->connect_s = (unsigned int)atoi(value);
	else if (strncmp(word, "request=", 8) == 0)
		settings->request_bytes = (uint64_t)atoll(value);
	else if (strncmp(word, "ca=", 3) == 0)
		settings->ca_file = value;
	else if (strncmp(word, "credentials=", 12) == 0)
		settings->credentials_file = value;
	else if (strncmp(word, "stop=", 5) == 0)
		CHECK(pthread_create(&thread, NULL, stopper, (void *)value) == 0);
	else
		return false;
	return true;
}

/* Return: the exit status: 0, or 3 after a failure. */
static int drive(char **words)
{
	struct s3_settings settings = { .stop = &stop };
	const char *url = *words++;
	struct err err = { 0 };
	struct s3 *s3 = NULL;
	int ret = 0;

	while (*words && take_setting(*words, &settings))
		words++;
	if (s3_open(url, &settings, &s3, &err)) {
		printf("%d %s\n", err.code, err.text);
		return 3;
	}
	while (*words) {
		const struct order *order = orders;

		while (order < orders + ARRAY_SIZE(orders) && strcmp(order->verb, *words) != 0)
			order++;
		CHECK(order < orders + ARRAY_SIZE(orders));
		err = (struct err){ 0 };
		if (order->run(s3, words + 1, &err) == 0)
			printf("ok\n");
		else
			ret = printf("%d %s\n", err.code, err.text) ? 3 : 3;
		fflush(stdout);
		words += 1 + order->words;
	}
	s3_close(s3);
	return ret;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return drive(argv + 1);
	encodings();
	profiles();
	metadata();
	answers();
	urls();
	return 0;
}
