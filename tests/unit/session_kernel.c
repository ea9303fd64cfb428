/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The daemon without main(), and a simulated kernel module: events are enabled under their ids, not
 * before their buffer is on and their description is written; messages when rules change and when
 * the session stops; contexts, tracked processes; refusals.
 */
#include "filter/program.h"
#include "lib/kernel_fake.h"

static void recording(void)
{
	int client = kernel_fake_begin(true);
	struct answer a;

	CHECK_IS(kernel_fake_enable_event(client, "sched_switch").code, ==, 0);
	CHECK_IS(kernel_fake_enable_event(client, "irq:*").code, ==, 0);
	CHECK_IS(kernel_fake.changes, ==, 0); /* not yet */
	HARNESS_SEND(client, session_start, NAME);
	kernel_fake_settle();
	a = harness_answer(client);
	CHECK(a.there && a.code == 0);
	CHECK(kernel_fake_nr_on() == 2 && kernel_fake.on[0] && kernel_fake.on[2]);
	CHECK_IS(harness.consumer.nr_adopted, ==, 1);
	CHECK(strstr(harness.consumer.metadata, "domain = \"kernel\""));
	HARNESS_SEND(client, event_disable, NAME, .domain = DOMAIN_KERNEL, .channel = "",
		     .pattern = "irq:*");
	kernel_fake_settle();
	CHECK(harness_answer(client).code == 0 && kernel_fake_nr_on() == 1 && kernel_fake.on[0]);
	HARNESS_SEND(client, event_enable, NAME, .domain = DOMAIN_KERNEL, .channel = "",
		     .pattern = "*", .exclude = "sched:*_wakeup,irq*,lttng_*");
	kernel_fake_settle();
	CHECK(harness_answer(client).code == 0 && kernel_fake_nr_on() == 2 && kernel_fake.on[3]);
	HARNESS_SEND(client, session_stop, NAME);
	kernel_fake_settle();
	CHECK(harness_answer(client).code == 0 && kernel_fake_nr_on() == 0 &&
	      !harness.consumer.rings_on);
	HARNESS_SEND(client, session_start, NAME);
	kernel_fake_settle();
	CHECK(harness_answer(client).code == 0 && kernel_fake_nr_on() == 2);
	CHECK_IS(harness.consumer.nr_adopted, ==, 1); /* the same buffers */
	close(client);
	harness_end();
}

/* A module is loaded while a session records, and has the events that a rule waits for. */
static void newcomers(void)
{
	int client = kernel_fake_begin(true);

	kernel_fake.missing = 2;
	CHECK_IS(kernel_fake_enable_event(client, "*").code, ==, 0);
	HARNESS_SEND(client, session_start, NAME);
	kernel_fake_settle();
	CHECK(harness_answer(client).code == 0 && kernel_fake_nr_on() == KERNEL_FAKE_NR - 2);
	kernel_fake.missing = 0;
	HARNESS_SEND(client, event_enable, NAME, .domain = DOMAIN_KERNEL, .channel = "",
		     .pattern = "syscall_entry_openat", .exclude = "");
	kernel_fake_settle();
	CHECK(harness_answer(client).code == 0 && kernel_fake_nr_on() == KERNEL_FAKE_NR);
	close(client);
	harness_end();
}

/* The kernel reports the module: nothing is requested. */
static void reported_newcomers(void)
{
	static const char add[] = "add@/module/late", change[] = "change@/module/late";
	int client = kernel_fake_begin(true), pair[2];

	CHECK(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0);
	harness.sd.kmod.modules = pair[0];
	kernel_fake.missing = 2;
	CHECK_IS(kernel_fake_enable_event(client, "*").code, ==, 0);
	HARNESS_SEND(client, session_start, NAME);
	kernel_fake_settle();
	CHECK(harness_answer(client).code == 0 && kernel_fake_nr_on() == KERNEL_FAKE_NR - 2);
	kernel_fake.missing = 0;
	CHECK(send(pair[1], change, sizeof(change), 0) > 0);
	kernel_fake_settle();
	CHECK_IS(kernel_fake_nr_on(), ==, KERNEL_FAKE_NR - 2);
	CHECK(send(pair[1], add, sizeof(add), 0) > 0);
	kernel_fake_settle();
	CHECK_IS(kernel_fake_nr_on(), ==, KERNEL_FAKE_NR);
	close(client);
	harness_end();
	close(pair[1]);
}

/* Metadata that waits keeps its events from being enabled. */
static void described_first(void)
{
	int client = kernel_fake_begin(true);

	CHECK_IS(kernel_fake_enable_event(client, "*").code, ==, 0);
	harness.consumer.hold_type = MSG_con_metadata_append;
	HARNESS_SEND(client, session_start, NAME);
	kernel_fake_settle();
	CHECK(kernel_fake_nr_on() == 0 && !harness_answer(client).there);
	kernel_fake.unseen = true;
	for (int i = 0; i < 3 && kernel_fake_nr_on() == 0; i++) {
		harness_consumer_release();
		kernel_fake_settle();
	}
	CHECK(harness_answer(client).code == 0 && kernel_fake_nr_on() == KERNEL_FAKE_NR);
	close(client);
	harness_end();
}

