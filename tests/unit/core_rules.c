/* SPDX-License-Identifier: GPL-2.0-only */
/* Event rules, channel attributes, shapes and event classes. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "check.h"
#include "sessiond/core/app.h"
#include "sessiond/core/class.h"
#include "sessiond/core/sampling.h"
#include "sessiond/core/session.h"

static bool matches(const char *pattern, const char *exclude, enum loglevel_type type, int level,
		    const char *name, int point_level)
{
	const struct rule_spec spec = {
		.pattern = pattern,
		.exclude = exclude,
		.loglevel_type = type,
		.loglevel = level,
	};
	struct rule *rule = rule_new(&spec);
	bool result = rule_matches(rule, name, point_level);

	CHECK(rule_is(rule, &spec));
	rule_free(rule);
	return result;
}

static void rules(void)
{
	CHECK(matches("web:*", "", LOGLEVEL_ALL, 0, "web:accept", 13));
	CHECK(!matches("web:*", "", LOGLEVEL_ALL, 0, "db:accept", 13));
	CHECK(!matches("web:*", "web:a*,x", LOGLEVEL_ALL, 0, "web:accept", 13));
	CHECK(matches("*", "web:b*", LOGLEVEL_ALL, 0, "web:accept", 13));
	CHECK(matches("*", "", LOGLEVEL_AT_LEAST, 6, "a", 6));
	CHECK(matches("*", "", LOGLEVEL_AT_LEAST, 6, "a", 0));
	CHECK(!matches("*", "", LOGLEVEL_AT_LEAST, 6, "a", 7));
	CHECK(matches("*", "", LOGLEVEL_ONLY, 6, "a", 6));
	CHECK(!matches("*", "", LOGLEVEL_ONLY, 6, "a", 5));
	CHECK(matches("a\\*b", "", LOGLEVEL_ALL, 0, "a*b", 1));
	CHECK(!matches("a\\*b", "", LOGLEVEL_ALL, 0, "axb", 1));
	CHECK(!matches("*", "", LOGLEVEL_ALL, 0, "lttng_jul:ltt__logger_0001", 1));
	CHECK(matches("*", "", LOGLEVEL_ALL, 0, "lttng_jul:event", 1));
}

/* All patterns and names of up to four of these bytes. */
static void patterns_meet(void)
{
	static const char bytes[] = "ab*";
	char all[121][5];
	size_t nr = 0, pairs = 0;

	for (size_t length = 0, first = 0; length <= 4; length++) {
		size_t end = nr;

		for (size_t i = first; length && i < end; i++)
			for (size_t b = 0; b < 3; b++)
				snprintf(all[nr++], sizeof(all[0]), "%.3s%c", all[i], bytes[b]);
		if (!length)
			all[nr++][0] = '\0';
		first = end;
	}
	CHECK_IS(nr, ==, 121);
	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j < nr; j++) {
			bool meet = rule_patterns_meet(all[i], all[j]), found = false;

			for (size_t k = 0; k < nr; k++)
				found = found ||
					(!glob_is_pattern(all[k]) && glob_match(all[i], all[k]) &&
					 glob_match(all[j], all[k]));
			CHECK(meet || !found);
			pairs += meet && !found; /* a common name is longer than four bytes */
		}
	CHECK_IS(pairs, <, 1000);
	CHECK(rule_patterns_meet("a\\*b", "a*b"));
	CHECK(!rule_patterns_meet("a\\*b", "axb"));
	CHECK(rule_patterns_meet("abc*", "*bcd"));
	CHECK(!rule_patterns_meet("abc*x", "*bcd"));
	CHECK(!rule_patterns_meet("ab*", "ac*"));
}

static int spec_code(const char *pattern, int type, int level)
{
	const struct rule_spec spec = {
		.pattern = pattern,
		.exclude = "",
		.loglevel_type = (enum loglevel_type)type,
		.loglevel = level,
	};
	struct err err = { 0 };
	int code = rule_spec_check(&spec, &err);

	CHECK_IS(!code, ==, !err.text[0]);
	return code;
}

static int place_code(const char *pattern, const char *exclude, int kind, const char *location)
{
	const struct rule_spec spec = {
		.pattern = pattern,
		.exclude = exclude,
		.kind = (enum rule_kind)kind,
		.location = location,
	};
	struct err err = { 0 };
	int code = rule_spec_check(&spec, &err);

	CHECK_IS(!code, ==, !err.text[0]);
	return code;
}

