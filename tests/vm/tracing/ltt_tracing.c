// SPDX-License-Identifier: GPL-2.0-only
/*
 * ltt_tracing - tests kmod/ltt_trace.h from inside of the kernel. A line "FAILED: ..." in the
 * kernel's log for each failure; `failures` has their number. Parameters:
 *
 *   watch   1 written: three traces of the events of ltt_emit begin, each with a task that reads it
 *           all the time and compares each record with the one before; 0: they end, and
 *   totals  has for each of them: its name, records, discarded and overwritten ones
 *   test    a name of `tests` written runs that one
 *   leave   1 when it is loaded: a trace is left behind when it is unloaded
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <trace/events/power.h>

#include "ltt_probe.h"
#include "ltt_provider.h"
#include "ltt_trace.h"

static unsigned int failures;
module_param(failures, uint, 0444);
static bool leave;
module_param(leave, bool, 0444);

#define CHECK(condition, format, ...)							\
	do {										\
		if (!(condition) && ++failures <= 20)					\
			pr_err("FAILED: %s:%d: %s: " format "\n", __func__, __LINE__,	\
			       #condition, ##__VA_ARGS__);				\
	} while (0)
#define CHECK_IS(call, want)								\
	do {										\
		long got_ = (call);							\
		CHECK(got_ == (want), "%s is %ld", #call, got_);			\
	} while (0)

static const struct ltt_trace_options small = {
	.name = "small", .subbuf_size = PAGE_SIZE, .num_subbuf = 4,
};

/* --- traces that are read while others record ------------------------------------------ */

#define WRITERS_MAX (4 * 64)

/** struct watch - @next: the number that each writer's next record has, at least. */
struct watch {
	struct ltt_trace_options options;
	int trace;
	struct task_struct *task;
	u64 last, records, skipped;
	u64 next[WRITERS_MAX];
	struct ltt_trace_losses losses;
};

static struct watch watches[] = {
	{ { "whole", SZ_1M, 8, LTT_TRACE_DISCARD } },
	{ { "tiny", SZ_4K, 2, LTT_TRACE_DISCARD } },
	{ { "flight", SZ_8K, 8, LTT_TRACE_OVERWRITE } },
};

static int watch_record(void *data, const struct ltt_trace_record *record)
{
	struct watch *watch = data;
	struct ltt_trace_value state, writer;

	CHECK(record->time >= watch->last, "%s: %llu after %llu", watch->options.name, record->time,
	      watch->last);
	CHECK(!ltt_trace_field(record, "state", &state) &&
	      !ltt_trace_field(record, "cpu_id", &writer), "%s", record->name);
	CHECK(writer.number / 4 == record->cpu, "%s: writer %llu on CPU %u", watch->options.name,
	      writer.number, record->cpu);
	if (writer.number < WRITERS_MAX) {
		u64 *next = &watch->next[writer.number];

		CHECK(state.number >= *next, "%s: %llu of writer %llu after %llu",
		      watch->options.name, state.number, writer.number, *next);
		watch->skipped += state.number - *next;
		*next = state.number + 1;
	}
	CHECK(record->time <= ltt_trace_clock(), "%llu", record->time);
	watch->last = record->time;
	watch->records++;
	return 0;
}

static void watch_read(struct watch *watch)
{
	u64 before = watch->records;
	long ret = ltt_trace_read(watch->trace, watch_record, watch);

	CHECK(ret >= 0 && ret == watch->records - before, "%ld", ret);
}

static int watch_on(void *data)
{
	while (!kthread_should_stop()) {
		watch_read(data);
		usleep_range(100, 200);
	}
	watch_read(data);
	return 0;
}

static void watch_begin(struct watch *watch)
{
	*watch = (struct watch){ watch->options, .last = ltt_trace_clock() };
	watch->trace = ltt_trace_create(&watch->options);
	CHECK(watch->trace > 0, "%d", watch->trace);
	CHECK_IS(ltt_trace_enable(watch->trace, "power:cpu_frequency"), 1);
	watch->task = kthread_run(watch_on, watch, "ltt_watch");
	CHECK_IS(ltt_trace_start(watch->trace), 0);
}

/* Events that a writer lost at its end are in no record that was read. */
static void watch_end(struct watch *watch)
{
	CHECK_IS(ltt_trace_stop(watch->trace), 0);
	kthread_stop(watch->task);
	CHECK_IS(ltt_trace_losses(watch->trace, &watch->losses), 0);
	CHECK(watch->skipped <= watch->losses.discarded + watch->losses.overwritten,
	      "%s: %llu skipped, %llu and %llu lost", watch->options.name, watch->skipped,
	      watch->losses.discarded, watch->losses.overwritten);
	CHECK_IS(ltt_trace_destroy(watch->trace), 0);
}