/* The session has the problem that its list shows. */
static bool late_is_shown(void)
{
	const struct session *session = session_by_id(&harness.sd.sessions, 1);

	return strstr(session_problem(session), "5 events of the kernel are not recorded yet");
}

/* A start waits longer than a busy machine takes; then it reports the events that are late. */
static void late(void)
{
	int client = kernel_fake_begin(true);
	struct rep_event_enable enabled;
	struct rep_session_start started;
	struct answer a;

	CHECK_IS(harness.sd.recorder.late_us, >=, 10000000);
	CHECK_IS(kernel_fake_enable_event(client, "*").code, ==, 0);
	harness.sd.recorder.late_us = 60000;
	harness.consumer.hold_type = MSG_con_metadata_append;
	kernel_fake.unseen = true;
	HARNESS_SEND(client, session_start, NAME);
	harness_wait(30000);
	CHECK(!harness_answer(client).there);
	harness_wait(100000);
	a = harness_answer(client);
	CHECK(a.code == 0 && rep_session_start_decode(&a.dec, &started) == 0);
	CHECK(strstr(started.problem, "not recorded yet") && late_is_shown());
	HARNESS_SEND(client, event_enable, NAME, .domain = DOMAIN_KERNEL, .channel = "",
		     .pattern = "sched_switch", .exclude = "");
	harness_wait(100000);
	a = harness_answer(client);
	CHECK(a.code == 0 && rep_event_enable_decode(&a.dec, &enabled) == 0);
	CHECK(strstr(enabled.problem, "not recorded yet") && kernel_fake_nr_on() == 0);
	for (int i = 0; i < 3 && kernel_fake_nr_on() == 0; i++) {
		harness_consumer_release();
		kernel_fake_settle();
	}
	CHECK(kernel_fake_nr_on() == KERNEL_FAKE_NR && !late_is_shown());
	close(client);
	harness_end();
}

static void refusals(void)
{
	int client = kernel_fake_begin(false);
	struct answer a = kernel_fake_enable_event(client, "*");

	CHECK(a.code == ERR_UNSUPPORTED && strstr(a.text, "--no-kernel"));
	CHECK_IS(HARNESS_CALL(client, point_list, .domain = DOMAIN_KERNEL).code, ==,
		 ERR_UNSUPPORTED);
	CHECK_IS(enable(client, "*").code, ==, 0); /* applications are recorded all the same */
	close(client);
	harness_end();

	client = kernel_fake_begin(true);
	a = kernel_fake_enable_event(client, "sched_swich");
	CHECK(a.code == ERR_NO_EVENT && strstr(a.text, "did you mean 'sched_switch'?"));
	CHECK_IS(HARNESS_CALL(client, point_list, .domain = DOMAIN_KERNEL).items[MSG_point], ==,
		 KERNEL_FAKE_NR);
	CHECK_IS(kernel_fake_enable_event(client, "sched_switch").code, ==, 0);
	kernel_fake.refuse = ENOMEM;
	HARNESS_SEND(client, session_start, NAME);
	kernel_fake_settle();
	a = harness_answer(client);
	CHECK(a.there && a.code == ERR_NO_MEMORY && kernel_fake_nr_on() == 0);
	kernel_fake.refuse = 0;
	HARNESS_SEND(client, session_start, NAME);
	kernel_fake_settle();
	CHECK(harness_answer(client).code == 0 && kernel_fake_nr_on() == 1);
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
	kernel_fake_settle();
	CHECK_IS(harness_answer(client).code, ==, 0);
	kernel_fake_settle();
}

/* Counted while it is started, and kept; nothing is recorded. */
static void statistics(void)
{
	int client = kernel_fake_begin(true);
	struct answer a = count(client, RULE_HISTOGRAM, "sched_switch", "nonsense");

	CHECK(a.code == ERR_INVALID && strstr(a.text, "no integer field 'nonsense'"));
	CHECK_IS(count(client, RULE_HISTOGRAM, "sched_switch", "").code, ==, ERR_INVALID);
	CHECK_IS(count(client, RULE_COUNT, "sched_switch", "x").code, ==, ERR_INVALID);
	CHECK_IS(count(client, RULE_COUNT, "sched_*", "").code, ==, 0);
	CHECK_IS(count(client, RULE_HISTOGRAM, "sched_switch", "f0").code, ==, 0);
	CHECK_IS(HARNESS_CALL(client, stats_list, NAME).items[MSG_counted], ==, 0);
	start_and_stop(client, true);
	CHECK(kernel_fake.nr_counted == 1 + 2 && kernel_fake_nr_on() == 0 && !kernel_fake.channel);
	CHECK(kernel_fake.tally.flags == LTT_KMOD_HISTOGRAM &&
	      strcmp(kernel_fake.tally.name, "sched:sched_switch") == 0);
	kernel_fake.hits = 7;
	CHECK_IS(HARNESS_CALL(client, stats_list, NAME).items[MSG_counted], ==, 1 + 2);
	start_and_stop(client, false);
	CHECK_IS(kernel_fake.nr_counted, ==, 0);
	start_and_stop(client, true); /* earlier counts stay, and grow */
	CHECK_IS(kernel_fake.nr_counted, ==, 1 + 2);
	CHECK_IS(HARNESS_CALL(client, stats_list, NAME).items[MSG_counted], ==, 1 + 2);
	start_and_stop(client, false);
	close(client);
	harness_end();
}