static void places(void)
{
	const struct rule_spec spec = {
		.pattern = "open",
		.exclude = "",
		.kind = RULE_PROBE,
		.location = "do_open",
		.fetch = "$arg1",
	};
	struct rule_spec other = spec;
	struct rule *rule = rule_new(&spec);
	char longest[RULE_MAX_LOCATION + 2];

	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	CHECK(rule_is(rule, &spec));
	other.location = "do_open+4";
	CHECK(!rule_is(rule, &other));
	other = spec;
	other.kind = RULE_FUNCTION;
	CHECK(!rule_is(rule, &other));
	rule_free(rule);
	CHECK_IS(place_code("open", "", RULE_FUNCTION, "do_open"), ==, 0);
	CHECK_IS(place_code("open", "", RULE_EVENTS, "do_open"), ==, ERR_INVALID);
	CHECK_IS(place_code("open*", "x", RULE_COUNT, ""), ==, 0);
	CHECK_IS(place_code("open", "", RULE_COUNT, "field"), ==, ERR_INVALID);
	CHECK_IS(place_code("open*", "x", RULE_HISTOGRAM, "field"), ==, 0);
	CHECK_IS(place_code("open", "", RULE_HISTOGRAM, ""), ==, ERR_INVALID);
	CHECK_IS(place_code("open", "", RULE_HISTOGRAM, "a\nb"), ==, ERR_INVALID);
	CHECK_IS(place_code("open", "", RULE_HISTOGRAM, longest), ==, ERR_INVALID);
	CHECK_IS(place_code("open*", "", RULE_PROBE, "do_open"), ==, ERR_INVALID);
	CHECK_IS(place_code("open", "x", RULE_PROBE, "do_open"), ==, ERR_INVALID);
	CHECK_IS(place_code("open", "", RULE_PROBE, ""), ==, ERR_INVALID);
	CHECK_IS(place_code("open", "", RULE_PROBE, "a\nb"), ==, ERR_INVALID);
	CHECK_IS(place_code("open", "", RULE_PROBE, longest), ==, ERR_INVALID);
	CHECK_IS(place_code("open", "", RULE_NR_KINDS, "do_open"), ==, ERR_INVALID);
}

static int filter_code(enum rule_kind kind, const char *filter)
{
	const struct rule_spec spec = {
		.pattern = "open", .exclude = "", .kind = kind, .filter = filter
	};
	struct err err = { 0 };

	return rule_spec_check(&spec, &err);
}

static bool change_filter(struct rule *rule, const char *filter)
{
	struct rule_spec spec = rule_spec_of(rule);

	spec.filter = filter;
	return rule_change(rule, &spec);
}

static char *filter_of(struct channel *channel, const char *name, int loglevel)
{
	static char *last;

	free(last);
	last = channel_filter(channel, name, loglevel, 7);
	return last;
}

/* Rules that differ by their filter only are the same; a point has the filter of all rules that
 * record it. */
static void filters(void)
{
	static char longest[RULE_MAX_FILTER + 2];
	struct rule_spec spec = { .pattern = "web:*", .exclude = "", .filter = "a == 1" };
	const struct channel_attr attr = { 0 };
	struct channel *channel = channel_new("c", DOMAIN_USER, &attr);
	struct rule *first = channel_add_rule(channel, &spec), *second;

	memset(longest, '1', sizeof(longest) - 1);
	CHECK_IS(filter_code(RULE_EVENTS, "a == 1"), ==, 0);
	CHECK_IS(filter_code(RULE_EVENTS, longest), ==, ERR_INVALID);
	CHECK_IS(filter_code(RULE_EVENTS, "a ==\n1"), ==, ERR_INVALID);
	CHECK_IS(filter_code(RULE_COUNT, "a == 1"), ==, 0);
	CHECK_IS(filter_code(RULE_COUNT, ""), ==, 0);
	CHECK_IS(strcmp(filter_of(channel, "web:a", 0), "a == 1"), ==, 0);
	CHECK(!filter_of(channel, "db:a", 0));
	spec.filter = "b == 2";
	CHECK_IS(channel_find_rule(channel, &spec), ==, first);
	spec.pattern = "*:a";
	second = channel_add_rule(channel, &spec);
	CHECK_IS(strcmp(filter_of(channel, "web:a", 0), "a == 1\nb == 2"), ==, 0);
	CHECK_IS(strcmp(filter_of(channel, "db:a", 0), "b == 2"), ==, 0);
	CHECK(!change_filter(first, "a == 1"));
	CHECK(change_filter(first, ""));
	CHECK(!filter_of(channel, "web:a", 0));
	first->enabled = false;
	CHECK_IS(strcmp(filter_of(channel, "web:a", 0), "b == 2"), ==, 0);
	second->kind = RULE_COUNT;
	CHECK(!filter_of(channel, "web:a", 0));
	filter_of(channel, "", 0);
	channel_free(channel);
}

/* Names and globs in any order: a channel finds the rules that each rule, tried by itself, matches,
 * in their order. */
