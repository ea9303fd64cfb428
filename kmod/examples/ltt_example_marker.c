// SPDX-License-Identifier: GPL-2.0-only
/*
 * ltt_example_marker - reports its steps by markers.
 *
 *   echo 3 >/sys/module/ltt_example_marker/parameters/steps
 *
 * takes three steps, each of which passes two markers of the name example_step, and one
 * of that name that has another format by mistake: ltt.ko reports it when the module is
 * loaded, and no marker is recorded. Each step passes the tracepoint ltt_example_step, too.
 * Events marker:example_step, and probes of other modules (ltt_example_probe), receive the others.
 */
#include <linux/module.h>

#include "ltt_marker.h"

#define CREATE_TRACE_POINTS
#include "ltt_example_trace.h"

LTT_MARKER(example_step, "step %u of %s at %p cost %lld");

static struct ltt_marker second_place = {
	.name = "example_step",
	.format = "step %u of %s at %p cost %lld",
	.listeners = &second_place.no_listeners,
};

static struct ltt_marker mistaken = {
	.name = "example_step",
	.format = "step %s",
	.listeners = &mistaken.no_listeners,
};

static struct ltt_marker *const markers[] = { &ltt_marker_example_step, &second_place, &mistaken };

static void step(unsigned int nr)
{
	trace_ltt_example_step(nr);
	trace_mark(example_step, nr, "a walk", &markers, -1000ll * nr);
	if (atomic_read(READ_ONCE(second_place.listeners)))
		ltt_marker_hit(&second_place, nr, NULL, NULL, 1ll << 40);
	if (atomic_read(READ_ONCE(mistaken.listeners)))
		ltt_marker_hit(&mistaken, "never heard of");
}

static int take_steps(const char *text, const struct kernel_param *param)
{
	unsigned int nr, i;
	int ret = kstrtouint(text, 0, &nr);

	for (i = 0; !ret && i < nr; i++)
		step(i);
	return ret;
}

static const struct kernel_param_ops steps_ops = { .set = take_steps };
module_param_cb(steps, &steps_ops, NULL, 0200);

static int __init example_init(void)
{
	return ltt_markers_register(markers, ARRAY_SIZE(markers));
}

static void __exit example_exit(void)
{
	ltt_markers_unregister(markers, ARRAY_SIZE(markers));
}

module_init(example_init);
module_exit(example_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("examples of markers");
