// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contexts that the application registers: values of all kinds and their bounds, names, errors;
 * while threads record, contexts come and go, and no thread is in a function that is gone; a
 * function that emits an event itself; one that a signal handler leaves by siglongjmp(); errno.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>

#include "filter/program.h"
#include "lib/tracer/testset.h"
#include "tracer/ring/context.h"
#include "tracer/ring/provider.h"

#define THREADS 3
#define ROUNDS 300
#define NEEDLE 0x600dcafeu

static uint32_t set;
static int stop;
static uint64_t with, without;

static void get_string(struct ltt_context_value *ret_value, void *data)
{
	errno = 4712;
	ltt_context_set_string(ret_value, data);
}

static void get_integer(struct ltt_context_value *ret_value, void *data)
{
	(void)data;
	ltt_context_set_integer(ret_value, -7);
}

static void get_float(struct ltt_context_value *ret_value, void *data)
{
	(void)data;
	ltt_context_set_float(ret_value, 0.5);
}

static void get_odd(struct ltt_context_value *ret_value, void *data)
{
	(void)data;
	ret_value->kind = 99;
}

/* As if it emitted an event. */
static void get_again(struct ltt_context_value *ret_value, void *data)
{
	unsigned char bytes[PROVIDER_BYTES + 8];

	(void)data;
	CHECK(context_write(set, bytes, NULL) == 19 && bytes[0] == LTT_CONTEXT_NONE, "no value");
	ltt_context_set_integer(ret_value, 1);
}

static sigjmp_buf before;
static int nr_left;

static void leave(int signo)
{
	(void)signo;
	siglongjmp(before, 1);
}

/* Its first call is left by a signal handler. */
static void get_left(struct ltt_context_value *ret_value, void *data)
{
	(void)data;
	if (nr_left++ == 0)
		raise(SIGUSR1);
	ltt_context_set_integer(ret_value, 1);
}

static struct ltt_context named(const char *name,
				void (*get)(struct ltt_context_value *ret_value, void *data))
{
	return (struct ltt_context){ .size = sizeof(struct ltt_context), .name = name, .get = get };
}

/* Writes one value, and reads it as a filter does. */
static struct ltt_filter_value value_of(const struct ltt_context *context, unsigned char *bytes)
{
	struct ltt_filter_value values[CONTEXT_VALUES];
	char name[200];
	size_t len;

	snprintf(name, sizeof(name), "$app.%s", context->name);
	CHECK(context_set(name, &set), "%s", name);
	CHECK(context_bytes(set) == PROVIDER_BYTES, "bytes");
	if (context->get)
		CHECK(ltt_context_register(context) == 0, "%s", name);
	memset(bytes, 0xee, PROVIDER_BYTES + 16);
	errno = 4711;
	len = context_write(set, bytes, NULL);
	CHECK(errno == 4711, "errno became %d", errno);
	CHECK(len <= PROVIDER_BYTES && bytes[PROVIDER_BYTES + 8] == 0xee, "%zu bytes", len);
	context_values(set, bytes, values, NULL);
	if (context->get)
		CHECK(ltt_context_unregister(context) == 0, "%s", name);
	return values[0];
}

static void test_values(void)
{
	unsigned char bytes[PROVIDER_BYTES + 16];
	struct ltt_context string = named("web:string", get_string);
	struct ltt_context absent = { .name = "web:absent" };
	struct ltt_context integer = named("web:integer", get_integer);
	struct ltt_context number = named("web:float", get_float);
	struct ltt_context odd = named("web:odd", get_odd);
	struct ltt_context again = named("web:again", get_again);
	struct ltt_filter_value value;
	char text[1000];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	string.data = text;
	value = value_of(&string, bytes);
	CHECK(value.kind == LTT_FILTER_TEXT && value.length == LTT_CONTEXT_STRING_MAX, "cut");
	strcpy(text, "abc");
	value = value_of(&string, bytes);
	CHECK(value.kind == LTT_FILTER_TEXT && value.length == 3 && bytes[0] == 3 &&
		      !memcmp(bytes + 17, "abc", 4),
	      "text");
	string.data = NULL;
	CHECK(value_of(&string, bytes).kind == LTT_FILTER_ABSENT && bytes[0] == 0, "NULL");
	CHECK(value_of(&absent, bytes).kind == LTT_FILTER_ABSENT && bytes[0] == 0, "absent");
	CHECK(value_of(&odd, bytes).kind == LTT_FILTER_ABSENT && bytes[0] == 0, "odd");
	value = value_of(&integer, bytes);
	CHECK(value.kind == LTT_FILTER_INTEGER && value.integer == -7, "integer");
	value = value_of(&number, bytes);
	CHECK(value.kind == LTT_FILTER_NUMBER && value.number == 0.5, "float");
	value = value_of(&again, bytes);
	CHECK(value.kind == LTT_FILTER_INTEGER && value.integer == 1, "again");
}