static void many_rules(void)
{
	static const char *const patterns[] = { "a:%u", "a:%u*", "a:\\%u", "b:%u", "*:%u" };
	const struct channel_attr attr = { 0 };
	struct channel *channel = channel_new("c", DOMAIN_USER, &attr);
	const struct rule *rule;
	char text[32], filter[32], all[4096];

	for (unsigned int i = 0; i < 300; i++) {
		struct rule_spec spec = { .pattern = text, .exclude = "", .filter = filter };
		struct rule *added;

		snprintf(text, sizeof(text), patterns[i * 7 % 5], i * 11 % 40);
		snprintf(filter, sizeof(filter), "n == %u", i);
		spec.kind = i % 13 ? RULE_EVENTS : RULE_COUNT;
		added = channel_add_rule(channel, &spec);
		added->enabled = i % 7;
		CHECK_IS(added->number, ==, i);
	}
	for (unsigned int i = 0; i < 90; i++) {
		snprintf(text, sizeof(text), "%c:%u", i % 2 ? 'a' : 'c', i / 2);
		all[0] = '\0';
		list_for_each(rule, &channel->rules, node)
			if (rule->enabled && !rule_counts(rule->kind) &&
			    rule_matches(rule, text, 0)) {
				strcat(all, *all ? "\n" : "");
				strcat(all, rule->filter);
			}
		CHECK_IS(channel_wants(channel, text, 0), ==, *all != '\0');
		CHECK(*all ? strcmp(filter_of(channel, text, 0), all) == 0 :
			     !filter_of(channel, text, 0));
	}
	filter_of(channel, "", 0);
	channel_free(channel);
}

static int sampling_code(const char *text, struct sampling *ret)
{
	struct err err = { 0 };

	return sampling_parse(text, ret, &err);
}