static int set_watch(const char *text, const struct kernel_param *param)
{
	bool begin;
	unsigned int i;
	int ret = kstrtobool(text, &begin);

	for (i = 0; !ret && i < ARRAY_SIZE(watches); i++)
		(begin ? watch_begin : watch_end)(&watches[i]);
	return ret;
}

static int show_totals(char *text, const struct kernel_param *param)
{
	unsigned int i;
	int len = 0;

	for (i = 0; i < ARRAY_SIZE(watches); i++)
		len += scnprintf(text + len, PAGE_SIZE - len, "%s %llu %llu %llu\n",
				 watches[i].options.name, watches[i].records,
				 watches[i].losses.discarded, watches[i].losses.overwritten);
	return len;
}

static const struct kernel_param_ops watch_ops = { .set = set_watch };
static const struct kernel_param_ops totals_ops = { .get = show_totals };
module_param_cb(watch, &watch_ops, NULL, 0200);
module_param_cb(totals, &totals_ops, NULL, 0444);

/* --- a trace with a few records ----------------------------------------------------------- */

static int begin_small(void)
{
	int trace = ltt_trace_create(&small);

	CHECK(trace > 0, "%d", trace);
	CHECK_IS(ltt_trace_enable(trace, "power:cpu_frequency"), 1);
	CHECK_IS(ltt_trace_start(trace), 0);
	return trace;
}

static void hit(unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		trace_cpu_frequency(i, 7);
}

/** struct visit - @trace: in use. @at: record to return @ret at, from 0. */
struct visit {
	int trace;
	u32 at;
	int ret;
	u32 nr;
	u64 first;
	int inner;
};

static int visit_record(void *data, const struct ltt_trace_record *record)
{
	struct visit *visit = data;
	struct ltt_trace_value state;

	CHECK_IS(ltt_trace_field(record, "state", &state), 0);
	if (!visit->nr)
		visit->first = state.number;
	return visit->nr++ == visit->at ? visit->ret : 0;
}

static void test_read(void)
{
	int trace = begin_small();
	struct visit all = { trace, 100 }, refuse = { trace, 3, -EAGAIN }, stop = { trace, 3, 1 };

	hit(10);
	CHECK_IS(ltt_trace_peek(trace, visit_record, &all), 10);
	CHECK_IS(ltt_trace_read(trace, visit_record, &refuse), -EAGAIN);
	CHECK_IS(ltt_trace_peek(trace, visit_record, &stop), 4);
	CHECK(stop.first == 3, "%llu", stop.first);
	stop.nr = 0;
	CHECK_IS(ltt_trace_read(trace, visit_record, &stop), 4);
	hit(1);
	all = (struct visit){ trace, 100 };
	CHECK_IS(ltt_trace_read(trace, visit_record, &all), 4);
	CHECK(all.first == 7, "%llu", all.first);
	CHECK_IS(ltt_trace_read(trace, visit_record, &all), 0);
	CHECK_IS(ltt_trace_stop(trace), 0);
	hit(1);
	CHECK_IS(ltt_trace_start(trace), 0);
	CHECK_IS(ltt_trace_disable(trace, "power:cpu_frequency"), 1);
	hit(1);
	CHECK_IS(ltt_trace_read(trace, visit_record, &all), 0);
	CHECK_IS(ltt_trace_destroy(trace), 0);
}

/* --- bad input ------------------------------------------------------------------------------ */

static int create(const char *name, u64 size, u32 num, int mode)
{
	const struct ltt_trace_options options = { name, size, num, mode };
	int trace = ltt_trace_create(&options);

	if (trace > 0)
		ltt_trace_destroy(trace);
	return trace;
}