static struct answer count_by(int client, const char *by, const char *filter)
{
	return HARNESS_CALL(client, event_enable, NAME, .domain = DOMAIN_KERNEL, .channel = "",
			    .pattern = "sched_switch", .exclude = "", .kind = RULE_COUNT,
			    .location = "", .by = by, .filter = filter);
}

/* The counts of @key, of @nr_keys, and of the event. */
static void check_keys(int client, uint64_t key, uint64_t all)
{
	struct msg_header header;
	struct msg_counted_key row;
	struct msg_counted counted = { .count = 0 };
	struct decoder dec;
	uint64_t largest = 0;
	unsigned int nr = 0;
	int fds[MSG_MAX_FDS];

	HARNESS_SEND(client, stats_list, NAME);
	harness_pump();
	while (harness_recv(client, &header, &dec, fds)) {
		if (header.type == MSG_counted && (header.flags & MSG_ITEM))
			CHECK_IS(msg_counted_decode(&dec, &counted), ==, 0);
		if (header.type != MSG_counted_key || !(header.flags & MSG_ITEM))
			continue;
		CHECK_IS(msg_counted_key_decode(&dec, &row), ==, 0);
		largest = MAX(largest, row.count);
		nr++;
	}
	CHECK_IS(nr, ==, 2);
	CHECK_IS(largest, ==, key);
	CHECK_IS(counted.count, ==, all);
}

/* Counts by keys are merged, also with those before a stop, and a filter may change. */
static void keyed(void)
{
	int client = kernel_fake_begin(true);
	struct answer a;

	kernel_fake.old = true;
	a = count_by(client, "f0", "");
	CHECK(a.code == ERR_UNSUPPORTED && strstr(a.text, "omit --by and --filter"));
	CHECK_IS(count_by(client, "", "f0 == 1").code, ==, ERR_UNSUPPORTED);
	kernel_fake.old = false;
	a = count_by(client, "f1", "");
	CHECK(a.code == ERR_INVALID && strstr(a.text, "did you mean 'f0'?"));
	CHECK_IS(count_by(client, "f0", "f9 == 1").code, ==, ERR_INVALID);
	CHECK_IS(count_by(client, "f0", "f0 < 5").code, ==, 0);
	start_and_stop(client, true);
	CHECK(kernel_fake.nr_counted == 1 && kernel_fake.tally.nr_by == 1 &&
	      kernel_fake.tally.by[0] == 0);
	CHECK_IS(kernel_fake.counting_filter.nr_programs, ==, 1);
	kernel_fake.hits = 5;
	check_keys(client, 10, 15 + 3);
	CHECK_IS(count_by(client, "f0", "f0 < 6").code, ==, 0);
	kernel_fake_settle();
	CHECK(kernel_fake.refiltered == 1 && kernel_fake.counting_filter.nr_programs == 1);
	CHECK_IS(count_by(client, "f0", "").code, ==, 0);
	kernel_fake_settle();
	CHECK(kernel_fake.refiltered == 2 && kernel_fake.counting_filter.nr_programs == 0);
	check_keys(client, 10, 15 + 3);
	start_and_stop(client, false);
	check_keys(client, 10, 15 + 3);
	start_and_stop(client, true);
	check_keys(client, 20, 30 + 6);
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
	int client = kernel_fake_begin(true);
	struct answer a = add(client, "", "procnam");

	CHECK(a.code == ERR_INVALID && strstr(a.text, "did you mean 'procname'?"));
	CHECK_IS(add(client, "nosuch", "pid").code, ==, ERR_NO_CHANNEL);
	a = HARNESS_CALL(client, context_add, NAME, .domain = DOMAIN_USER, .type = "pid");
	CHECK(a.code == ERR_INVALID && strstr(a.text, "'pid' is the kernel's only (-k)"));
	a = add(client, "", "pthread_id");
	CHECK(a.code == ERR_INVALID && strstr(a.text, "is of applications only (-u)"));
	a = HARNESS_CALL(client, context_list, .domain = DOMAIN_KERNEL);
	CHECK_IS(a.items[MSG_context], ==, 2 + 13); /* counters of this machine, in some trials */
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
	CHECK_IS(add(client, "", "procname").code, ==, 0); /* makes channel0 */
	CHECK(add(client, "", "pid").code == 0 && add(client, "channel0", "pid").code == 0);
	CHECK_IS(add(client, "channel0", "perf:cpu:page-faults").code, ==, 0);
	CHECK_IS(kernel_fake_enable_event(client, "sched_switch").code, ==, 0);
	HARNESS_SEND(client, session_start, NAME);
	kernel_fake_settle();
	CHECK(harness_answer(client).code == 0 && kernel_fake_nr_on() == 1);
	CHECK_IS(strcmp(kernel_fake.contexts, "procname;pid;perf:cpu:page-faults;"), ==, 0);
	CHECK(strstr(
		harness.consumer.metadata,
		"\tevent.context := struct {\n"
		"\t\tinteger { size = 8; align = 8; signed = false; encoding = UTF8; base = 10; } "
		"_procname[16];\n"
		"\t\tinteger { size = 32; align = 8; signed = true; encoding = none; base = 10; } "
		"_pid;\n"
		"\t\tinteger { size = 64; align = 8; signed = false; encoding = none; base = 10; } "
		"_perf_cpu_page_faults;\n\t};\n};\n"));
	a = add(client, "channel0", "pid");
	CHECK_IS(a.code, ==, 0); /* it has it */
	CHECK_IS(HARNESS_CALL(client, channel_enable, NAME, .domain = DOMAIN_KERNEL,
			      .name = "other")
			 .code,
		 ==, 0);
	CHECK_IS(add(client, "other", "pid").code, ==, 0);
	a = add(client, "", "procname"); /* which one of the two has */
	CHECK_IS(a.code, ==, 0);
	close(client);
	harness_end();

	client = kernel_fake_begin(true);
	CHECK_IS(kernel_fake_enable_event(client, "sched_switch").code, ==, 0);
	HARNESS_SEND(client, session_start, NAME);
	kernel_fake_settle();
	CHECK_IS(harness_answer(client).code, ==, 0);
	CHECK(!strstr(harness.consumer.metadata, "event.context"));
	a = add(client, "", "pid");
	CHECK_IS(a.code, ==, ERR_UNSUPPORTED); /* by this module */
	CHECK(strstr(a.text, "has recorded events already"));
	close(client);
	harness_end();
}

