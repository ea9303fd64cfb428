/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The daemon without main(), and a kernel module that is played: which events are
 * enabled under which ids, not before their buffer is on and their description is
 * written; what is told when rules change and when the session stops; contexts, and whose
 * events; refusals.
 */
#include "kernel_play.h"

static void recording(void)
{
	int client = begin(true);
	struct answer a;

	CHECK(enable_kernel(client, "sched_switch").code == 0);
	CHECK(enable_kernel(client, "irq:*").code == 0);
	CHECK(played.told == 0); /* not yet */
	HARNESS_SEND(client, session_start, NAME);
	settle();
	a = harness_answer(client);
	CHECK(a.there && a.code == 0);
	CHECK(nr_on() == 2 && played.on[0] && played.on[2]);
	CHECK(harness.consumer.nr_adopted == 1);
	CHECK(strstr(harness.consumer.metadata, "domain = \"kernel\""));
	HARNESS_SEND(client, event_disable, NAME, .domain = DOMAIN_KERNEL, .channel = "",
		     .pattern = "irq:*");
	settle();
	CHECK(harness_answer(client).code == 0 && nr_on() == 1 && played.on[0]);
	HARNESS_SEND(client, event_enable, NAME, .domain = DOMAIN_KERNEL, .channel = "",
		     .pattern = "*", .exclude = "sched:*_wakeup,irq*,lttng_*");
	settle();
	CHECK(harness_answer(client).code == 0 && nr_on() == 2 && played.on[3]);
	HARNESS_SEND(client, session_stop, NAME);
	settle();
	CHECK(harness_answer(client).code == 0 && nr_on() == 0 && !harness.consumer.rings_on);
	HARNESS_SEND(client, session_start, NAME);
	settle();
	CHECK(harness_answer(client).code == 0 && nr_on() == 2);
	CHECK(harness.consumer.nr_adopted == 1); /* the same buffers */
	close(client);
	harness_end();
}

/* A module comes while a session records, and brings what a rule has been waiting for. */
static void newcomers(void)
{
	int client = begin(true);

	played.missing = 2;
	CHECK(enable_kernel(client, "*").code == 0);
	HARNESS_SEND(client, session_start, NAME);
	settle();
	CHECK(harness_answer(client).code == 0 && nr_on() == NR - 2);
	played.missing = 0;
	HARNESS_SEND(client, event_enable, NAME, .domain = DOMAIN_KERNEL, .channel = "",
		     .pattern = "syscall_entry_openat", .exclude = "");
	settle();
	CHECK(harness_answer(client).code == 0 && nr_on() == NR);
	close(client);
	harness_end();
}

/* Metadata that waits keeps its events from being enabled. */
static void described_first(void)
{
	int client = begin(true);

	CHECK(enable_kernel(client, "*").code == 0);
	harness.consumer.hold_type = MSG_con_metadata_append;
	HARNESS_SEND(client, session_start, NAME);
	settle();
	CHECK(nr_on() == 0 && !harness_answer(client).there);
	played.unseen = true;
	for (int i = 0; i < 3 && nr_on() == 0; i++) {
		fake_release();
		settle();
	}
	CHECK(harness_answer(client).code == 0 && nr_on() == NR);
	close(client);
	harness_end();
}

static void refusals(void)
{
	int client = begin(false);
	struct answer a = enable_kernel(client, "*");

	CHECK(a.code == ERR_UNSUPPORTED && strstr(a.text, "--no-kernel"));
	CHECK(HARNESS_CALL(client, point_list, .domain = DOMAIN_KERNEL).code == ERR_UNSUPPORTED);
	CHECK(enable(client, "*").code == 0); /* applications are recorded all the same */
	close(client);
	harness_end();

	client = begin(true);
	a = enable_kernel(client, "sched_swich");
	CHECK(a.code == ERR_NO_EVENT && strstr(a.text, "did you mean 'sched_switch'?"));
	CHECK(HARNESS_CALL(client, point_list, .domain = DOMAIN_KERNEL).items[MSG_point] == NR);
	CHECK(enable_kernel(client, "sched_switch").code == 0);
	played.refuse = ENOMEM;
	HARNESS_SEND(client, session_start, NAME);
	settle();
	a = harness_answer(client);
	CHECK(a.there && a.code == ERR_NO_MEMORY && nr_on() == 0);
	played.refuse = 0;
	HARNESS_SEND(client, session_start, NAME);
	settle();
	CHECK(harness_answer(client).code == 0 && nr_on() == 1);
	close(client);
	harness_end();
}

