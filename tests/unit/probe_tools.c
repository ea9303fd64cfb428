// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lower half of ltt_site.armed belongs to the kernel, which counts there the tools that wait at
 * an SDT note (ltt/sdt.h), and does so at any time: before the site is registered, while listeners
 * come and go, and after it was unregistered. The kernel's part is played by this test.
 */
#include <errno.h>
#include <string.h>

#include <ltt/ltt.h>

#include "check.h"
#include "tracer_alone.h"

LTT_TRACEPOINT(tools, number, (int n), LTT_INFO, ltt_int(int, n, n))
LTT_TRACEPOINT(tools, text, (int n, const char *s), LTT_INFO, ltt_int(int, n, n), ltt_string(s, s))

static char longer_than_the_stack[2000];

static unsigned int heard;
static int heard_number;

static void on_sdt(const struct ltt_site *site, ...)
{
	va_list args;

	(void)site;
	va_start(args, site);
	heard++;
	heard_number = (int)va_arg(args, uint64_t);
	va_end(args);
}

static struct ltt_event event = {
	.size = sizeof(struct ltt_event),
	.field_size = sizeof(struct ltt_field),
	.nr_fields = 1,
	.name = "tools:number",
	.fields = ltt_fields_tools__number,
	.file = __FILE__,
	.function = "",
	.line = 1,
	.kind = LTT_EVENT_TRACEPOINT,
	.arguments = "(int n)",
	.sdt = on_sdt,
};
static struct ltt_site site = { .size = sizeof(site), .event = &event };
static struct ltt_site *const listed[] = { &site };

static unsigned int calls;

static void on_event(void *data, const struct ltt_event_view *view)
{
	(void)data, (void)view;
	calls++;
}

static void on_typed(void *data, int n)
{
	(void)data, (void)n;
	calls++;
}

static void tools(int change)
{
	__atomic_fetch_add((uint16_t *)&site.armed, (uint16_t)change, __ATOMIC_RELAXED);
}

static void hit(int n)
{
	calls = heard = 0;
	ltt_class_tools__number(&site, n);
}

/* Nothing is registered: libltt knows none of the sites. */
static void before_registration(void)
{
	static struct ltt_site unknown = { .armed = 1, .size = sizeof(unknown), .event = &event };

	errno = 7;
	tools(1);
	hit(-5);
	CHECK(heard == 1 && heard_number == -5 && !calls);
	ltt_emit(&unknown, longer_than_the_stack, 100, 4);
	ltt_emit_word(&unknown, 1, 4);
	ltt_emit_format(&unknown, "n %d", 1);
	ltt_tracef("a line");
	ltt_unstage(ltt_stage(&unknown, 1000));
	CHECK(!ltt_stage(&unknown, 1 << 30));
	CHECK(errno == 7 && unknown.armed == 1 && !unknown.owner);
}

static void with_listeners(void)
{
	struct ltt_probe *probe;

	CHECK(ltt_probe_register("tools:number", NULL, on_event, NULL, &probe) == 0);
	ltt_sites_register(listed, listed + 1, LTT_SITE_ABI);
	CHECK(site.owner && site.armed == 1);
	CHECK(ltt_probe_arm(probe) == 1);
	CHECK_IS(site.armed, ==, (LTT_SITE_LISTENED | 1));
	tools(2);
	hit(1);
	CHECK(heard == 1 && calls == 1);
	CHECK(ltt_register_trace(tools, number, on_typed, NULL) == 1);
	CHECK_IS(site.armed, ==, (LTT_SITE_LISTENED | LTT_SITE_TYPED | 3));
	tools(-3);
	CHECK_IS(site.armed, ==, (LTT_SITE_LISTENED | LTT_SITE_TYPED));
	hit(2);
	CHECK(!heard && calls == 1);
	CHECK(ltt_probe_disarm(probe) == 0);
	CHECK_IS(site.armed, ==, LTT_SITE_TYPED);
	tools(0xffff);
	CHECK(ltt_unregister_trace(tools, number, on_typed, NULL) == 0);
	CHECK_IS(site.armed, ==, 0xffff);
	hit(3);
	CHECK(heard == 1 && heard_number == 3 && !calls);
	CHECK(ltt_probe_arm(probe) == 1);
	CHECK_IS(site.armed, ==, (LTT_SITE_LISTENED | 0xffff));
	ltt_sites_unregister(listed, listed + 1);
	CHECK_IS(site.armed, ==, 0xffff);
	hit(4);
	CHECK(heard == 1 && heard_number == 4 && !calls);
	ltt_probe_unregister(probe);
}

/* A function that a program brings is called with a site of a program that has none. */
static void older_programs(void)
{
	event.size = offsetof(struct ltt_event, sdt);
	hit(5);
	CHECK(!heard);
	event.size = sizeof(event);
	event.sdt = NULL;
	hit(6);
	CHECK(!heard);
}

int main(void)
{
	memset(longer_than_the_stack, 'x', sizeof(longer_than_the_stack) - 1);
	before_registration();
	with_listeners();
	older_programs();
	__atomic_fetch_add((uint16_t *)&ltt_site_tools__text.armed, 1, __ATOMIC_RELAXED);
	ltt_trace(tools, text, 1, longer_than_the_stack); /* the note's own function is called */
	CHECK_IS(ltt_site_tools__text.armed, ==, 1);
	return 0;
}