/* The state dump runs at each start, and when its events are added to a session that records. */
static void state(void)
{
	int client = kernel_fake_begin(true);

	CHECK_IS(kernel_fake_enable_event(client, "sched_switch").code, ==, 0);
	CHECK_IS(HARNESS_CALL(client, statedump, NAME).code, ==, ERR_INVALID);
	HARNESS_SEND(client, session_start, NAME);
	kernel_fake_settle();
	CHECK(harness_answer(client).code == 0 && kernel_fake.dumps == 0);
	CHECK_IS(HARNESS_CALL(client, statedump, NAME).code, ==, ERR_NO_EVENT);
	HARNESS_SEND(client, event_enable, NAME, .domain = DOMAIN_KERNEL, .pattern = "lttng_*",
		     .exclude = "");
	kernel_fake_settle();
	CHECK(harness_answer(client).code == 0 && kernel_fake.dumps == 1);
	CHECK(HARNESS_CALL(client, statedump, NAME).code == 0 && kernel_fake.dumps == 2);
	HARNESS_SEND(client, session_stop, NAME);
	kernel_fake_settle();
	CHECK(harness_answer(client).code == 0 && kernel_fake.dumps == 2);
	HARNESS_SEND(client, session_start, NAME);
	kernel_fake_settle();
	CHECK(harness_answer(client).code == 0 && kernel_fake.dumps == 3);
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
	int client = kernel_fake_begin(true);
	struct answer a;

	a = track(client, TRACK_PID, TRACK_REMOVE, 1, 1);
	CHECK(a.code == ERR_INVALID && strstr(a.text, "tracks all ids"));
	CHECK_IS(track(client, TRACK_NR_KINDS, TRACK_ADD, 1, 1).code, ==, ERR_INVALID);
	CHECK_IS(track(client, TRACK_PID, TRACK_NR_OPS, 1, 1).code, ==, ERR_INVALID);
	CHECK_IS(track(client, TRACK_PID, TRACK_ADD, 10, 3).code, ==, 0);
	CHECK_IS(track(client, TRACK_VGID, TRACK_NONE, 0, 0).code, ==, 0);
	CHECK_IS(kernel_fake_enable_event(client, "sched_switch").code, ==, 0);
	HARNESS_SEND(client, session_start, NAME);
	kernel_fake_settle();
	CHECK(harness_answer(client).code == 0 && kernel_fake_nr_on() == 1);
	CHECK_IS(kernel_fake.on_kinds, ==, (1u << TRACK_PID | 1u << TRACK_VGID));
	CHECK(kernel_fake.ids[TRACK_PID] == 3 && kernel_fake.sum[TRACK_PID] == 33);
	CHECK_IS(kernel_fake.ids[TRACK_VGID], ==, 0);
	CHECK_IS(track(client, TRACK_PID, TRACK_REMOVE, 12, 1).code, ==, 0);
	CHECK_IS(track(client, TRACK_UID, TRACK_ADD, 0, 1).code, ==, 0);
	CHECK(kernel_fake.ids[TRACK_PID] == 2 && kernel_fake.sum[TRACK_PID] == 21);
	CHECK(kernel_fake.on_kinds & 1u << TRACK_UID);
	CHECK_IS(HARNESS_CALL(client, session_show, NAME).items[MSG_tracked], ==, 3);
	CHECK_IS(track(client, TRACK_PID, TRACK_ALL, 0, 0).code, ==, 0);
	CHECK(!(kernel_fake.on_kinds & 1u << TRACK_PID));
	CHECK_IS(HARNESS_CALL(client, session_show, NAME).items[MSG_tracked], ==, 2);
	close(client);
	harness_end();
}

/* A process that has ended restricts the session all the same, and is an error if the session
 * records; an old module can't follow. */