static struct answer count(int client, enum rule_kind kind, const char *pattern, const char *field)
{
	return HARNESS_CALL(client, event_enable, NAME, .domain = DOMAIN_KERNEL, .channel = "",
			    .pattern = pattern, .exclude = "", .kind = (uint8_t)kind,
			    .location = field);
}

static void start_and_stop(int client, bool start)
{
	if (start)
		HARNESS_SEND(client, session_start, NAME);
	else
		HARNESS_SEND(client, session_stop, NAME);
	settle();
	CHECK(harness_answer(client).code == 0);
	settle();
}

/* Counted while it is started, and kept; nothing is recorded. */
static void statistics(void)
{
	int client = begin(true);
	struct answer a = count(client, RULE_HISTOGRAM, "sched_switch", "nonsense");

	CHECK(a.code == ERR_INVALID && strstr(a.text, "no integer field 'nonsense'"));
	CHECK(count(client, RULE_HISTOGRAM, "sched_switch", "").code == ERR_INVALID);
	CHECK(count(client, RULE_COUNT, "sched_switch", "x").code == ERR_INVALID);
	CHECK(count(client, RULE_COUNT, "sched_*", "").code == 0);
	CHECK(count(client, RULE_HISTOGRAM, "sched_switch", "f0").code == 0);
	CHECK(HARNESS_CALL(client, stats_list, NAME).items[MSG_counted] == 0);
	start_and_stop(client, true);
	CHECK(played.nr_counted == 1 + 2 && nr_on() == 0 && !played.channel);
	CHECK(played.tally.flags == LTT_KMOD_HISTOGRAM &&
	      strcmp(played.tally.name, "sched:sched_switch") == 0);
	played.hits = 7;
	CHECK(HARNESS_CALL(client, stats_list, NAME).items[MSG_counted] == 1 + 2);
	start_and_stop(client, false);
	CHECK(played.nr_counted == 0);
	start_and_stop(client, true); /* what was counted stays, and more comes */
	CHECK(played.nr_counted == 1 + 2);
	CHECK(HARNESS_CALL(client, stats_list, NAME).items[MSG_counted] == 1 + 2);
	start_and_stop(client, false);
	close(client);
	harness_end();
}

static struct answer add(int client, const char *channel, const char *type)
{
	return HARNESS_CALL(client, context_add, NAME, .domain = DOMAIN_KERNEL, .channel = channel,
			    .type = type);
}

