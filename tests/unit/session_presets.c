/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The daemon without main(), and a simulated kernel module: rules whose events have a channel
 * registered by a module, and the attributes of that channel.
 */
#include <errno.h>

#include "lib/session_apps.h"

static const char *const events[] = {
	"sched:sched_switch", "power:cpu_idle", "power:wake", "irq:irq_raise",
	"irq:irq_lower",      "irq:other",	"net:wake"
};
static bool presets_are_there;

static int play_event(struct ltt_kmod_event *event)
{
	if (event->index >= ARRAY_SIZE(events))
		return errno = ENOENT, -1;
	event->nr_fields = 0;
	event->flags = LTT_KMOD_LIVE;
	snprintf(event->name, sizeof(event->name), "%s", events[event->index]);
	return 0;
}

static int play_preset(struct ltt_kmod_preset *preset)
{
	static const struct ltt_kmod_preset presets[] = {
		{ .name = "power", .events = "power:*", .num_subbuf = 16 },
		{ .name = "irqs", .events = "irq:irq_*", .num_subbuf = 8, .subbuf_size = 65536 },
	};

	if (!presets_are_there || preset->index >= ARRAY_SIZE(presets))
		return errno = ENOENT, -1;
	*preset = presets[preset->index];
	return 0;
}

static int play(int fd, unsigned long request, void *arg)
{
	(void)fd;
	switch (request) {
	case LTT_KMOD_HELLO:
		((struct ltt_kmod_hello *)arg)->nr_events = ARRAY_SIZE(events);
		return 0;
	case LTT_KMOD_EVENT:
		return play_event(arg);
	case LTT_KMOD_PRESET:
		return play_preset(arg);
	}
	return errno = ENOTTY, -1;
}

static int begin(void)
{
	int client;

	harness_begin();
	harness.sd.kmod.fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	harness.sd.kmod.call = play;
	presets_are_there = true;
	client = harness_client();
	new_session(client);
	return client;
}

static void end(int client)
{
	close(client);
	harness_end();
}

/* Where the rule went; "" where it was refused. */
static const char *enable_in(int client, const char *pattern, const char *channel)
{
	struct answer a = HARNESS_CALL(client, event_enable, NAME, .domain = DOMAIN_KERNEL,
				       .channel = channel, .pattern = pattern, .exclude = "");
	static struct rep_event_enable rep;
	static char name[64];

	CHECK(a.there);
	if (a.code)
		return "";
	CHECK_IS(rep_event_enable_decode(&a.dec, &rep), ==, 0);
	snprintf(name, sizeof(name), "%s", rep.channel);
	return name;
}

static bool goes(int client, const char *pattern, const char *want)
{
	return strcmp(enable_in(client, pattern, ""), want) == 0;
}

static int disable(int client, const char *pattern)
{
	return HARNESS_CALL(client, event_disable, NAME, .domain = DOMAIN_KERNEL, .channel = "",
			    .pattern = pattern)
		.code;
}

static const struct channel *find(const char *name)
{
	return session_find_channel(session_by_id(&harness.sd.sessions, 1), DOMAIN_KERNEL, name);
}

/* All that a pattern can mean has to be of the channel. */
static void where_rules_go(void)
{
	int client = begin();

	CHECK(goes(client, "power:*", "power"));
	CHECK(goes(client, "sched_switch", "channel0")); /* though there is one channel */
	CHECK(goes(client, "power:cpu_*", "power") && goes(client, "cpu_idle", "power"));
	CHECK(goes(client, "irq:irq_r*", "irqs") && goes(client, "irq_lower", "irqs"));
	CHECK(goes(client, "irq:*", "channel0")); /* irq:other belongs to no preset */
	CHECK(goes(client, "wake", "channel0"));  /* net:wake, too */
	CHECK(goes(client, "*", "channel0"));
	CHECK_IS(strcmp(enable_in(client, "power:wake", "mine"), "mine"), ==, 0);
	CHECK(find("power")->preset && !find("mine")->preset && !find("channel0")->preset);
	CHECK(find("power")->num_subbuf == 16 && find("power")->subbuf_size == 1u << 20);
	CHECK(find("irqs")->num_subbuf == 8 && find("irqs")->subbuf_size == 65536);
	CHECK_IS(HARNESS_CALL(client, point_list, .domain = DOMAIN_KERNEL).items[MSG_preset], ==,
		 2);
	end(client);
}