static void families(void)
{
	int client = kernel_fake_begin(true);
	struct answer a;

	kernel_fake.ended = 9;
	CHECK_IS(track(client, TRACK_FOLLOW, TRACK_ADD, 8, 3).code, ==, 0);
	CHECK_IS(kernel_fake_enable_event(client, "sched_switch").code, ==, 0);
	HARNESS_SEND(client, session_start, NAME);
	kernel_fake_settle();
	CHECK(harness_answer(client).code == 0 && kernel_fake_nr_on() == 1);
	CHECK_IS(kernel_fake.on_kinds, ==, 1u << TRACK_FOLLOW);
	CHECK(kernel_fake.ids[TRACK_FOLLOW] == 2 && kernel_fake.sum[TRACK_FOLLOW] == 18);
	CHECK_IS(track(client, TRACK_FOLLOW, TRACK_NONE, 0, 0).code, ==, 0);
	a = track(client, TRACK_FOLLOW, TRACK_ADD, 9, 1);
	CHECK(a.code == ERR_INVALID && strstr(a.text, "there is no process 9 to follow"));
	CHECK_IS(track(client, TRACK_FOLLOW, TRACK_ADD, 11, 1).code, ==, 0);
	CHECK_IS(kernel_fake.sum[TRACK_FOLLOW], ==, 11);
	kernel_fake.old = true;
	a = track(client, TRACK_FOLLOW, TRACK_ADD, 12, 1);
	CHECK(a.code == ERR_UNSUPPORTED && strstr(a.text, "can't follow processes"));
	close(client);
	harness_end();
}

/* Events that the module refuses are reported to the client, and the rest is recorded. */
static void refused_events(void)
{
	int client = kernel_fake_begin(true);
	struct answer a;

	CHECK_IS(kernel_fake_enable_event(client, "sched_*").code, ==, 0);
	CHECK_IS(kernel_fake_enable_place(client, RULE_PROBE, "p", "do_open").code, ==, 0);
	kernel_fake.refuses = true;
	HARNESS_SEND(client, session_start, NAME);
	kernel_fake_settle();
	a = harness_answer(client);
	CHECK(a.code == 0 && a.items[MSG_refusal] == 3);
	CHECK_IS(HARNESS_CALL(client, session_show, NAME).items[MSG_refusal], ==, 3);
	HARNESS_SEND(client, event_enable, NAME, .domain = DOMAIN_KERNEL, .pattern = "irq:*",
		     .exclude = "");
	kernel_fake_settle();
	a = harness_answer(client);
	CHECK(a.code == 0 && a.items[MSG_refusal] == 1); /* of this rule */
	a = kernel_fake_enable_place(client, RULE_PROBE, "q", "do_close");
	CHECK(a.code == 0 && a.items[MSG_refusal] == 1);
	/* another start tries again */
	HARNESS_SEND(client, session_stop, NAME);
	kernel_fake_settle();
	CHECK_IS(harness_answer(client).code, ==, 0);
	kernel_fake.refuses = false;
	HARNESS_SEND(client, session_start, NAME);
	kernel_fake_settle();
	a = harness_answer(client);
	CHECK(a.code == 0 && a.items[MSG_refusal] == 0 && kernel_fake_nr_on() == 3);
	CHECK(kernel_fake_probe("do_open", 0) && kernel_fake_probe("do_close", 0));
	close(client);
	harness_end();
}

static struct answer filtered(int client, uint8_t kind, const char *pattern, const char *filter)
{
	HARNESS_SEND(client, event_enable, NAME, .domain = DOMAIN_KERNEL, .pattern = pattern,
		     .exclude = "", .kind = kind, .location = kind == RULE_EVENTS ? "" : "vfs_read",
		     .filter = filter);
	kernel_fake_settle();
	return harness_answer(client);
}

static struct answer kernel_sampled(int client, uint8_t kind, const char *pattern,
				    const char *filter, const char *sampling)
{
	HARNESS_SEND(client, event_enable, NAME, .domain = DOMAIN_KERNEL, .pattern = pattern,
		     .exclude = "", .kind = kind, .location = kind == RULE_EVENTS ? "" : "vfs_read",
		     .filter = filter, .sampling = sampling);
	kernel_fake_settle();
	return harness_answer(client);
}

static bool kernel_samples(const struct kernel_fake_filter *filter)
{
	return filter->nr_programs == 1 && ltt_filter_samples((const void *)filter->first);
}