static void contexts(void)
{
	int client = begin(true);
	struct answer a = add(client, "", "procnam");

	CHECK(a.code == ERR_INVALID && strstr(a.text, "did you mean 'procname'?"));
	CHECK(add(client, "nosuch", "pid").code == ERR_NO_CHANNEL);
	CHECK(HARNESS_CALL(client, context_add, NAME, .domain = DOMAIN_USER, .type = "pid").code ==
	      ERR_UNSUPPORTED);
	a = HARNESS_CALL(client, context_list, .domain = DOMAIN_KERNEL);
	CHECK(a.items[MSG_context] == 2 + 13); /* counters of this machine, in some trials */
	a = add(client, "", "perf:cpu:cycles");
	CHECK(a.code == ERR_INVALID && strstr(a.text, "this machine has no counter"));
	a = add(client, "", "perf:cpu:contxt-switches");
	CHECK(a.code == ERR_INVALID && strstr(a.text, "did you mean 'perf:cpu:context-switches'?"));
	a = add(client, "", "perf:thread:page-faults");
	CHECK(a.code == ERR_INVALID && strstr(a.text, "for applications"));
	a = add(client, "", "perf:cpu:raw:r1g:x");
	CHECK(a.code == ERR_INVALID && strstr(a.text, "N in base 16"));
	a = add(client, "", "perf:cpu:raw:r1f:x");
	CHECK(a.code == ERR_INVALID && strstr(a.text, "has no counter"));
	CHECK(add(client, "", "procname").code == 0); /* makes channel0 */
	CHECK(add(client, "", "pid").code == 0 && add(client, "channel0", "pid").code == 0);
	CHECK(add(client, "channel0", "perf:cpu:page-faults").code == 0);
	CHECK(enable_kernel(client, "sched_switch").code == 0);
	HARNESS_SEND(client, session_start, NAME);
	settle();
	CHECK(harness_answer(client).code == 0 && nr_on() == 1);
	CHECK(strcmp(played.contexts, "procname;pid;perf:cpu:page-faults;") == 0);
	CHECK(strstr(harness.consumer.metadata,
		     "\tevent.context := struct {\n"
		     "\t\tinteger { size = 8; align = 8; signed = false; encoding = UTF8; base = 10; } "
		     "_procname[16];\n"
		     "\t\tinteger { size = 32; align = 8; signed = true; encoding = none; base = 10; } "
		     "_pid;\n"
		     "\t\tinteger { size = 64; align = 8; signed = false; encoding = none; base = 10; } "
		     "_perf_cpu_page_faults;\n\t};\n};\n"));
	a = add(client, "channel0", "pid");
	CHECK(a.code == 0); /* it has it */
	CHECK(HARNESS_CALL(client, channel_enable, NAME, .domain = DOMAIN_KERNEL, .name = "other")
		      .code == 0);
	CHECK(add(client, "other", "pid").code == 0);
	a = add(client, "", "procname"); /* which one of the two has */
	CHECK(a.code == 0);
	close(client);
	harness_end();

	client = begin(true);
	CHECK(enable_kernel(client, "sched_switch").code == 0);
	HARNESS_SEND(client, session_start, NAME);
	settle();
	CHECK(harness_answer(client).code == 0);
	CHECK(!strstr(harness.consumer.metadata, "event.context"));
	a = add(client, "", "pid");
	CHECK(a.code == ERR_INVALID && strstr(a.text, "has recorded events already"));
	close(client);
	harness_end();
}

/* At each start, and when the events that tell it come to a session that records. */
static void state(void)
{
	int client = begin(true);

	CHECK(enable_kernel(client, "sched_switch").code == 0);
	CHECK(HARNESS_CALL(client, statedump, NAME).code == ERR_INVALID);
	HARNESS_SEND(client, session_start, NAME);
	settle();
	CHECK(harness_answer(client).code == 0 && played.dumps == 0);
	CHECK(HARNESS_CALL(client, statedump, NAME).code == ERR_NO_EVENT);
	HARNESS_SEND(client, event_enable, NAME, .domain = DOMAIN_KERNEL, .pattern = "lttng_*",
		     .exclude = "");
	settle();
	CHECK(harness_answer(client).code == 0 && played.dumps == 1);
	CHECK(HARNESS_CALL(client, statedump, NAME).code == 0 && played.dumps == 2);
	HARNESS_SEND(client, session_stop, NAME);
	settle();
	CHECK(harness_answer(client).code == 0 && played.dumps == 2);
	HARNESS_SEND(client, session_start, NAME);
	settle();
	CHECK(harness_answer(client).code == 0 && played.dumps == 3);
	close(client);
	harness_end();
}

static struct answer track(int client, uint8_t kind, uint8_t op, uint32_t first, uint32_t nr)
{
	struct encoder enc;
	uint8_t buf[4096];