/* Rules are found again where they went; the channel stays when the module goes. */
static void disabled_again(void)
{
	int client = begin();

	CHECK(goes(client, "power:*", "power") && goes(client, "sched_switch", "channel0"));
	CHECK_IS(strcmp(enable_in(client, "cpu_idle", "channel0"), "channel0"), ==, 0);
	CHECK_IS(disable(client, "cpu_idle"), ==, 0); /* the preset channel has no such rule */
	CHECK_IS(disable(client, "power:*"), ==, 0);
	CHECK(!channel_find_rule(
		       (struct channel *)find("power"),
		       &(struct rule_spec){
			       .pattern = "power:*", .exclude = "", .location = "", .fetch = "" })
		       ->enabled);
	presets_are_there = false;
	CHECK_IS(HARNESS_CALL(client, point_list, .domain = DOMAIN_KERNEL).items[MSG_preset], ==,
		 0);
	CHECK(goes(client, "power:*", "channel0") && goes(client, "sched*", "channel0"));
	end(client);
}

/* A channel that is made explicitly has the given attributes; the preset fills in the rest. */
static void made_by_hand(void)
{
	int client = begin();

	CHECK_IS(HARNESS_CALL(client, channel_enable, NAME, .domain = DOMAIN_KERNEL, .name = "irqs",
			      .num_subbuf = 2)
			 .code,
		 ==, 0);
	CHECK(find("irqs")->num_subbuf == 2 && find("irqs")->subbuf_size == 65536);
	CHECK(goes(client, "irq_raise", "irqs") && goes(client, "sched_switch", "irqs"));
	CHECK(!find("irqs")->preset && !find("channel0"));
	end(client);
}

/* --- of applications ------------------------------------------------------------- */

static void send_channel(int app, const char *name, const char *glob, uint64_t size)
{
	const struct msg_app_channel channel = { name, glob, size, 0 };
	uint8_t buf[1024];
	struct encoder enc;

	encoder_init(&enc, buf, sizeof(buf));
	msg_app_channel_add(&enc, &channel);
	HARNESS_APP_SEND(app, app_channels, .channels = encoder_list(&enc));
	harness_pump();
}

static bool user_goes(int client, const char *pattern, const char *want)
{
	struct answer a = enable(client, pattern);
	struct rep_event_enable rep;

	CHECK(a.there && a.code == 0);
	CHECK_IS(rep_event_enable_decode(&a.dec, &rep), ==, 0);
	return strcmp(rep.channel, want) == 0;
}

static int nr_listed(int client)
{
	return (int)HARNESS_CALL(client, point_list, .domain = DOMAIN_USER).items[MSG_preset];
}

static void of_applications(void)
{
	int client, app, other;

	harness_begin();
	client = harness_client();
	new_session(client);
	app = new_app("one", 0);
	other = new_app("two", 0);
	send_channel(app, "printer", "printer:*", 65536);
	send_channel(other, "printer", "printer:*", 65536);
	CHECK_IS(nr_listed(client), ==, 1);
	CHECK(user_goes(client, "printer:a*", "printer") && user_goes(client, "p*", "channel0"));
	CHECK(user_goes(client, "printer:*", "printer") && user_goes(client, "*", "channel0"));
	send_channel(other, "printer", "printer:*", 4096); /* the first one stays in force */
	CHECK_IS(nr_listed(client), ==, 2);
	CHECK(user_goes(client, "printer:b", "printer"));
	close(app);
	harness_pump();
	CHECK_IS(nr_listed(client), ==, 1);
	send_channel(other, "p", "*", 0);
	CHECK_IS(nr_listed(client), ==, 0);
	close(other);
	end(client);
}

int main(void)
{
	where_rules_go();
	disabled_again();
	made_by_hand();
	of_applications();
	return 0;
}