/* Each sampling has a class of its own, which an event exchanges while it stays enabled. */
static void sampling(void)
{
	int client = kernel_fake_begin(true);
	struct answer a;
	uint32_t id;

	a = kernel_sampled(client, RULE_EVENTS, "sched_switch", "", "1/2 by f1");
	CHECK(a.code == ERR_INVALID && strstr(a.text, "did you mean 'f0'?"));
	kernel_fake.old = true;
	a = kernel_sampled(client, RULE_EVENTS, "sched_switch", "", "1/2");
	CHECK(a.code == ERR_UNSUPPORTED && strstr(a.text, "older than this daemon"));
	kernel_fake.old = false;
	CHECK_IS(kernel_sampled(client, RULE_EVENTS, "sched_switch", "", "1/2").code, ==, 0);
	CHECK_IS(kernel_sampled(client, RULE_PROBE, "p", "", "first 9").code, ==, 0);
	start_and_stop(client, true);
	CHECK(kernel_samples(&kernel_fake.filters[0]) && kernel_fake.on[0]);
	CHECK(kernel_samples(&kernel_fake.probes[0].filter));
	CHECK(strstr(harness.consumer.metadata, "1/2 */"));
	id = kernel_fake.event_ids[0];
	CHECK_IS(kernel_sampled(client, RULE_EVENTS, "sched_switch", "f0 < 5", "1/2").code, ==, 0);
	CHECK(kernel_fake.event_ids[0] == id && kernel_fake.refiltered == 1);
	CHECK_IS(kernel_sampled(client, RULE_EVENTS, "sched_switch", "", "1/4").code, ==, 0);
	CHECK(kernel_fake.event_ids[0] != id && kernel_fake.instead == 1 && kernel_fake.on[0]);
	CHECK(strstr(harness.consumer.metadata, "1/4 */") && kernel_fake.refiltered == 1);
	CHECK_IS(kernel_sampled(client, RULE_EVENTS, "sched_switch", "", "").code, ==, 0);
	CHECK(kernel_fake.instead == 2 && !kernel_fake.filters[0].nr_programs);
	start_and_stop(client, false); /* the numbers of those not sampled are written first */
	CHECK_IS(kernel_fake_nr_on(), ==, 0);
	close(client);
	harness_end();
}

static void wrong_filters(int client)
{
	struct answer a = filtered(client, RULE_EVENTS, "sched_switch", "f0 == ");

	CHECK(a.code == ERR_INVALID && strstr(a.text, "column 7"));
	a = filtered(client, RULE_EVENTS, "sched_switch", "f1 == 1");
	CHECK(a.code == ERR_INVALID && strstr(a.text, "no field 'f1'; did you mean 'f0'?"));
	a = filtered(client, RULE_EVENTS, "sched_switch", "$ctx.prio == 1");
	CHECK(a.code == ERR_INVALID && strstr(a.text, "contexts: ctx.pid, ctx.procname"));
	a = filtered(client, RULE_EVENTS, "sched_switch", "f0 == 1.5");
	CHECK(a.code == ERR_INVALID && strstr(a.text, "column 7") &&
	      strstr(a.text, "no floating point"));
	a = filtered(client, RULE_PROBE, "p", "f0 == 1");
	CHECK(a.code == ERR_INVALID && strstr(a.text, "fields: ip (u64)"));
}

/* A filter is there when its event is enabled, and replaced while the event stays enabled. */
static void filters(void)
{
	int client = kernel_fake_begin(true);
	struct answer a;

	wrong_filters(client);
	CHECK_IS(filtered(client, RULE_EVENTS, "sched_switch", "f0 == 5 && $ctx.pid == 3").code, ==,
		 0);
	start_and_stop(client, true);
	CHECK(kernel_fake_nr_on() == 1 && kernel_fake.on[0] &&
	      strcmp(kernel_fake.filters[0].contexts, "pid") == 0);
	CHECK(kernel_fake_accepts(0, 5) && !kernel_fake_accepts(0, 6) &&
	      kernel_fake.refiltered == 0);
	a = filtered(client, RULE_EVENTS, "sched_switch", "f0 == 5 && $ctx.pid == 3");
	CHECK_IS(a.code, ==, ERR_EVENT_EXISTS);
	CHECK_IS(filtered(client, RULE_EVENTS, "sched_switch", "f0 == 6").code, ==, 0);
	CHECK(kernel_fake.refiltered == 1 && kernel_fake.changes == 1);
	CHECK(kernel_fake_accepts(0, 6) && !kernel_fake_accepts(0, 5) &&
	      !*kernel_fake.filters[0].contexts);
	/* a second rule: one of both has to hold; it can't for the others */
	a = filtered(client, RULE_EVENTS, "sched_*", "f0 < 2");
	CHECK(a.code == 0 && a.items[MSG_refusal] == 0);
	CHECK(kernel_fake_nr_on() == 1 && kernel_fake.filters[0].nr_programs == 2 &&
	      kernel_fake.refiltered == 2);
	a = filtered(client, RULE_EVENTS, "irq*", "f0 < 2");
	CHECK(a.code == 0 && a.items[MSG_refusal] == 1 && kernel_fake_nr_on() == 1);
	CHECK(filtered(client, RULE_EVENTS, "irq*", "f2 < 2").code == 0 &&
	      kernel_fake_nr_on() == 2);
	CHECK_IS(HARNESS_CALL(client, session_show, NAME).items[MSG_refusal], ==, 0);
	CHECK_IS(filtered(client, RULE_EVENTS, "sched_switch", "").code, ==, 0);
	CHECK(kernel_fake.filters[0].nr_programs == 0 && kernel_fake.changes == 2);
	start_and_stop(client, false);
	start_and_stop(client, true);
	CHECK(kernel_fake_nr_on() == 2 && kernel_fake.filters[0].nr_programs == 0 &&
	      kernel_fake_accepts(2, 1));
	/* an event whose filter the module rejects is off, and tried again with another one */
	kernel_fake.refuse_filter = ENOMEM;
	a = filtered(client, RULE_EVENTS, "irq*", "f2 < 3");
	CHECK(a.code == 0 && a.items[MSG_refusal] == 1 && kernel_fake_nr_on() == 1);
	kernel_fake.refuse_filter = 0;
	CHECK_IS(filtered(client, RULE_EVENTS, "irq*", "f2 < 4").code, ==, 0);
	CHECK(kernel_fake_nr_on() == 2 && kernel_fake_accepts(2, 3) && !kernel_fake_accepts(2, 4));
	a = HARNESS_CALL(client, filter_check, .expression = "f0 == 1", .pattern = "sched:sched_*",
			 .domain = DOMAIN_KERNEL);
	CHECK(a.code == 0 && a.items[MSG_verdict] == 2);
	close(client);
	harness_end();
}

