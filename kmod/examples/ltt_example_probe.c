// SPDX-License-Identifier: GPL-2.0-only
/*
 * ltt_example_probe - registers a probe for the markers example_step of ltt_example_marker; it may
 * be loaded before that module. /sys/module/ltt_example_probe/parameters/:
 *
 *   armed   1 written arms it once more, 0 once less; it is armed once at first
 *   hits    number of calls of the probe
 *   sum     sum of the steps in these calls
 *   wrong   the error of a second probe, which has a different format on purpose and is armed
 *           whenever `armed` is written
 */
#include <linux/module.h>

#include "ltt_marker.h"

struct tally {
	atomic_t hits;
	atomic_t sum;
};

static struct tally tally;
static int wrong;
module_param(wrong, int, 0444);
module_param_named(hits, tally.hits.counter, int, 0444);
module_param_named(sum, tally.sum.counter, int, 0444);

static void on_step(void *private, const char *format, va_list *values)
{
	struct tally *mine = private;

	atomic_inc(&mine->hits);
	atomic_add(va_arg(*values, unsigned int), &mine->sum);
}

static void never_called(void *private, const char *format, va_list *values)
{
	WARN_ON(1);
}

static struct ltt_marker_probe probe = {
	.name = "example_step", .format = "step %u of %s at %p cost %lld",
	.call = on_step, .private = &tally,
};

static struct ltt_marker_probe mistaken = {
	.name = "example_step", .format = "step %d", .call = never_called,
};

static int set_armed(const char *text, const struct kernel_param *param)
{
	bool want;
	int ret = kstrtobool(text, &want);

	if (ret)
		return ret;
	wrong = ltt_marker_probe_arm(&mistaken);
	ret = want ? ltt_marker_probe_arm(&probe) : ltt_marker_probe_disarm(&probe);
	return min(ret, 0);
}

static const struct kernel_param_ops armed_ops = { .set = set_armed };
module_param_cb(armed, &armed_ops, NULL, 0200);

static int __init example_init(void)
{
	ltt_marker_probe_register(&probe);
	ltt_marker_probe_register(&mistaken);
	return min(ltt_marker_probe_arm(&probe), 0);
}

static void __exit example_exit(void)
{
	ltt_marker_probe_unregister(&probe);
	ltt_marker_probe_unregister(&mistaken);
	ltt_marker_synchronize();
}

module_init(example_init);
module_exit(example_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("a listener to markers");