static void test_create(void)
{
	char longest[LTT_TRACE_NAME_MAX + 1];
	int trace;

	CHECK_IS(create(NULL, SZ_4K, 2, 0), -EINVAL);
	CHECK_IS(create("", SZ_4K, 2, 0), -EINVAL);
	CHECK_IS(create("a name", SZ_4K, 2, 0), -EINVAL);
	CHECK_IS(create("../name", SZ_4K, 2, 0), -EINVAL);
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	CHECK_IS(create(longest, SZ_4K, 2, 0), -EINVAL);
	CHECK(create(longest + 1, SZ_4K, 2, 0) > 0, "a name of 63 characters");
	CHECK_IS(create("t", 0, 2, 0), -EINVAL);
	CHECK_IS(create("t", SZ_4K, 0, 0), -EINVAL);
	CHECK_IS(create("t", SZ_2K, 2, 0), -EINVAL);
	CHECK_IS(create("t", SZ_4K + 1, 2, 0), -EINVAL);
	CHECK_IS(create("t", SZ_4K, 3, 0), -EINVAL);
	CHECK_IS(create("t", SZ_4K, 1 << 17, 0), -EINVAL);
	CHECK_IS(create("t", 1ull << 63, 2, 0), -EINVAL);
	CHECK_IS(create("t", SZ_4K, 2, 2), -EINVAL);
	CHECK_IS(create("t", SZ_4K, 2, -1), -EINVAL);
	CHECK_IS(create("t", SZ_16M, 1 << 11, 0), -ENOMEM);
	trace = ltt_trace_create(&small);
	CHECK_IS(create("small", SZ_4K, 2, 0), -EEXIST);
	CHECK_IS(ltt_trace_destroy(trace), 0);
	CHECK(create("small", SZ_4K, 1, 0) > 0, "one sub-buffer");
}

static void test_names(void)
{
	int trace = ltt_trace_create(&small);

	CHECK_IS(ltt_trace_enable(trace, ""), -ENOENT);
	CHECK_IS(ltt_trace_enable(trace, "power:nonsense"), -ENOENT);
	CHECK_IS(ltt_trace_enable(trace, "sched:cpu_frequency"), -ENOENT);
	CHECK_IS(ltt_trace_enable(trace, "[" ), -ENOENT);
	CHECK_IS(ltt_trace_disable(trace, "power:nonsense"), -ENOENT);
	CHECK_IS(ltt_trace_disable(trace, "power:cpu_frequency"), 0);
	CHECK_IS(ltt_trace_enable(trace, "power:cpu_frequency"), 1);
	CHECK_IS(ltt_trace_enable(trace, "power:cpu_frequency"), 0);
	CHECK(ltt_trace_enable(trace, "power:cpu_f*") >= 0, "a pattern");
	CHECK(ltt_trace_enable(trace, "power:*") > 3, "a pattern of more");
	CHECK(ltt_trace_disable(trace, "*") > 4, "all");
	CHECK_IS(ltt_trace_destroy(trace), 0);
}

static void refused(int trace)
{
	struct ltt_trace_losses losses;

	CHECK_IS(ltt_trace_enable(trace, "power:*"), -EBADF);
	CHECK_IS(ltt_trace_disable(trace, "power:*"), -EBADF);
	CHECK_IS(ltt_trace_start(trace), -EBADF);
	CHECK_IS(ltt_trace_stop(trace), -EBADF);
	CHECK_IS(ltt_trace_read(trace, visit_record, NULL), -EBADF);
	CHECK_IS(ltt_trace_peek(trace, visit_record, NULL), -EBADF);
	CHECK_IS(ltt_trace_losses(trace, &losses), -EBADF);
	CHECK_IS(ltt_trace_destroy(trace), -EBADF);
}

static void test_handles(void)
{
	int trace = begin_small();

	hit(3);
	CHECK_IS(ltt_trace_destroy(trace), 0);
	refused(trace);
	refused(0);
	refused(-1);
	refused(INT_MAX);
}

/* --- functions that get records ------------------------------------------------------------ */

/* It uses the trace, sleeps, and causes events that are recorded themselves. */
static int recurse(void *data, const struct ltt_trace_record *record)
{
	struct visit *visit = data;

	CHECK_IS(ltt_trace_read(visit->trace, visit_record, visit), -EBUSY);
	CHECK_IS(ltt_trace_peek(visit->trace, visit_record, visit), -EBUSY);
	CHECK_IS(ltt_trace_destroy(visit->trace), -EDEADLK);
	CHECK_IS(ltt_trace_enable(visit->trace, "power:cpu_idle"), visit->nr ? 0 : 1);
	CHECK_IS(ltt_trace_start(visit->trace), 0);
	msleep(20);
	hit(2);
	visit->nr++;
	return 0;
}

static void test_recursion(void)
{
	int trace = begin_small();
	struct visit visit = { trace };

	hit(2);
	CHECK_IS(ltt_trace_read(trace, recurse, &visit), 2);
	CHECK_IS(ltt_trace_disable(trace, "power:cpu_idle"), 1);
	CHECK(ltt_trace_read(trace, visit_record, &visit) >= 4, "records of the function itself");
	CHECK_IS(ltt_trace_destroy(trace), 0);
}

