// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contexts: while threads and a signal handler record, the binding is replaced by others with
 * other contexts, or with none. Each record has the contexts that belong to its id, with the
 * values of its thread, and emitted = recorded + lost, to the record.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/tracer/testset.h"
#include "tracer/ring/context.h"
#include "tracer/ring/sys.h"

#define THREADS 4
#define KINDS 6
#define WITH_IP 2 /* the kind with the call site; which is not known to events of other kinds */
#define CALL_SITE ((const void *)0x123456789abc)
#define LONG 3000u /* payloads of this size don't fit on the stack */

/* Ids that differ in TESTSET_PREFIXES, and one that has the wide header. */
static const struct {
	uint32_t id;
	const char *names;
	uint32_t bytes;
} kinds[KINDS] = {
	{ 17, "", 0 },
	{ 3, "vpid,vtid", 8 },
	{ 501, "procname,vtid,ip,cpu_id", 32 },
	{ 9, "pthread_id,vtid,vpid,procname", 32 },
	{ 11, "vtid", 4 },
	{ 12, "procname,vuid,cpu_id,vegid,vpid,vtid,pthread_id,vgid,veuid", 52 },
};

static struct hook hook;
static int stop;
static uint64_t emitted;
static __thread uint64_t mine;
static uint32_t tids[THREADS];
static pthread_t threads[THREADS];
static uint32_t numbers[KINDS];
static uint64_t seen[KINDS];

/* The contexts as a call site may have read them a while ago. */
static void emit(uint32_t writer, uint64_t n)
{
	uint8_t payload[LONG + 128 + LTT_PAYLOAD_SLACK];
	uint32_t len = sizeof(struct body) + (uint32_t)(n * 13 % 100);
	uint32_t hint = numbers[n % KINDS];

	if (n % 16 == 5)
		len = LONG + (uint32_t)(n % 100);
	testset_fill(payload, len, writer, n);
	errno = 4711;
	if (hint && context_has_image(hint))
		ring_record_image(&hook, hint, payload, len);
	else if (hint)
		ring_record_prepared(&hook, hint, payload, len, 0, CALL_SITE);
	else
		ring_record(&hook, payload, len);
	CHECK(errno == 4711, "errno became %d", errno);
}

static void name_of(uint32_t writer, char ret[16])
{
	memset(ret, 0, 16);
	snprintf(ret, 16, "writer %u", writer);
}

static void *writer(void *arg)
{
	uint32_t self = (uint32_t)(uintptr_t)arg;
	char name[16];

	name_of(self, name);
	pthread_setname_np(pthread_self(), name);
	context_set_name(pthread_self(), name);
	__atomic_store_n(&tids[self], (uint32_t)gettid(), __ATOMIC_RELAXED);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		emit(self, mine++);
	__atomic_add_fetch(&emitted, mine, __ATOMIC_RELAXED);
	return NULL;
}

static uint32_t number_at(const uint8_t *at)
{
	uint32_t number;

	memcpy(&number, at, sizeof(number));
	return number;
}

static void check_values(const uint8_t *at, const char *names, uint32_t writer, bool has_ip)
{
	for (const char *name = names; *name; name += strcspn(name, ",")) {
		char comm[16];
		uint64_t id;

		name += *name == ',';
		if (strncmp(name, "vpid", 4) == 0) {
			CHECK(number_at(at) == (uint32_t)getpid(), "vpid %u", number_at(at));
			at += 4;
		} else if (strncmp(name, "vtid", 4) == 0) {
			CHECK(number_at(at) == __atomic_load_n(&tids[writer], __ATOMIC_RELAXED),
			      "vtid %u", number_at(at));
			at += 4;
		} else if (name[0] == 'v') {
			CHECK(number_at(at) ==
				      (strstr(name, "uid") == name + 1 ? getuid() : getgid()),
			      "user or group %u", number_at(at));
			at += 4;
		} else if (strncmp(name, "cpu_id", 6) == 0) {
			CHECK(number_at(at) < testset_nr_cpus(), "cpu_id %u", number_at(at));
			at += 4;
		} else if (strncmp(name, "pthread_id", 10) == 0) {
			memcpy(&id, at, sizeof(id));
			CHECK(id == (uint64_t)threads[writer], "pthread_id %#llx",
			      (unsigned long long)id);
			at += 8;
		} else if (strncmp(name, "ip", 2) == 0) {
			memcpy(&id, at, sizeof(id));
			CHECK(id == (uint64_t)CALL_SITE || (!has_ip && !id), "ip %#llx",
			      (unsigned long long)id);
			at += 8;
		} else {
			name_of(writer, comm);
			CHECK(memcmp(at, comm, 16) == 0, "procname %.16s", (const char *)at);
			at += 16;
		}
	}
}

