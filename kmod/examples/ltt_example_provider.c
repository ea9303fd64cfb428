// SPDX-License-Identifier: GPL-2.0-only
/*
 * ltt_example_provider - registers a provider `example` with three events, which exist as long as
 * the module is loaded; it may be unloaded while they are recorded.
 *
 *   echo 3 >/sys/module/ltt_example_provider/parameters/jobs
 *
 * does three jobs: it records example:job for each, and example:done with their number. They have
 * a channel of their own, `example_jobs`. N written to `page` records example:page with N bytes (0,
 * 1, 2 and so on) and with the text that was written; for 0, both are NULL.
 *
 * With `mistake` = 1 to 3 on loading the provider is registered wrongly, with 4 to 6 the channel,
 * and the module is rejected; with 1 and 7 only if it was loaded before without, as the fields of
 * an event can't change.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sizes.h>

#include "ltt_channel.h"
#include "ltt_provider.h"

static int mistake;
module_param(mistake, int, 0444);

static const struct ltt_event_field job_fields[] = {
	LTT_FIELD_NUMBER(u32, id), LTT_FIELD_TEXT(what), LTT_FIELD_NUMBER(s64, left),
	LTT_FIELD_NUMBER(u8, priority), LTT_FIELD_TEXT(owner),
};

static const struct ltt_event_field done_fields[] = { LTT_FIELD_NUMBER(u64, jobs) };

static const struct ltt_event_field page_fields[] = {
	LTT_FIELD_BYTES(data), LTT_FIELD_NUMBER(u32, size), LTT_FIELD_TEXT(of),
	LTT_FIELD_CHARS(size_text),
};

static const struct ltt_event_field other_fields[] = {
	LTT_FIELD_BYTES(data), LTT_FIELD_NUMBER(u32, size), LTT_FIELD_TEXT(of),
	LTT_FIELD_NUMBER(char, size_text),
};

enum { JOB, DONE, PAGE };
static struct ltt_event events[] = {
	[JOB] = LTT_EVENT(job, job_fields), [DONE] = LTT_EVENT(done, done_fields),
	[PAGE] = LTT_EVENT(page, page_fields),
};
static struct ltt_provider provider = { "example", events, ARRAY_SIZE(events) };

static struct ltt_channel channel = {
	.name = "example_jobs", .events = "example:*", .subbuf_size = 65536, .num_subbuf = 8,
};

static void do_job(u32 id)
{
	if (ltt_event_is_on(&events[JOB])) {
		const struct { u32 id; s64 left; u8 priority; } __packed numbers = {
			id, -5 * (s64)id, (u8)id,
		};
		const char *texts[] = { "printing", id % 2 ? "somebody" : NULL };

		ltt_event_record(&events[JOB], &numbers, texts);
	}
}

static int do_jobs(const char *text, const struct kernel_param *param)
{
	unsigned int nr, i;
	int ret = kstrtouint(text, 0, &nr);

	for (i = 0; !ret && i < nr; i++)
		do_job(i);
	if (!ret && ltt_event_is_on(&events[DONE])) {
		const u64 jobs = nr;

		ltt_event_record(&events[DONE], &jobs, NULL);
	}
	return ret;
}

static const struct kernel_param_ops jobs_ops = { .set = do_jobs };
module_param_cb(jobs, &jobs_ops, NULL, 0200);

static int record_page(const char *text, const struct kernel_param *param)
{
	const char *texts[] = { "a page" };
	struct ltt_event_bytes bytes[2] = {};
	u32 size, i;
	u8 *data;
	int ret = kstrtou32(text, 0, &size);

	if (ret || size > SZ_1M || mistake)
		return ret ? ret : -EINVAL;
	data = kvmalloc(size + 1, GFP_KERNEL);
	if (!data)
		return -ENOMEM;
	for (i = 0; i < size; i++)
		data[i] = i;
	bytes[0] = (struct ltt_event_bytes){ size ? data : NULL, size ? size : SZ_1M };
	bytes[1] = (struct ltt_event_bytes){ size ? text : NULL, strcspn(text, "\n") };
	if (ltt_event_is_on(&events[PAGE]))
		ltt_event_record_bytes(&events[PAGE], &size, texts, bytes);
	kvfree(data);
	return 0;
}

static const struct kernel_param_ops page_ops = { .set = record_page };
module_param_cb(page, &page_ops, NULL, 0200);

static int __init example_init(void)
{
	int ret;

	if (mistake == 1)
		events[DONE].fields = &job_fields[0]; /* not those of the earlier registration */
	if (mistake == 7)
		events[PAGE].fields = other_fields; /* a number of the same type */
	if (mistake == 2)
		events[DONE].name = "job"; /* twice */
	if (mistake == 3)
		provider.name = "an example"; /* a space */
	if (mistake == 4)
		channel.name = "example jobs"; /* a space */
	if (mistake == 5)
		channel.events = "job"; /* PROVIDER: is missing */
	if (mistake == 6)
		channel.subbuf_size = 65535; /* not a power of two */
	ret = ltt_channel_register(&channel);
	if (ret)
		return ret;
	ret = ltt_provider_register(&provider);
	if (ret)
		ltt_channel_unregister(&channel);
	return ret;
}

static void __exit example_exit(void)
{
	ltt_provider_unregister(&provider);
	ltt_channel_unregister(&channel);
}

module_init(example_init);
module_exit(example_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("events of a module's own");