/* Another task while a function gets a record: it reads, and then destroys the trace. */
struct other {
	int trace;
	struct completion begin;
};

static int other_task(void *data)
{
	struct other *other = data;
	struct visit visit = { other->trace };

	wait_for_completion(&other->begin);
	CHECK_IS(ltt_trace_read(other->trace, visit_record, &visit), -EBUSY);
	CHECK_IS(ltt_trace_peek(other->trace, visit_record, &visit), -EBUSY);
	CHECK_IS(ltt_trace_destroy(other->trace), 0);
	while (!kthread_should_stop())
		msleep(1);
	return 0;
}

/* Until the other task waits for this one to end. */
static int keep_waiting(void *data, const struct ltt_trace_record *record)
{
	struct ltt_trace_losses losses;
	struct other *other = data;
	int i;

	complete(&other->begin);
	for (i = 0; i < 3000 && !ltt_trace_losses(other->trace, &losses); i++)
		msleep(10);
	msleep(100);
	return 0;
}

static void test_second_reader(void)
{
	struct other other = { begin_small() };
	struct task_struct *task;

	init_completion(&other.begin);
	task = kthread_run(other_task, &other, "ltt_other");
	hit(5);
	CHECK_IS(ltt_trace_read(other.trace, keep_waiting, &other), 1);
	kthread_stop(task);
	refused(other.trace);
}

/* --- while ltt_emit emits ------------------------------------------------------------------ */

static int count_record(void *data, const struct ltt_trace_record *record)
{
	++*(u64 *)data;
	return 0;
}

static void test_destroy(void)
{
	u64 records = 0;
	int i;

	for (i = 0; i < 30; i++) {
		int trace = begin_small();

		msleep(2);
		ltt_trace_peek(trace, count_record, &records);
		if (i % 2)
			CHECK_IS(ltt_trace_disable(trace, "power:*"), 1);
		if (i % 3)
			ltt_trace_read(trace, count_record, &records);
		CHECK_IS(ltt_trace_destroy(trace), 0);
	}
	CHECK(records, "nothing was recorded");
}

/* --- long records -------------------------------------------------------------------------- */

#define LONG_TEXTS 8

/* All texts of a record are of one letter, which follows from its number. */
static const struct ltt_event_field long_fields[] = {
	LTT_FIELD_NUMBER(u32, nr), LTT_FIELD_TEXT(a), LTT_FIELD_TEXT(b), LTT_FIELD_TEXT(c),
	LTT_FIELD_TEXT(d), LTT_FIELD_TEXT(e), LTT_FIELD_TEXT(f), LTT_FIELD_TEXT(g),
	LTT_FIELD_TEXT(h),
};
static struct ltt_event long_events[] = { LTT_EVENT(long_record, long_fields) };
static struct ltt_provider long_provider = { "ltt_tracing", long_events, 1 };

static int record_long(void *data)
{
	static char text[LTT_EVENT_TEXT_MAX];
	const char *texts[LONG_TEXTS];
	u32 nr;
	int i;

	for (i = 0; i < LONG_TEXTS; i++)
		texts[i] = text;
	for (nr = 0; !kthread_should_stop(); nr++) {
		memset(text, 'a' + nr % 26, sizeof(text) - 1);
		ltt_event_record(&long_events[0], &nr, texts);
		cond_resched();
	}
	return 0;
}

static unsigned int pace_us;

static int record_short(void *data)
{
	for (; !kthread_should_stop(); cond_resched()) {
		hit(1);
		udelay(READ_ONCE(pace_us));
	}
	return 0;
}

/** struct order - @compare: the texts of long records, and wait, so that the rings go round. */
struct order {
	u64 last, records, longs;
	bool compare;
};

static void compare_long(const struct ltt_trace_record *record)
{
	struct ltt_trace_value nr, text;
	int i;

	CHECK(!ltt_trace_field(record, "nr", &nr), "no number");
	for (i = 0; i < LONG_TEXTS; i++) {
		const char name[] = { 'a' + i, 0 };

		CHECK(!ltt_trace_field(record, name, &text) && text.kind == LTT_TRACE_TEXT &&
		      text.bytes == LTT_EVENT_TEXT_MAX &&
		      !memchr_inv(text.data, 'a' + nr.number % 26, text.bytes - 1),
		      "%s of %llu has %u bytes", name, nr.number, text.bytes);
	}
	usleep_range(20, 40);
}