/* Of a function, the part that has the field. */
static void filtered_places(void)
{
	int client = kernel_fake_begin(true);

	CHECK_IS(filtered(client, RULE_FUNCTION, "fn", "ret < 0").code, ==, 0);
	start_and_stop(client, true);
	CHECK(!kernel_fake_probe("vfs_read", LTT_KMOD_PROBE_CALL));
	CHECK(kernel_fake_probe("vfs_read", LTT_KMOD_PROBE_RETURN));
	CHECK_IS(kernel_fake.probes[0].filter.nr_programs, ==, 1);
	CHECK_IS(filtered(client, RULE_FUNCTION, "fn", "ip != 0").code, ==, 0);
	CHECK(kernel_fake_probe("vfs_read", LTT_KMOD_PROBE_CALL) && kernel_fake.refiltered == 1);
	CHECK_IS(filtered(client, RULE_PROBE, "p", "ip != 0 && $ctx.procname == \"x\"").code, ==,
		 0);
	CHECK(kernel_fake_probe("vfs_read", 0));
	CHECK_IS(strcmp(kernel_fake.probes[2].filter.contexts, "procname"), ==, 0);
	close(client);
	harness_end();
}

static void kernel_event(int client, const char *session, const char *channel, const char *pattern)
{
	CHECK_IS(HARNESS_CALL(client, event_enable, .session = session, .domain = DOMAIN_KERNEL,
			      .channel = channel, .pattern = pattern, .exclude = "")
			 .code,
		 ==, 0);
	HARNESS_SEND(client, session_start, .session = session);
	kernel_fake_settle();
	CHECK_IS(harness_answer(client).code, ==, 0);
}

/* Beside a later trace of the kernel, and not beside one of applications. */
static void remembers(int client)
{
	unsigned int before = harness.consumer.calls[MSG_con_snapshot];

	CHECK_IS(HARNESS_CALL(client, session_create, .name = "r", .outdir = -1).code, ==, 0);
	for (int i = 0; i < 2; i++)
		CHECK_IS(HARNESS_CALL(client, channel_enable, .session = "r",
				      .domain = i ? DOMAIN_USER : DOMAIN_KERNEL, .name = "r",
				      .subbuf_size = 1 << 20, .remember = 1)
				 .code,
			 ==, 0);
	kernel_event(client, "r", "r", "sched_wakeup");
	CHECK(harness.consumer.kept == RING_REMEMBERED &&
	      harness.consumer.mode == LTT_RING_DISCARD);
	kernel_event(client, "s", "", "irq_handler_entry");
	CHECK_IS(harness.consumer.calls[MSG_con_snapshot], ==, before + 1);
	CHECK_IS(harness.consumer.remembered, ==, REMEMBERED_KERNEL);
}

/* The order of LTTng's manual: the session has no output, and its first channels overwrite. */
static void snapshots(void)
{
	int client = kernel_fake_begin(true), dir = open("/tmp", O_PATH | O_CLOEXEC);
	struct answer a;

	kernel_fake.unseen = true; /* this session has a stream of applications before */
	CHECK_IS(HARNESS_CALL(client, session_create, .name = "m", .outdir = -1).code, ==, 0);
	CHECK_IS(HARNESS_CALL(client, channel_enable, .session = "m", .domain = DOMAIN_USER,
			      .name = "u", .overwrite = CHANNEL_OVERWRITE)
			 .code,
		 ==, 0);
	CHECK_IS(HARNESS_CALL(client, channel_enable, .session = "m", .domain = DOMAIN_KERNEL,
			      .name = "k", .overwrite = CHANNEL_OVERWRITE)
			 .code,
		 ==, 0);
	CHECK_IS(HARNESS_CALL(client, channel_enable, .session = "m", .domain = DOMAIN_KERNEL,
			      .name = "d", .overwrite = CHANNEL_DISCARD)
			 .code,
		 ==, 0);
	CHECK_IS(HARNESS_CALL(client, event_enable, .session = "m", .domain = DOMAIN_KERNEL,
			      .channel = "k", .pattern = "sched_switch", .exclude = "")
			 .code,
		 ==, 0);
	HARNESS_SEND(client, session_start, .session = "m");
	kernel_fake_settle();
	CHECK(harness_answer(client).code == 0 && kernel_fake.on[0]);
	CHECK(harness.consumer.snapshots && harness.consumer.mode == LTT_RING_OVERWRITE);
	CHECK_IS(harness.consumer.kept, ==, RING_KEPT);
	a = HARNESS_CALL(client, snapshot_record, .session = "m", .dir = -1);
	CHECK(a.code == ERR_INVALID && strstr(a.text, "has no output for snapshots"));
	CHECK_IS(HARNESS_CALL(client, snapshot_output, .session = "m", .path = "/tmp").code, ==, 0);
	HARNESS_SEND(client, snapshot_record, .session = "m", .path = "/tmp", .dir = dir);
	kernel_fake_settle();
	CHECK_IS(harness_answer(client).code, ==, 0);
	CHECK(harness.consumer.calls[MSG_con_snapshot] == 1 && !harness.consumer.remembered);
	HARNESS_SEND(client, session_clear, .session = "m");
	kernel_fake_settle();
	CHECK(harness_answer(client).code == 0 && harness.consumer.clears);
	CHECK_IS(HARNESS_CALL(client, snapshot_output, .session = "m").code, ==, 0);
	remembers(client);
	/* too late, or beside a channel that discards */
	CHECK_IS(HARNESS_CALL(client, session_create, .name = "n", .outdir = -1).code, ==, 0);
	CHECK_IS(HARNESS_CALL(client, channel_enable, .session = "n", .domain = DOMAIN_USER,
			      .name = "u")
			 .code,
		 ==, 0);
	a = HARNESS_CALL(client, channel_enable, .session = "n", .domain = DOMAIN_KERNEL,
			 .name = "k", .overwrite = CHANNEL_OVERWRITE);
	CHECK(a.code == ERR_UNSUPPORTED && strstr(a.text, "channels that discard"));
	close(dir);
	close(client);
	harness_end();
}