static void check_record(const struct record *r, uint32_t ring, void *priv)
{
	struct body body;
	int kind = 0;

	(void)ring, (void)priv;
	while (kind < KINDS && kinds[kind].id != r->id)
		kind++;
	CHECK(kind < KINDS, "id %u", r->id);
	memcpy(&body, r->body, sizeof(body));
	CHECK(body.writer < THREADS, "writer %u", body.writer);
	check_values((const uint8_t *)r->body - kinds[kind].bytes, kinds[kind].names, body.writer,
		     body.seq % KINDS == WITH_IP);
	seen[kind]++;
}

static struct binding *binding_new(struct ring_set *set, int kind)
{
	struct binding *binding = aligned_alloc(64, 128);

	CHECK(binding, "memory");
	*binding = ring_binding_prepared(set, kinds[kind].id, 1, numbers[kind]);
	return binding;
}

static void replace(struct binding *next)
{
	const struct binding *old = hook.binding;

	__atomic_store_n(&hook.binding, next, __ATOMIC_RELEASE);
	reader_synchronize();
	if (old)
		memset((void *)old, 0x5a, sizeof(*old));
	free((void *)old);
}

static void test(const char *name, uint32_t clock, int exclusive)
{
	struct testset t;
	struct totals sum;
	int round = 0;

	memset(seen, 0, sizeof(seen));
	stop = 0;
	emitted = 0;
	testset_make(&t, testset_nr_cpus(), 4, 1 << 18, LTT_RING_DISCARD, clock);
	struct ring_set *set = testset_producer(&t, exclusive);
	replace(binding_new(set, 0));
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, writer, (void *)i), "thread");
	for (uint64_t begun = testset_now_ns(); testset_goes_on(begun, 400, seen, KINDS);
	     usleep(100)) {
		replace(binding_new(set, ++round % KINDS));
		testset_take_all(&t, check_record, NULL);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	sum = testset_take_all(&t, check_record, NULL);
	printf("%-12s %9llu emitted %9llu recorded %9llu full %llu busy, %d replaced\n", name,
	       (unsigned long long)emitted, (unsigned long long)sum.count,
	       (unsigned long long)sum.full, (unsigned long long)sum.busy, round);
	CHECK(sum.count + testset_lost(&sum) == emitted, "not exact");
	CHECK(!sum.size && (exclusive || !sum.busy), "wrong losses");
	for (int kind = 0; kind < KINDS; kind++)
		CHECK(seen[kind], "nothing with %s", kinds[kind].names);
	replace(NULL);
	ring_set_unmap(set);
	testset_free(&t);
}

static struct hook interrupting;
static uint64_t interruptions;

static void interrupt(int signal)
{
	uint8_t payload[sizeof(struct body) + LTT_PAYLOAD_SLACK];

	(void)signal;
	testset_fill(payload, sizeof(struct body), 0, interruptions++);
	ring_record_prepared(&interrupting, numbers[5], payload, sizeof(struct body), 0, NULL);
}

/* A handler's events have other contexts than the event that it interrupts, at any instruction. */
static void test_interrupted(uint32_t clock)
{
	const struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
	struct testset t;
	struct totals sum;

	emitted = mine = interruptions = 0;
	testset_make(&t, testset_nr_cpus(), 4, 1 << 20, LTT_RING_DISCARD, clock);
	struct ring_set *set = testset_producer(&t, 0);
	replace(binding_new(set, 1));
	interrupting.binding = binding_new(set, 5);
	tids[0] = (uint32_t)gettid();
	threads[0] = pthread_self();
	pthread_setname_np(pthread_self(), "writer 0");
	context_set_name(pthread_self(), "writer 0");
	signal(SIGALRM, interrupt);
	CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0, "a timer");
	for (uint64_t begun = testset_now_ns(); testset_now_ns() - begun < 200000000;) {
		for (int i = 0; i < 1000; i++) {
			uint8_t payload[sizeof(struct body) + LTT_PAYLOAD_SLACK];

			testset_fill(payload, sizeof(struct body), 0, mine++);
			if (context_has_image(numbers[1]))
				ring_record_image(&hook, numbers[1], payload, sizeof(struct body));
			else
				ring_record_prepared(&hook, numbers[1], payload,
						     sizeof(struct body), 0, NULL);
		}
		testset_take_all(&t, check_record, NULL);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	sum = testset_take_all(&t, check_record, NULL);
	printf("%-12s %9llu emitted %9llu recorded %9llu in a handler\n", "interrupted",
	       (unsigned long long)mine, (unsigned long long)sum.count,
	       (unsigned long long)interruptions);
	CHECK(sum.count + testset_lost(&sum) == mine + interruptions && !sum.busy, "not exact");
	CHECK(interruptions > 0, "no signal arrived");
	free((void *)interrupting.binding);
	replace(NULL);
	ring_set_unmap(set);
	testset_free(&t);
}

