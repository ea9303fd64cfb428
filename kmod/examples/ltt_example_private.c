// SPDX-License-Identifier: GPL-2.0-only
/*
 * ltt_example_private - a trace of this module alone: no daemon, no file.
 *
 *   insmod ltt_example_private.ko events='sched:sched_process_*'
 *   cat /sys/module/ltt_example_private/parameters/records
 *
 * creates a trace, records the events that the pattern accepts, and shows a line for each record:
 * time, CPU and name, and its fields that are named when the module is loaded: fields=comm,pid.
 * Other parameters when it is loaded: name of the trace, size of its buffers on each CPU in KiB,
 * and overwrite=1 to keep the latest records instead of the earliest. To read and write then:
 *
 *   records  the records since the last time, up to a page of them: the rest is shown next time
 *   ahead    the same, and they are shown again
 *   lost     number of records that found no space, and of those that were overwritten
 *   running  0 written stops the trace, 1 starts it
 */
#include <linux/module.h>

#include "ltt_trace.h"

static char *name = "example", *events = "sched:sched_process_*";
module_param(name, charp, 0444);
module_param(events, charp, 0444);
static char *fields[8];
static int nr_fields;
module_param_array(fields, charp, &nr_fields, 0444);
static unsigned int size = 256;
module_param(size, uint, 0444);
static bool overwrite;
module_param(overwrite, bool, 0444);

static int trace;

/* A page of text. */
struct page_text {
	char *text;
	int len;
};

static int put_field(struct page_text *page, const struct ltt_trace_record *record,
		     const char *field)
{
	struct ltt_trace_value value;
	int room = PAGE_SIZE - page->len;
	char *to = page->text + page->len;

	if (ltt_trace_field(record, field, &value))
		return 0; /* another event */
	if (value.kind == LTT_TRACE_NUMBER)
		return scnprintf(to, room, " %s=%lld", field, (s64)value.number);
	if (value.kind == LTT_TRACE_TEXT || value.elem_bytes == 1)
		return scnprintf(to, room, " %s=%.*s", field, (int)value.bytes,
				 (const char *)value.data);
	return scnprintf(to, room, " %s=%*phN", field, (int)min(value.bytes, 64u), value.data);
}

/* A line that may have been cut is left for the next page: the record is not read yet. */
static int show(void *data, const struct ltt_trace_record *record)
{
	struct page_text *page = data;
	int i, begin = page->len, room = PAGE_SIZE - page->len;

	page->len += scnprintf(page->text + page->len, room, "%llu %u %s:", record->time,
			       record->cpu, record->name);
	for (i = 0; i < nr_fields; i++)
		page->len += put_field(page, record, fields[i]);
	page->len += scnprintf(page->text + page->len, PAGE_SIZE - page->len, "\n");
	if (page->len < PAGE_SIZE - 1)
		return 0;
	page->len = begin;
	return -ENOSPC;
}

static int show_records(char *text, const struct kernel_param *param)
{
	struct page_text page = { text, 0 };
	long ret = ltt_trace_read(trace, show, &page);

	return ret < 0 && ret != -ENOSPC ? ret : page.len;
}

static int show_ahead(char *text, const struct kernel_param *param)
{
	struct page_text page = { text, 0 };
	long ret = ltt_trace_peek(trace, show, &page);

	return ret < 0 && ret != -ENOSPC ? ret : page.len;
}

static int show_lost(char *text, const struct kernel_param *param)
{
	struct ltt_trace_losses losses;
	int ret = ltt_trace_losses(trace, &losses);

	return ret ? ret :
		     scnprintf(text, PAGE_SIZE, "%llu %llu\n", losses.discarded,
			       losses.overwritten);
}

static int set_running(const char *text, const struct kernel_param *param)
{
	bool run;
	int ret = kstrtobool(text, &run);

	if (ret)
		return ret;
	return run ? ltt_trace_start(trace) : ltt_trace_stop(trace);
}

static const struct kernel_param_ops records_ops = { .get = show_records };
static const struct kernel_param_ops ahead_ops = { .get = show_ahead };
static const struct kernel_param_ops lost_ops = { .get = show_lost };
static const struct kernel_param_ops running_ops = { .set = set_running };
module_param_cb(records, &records_ops, NULL, 0400);
module_param_cb(ahead, &ahead_ops, NULL, 0400);
module_param_cb(lost, &lost_ops, NULL, 0400);
module_param_cb(running, &running_ops, NULL, 0200);

static int __init example_init(void)
{
	const struct ltt_trace_options options = {
		.name = name,
		.subbuf_size = size * 1024ull / 4,
		.num_subbuf = 4,
		.mode = overwrite ? LTT_TRACE_OVERWRITE : LTT_TRACE_DISCARD,
	};
	int ret;

	trace = ltt_trace_create(&options);
	if (trace < 0)
		return trace;
	ret = ltt_trace_enable(trace, events);
	if (ret >= 0)
		ret = ltt_trace_start(trace);
	if (ret < 0)
		ltt_trace_destroy(trace);
	return ret;
}

static void __exit example_exit(void)
{
	ltt_trace_destroy(trace);
}

module_init(example_init);
module_exit(example_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("a trace inside of the kernel");
