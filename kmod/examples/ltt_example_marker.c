// SPDX-License-Identifier: GPL-2.0-only
/*
 * ltt_example_marker - reports its steps by markers.
 *
 *   echo 3 >/sys/module/ltt_example_marker/parameters/steps
 *
 * takes three steps, each of which passes two markers of the name example_step, one of them in an
 * inline function, and one of that name that has another format by mistake: ltt_instr.ko reports it
 * when it has found it, and it is not recorded. Each step passes the tracepoint ltt_example_step,
 * too. Events marker:example_step, and probes of other modules (ltt_example_probe), receive the
 * others.
 *
 * It needs no other module, and ltt_instr.ko may be loaded before or after.
 */
#include <linux/module.h>

#include "ltt_marker.h"

#define CREATE_TRACE_POINTS
#include "ltt_example_trace.h"

static __always_inline void step_behind(unsigned int nr, const char *of)
{
	trace_mark(example_step, "step %u of %s at %p cost %lld", nr, of, NULL, 1ll << 40);
}

static noinline void step_odd(unsigned int nr)
{
	step_behind(nr, NULL);
}

static noinline void step_even(unsigned int nr)
{
	step_behind(nr, NULL);
}

static void step(unsigned int nr)
{
	trace_ltt_example_step(nr);
	trace_mark(example_step, "step %u of %s at %p cost %lld", nr, "a walk", &step_odd, -1000ll * nr);
	if (nr % 2)
		step_odd(nr);
	else
		step_even(nr);
	trace_mark(example_step, "step %s", "never heard of");
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
	return 0;
}

static void __exit example_exit(void)
{
}

module_init(example_init);
module_exit(example_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("examples of markers");