/* In a session that writes its trace: the consumer writes, and so makes room for the state.
 * Snapshots have the events, too, if no channel of the kernel discards. */
static void overwrites(void)
{
	int client = kernel_fake_begin(true), dir = open("/tmp", O_PATH | O_CLOEXEC);
	struct answer a;

	CHECK_IS(HARNESS_CALL(client, channel_enable, NAME, .domain = DOMAIN_KERNEL, .name = "k",
			      .overwrite = CHANNEL_OVERWRITE)
			 .code,
		 ==, 0);
	CHECK_IS(HARNESS_CALL(client, event_enable, NAME, .domain = DOMAIN_KERNEL, .channel = "k",
			      .pattern = "lttng_statedump_end", .exclude = "")
			 .code,
		 ==, 0);
	kernel_event(client, "s", "k", "sched_switch");
	CHECK(harness.consumer.mode == LTT_RING_OVERWRITE && !harness.consumer.kept);
	CHECK(kernel_fake.dumps == 1 && !kernel_fake.dump_flags);
	HARNESS_SEND(client, snapshot_record, NAME, .path = "/tmp", .dir = dir);
	kernel_fake_settle();
	CHECK(harness_answer(client).code == 0 && harness.consumer.calls[MSG_con_snapshot] == 1);
	CHECK_IS(HARNESS_CALL(client, channel_enable, NAME, .domain = DOMAIN_KERNEL, .name = "d")
			 .code,
		 ==, 0);
	a = HARNESS_CALL(client, snapshot_record, NAME, .path = "/tmp", .dir = dir);
	CHECK(a.code == ERR_UNSUPPORTED && strstr(a.text, "all events of channel 'd'"));
	close(dir);
	close(client);
	harness_end();
}

static int give(int client, int device)
{
	struct answer a;

	HARNESS_SEND(client, kernel_open, .device = device);
	kernel_fake_settle();
	a = harness_answer(client);
	CHECK(a.there);
	return a.code;
}

/* The module comes after the daemon: root's client passes its device, if it has the same clock. */
static void late_module(void)
{
	int client = kernel_fake_begin(true), device = open("/dev/null", O_RDWR | O_CLOEXEC);
	const bool cycles = harness.sd.clock.kind == LTT_CLOCK_CYCLES;

	CHECK_IS(give(client, device), !=, 0); /* the daemon has it */
	harness.sd.kmod.fd = close_fd(harness.sd.kmod.fd);
	CHECK_IS(give(client, device), !=, 0); /* and does not want it */
	CHECK_IS(kernel_fake_enable_event(client, "sched_switch").code, ==, ERR_UNSUPPORTED);
	harness.sd.kmod.awaited = true;
	if (geteuid() != 0) {
		CHECK_IS(give(client, device), ==, ERR_DENIED);
	} else {
		CHECK_IS(give(client, -1), ==, ERR_INVALID);
		kernel_fake.clock = cycles ? LTT_CLOCK_MONOTONIC : LTT_CLOCK_CYCLES;
		CHECK(give(client, device) == ERR_UNSUPPORTED && harness.sd.kmod.fd < 0);
		CHECK(strstr(harness.sd.kmod.why, "another clock") && harness.sd.kmod.awaited);
		kernel_fake.clock = harness.sd.clock.kind;
		CHECK(give(client, device) == 0 && !harness.sd.kmod.awaited);
		CHECK_IS(kernel_fake_enable_event(client, "sched_switch").code, ==, 0);
		HARNESS_SEND(client, session_start, NAME);
		kernel_fake_settle();
		CHECK(harness_answer(client).code == 0 && kernel_fake_nr_on() == 1);
	}
	close(device);
	close(client);
	harness_end();
}

int main(void)
{
	snapshots();
	overwrites();
	filters();
	sampling();
	filtered_places();
	recording();
	newcomers();
	reported_newcomers();
	refused_events();
	contexts();
	statistics();
	keyed();
	trackers();
	families();
	state();
	described_first();
	late();
	refusals();
	late_module();
	return 0;
}