/* Contexts count for the size of a record; nothing is written that is too long. */
static void test_too_long(void)
{
	static uint8_t payload[65536 + LTT_PAYLOAD_SLACK];
	struct testset t;
	struct totals sum;

	testset_make(&t, testset_nr_cpus(), 4, 1 << 18, LTT_RING_DISCARD, TEST_CLOCK);
	struct ring_set *set = testset_producer(&t, 0);
	uint32_t most = (uint32_t)ring_set_max_payload(set);
	replace(binding_new(set, 1));
	tids[0] = (uint32_t)gettid();
	for (uint32_t len = most - 16; len <= most + 16; len++) {
		testset_fill(payload, len < 65536 ? len : 65535, 0, len);
		ring_record_prepared(&hook, numbers[1], payload, len < 65536 ? len : 65535, 0,
				     CALL_SITE);
	}
	sum = testset_take_all(&t, check_record, NULL);
	CHECK(sum.count + testset_lost(&sum) == 33 && sum.size >= 16 + kinds[1].bytes - 1,
	      "%llu too long", (unsigned long long)sum.size);
	replace(NULL);
	ring_set_unmap(set);
	testset_free(&t);
}

/* Before there are threads: an emulator of user space can't fork behind. Nothing here uses a
 * function of libc that libltt wraps: its helper thread would come along. */
static void test_child(void)
{
	unsigned char bytes[CONTEXT_BYTES];
	uint32_t set;
	int status;
	pid_t child;

	CHECK(context_set("vpid,vtid", &set), "a set");
	context_write(set, bytes, CALL_SITE);
	CHECK(number_at(bytes) == (uint32_t)getpid(), "vpid %u", number_at(bytes));
	child = fork();
	if (child == 0) {
		context_forget();
		context_write(set, bytes, CALL_SITE);
		_exit(number_at(bytes) != (uint32_t)getpid() ||
		      number_at(bytes + 4) != (uint32_t)getpid());
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0, "numbers of a child");
}

/* Values are kept until they can have changed. */
static void test_kept(void)
{
	unsigned char first[CONTEXT_BYTES], again[CONTEXT_BYTES];
	uint32_t set;

	CHECK(context_set("vuid,vegid,net_ns,uts_ns", &set), "a set");
	CHECK(context_write(set, first, CALL_SITE) == 24, "bytes");
	CHECK(number_at(first) == getuid() && number_at(first + 4) == getegid(), "users");
	CHECK(number_at(first + 8) != 0 && number_at(first + 16) != 0, "namespaces");
	if (getuid() != 0 || ring_syscall(SYS_setresgid, -1, 4711, -1, 0) != 0)
		return;
	context_write(set, again, CALL_SITE);
	CHECK(memcmp(first, again, 24) == 0, "not kept");
	context_users_changed();
	context_write(set, again, CALL_SITE);
	CHECK(number_at(again + 4) == 4711, "vegid %u", number_at(again + 4));
	CHECK(ring_syscall(SYS_setresgid, -1, 0, -1, 0) == 0, "back");
	context_namespaces_changed();
	context_write(set, again, CALL_SITE);
	CHECK(memcmp(first, again, 24) == 0, "not as before");
}

static void test_values(void)
{
	unsigned char bytes[CONTEXT_BYTES];
	uint32_t set, same;

	CHECK(!context_set("vpid,vtdi", &set) && !context_set("vpi", &set), "unknown names");
	CHECK(context_set("", &set) && set == 0, "the empty set");
	CHECK(context_set("vpid,vtid,procname", &set) && set, "a set");
	CHECK(context_set("vpid,vtid,procname", &same) && same == set, "the same set");
	CHECK(context_set("vtid,vpid,procname", &same) && same != set, "in another order");
	pthread_setname_np(pthread_self(), "before");
	context_set_name(pthread_self(), "before");
	CHECK(context_write(set, bytes, CALL_SITE) == 24 && !strcmp((char *)bytes + 8, "before"),
	      "name");
	pthread_setname_np(pthread_self(), "after");
	context_set_name(pthread_self(), "after");
	CHECK(context_write(set, bytes, CALL_SITE) == 24 && !strcmp((char *)bytes + 8, "after"),
	      "new name");
	context_forget(); /* forgets the values */
	context_forbid_calls(CONTEXT_CALLS_ALL);
	memset(bytes, 0xff, sizeof(bytes));
	context_write(set, bytes, CALL_SITE);
	CHECK(!number_at(bytes) && !number_at(bytes + 4) && !bytes[8], "no system call is made");
	context_set_name(pthread_self(), "no call");
	context_write(set, bytes, CALL_SITE);
	CHECK(!strcmp((char *)bytes + 8, "no call"), "new name without a call");
}

int main(void)
{
	test_child();
	for (int i = 0; i < KINDS; i++) {
		CHECK(context_set(kinds[i].names, &numbers[i]), "%s", kinds[i].names);
		testset_prefix[kinds[i].id % TESTSET_PREFIXES] = kinds[i].bytes;
	}
	if (ring_init() == RING_RSEQ) {
		test("counter", TEST_CLOCK, 0);
		test("monotonic", LTT_CLOCK_MONOTONIC, 0);
		test_interrupted(TEST_CLOCK);
		test_interrupted(LTT_CLOCK_MONOTONIC);
		test_too_long();
	}
	test("fallback", TEST_CLOCK, 1);
	test_kept();
	test_values();
	return 0;
}
