/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests for triggers on events of the kernel, and a simulated module that has no memory for
 * them: events, fields and modules that are not there, and the reason that a list shows.
 */
#include "lib/kernel_fake.h"
#include "sessiond/core/trigger.h"

static struct answer add(int client, enum condition condition, const char *pattern,
			 const char *filter, const char *captures)
{
	const struct msg_trigger_action action = { .kind = ACTION_NOTIFY };
	uint8_t buf[256];
	struct encoder list;

	encoder_init(&list, buf, sizeof(buf));
	msg_trigger_action_add(&list, &action);
	return HARNESS_CALL(client, trigger_add, .name = "", .actions = encoder_list(&list),
			    .condition = (uint8_t)condition, .domain = DOMAIN_KERNEL,
			    .pattern = pattern, .end = "sched_wakeup", .filter = filter,
			    .captures = captures, .threshold = 1);
}

static bool is_refused(struct answer a, const char *sentence)
{
	if (a.code > 0 && strstr(a.text, sentence))
		return true;
	fprintf(stderr, "code %d: %s\n", a.code, a.text);
	return false;
}

static void requests(void)
{
	int client = kernel_fake_begin(true);

	CHECK(is_refused(add(client, CONDITION_EVENT, "sched_swich", "", ""),
			 "did you mean 'sched_switch'"));
	CHECK(is_refused(add(client, CONDITION_EVENT, "sched_switch", "f1 == 1", ""), "f1"));
	CHECK(is_refused(add(client, CONDITION_EVENT, "sched_switch", "f0 ==", ""), "column"));
	CHECK(is_refused(add(client, CONDITION_EVENT, "sched_switch", "", "f1"),
			 "did you mean 'f0'"));
	CHECK(is_refused(add(client, CONDITION_EVENT, "sched_switch", "", "$ctx.pdi"),
			 "did you mean 'pid'"));
	CHECK(is_refused(add(client, CONDITION_EVENT, "sched_switch", "", "$ctx.perf:cpu:cycles"),
			 "no counters"));
	CHECK(is_refused(add(client, CONDITION_EVENT, "sched_switch", "", "$app.web:id"),
			 "no contexts of applications"));
	CHECK(is_refused(add(client, CONDITION_EVENT, "sched_switch", "", "f0[1]"),
			 "no array or sequence field 'f0'"));
	CHECK(is_refused(add(client, CONDITION_PAIR, "sched_switch", "", "f0"),
			 "did you mean 'f1'")); /* those of the end */
	CHECK(is_refused(add(client, CONDITION_PAIR, "nonsense", "", ""), "no event 'nonsense'"));
	CHECK(list_empty(&harness.sd.triggers.list));
	close(client);
	harness_end();
}

static void modules(void)
{
	int client = kernel_fake_begin(false);

	CHECK(is_refused(add(client, CONDITION_EVENT, "sched_switch", "", ""), "kernel"));
	close(client);
	harness_end();
	client = kernel_fake_begin(true);
	kernel_fake.old = true;
	CHECK(is_refused(add(client, CONDITION_EVENT, "sched_switch", "", ""),
			 "older than this daemon"));
	close(client);
	harness_end();
}

/* The trigger is there, and is watched for when the module has memory again. */
static void no_memory(void)
{
	int client = kernel_fake_begin(true);
	const struct trigger *trigger;
	uint32_t points;
	char problem[300];

	CHECK_IS(add(client, CONDITION_EVENT, "sched_*", "f0 > 1", "f0").code, ==, 0);
	trigger = list_first(&harness.sd.triggers.list, struct trigger, node);
	CHECK(trigger && trigger->domain == DOMAIN_KERNEL);
	conditions_problem(&harness.sd.conditions, trigger, &points, problem, sizeof(problem));
	CHECK(points == 0 && strstr(problem, "the module has no memory"));
	CHECK_IS(HARNESS_CALL(client, trigger_remove, .name = trigger->name, .uid = getuid()).code,
		 ==, 0);
	CHECK(list_empty(&harness.sd.triggers.list));
	close(client);
	harness_end();
}

int main(void)
{
	requests();
	modules();
	no_memory();
	return 0;
}