static void test_left(void)
{
	struct ltt_context left = named("web:left", get_left);
	unsigned char bytes[PROVIDER_BYTES + 8];

	signal(SIGUSR1, leave);
	CHECK(context_set("$app.web:left", &set), "set");
	CHECK(ltt_context_register(&left) == 0, "register");
	(void)sigsetjmp(before, 1);
	if (nr_left < 2)
		context_write(set, bytes, NULL);
	CHECK(nr_left == 2 && bytes[0] == LTT_CONTEXT_INTEGER, "no value after %d calls", nr_left);
	CHECK(ltt_context_unregister(&left) == 0, "unregister");
}

static void test_errors(void)
{
	static const char *const bad[] = { "",	    ":",     "a:",   ":b",   "a",     "a:b:c",
					   "a b:c", "a:b,c", "1a:b", "a:1b", "a:b\n", "ä:b" };
	struct ltt_context context = named("web:one", get_integer), same = context;
	char name[LTT_CONTEXT_NAME_MAX + 2];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		context.name = bad[i];
		CHECK(ltt_context_register(&context) == -EINVAL, "'%s'", bad[i]);
	}
	memset(name, 'n', sizeof(name));
	name[3] = ':';
	name[LTT_CONTEXT_NAME_MAX + 1] = '\0';
	context.name = name;
	CHECK(ltt_context_register(&context) == -EINVAL, "a long name");
	name[LTT_CONTEXT_NAME_MAX] = '\0';
	CHECK(ltt_context_register(&context) == 0, "the longest name");
	CHECK(ltt_context_unregister(&context) == 0, "the longest name");
	context.size = 8;
	CHECK(ltt_context_register(&context) == -EINVAL, "size");
	context = named("web:one", NULL);
	CHECK(ltt_context_register(&context) == -EINVAL, "no function");
	CHECK(ltt_context_register(NULL) == -EINVAL && ltt_context_unregister(NULL) == -ENOENT,
	      "nothing");
	context.get = get_integer;
	CHECK(ltt_context_unregister(&context) == -ENOENT, "not there");
	CHECK(ltt_context_register(&context) == 0, "one");
	CHECK(ltt_context_register(&same) == -EEXIST, "twice");
	CHECK(ltt_context_unregister(&same) == -ENOENT, "another's");
	CHECK(ltt_context_unregister(&context) == 0, "one");
}

/* --- while threads record ------------------------------------------------------------- */

static void get_checked(struct ltt_context_value *ret_value, void *data)
{
	const uint32_t *needle = data;

	for (int i = 0; i < 20; i++)
		CHECK(__atomic_load_n(needle, __ATOMIC_RELAXED) == NEEDLE, "gone");
	ltt_context_set_integer(ret_value, NEEDLE);
}

static void *writer(void *arg)
{
	unsigned char bytes[PROVIDER_BYTES + 8];
	uint64_t number, seen[2] = { 0 };

	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		size_t len = context_write(set, bytes, NULL);

		memcpy(&number, bytes + 1, sizeof(number));
		CHECK(len == 19 && number == (bytes[0] ? NEEDLE : 0), "%d", bytes[0]);
		seen[bytes[0] != 0]++;
	}
	__atomic_add_fetch(&without, seen[0], __ATOMIC_RELAXED);
	__atomic_add_fetch(&with, seen[1], __ATOMIC_RELAXED);
	return NULL;
}

static void test_coming_and_going(void)
{
	pthread_t threads[THREADS];

	CHECK(context_set("$app.web:checked", &set), "a set");
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, writer, NULL), "thread");
	for (int round = 0; round < ROUNDS; round++) {
		struct ltt_context *context = malloc(sizeof(*context));
		uint32_t *needle = malloc(sizeof(*needle));

		*needle = NEEDLE;
		*context = named("web:checked", get_checked);
		context->data = needle;
		CHECK(ltt_context_register(context) == 0, "round %d", round);
		usleep(100);
		CHECK(ltt_context_unregister(context) == 0, "round %d", round);
		__atomic_store_n(needle, 0, __ATOMIC_RELAXED);
		memset(context, 0x5a, sizeof(*context));
		free(needle);
		free(context);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK(with && without, "%llu with a value, %llu without", (unsigned long long)with,
	      (unsigned long long)without);
}

/* The last test: names are never forgotten. */
static void test_many(void)
{
	char name[32];
	struct ltt_context context = named(name, get_integer);
	int err = 0, nr = 0;

	for (; nr < 1000 && !err; nr++) {
		snprintf(name, sizeof(name), "many:n%d", nr);
		err = ltt_context_register(&context);
		CHECK(err || ltt_context_unregister(&context) == 0, "%s", name);
	}
	CHECK(err == -ENOSPC && nr > 200 && nr < 257, "%d names: %d", nr, err);
	CHECK(!context_set("$app.many:other", &set), "no slot");
	CHECK(context_set("$app.many:n1", &set), "a known name");
}

int main(void)
{
	ring_init();
	test_values();
	test_left();
	test_errors();
	test_coming_and_going();
	test_many();
	return 0;
}
