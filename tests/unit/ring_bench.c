// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of a record, beside a bare read of the clock. Prints figures and
 * asserts only that each record is accounted for. As a test it runs briefly;
 * `ring_bench MILLION` takes so many records a run.
 */
#include <pthread.h>

#include "lib/tracer/testset.h"
#include "tracer/ring/context.h"
#include "tracer/ring/provider.h"

#define RUNS 8

#if defined(__x86_64__)
static inline uint64_t read_cycles(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}
#elif defined(__aarch64__)
static inline uint64_t read_cycles(void)
{
	uint64_t now;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
	return now;
}
#else
static inline uint64_t read_cycles(void)
{
	return testset_now_ns();
}
#endif

static uint64_t records = 2000000;

static void bench_cycles(void *priv)
{
	uint64_t sum = 0;

	(void)priv;
	for (uint64_t i = 0; i < records; i++)
		sum += read_cycles();
	__asm__ volatile("" ::"r"(sum));
}

static void bench_monotonic(void *priv)
{
	uint64_t sum = 0;

	(void)priv;
	for (uint64_t i = 0; i < records; i++)
		sum += testset_now_ns();
	__asm__ volatile("" ::"r"(sum));
}

static void bench_int(void *priv)
{
	uint32_t payload[8];

	for (uint64_t i = 0; i < records; i++) {
		payload[0] = (uint32_t)i;
		ring_record(priv, payload, 4);
	}
}

static const char *volatile text = "sixteen letters";

static void bench_string(void *priv)
{
	char payload[256 + 16];

	for (uint64_t i = 0; i < records; i++) {
		const char *string = text;
		size_t len = strlen(string) + 1;
		uint32_t small = (uint32_t)i;

		memcpy(payload, &i, 8);
		memcpy(payload + 8, &small, 4);
		memcpy(payload + 12, string, len);
		ring_record(priv, payload, 12 + len);
	}
}

static double best_ns(void (*run)(void *), void *priv)
{
	double best = 1e9;

	for (int i = 0; i < RUNS; i++) {
		uint64_t begin = testset_now_ns();

		run(priv);
		double ns = (double)(testset_now_ns() - begin) / (double)records;
		best = ns < best ? ns : best;
	}
	return best;
}

static void *drain(void *priv)
{
	struct testset *t = priv;

	while (!__atomic_load_n(&t->desc.magic, __ATOMIC_RELAXED)) {
		for (uint32_t ring = 0; ring < t->desc.nr_rings; ring++) {
			uint64_t pub = testset_cut(t, ring).pub;

			__atomic_store_n(&testset_cons(t, ring)->consumed, pub & LTT_POS_MASK,
					 __ATOMIC_RELEASE);
		}
		usleep(100);
	}
	return NULL;
}

static void bench_set(const char *name, uint32_t mode, uint32_t clock, int exclusive, int consume)
{
	struct testset t;
	pthread_t thread;

	testset_make(&t, testset_nr_cpus(), 4, 1 << 20, mode, clock);
	struct ring_set *set = testset_producer(&t, exclusive);
	struct binding binding = ring_binding(set, 3, 1);
	struct hook hook = { .binding = &binding };

	t.desc.magic = 0;
	CHECK(!consume || !pthread_create(&thread, NULL, drain, &t), "thread");
	double small = best_ns(bench_int, &hook);
	double big = best_ns(bench_string, &hook);
	__atomic_store_n(&t.desc.magic, 1, __ATOMIC_RELAXED);
	if (consume)
		pthread_join(thread, NULL);
	printf("%-44s %7.1f %7.1f ns\n", name, small, big);
	CHECK(testset_accounted(&t) == 2 * RUNS * records, "%llu accounted for",
	      (unsigned long long)testset_accounted(&t));
	hook.binding = NULL;
	reader_synchronize();
	ring_set_unmap(set);
	testset_free(&t);
}

/* --- contexts ------------------------------------------------------------------------ */

struct bench_context {
	struct hook hook;
	uint32_t preparation;
};

static void bench_prepared(void *priv)
{
	const struct bench_context *c = priv;
	uint32_t payload[8];

	for (uint64_t i = 0; i < records; i++) {
		payload[0] = (uint32_t)i;
		ring_record_prepared(&c->hook, c->preparation, payload, 4, 0, bench_prepared);
	}
}

static void get_request(struct ltt_context_value *ret_value, void *data)
{
	ltt_context_set_string(ret_value, data);
}

static double bench_with(struct ring_set *set, const char *names, const char *more)
{
	struct bench_context c = { .preparation = 0 };
	struct binding binding;
	char all[200];
	double ns;

	snprintf(all, sizeof(all), "%s%s%s", names, *more ? "," : "", more);
	CHECK(context_set(all, &c.preparation), "%s", all);
	binding = ring_binding_prepared(set, 3, 1, c.preparation);
	c.hook.binding = &binding;
	ns = best_ns(bench_prepared, &c);
	c.hook.binding = NULL;
	reader_synchronize();
	return ns;
}

/* Beside three contexts, in pairs: each is measured just behind these alone. */
static void bench_contexts(void)
{
	static const char base[] = "vpid,vtid,procname";
	static const char *const others[] = {
		"pthread_id", "cpu_id", "ip",	"vuid",
		"vsgid",      "net_ns", "otel", "$app.bench:request"
	};
	const struct ltt_context request = { sizeof(request), 0, "bench:request", get_request,
					     (void *)"0123456789abcdef" };
	struct testset t;

	testset_make(&t, testset_nr_cpus(), 4, 1 << 20, LTT_RING_OVERWRITE, TEST_CLOCK);
	struct ring_set *set = testset_producer(&t, ring_producer() == RING_FALLBACK);

	CHECK(ltt_context_register(&request) == 0, "context");
	printf("%-44s %7.1f ns\n", base, bench_with(set, base, ""));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		double alone = bench_with(set, base, ""), with = bench_with(set, base, others[i]);

		printf("  and %-38s %7.1f ns, %+.1f\n", others[i], with, with - alone);
	}
	ltt_context_unregister(&request);
	ring_set_unmap(set);
	testset_free(&t);
}

int main(int argc, char **argv)
{
	int rseq = ring_init() == RING_RSEQ;

	if (argc > 1)
		records = strtoull(argv[1], NULL, 0) * 1000000;
	else
		records = rseq ? 300000 : 30000;
	printf("%-44s %7.1f ns\n", "the counter alone", best_ns(bench_cycles, NULL));
	printf("%-44s %7.1f ns\n", "clock_gettime(CLOCK_MONOTONIC) alone",
	       best_ns(bench_monotonic, NULL));
	printf("%-44s %7s %7s\n", "payload", "4", "8+4+16");
	if (rseq) {
		bench_set("overwrite, counter", LTT_RING_OVERWRITE, TEST_CLOCK, 0, 0);
		bench_set("discard with a consumer, counter", LTT_RING_DISCARD, TEST_CLOCK, 0, 1);
		bench_set("discard, full, counter", LTT_RING_DISCARD, TEST_CLOCK, 0, 0);
		bench_set("overwrite, CLOCK_MONOTONIC", LTT_RING_OVERWRITE, LTT_CLOCK_MONOTONIC, 0,
			  0);
	}
	bench_set("fallback, overwrite, counter", LTT_RING_OVERWRITE, TEST_CLOCK, 1, 0);
	bench_contexts();
	return 0;
}