static void samplings(void)
{
	static const char *const bad[] = { "x",
					   "1/",
					   "1/0",
					   "2/3",
					   "1/4294967296",
					   "1/2 ",
					   "1/2 by ",
					   "1/2 by a-b",
					   "1/2, 1/3",
					   "1/2,5/s",
					   "5",
					   "0/s",
					   "5/m",
					   "10000001/s",
					   "5/s, 6/s",
					   "first 0",
					   "first",
					   "first 1, first 2",
					   "first 549755813889",
					   ", 1/2",
					   "1/2, ",
					   "01/s",
					   "18446744073709551617/s" };
	char by[SAMPLING_MAX_FIELD + 16];
	struct sampling s;

	CHECK(sampling_code("", &s) == 0 && !s.one_in && !s.rate && !s.first && !*s.by);
	CHECK(sampling_code("1/64", &s) == 0 && s.one_in == 64 && !sampling_has_budget(&s));
	CHECK(sampling_code("1/4294967295 by $ctx.vtid", &s) == 0 && s.one_in == UINT32_MAX &&
	      strcmp(s.by, "$ctx.vtid") == 0);
	CHECK(sampling_code("1/2 by id, 100/s, first 549755813888", &s) == 0 && s.one_in == 2 &&
	      s.rate == 100 && s.first == 549755813888ull && sampling_has_budget(&s));
	CHECK(sampling_code("first 1, 1/s", &s) == 0 && s.rate == 1 && s.first == 1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK_IS(sampling_code(bad[i], &s), ==, ERR_INVALID);
	snprintf(by, sizeof(by), "1/2 by %0*d", (int)SAMPLING_MAX_FIELD, 1);
	CHECK_IS(sampling_code(by, &s), ==, 0);
	strcat(by, "1");
	CHECK_IS(sampling_code(by, &s), ==, ERR_INVALID);
}

/* Rules without sampling come first; a number of the rule, and the starts, where they matter. */
static void sampled_rules(void)
{
	struct rule_spec spec = { .pattern = "web:*", .exclude = "", .sampling = "1/64" };
	const struct channel_attr attr = { 0 };
	struct channel *channel = channel_new("c", DOMAIN_USER, &attr);
	struct rule *first = channel_add_rule(channel, &spec);
	struct err err = { 0 };

	CHECK_IS(strcmp(filter_of(channel, "web:a", 0), "\t1/64\t0\t0"), ==, 0);
	spec = (struct rule_spec){
		.pattern = "*", .exclude = "", .filter = "a == 1", .sampling = "5/s, first 9"
	};
	channel_add_rule(channel, &spec);
	spec = (struct rule_spec){ .pattern = "*:a", .exclude = "", .filter = "b == 2" };
	channel_add_rule(channel, &spec);
	CHECK_IS(strcmp(filter_of(channel, "web:a", 0),
			"b == 2\n\t1/64\t0\t0\na == 1\t5/s, first 9\t1\t7"),
		 ==, 0);
	spec = (struct rule_spec){ .sampling = "1/64" };
	CHECK(!rule_change(first, &spec));
	spec.sampling = NULL;
	CHECK(rule_change(first, &spec) && !filter_of(channel, "web:a", 0));
	spec.pattern = "*:a";
	spec.exclude = "";
	spec.kind = RULE_COUNT;
	spec.sampling = "1/2";
	spec.filter = NULL;
	CHECK_IS(rule_spec_check(&spec, &err), ==, ERR_UNSUPPORTED);
	spec.kind = RULE_EVENTS;
	err = (struct err){ 0 };
	CHECK_IS(rule_spec_check(&spec, &err), ==, 0);
	filter_of(channel, "", 0);
	channel_free(channel);
}

static int by_code(enum rule_kind kind, const char *by)
{
	const struct rule_spec spec = { .pattern = "web:a",
					.exclude = "",
					.kind = kind,
					.location = kind == RULE_HISTOGRAM ? "n" : "",
					.by = by };
	struct err err = { 0 };
	int code = rule_spec_check(&spec, &err);

	CHECK_IS(!code, ==, !err.text[0]);
	return code;
}

/* A key is one field or two, of rules that count; it distinguishes rules. */
static void keys(void)
{
	static char longest[RULE_MAX_BY + 2];
	struct rule_spec spec = {
		.pattern = "web:a", .exclude = "", .kind = RULE_COUNT, .by = "method,status"
	};
	struct rule *rule = rule_new(&spec);
	char field[RULE_MAX_BY + 1];

	memset(longest, 'x', sizeof(longest) - 1);
	CHECK(by_code(RULE_COUNT, "a") == 0 && by_code(RULE_HISTOGRAM, "a,b") == 0);
	CHECK_IS(by_code(RULE_EVENTS, "a"), ==, ERR_INVALID);
	CHECK_IS(by_code(RULE_COUNT, "a,b,c"), ==, ERR_INVALID);
	CHECK_IS(by_code(RULE_COUNT, "a,b,"), ==, ERR_INVALID);
	CHECK(by_code(RULE_COUNT, "a,") == ERR_INVALID && by_code(RULE_COUNT, ",a") == ERR_INVALID);
	CHECK_IS(by_code(RULE_COUNT, "a,a"), ==, ERR_INVALID);
	CHECK_IS(by_code(RULE_COUNT, "a\n"), ==, ERR_INVALID);
	CHECK_IS(by_code(RULE_COUNT, longest), ==, ERR_INVALID);
	longest[RULE_MAX_BY] = '\0';
	CHECK_IS(by_code(RULE_COUNT, longest), ==, 0);
	CHECK(rule_by_field(rule->by, 0, field) && strcmp(field, "method") == 0);
	CHECK(rule_by_field(rule->by, 1, field) && strcmp(field, "status") == 0);
	CHECK(!rule_by_field(rule->by, 2, field) && !rule_by_field("", 0, field));
	CHECK(rule_is(rule, &spec));
	spec.by = "method";
	CHECK(!rule_is(rule, &spec));
	rule_free(rule);
}

static int set_filter(struct session *session, struct rule *rule, const char *filter,
		      bool *ret_changed, struct err *err)
{
	struct rule_spec spec = rule_spec_of(rule);

	spec.filter = filter;
	return session_change_rule(session, rule, &spec, ret_changed, err);
}

/* A filter is charged to the owner, while the rule has it. */
static void charges(void)
{
	const struct caller caller = { 1000, 1000 };
	const struct rule_spec spec = { .pattern = "x", .exclude = "" };
	const struct channel_attr attr = { 0 };
	const struct account_id account = { .uid = 1000 };
	struct channel *channel = channel_new("c", DOMAIN_USER, &attr);
	struct err err = { 0 };
	struct sessions sessions;
	struct session *session;
	struct quotas quotas;
	struct rule *rule;
	uint64_t left;
	bool changed;

	quotas_init(&quotas, 0);
	quotas.limits[QUOTA_TEXT] = 2000;
	sessions_init(&sessions, &quotas);
	CHECK_IS(session_create(&sessions, &caller, "s", "", 1, &session, &err), ==, 0);
	CHECK_IS(session_restore_channel(session, channel, &err), ==, 0);
	CHECK_IS(session_add_rule(session, channel, &spec, &rule, &err), ==, 0);
	left = quota_left(&quotas, account, QUOTA_TEXT);
	CHECK(set_filter(session, rule, "a == 1", &changed, &err) == 0 && changed);
	CHECK_IS(quota_left(&quotas, account, QUOTA_TEXT), ==, left - strlen("a == 1"));
	CHECK(set_filter(session, rule, "a == 1", &changed, &err) == 0 && !changed);
	CHECK(set_filter(session, rule, "", &changed, &err) == 0 && changed);
	CHECK_IS(quota_left(&quotas, account, QUOTA_TEXT), ==, left);
	quotas.limits[QUOTA_TEXT] = 2000 - left;
	CHECK(set_filter(session, rule, "", &changed, &err) == 0 && !changed);
	CHECK_IS(set_filter(session, rule, "a == 1", &changed, &err), !=, 0);
	CHECK(!*rule->filter);
	sessions_fini(&sessions);
	CHECK_IS(quota_left(&quotas, account, QUOTA_TEXT), ==, quotas.limits[QUOTA_TEXT]);
	quotas_fini(&quotas);
}

static int program_code(enum rule_kind kind, const char *file, const char *places)
{
	const struct rule_spec spec = {
		.pattern = "sold",
		.exclude = "",
		.kind = kind,
		.location = "sdt:shop:shop:sold",
		.file = file,
		.places = places,
	};
	struct err err = { 0 };

	return rule_spec_check(&spec, &err);
}

static void programs(void)
{
	static char longest[RULE_MAX_PLACES + 2];
	const struct rule_spec spec = {
		.pattern = "sold",
		.exclude = "",
		.kind = RULE_USER,
		.location = "shop:sell",
		.file = "/bin/shop",
		.places = "1,2,3,4;5",
	};
	struct rule_spec other = spec;
	struct rule *rule = rule_new(&spec);

	memset(longest, '1', sizeof(longest) - 1);
	CHECK(rule_is(rule, &spec));
	other.file = "/bin/shops";
	CHECK(!rule_is(rule, &other));
	other = spec;
	other.places = "1,2,3,4;6";
	CHECK(!rule_is(rule, &other));
	rule_free(rule);
	CHECK_IS(program_code(RULE_USER, "/bin/shop", "1,2,3,4;5"), ==, 0);
	CHECK_IS(program_code(RULE_USER, "bin/shop", "1,2,3,4;5"), ==, ERR_INVALID);
	CHECK_IS(program_code(RULE_USER, "", "1,2,3,4;5"), ==, ERR_INVALID);
	CHECK_IS(program_code(RULE_USER, "/bin/shop", ""), ==, ERR_INVALID);
	CHECK_IS(program_code(RULE_USER, "/bin/shop", longest), ==, ERR_INVALID);
	CHECK_IS(program_code(RULE_USER, "/bin/\nshop", "1,2,3,4;5"), ==, ERR_INVALID);
	CHECK_IS(program_code(RULE_PROBE, "/bin/shop", ""), ==, ERR_INVALID);
	CHECK_IS(program_code(RULE_FUNCTION, "", "1,2,3,4;5"), ==, ERR_INVALID);
	CHECK_IS(program_code(RULE_EVENTS, "/bin/shop", ""), ==, ERR_INVALID);
}

static void trackers(void)
{
	struct tracker t = { 0 };

	for (uint32_t i = 0; i < TRACKER_MAX; i++)
		CHECK(tracker_add(&t, i * 7919 % 65521));
	CHECK(t.limited && t.nr == TRACKER_MAX);
	CHECK(tracker_add(&t, 0) && t.nr == TRACKER_MAX); /* it has it */
	CHECK(!tracker_add(&t, UINT32_MAX) && !tracker_has(&t, UINT32_MAX));
	for (uint32_t i = 1; i < t.nr; i++)
		CHECK_IS(t.ids[i - 1], <, t.ids[i]);
	CHECK(!tracker_remove(&t, UINT32_MAX));
	while (t.nr) {
		uint32_t id = t.ids[t.nr / 2];

		CHECK(tracker_has(&t, id) && tracker_remove(&t, id) && !tracker_has(&t, id));
	}
	CHECK(t.limited); /* of no user, not of all */
	tracker_clear(&t);
	CHECK(!t.limited);
}

static void context_names(void)
{
	const struct channel_attr attr = { 0 };
	struct channel *channel = channel_new("c", DOMAIN_KERNEL, &attr);

	CHECK(!channel_has_context(channel, "pid"));
	channel_add_context(channel, "vpid");
	CHECK(channel_has_context(channel, "vpid") && !channel_has_context(channel, "pid"));
	channel_add_context(channel, "pid");
	CHECK(channel_has_context(channel, "pid") && !channel_has_context(channel, "p"));
	CHECK_IS(strcmp(channel->contexts, "vpid,pid"), ==, 0);
	channel_free(channel);
}

static void bad_rules(void)
{
	char longest[300];

	memset(longest, 'x', sizeof(longest));
	longest[299] = '\0';
	CHECK_IS(spec_code("a", LOGLEVEL_ALL, 99), ==, 0);
	CHECK_IS(spec_code("", LOGLEVEL_ALL, 0), ==, ERR_INVALID);
	CHECK_IS(spec_code("a\nb", LOGLEVEL_ALL, 0), ==, ERR_INVALID);
	CHECK_IS(spec_code(longest, LOGLEVEL_ALL, 0), ==, ERR_INVALID);
	CHECK_IS(spec_code("a", 3, 0), ==, ERR_INVALID);
	CHECK_IS(spec_code("a", LOGLEVEL_ONLY, 15), ==, ERR_INVALID);
	CHECK_IS(spec_code("a", LOGLEVEL_AT_LEAST, -1), ==, ERR_INVALID);
}

static int resolve_in(struct channel_attr *attr, enum domain_id domain)
{
	const struct channel_limits limits = { 2, 4ull << 30 };
	struct err err = { 0 };
	int code = channel_attr_resolve(attr, domain, &limits, &err);

	CHECK_IS(!code, ==, !err.text[0]);
	return code;
}

static int resolve(struct channel_attr *attr)
{
	return resolve_in(attr, DOMAIN_USER);
}

static struct channel_attr roomy(uint64_t bytes, unsigned int nr_cpus)
{
	const struct channel_limits limits = { nr_cpus, 0 };
	struct channel_attr a = { 0 };

	channel_attr_roomy(&a, bytes, &limits);
	CHECK_IS(a.subbuf_size, ==, (a.num_subbuf ? 1u << 20 : 0));
	return a;
}

/* Of a recording of one program. */
static void for_bursts(void)
{
	const struct channel_limits limits = { 2, 0 };
	struct channel_attr a = { .num_subbuf = 2 };

	CHECK_IS(roomy(UINT64_MAX, 1).num_subbuf, ==, 64);
	CHECK_IS(roomy(UINT64_MAX, 8).num_subbuf, ==, 64);
	CHECK_IS(roomy(UINT64_MAX, 9).num_subbuf, ==, 32); /* 512 MiB in all */
	CHECK_IS(roomy(100 << 20, 2).num_subbuf, ==, 32);
	CHECK_IS(roomy(8 << 20, 2).num_subbuf, ==, 4);
	CHECK_IS(roomy((8 << 20) - 1, 2).num_subbuf, ==, 0); /* no less than the default */
	CHECK_IS(roomy(0, 2).num_subbuf, ==, 0);
	channel_attr_roomy(&a, UINT64_MAX, &limits);
	CHECK(a.num_subbuf == 2 && a.subbuf_size == 0);
}

static bool agree(enum output_type has, enum output_type asked)
{
	return channel_attr_agrees(&(struct channel_attr){ .output_type = has },
				   &(struct channel_attr){ .output_type = asked });
}

static void attributes(void)
{
	struct channel_attr a = { 0 };

	CHECK(resolve(&a) == 0 && a.subbuf_size == 524288 && a.num_subbuf == 4);
	CHECK_IS(a.ownership, ==, OWNERSHIP_USER);
	a = (struct channel_attr){ .ownership = OWNERSHIP_PROCESS };
	CHECK(resolve(&a) == 0 && a.subbuf_size == 16384 && a.num_subbuf == 4);
	a = (struct channel_attr){ .subbuf_size = 5000, .num_subbuf = 3 };
	CHECK(resolve(&a) == 0 && a.subbuf_size == 8192 && a.num_subbuf == 4);
	CHECK(channel_attr_agrees(&a, &(struct channel_attr){ 0 }));
	CHECK(channel_attr_agrees(&a, &(struct channel_attr){ .subbuf_size = 8000 }));
	CHECK(!channel_attr_agrees(&a, &(struct channel_attr){ .subbuf_size = 9000 }));
	CHECK(!channel_attr_agrees(&a, &(struct channel_attr){ .ownership = 2 }));
	a = (struct channel_attr){ .subbuf_size = 1 };
	CHECK(resolve(&a) == 0 && a.subbuf_size == 4096);
	a = (struct channel_attr){ .subbuf_size = 65536, .tracefile_size = 100 };
	CHECK(resolve(&a) == 0 && a.tracefile_size == 65536ull * a.num_subbuf + 136);
	CHECK(channel_attr_agrees(&a, &(struct channel_attr){ .tracefile_size = 100 }));
	CHECK(!channel_attr_agrees(&a, &(struct channel_attr){ .tracefile_size = 1ull << 30 }));
	/* error messages, not wrap-around */
	a = (struct channel_attr){ .subbuf_size = 1ull << 63 };
	CHECK_IS(resolve(&a), ==, ERR_INVALID);
	a = (struct channel_attr){ .subbuf_size = UINT64_MAX };
	CHECK_IS(resolve(&a), ==, ERR_INVALID);
	a = (struct channel_attr){ .subbuf_size = 1ull << 36, .num_subbuf = 2 };
	CHECK_IS(resolve(&a), ==, ERR_INVALID);
	a = (struct channel_attr){ .num_subbuf = UINT32_MAX };
	CHECK_IS(resolve(&a), ==, ERR_INVALID);
	a = (struct channel_attr){ .subbuf_size = 1ull << 30, .num_subbuf = 4 };
	CHECK_IS(resolve(&a), ==, ERR_INVALID); /* 8 GiB on a machine of 4 */
	a = (struct channel_attr){ .tracefile_count = 3 };
	CHECK_IS(resolve(&a), ==, ERR_INVALID);
	a = (struct channel_attr){ .ownership = 3 };
	CHECK_IS(resolve(&a), ==, ERR_INVALID);
	a = (struct channel_attr){ .output_type = OUTPUT_TYPE_SPLICE + 1 };
	CHECK_IS(resolve(&a), ==, ERR_INVALID);
	CHECK(agree(OUTPUT_TYPE_DEFAULT, OUTPUT_TYPE_DEFAULT));
	CHECK(agree(OUTPUT_TYPE_DEFAULT, OUTPUT_TYPE_MMAP));
	CHECK(!agree(OUTPUT_TYPE_DEFAULT, OUTPUT_TYPE_SPLICE));
	CHECK(agree(OUTPUT_TYPE_SPLICE, OUTPUT_TYPE_DEFAULT));
	CHECK(!agree(OUTPUT_TYPE_SPLICE, OUTPUT_TYPE_MMAP));
	CHECK(agree(OUTPUT_TYPE_SPLICE, OUTPUT_TYPE_SPLICE));
	a = (struct channel_attr){ .overwrite = true, .tracefile_size = 1 << 20 };
	CHECK_IS(resolve(&a), ==, 0);
	a = (struct channel_attr){ .overwrite = true };
	CHECK_IS(resolve(&a), ==, 0);
	a = (struct channel_attr){ .remember = true };
	CHECK_IS(resolve(&a), ==, 0);
	CHECK(a.ownership == OWNERSHIP_PROCESS && a.num_subbuf == 4);
	CHECK(a.subbuf_size >= 4096 && a.subbuf_size <= 64 << 10);
	a = (struct channel_attr){ .remember = true };
	CHECK_IS(resolve_in(&a, DOMAIN_KERNEL), ==, 0);
	CHECK(a.ownership == OWNERSHIP_GLOBAL && a.num_subbuf == 4);
	CHECK(a.subbuf_size >= 4096 && a.subbuf_size <= 64 << 10);
	a = (struct channel_attr){ .remember = true, .overwrite = true };
	CHECK_IS(resolve(&a), ==, ERR_INVALID);
	a = (struct channel_attr){ .remember = true, .ownership = OWNERSHIP_USER };
	CHECK_IS(resolve(&a), ==, ERR_INVALID);
}

/* A shape with one integer field. */
static struct shape *shape(struct shapes *shapes, const char *name, enum shape_kind kind,
			   const char *format, const char *field, uint8_t bits)
{
	struct layout *layout = layout_new(1, 0, strlen(field) + 1);
	struct layout_field f = { .name = field, .kind = LTT_KIND_INT, .size_bits = bits };
	struct shape_facts facts = { name, kind, 13, format, layout };
	const char *why;
	struct shape *s;

	CHECK(layout_add_field(layout, &f) && !layout_add_field(layout, &f));
	s = shape_get(shapes, &facts, &why);
	CHECK_IS(!s, ==, !!why);
	layout_free(facts.layout);
	return s;
}

static void classes(void)
{
	struct shapes shapes = { 0 };
	struct class_table table;
	struct event_class *first, *c;
	struct shape *a = shape(&shapes, "p:a", SHAPE_TRACEPOINT, "", "n", 32);
	struct shape *same = shape(&shapes, "p:a", SHAPE_TRACEPOINT, "", "n", 32);
	struct shape *wide = shape(&shapes, "p:a", SHAPE_TRACEPOINT, "", "n", 64);
	struct shape *m1 = shape(&shapes, "s_m", SHAPE_MARKER, "n %d", "n", 32);
	struct shape *m2 = shape(&shapes, "s_m", SHAPE_MARKER, "n %ld", "n", 64);

	CHECK(a == same && a != wide && m1 != m2 && shapes.nr == 4);
	class_table_init(&table, &shapes, NULL, (struct account_id){ 0 });
	CHECK_IS(class_find(&table, a, &c), ==, CLASS_NEW);
	CHECK(class_get(&table, a, &first) == CLASS_NEW && first->id == 0);
	CHECK(class_get(&table, same, &c) == CLASS_KNOWN && c == first);
	CHECK(class_get(&table, wide, &c) == CLASS_NEW && c->id == 1);
	CHECK(class_get(&table, m1, &first) == CLASS_NEW && first->id == 2);
	CHECK(class_get(&table, m2, &c) == CLASS_CONFLICT && c == first);
	CHECK(class_find(&table, m2, &c) == CLASS_CONFLICT && c == first);
	CHECK_IS(table.nr, ==, 3);
	class_table_fini(&table);
	shape_unref(&shapes, a);
	shape_unref(&shapes, same);
	shape_unref(&shapes, wide);
	shape_unref(&shapes, m1);
	shape_unref(&shapes, m2);
	CHECK_IS(shapes.nr, ==, 0);
}

static void invalid_words(void)
{
	struct shapes shapes = { 0 };

	CHECK(!shape(&shapes, "", SHAPE_TRACEPOINT, "", "n", 32));
	CHECK(!shape(&shapes, "a\033[31m", SHAPE_TRACEPOINT, "", "n", 32));
	CHECK(!shape(&shapes, "a", (enum shape_kind)7, "", "n", 32));
	CHECK(!shape(&shapes, "a", SHAPE_TRACEPOINT, "", "n", 31));
	CHECK(!shape(&shapes, "a", SHAPE_TRACEPOINT, "", "n", 0));
	CHECK_IS(shapes.nr, ==, 0);
}

/* Its names are short: in CTF 2 each has more around it. */
static void long_in_ctf_2(void)
{
	struct layout *layout = layout_new(1, 2900, 40000);
	const struct layout_field field = { .name = "f", .kind = LTT_KIND_ENUM, .size_bits = 16 };
	struct shape_facts facts = { "p:long", SHAPE_TRACEPOINT, 13, "", layout };
	struct class_table table;
	struct shapes shapes = { 0 };
	struct shape *bare, *tsdl, *json;
	struct event_class *c;
	const char *why;
	char name[16];

	CHECK(layout_add_field(layout, &field));
	for (int i = 0; i < 2900; i++) {
		snprintf(name, sizeof(name), "a%d", i);
		CHECK(layout_add_label(layout, name, i, i));
	}
	bare = shape_get(&shapes, &facts, &why);
	CHECK(bare);
	tsdl = shape_extended(&shapes, bare, METADATA_CTF_1_8, "");
	json = shape_extended(&shapes, bare, METADATA_CTF_2, "");
	CHECK(tsdl == bare && json != bare);
	class_table_init(&table, &shapes, NULL, (struct account_id){ 0 });
	CHECK_IS(class_get(&table, json, &c), ==, CLASS_LONG);
	CHECK_IS(class_get(&table, tsdl, &c), ==, CLASS_NEW);
	class_table_fini(&table);
	shape_unref(&shapes, tsdl);
	shape_unref(&shapes, json);
	shape_unref(&shapes, bare);
	CHECK_IS(shapes.nr, ==, 0);
}

static void same_names(void)
{
	struct shapes shapes = { 0 };
	struct layout *layout = layout_new(2, 0, 64);
	struct layout_field seq = {
		.name = "f", .kind = LTT_KIND_SEQUENCE, .size_bits = 8, .length_bits = 32
	};
	struct layout_field len = { .name = "_f_length", .kind = LTT_KIND_INT, .size_bits = 8 };
	struct shape_facts facts = { "a", SHAPE_TRACEPOINT, 1, "", layout };
	const char *why = NULL;

	CHECK(layout_add_field(layout, &seq) && layout_add_field(layout, &len));
	CHECK(!shape_get(&shapes, &facts, &why) && strstr(why, "two fields"));
	layout_free(layout);
}

static const char *add(struct app *app, uint32_t id, const char *name)
{
	struct shape_facts facts = { name, SHAPE_TRACEPOINT, 13, "", layout_new(0, 0, 0) };
	const struct app_point *point;
	const char *why = app_add_point(app, id, "f.c", 1, &facts, &point);

	layout_free(facts.layout);
	return why;
}

static void count(struct app_point *point, void *data)
{
	uint32_t *last = data;

	CHECK_IS(point->id, >, *last);
	*last = point->id;
}

static void points(void)
{
	struct shapes shapes = { 0 };
	uint32_t last = 0;
	struct app app;

	app_init(&app, 0, &shapes, NULL);
	app.procname = NULL;
	for (uint32_t id = 100; id > 0; id--)
		CHECK(!add(&app, id, id & 1 ? "odd" : "even"));
	CHECK(app.nr_points == 100 && shapes.nr == 2);
	CHECK(strstr(add(&app, 50, "other"), "in use"));
	CHECK(app.nr_points == 100 && shapes.nr == 2);
	app_each_point(&app, count, &last);
	CHECK_IS(last, ==, 100);
	CHECK(app_remove_point(&app, 50) && !app_remove_point(&app, 50));
	CHECK(!app_find_point(&app, 50) && app_find_point(&app, 51));
	app_fini(&app);
	CHECK(shapes.nr == 0 && app.nr_points == 0 && app.bytes == 0);
}

/* Rules for several loggers are rules of one event that coexist. */
static void loggers(void)
{
	struct rule_spec spec = { .pattern = "lttng_python:event",
				  .exclude = "",
				  .filter = "l == 1",
				  .logger = "one" };
	const struct channel_attr attr = { 0 };
	struct channel *channel = channel_new("c", DOMAIN_USER, &attr);
	struct rule *first = channel_add_rule(channel, &spec), *second;
	struct err err = { 0 };

	CHECK_IS(rule_spec_check(&spec, &err), ==, 0);
	spec.filter = "l == 2";
	CHECK_IS(channel_find_rule(channel, &spec), ==, first);
	spec.logger = "two";
	CHECK(!channel_find_rule(channel, &spec));
	second = channel_add_rule(channel, &spec);
	CHECK_IS(strcmp(rule_handle(second), "two"), ==, 0);
	spec.logger = "";
	CHECK(!channel_find_rule(channel, &spec));
	spec.logger = "a\nb";
	CHECK_IS(rule_spec_check(&spec, &err), ==, ERR_INVALID);
	spec.logger = "two";
	spec.pattern = "*";
	CHECK_IS(rule_spec_check(&spec, &err), ==, ERR_INVALID);
	channel_free(channel);
}

int main(void)
{
	loggers();
	patterns_meet();
	rules();
	places();
	programs();
	filters();
	samplings();
	sampled_rules();
	many_rules();
	keys();
	charges();
	trackers();
	context_names();
	bad_rules();
	for_bursts();
	attributes();
	classes();
	long_in_ctf_2();
	invalid_words();
	same_names();
	points();
	return 0;
}