static int check_order(void *data, const struct ltt_trace_record *record)
{
	struct order *order = data;

	CHECK(record->time >= order->last, "%s: %llu after %llu", record->name, record->time,
	      order->last);
	order->last = record->time;
	order->records++;
	if (strcmp(record->name, "long_record"))
		return 0;
	order->longs++;
	if (order->compare)
		compare_long(record);
	return 0;
}

/* Few records each time: a record in progress, from before the call, is soon the only one that
 * is missing. Or many, while the rings go round. */
static void read_long(bool compare, struct ltt_trace_losses *ret)
{
	const struct ltt_trace_options options = { "long", SZ_16K, 8, LTT_TRACE_OVERWRITE };
	int trace = ltt_trace_create(&options), i;
	struct order order = { .compare = compare };

	CHECK_IS(ltt_trace_enable(trace, "power:cpu_frequency"), 1);
	CHECK_IS(ltt_trace_enable(trace, "ltt_tracing:long_record"), 1);
	WRITE_ONCE(pace_us, compare ? 0 : 20);
	CHECK_IS(ltt_trace_start(trace), 0);
	for (i = 0; i < 20000 && (order.longs < 500 || order.records < 2 * order.longs); i++)
		CHECK(ltt_trace_read(trace, check_order, &order) >= 0, "read");
	CHECK(i < 20000, "%llu long records of %llu", order.longs, order.records);
	CHECK_IS(ltt_trace_losses(trace, ret), 0);
	CHECK_IS(ltt_trace_destroy(trace), 0);
	pr_info("ltt_tracing: %llu long of %llu records by %d calls, %llu overwritten\n",
		order.longs, order.records, i, ret->overwritten);
}

static void test_long(void)
{
	struct task_struct *writers[] = {
		kthread_create_on_cpu(record_long, NULL, 1, "ltt_long/%u"),
		kthread_create_on_cpu(record_short, NULL, 2, "ltt_short/%u"),
	};
	struct ltt_trace_losses losses;
	int i;

	CHECK_IS(ltt_provider_register(&long_provider), 0);
	for (i = 0; i < ARRAY_SIZE(writers); i++)
		wake_up_process(writers[i]);
	read_long(false, &losses);
	read_long(true, &losses);
	CHECK(losses.overwritten, "none");
	for (i = 0; i < ARRAY_SIZE(writers); i++)
		kthread_stop(writers[i]);
	ltt_provider_unregister(&long_provider);
}

/* All events of the machine, twice. */
static void test_everything(void)
{
	struct ltt_trace_options options = { "everything", SZ_256K, 4, LTT_TRACE_OVERWRITE };
	int trace = ltt_trace_create(&options), i, nr = 0;
	struct ltt_trace_losses losses;
	struct order order = {};

	for (i = 0; i < 2; i++) {
		nr = ltt_trace_enable(trace, "*");
		CHECK(nr > 100, "%d", nr);
		CHECK_IS(ltt_trace_start(trace), 0);
		msleep(300);
		CHECK(ltt_trace_read(trace, check_order, &order) > 0, "no records");
		CHECK_IS(ltt_trace_disable(trace, "*"), nr);
	}
	CHECK(ltt_trace_read(trace, check_order, &order) >= 0, "the rest");
	CHECK_IS(ltt_trace_losses(trace, &losses), 0);
	pr_info("ltt_tracing: %d events, %llu records, %llu and %llu lost\n", nr, order.records,
		losses.discarded, losses.overwritten);
	CHECK_IS(ltt_trace_destroy(trace), 0);
}

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	{ "read", test_read },
	{ "create", test_create },
	{ "names", test_names },
	{ "handles", test_handles },
	{ "recursion", test_recursion },
	{ "second_reader", test_second_reader },
	{ "destroy", test_destroy },
	{ "long", test_long },
	{ "everything", test_everything },
};

static int set_test(const char *text, const struct kernel_param *param)
{
	unsigned int i, before = failures;

	for (i = 0; i < ARRAY_SIZE(tests); i++)
		if (sysfs_streq(text, tests[i].name)) {
			tests[i].run();
			return failures > before ? -EIO : 0;
		}
	return -EINVAL;
}

static const struct kernel_param_ops test_ops = { .set = set_test };
module_param_cb(test, &test_ops, NULL, 0200);

static int __init tracing_init(void)
{
	return leave ? min(begin_small(), 0) : 0;
}

static void __exit tracing_exit(void)
{
}

module_init(tracing_init);
module_exit(tracing_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("tests of traces inside of the kernel");