	encoder_init(&enc, buf, sizeof(buf));
	for (uint32_t i = 0; i < nr; i++) {
		const struct msg_track_id id = { first + i };

		msg_track_id_add(&enc, &id);
	}
	return HARNESS_CALL(client, track, NAME, .domain = DOMAIN_KERNEL, .kind = kind, .op = op,
			    .ids = encoder_list(&enc));
}

static void trackers(void)
{
	int client = begin(true);
	struct answer a;

	a = track(client, TRACK_PID, TRACK_REMOVE, 1, 1);
	CHECK(a.code == ERR_INVALID && strstr(a.text, "tracks all ids"));
	CHECK(track(client, TRACK_NR_KINDS, TRACK_ADD, 1, 1).code == ERR_INVALID);
	CHECK(track(client, TRACK_PID, TRACK_NR_OPS, 1, 1).code == ERR_INVALID);
	CHECK(track(client, TRACK_PID, TRACK_ADD, 10, 3).code == 0);
	CHECK(track(client, TRACK_VGID, TRACK_NONE, 0, 0).code == 0);
	CHECK(enable_kernel(client, "sched_switch").code == 0);
	HARNESS_SEND(client, session_start, NAME);
	settle();
	CHECK(harness_answer(client).code == 0 && nr_on() == 1);
	CHECK(played.on_kinds == (1u << TRACK_PID | 1u << TRACK_VGID));
	CHECK(played.ids[TRACK_PID] == 3 && played.sum[TRACK_PID] == 33);
	CHECK(played.ids[TRACK_VGID] == 0);
	CHECK(track(client, TRACK_PID, TRACK_REMOVE, 12, 1).code == 0);
	CHECK(track(client, TRACK_UID, TRACK_ADD, 0, 1).code == 0);
	CHECK(played.ids[TRACK_PID] == 2 && played.sum[TRACK_PID] == 21);
	CHECK(played.on_kinds & 1u << TRACK_UID);
	CHECK(HARNESS_CALL(client, session_show, NAME).items[MSG_tracked] == 3);
	CHECK(track(client, TRACK_PID, TRACK_ALL, 0, 0).code == 0);
	CHECK(!(played.on_kinds & 1u << TRACK_PID));
	CHECK(HARNESS_CALL(client, session_show, NAME).items[MSG_tracked] == 2);
	close(client);
	harness_end();
}

/* Events that the module refuses are reported to the client, and the rest is recorded. */
static void refused_events(void)
{
	int client = begin(true);
	struct answer a;

	CHECK(enable_kernel(client, "sched_*").code == 0);
	CHECK(enable_place(client, RULE_PROBE, "p", "do_open").code == 0);
	played.refuses = true;
	HARNESS_SEND(client, session_start, NAME);
	settle();
	a = harness_answer(client);
	CHECK(a.code == 0 && a.items[MSG_refusal] == 3);
	CHECK(HARNESS_CALL(client, session_show, NAME).items[MSG_refusal] == 3);
	HARNESS_SEND(client, event_enable, NAME, .domain = DOMAIN_KERNEL, .pattern = "irq:*",
		     .exclude = "");
	settle();
	a = harness_answer(client);
	CHECK(a.code == 0 && a.items[MSG_refusal] == 1); /* of this rule */
	a = enable_place(client, RULE_PROBE, "q", "do_close");
	CHECK(a.code == 0 && a.items[MSG_refusal] == 1);
	/* another start tries again */
	HARNESS_SEND(client, session_stop, NAME);
	settle();
	CHECK(harness_answer(client).code == 0);
	played.refuses = false;
	HARNESS_SEND(client, session_start, NAME);
	settle();
	a = harness_answer(client);
	CHECK(a.code == 0 && a.items[MSG_refusal] == 0 && nr_on() == 3);
	CHECK(probe_on("do_open", 0) && probe_on("do_close", 0));
	close(client);
	harness_end();
}

int main(void)
{
	recording();
	newcomers();
	refused_events();
	contexts();
	statistics();
	trackers();
	state();
	described_first();
	refusals();
	return 0;
}
