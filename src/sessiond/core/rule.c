/* SPDX-License-Identifier: GPL-2.0-only */
#include "rule.h"

#include <ltt/provider.h>
#include <string.h>

#include "attribute.h"
#include "base/mem.h"
#include "base/str.h"
#include "sampling.h"

static bool has_control_byte(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return true;
	return false;
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

/* Only locations in a program have a file. */
static int check_program(const struct rule_spec *spec, struct err *err)
{
	const char *file = or_empty(spec->file), *places = or_empty(spec->places);
	bool fine = *file == '/' && strlen(file) <= RULE_MAX_FILE && !has_control_byte(file) &&
		    *places && strlen(places) <= RULE_MAX_PLACES && !has_control_byte(places);

	if (spec->kind == RULE_USER)
		return fine ? 0 :
			      err_set(err, ERR_INVALID,
				      "a probe in a program needs its absolute path and at most %u "
				      "bytes of places in it",
				      RULE_MAX_PLACES);
	return *file || *places ?
		       err_set(err, ERR_INVALID, "only a probe in a program has a path") :
		       0;
}

static int core_rule_check_field(const struct rule_spec *spec, struct err *err)
{
	const char *field = or_empty(spec->location);

	if (!*field || strlen(field) > RULE_MAX_LOCATION || has_control_byte(field) ||
	    *or_empty(spec->fetch))
		return err_set(err, ERR_INVALID, "a histogram needs the name of one field");
	return check_program(spec, err);
}

/* Its syntax is the domain's matter. */
static int core_rule_check_filter(const struct rule_spec *spec, struct err *err)
{
	const char *filter = or_empty(spec->filter);

	if (strlen(filter) > RULE_MAX_FILTER)
		return err_set(err, ERR_INVALID, "a filter has at most %u bytes", RULE_MAX_FILTER);
	if (has_control_byte(filter))
		return err_set(err, ERR_INVALID, "a filter can't contain control bytes");
	return 0;
}

bool rule_by_field(const char *by, uint32_t number, char *buf)
{
	size_t len;

	for (; number; number--) {
		by = strchr(by, ',');
		if (!by)
			return false;
		by++;
	}
	len = strcspn(by, ",");
	memcpy(buf, by, len);
	buf[len] = '\0';
	return *buf;
}

uint32_t rule_nr_by(const char *by)
{
	return *by ? strchr(by, ',') ? 2 : 1 : 0;
}

static int core_rule_check_by(const struct rule_spec *spec, struct err *err)
{
	const char *by = or_empty(spec->by), *comma = strchr(by, ',');
	char first[RULE_MAX_BY + 1], second[RULE_MAX_BY + 1];

	if (!*by)
		return 0;
	if (!rule_counts(spec->kind))
		return err_set(err, ERR_INVALID,
			       "--by is for events that are counted: use it with --count or "
			       "--histogram");
	if (strlen(by) > RULE_MAX_BY || has_control_byte(by) || !rule_by_field(by, 0, first) ||
	    (comma && (!rule_by_field(by, 1, second) || strchr(comma + 1, ','))))
		return err_set(err, ERR_INVALID, "a key has one field or two: --by FIELD[,FIELD]");
	if (comma && strcmp(first, second) == 0)
		return err_set(err, ERR_INVALID, "the key has field '%.100s' twice", first);
	return 0;
}

static int core_rule_check_sampling(const struct rule_spec *spec, struct err *err)
{
	const char *text = or_empty(spec->sampling);
	struct sampling sampling;

	if (*text && rule_counts(spec->kind))
		return err_set(err, ERR_UNSUPPORTED,
			       "events that are counted are all counted; record them, or omit "
			       "--sample, --rate and --first");
	return sampling_parse(text, &sampling, err);
}

static int core_rule_check_logger(const struct rule_spec *spec, struct err *err)
{
	const char *logger = or_empty(spec->logger);

	if (!*logger)
		return 0;
	if (!rule_chooses(spec->kind) || glob_is_pattern(spec->pattern))
		return err_set(err, ERR_INVALID,
			       "a rule for loggers needs the name of the event of their messages");
	if (strlen(logger) > RULE_MAX_LOGGER || has_control_byte(logger))
		return err_set(err, ERR_INVALID,
			       "the name of a logger has at most %u bytes, and no control bytes",
			       RULE_MAX_LOGGER);
	return 0;
}

/* One place, that has one name. */
static int check_place(const struct rule_spec *spec, struct err *err)
{
	const char *location = or_empty(spec->location), *fetch = or_empty(spec->fetch);

	if ((unsigned int)spec->kind >= RULE_NR_KINDS)
		return err_set(err, ERR_INVALID, "unknown kind of event rule: %d", (int)spec->kind);
	if (spec->kind == RULE_HISTOGRAM)
		return core_rule_check_field(spec, err);
	if (rule_chooses(spec->kind))
		return *location || *fetch ? err_set(err, ERR_INVALID,
						     "events have no location, and all fields") :
					     check_program(spec, err);
	if (glob_is_pattern(spec->pattern) || spec->exclude[0] ||
	    spec->loglevel_type != LOGLEVEL_ALL)
		return err_set(
			err, ERR_INVALID,
			"'%.100s': a probe has one name, without '*', and neither exclusions "
			"nor a log level",
			spec->pattern);
	if (check_program(spec, err))
		return err->code;
	if (!*location || strlen(location) > RULE_MAX_LOCATION || has_control_byte(location))
		return err_set(err, ERR_INVALID,
			       "a probe needs a location: SYMBOL, SYMBOL+OFFSET or 0xADDRESS");
	if (strlen(fetch) > RULE_MAX_FETCH || has_control_byte(fetch))
		return err_set(err, ERR_INVALID,
			       "the values that a probe records are at most %u bytes of text",
			       RULE_MAX_FETCH);
	return 0;
}

int rule_spec_check(const struct rule_spec *spec, struct err *err)
{
	if (!spec->pattern[0])
		return err_set(err, ERR_INVALID,
			       "the event name is empty; name an event, or '*' for all");
	if (strlen(spec->pattern) > RULE_MAX_PATTERN)
		return err_set(err, ERR_INVALID, "an event name has at most %u bytes",
			       RULE_MAX_PATTERN);
	if (strlen(spec->exclude) > RULE_MAX_EXCLUDE)
		return err_set(err, ERR_INVALID, "the list of exclusions is longer than %u bytes",
			       RULE_MAX_EXCLUDE);
	if (has_control_byte(spec->pattern) || has_control_byte(spec->exclude))
		return err_set(err, ERR_INVALID, "an event name can't contain control bytes");
	if ((unsigned int)spec->loglevel_type > LOGLEVEL_ONLY)
		return err_set(err, ERR_INVALID, "unknown kind of log level rule: %d",
			       (int)spec->loglevel_type);
	if (spec->loglevel_type != LOGLEVEL_ALL && (spec->loglevel < 0 || spec->loglevel > 14))
		return err_set(err, ERR_INVALID,
			       "log level %d does not exist; levels are 0 (EMERG) to 14 (DEBUG)",
			       spec->loglevel);
	if (core_rule_check_filter(spec, err) || core_rule_check_sampling(spec, err) ||
	    core_rule_check_by(spec, err) || core_rule_check_logger(spec, err))
		return err->code;
	return check_place(spec, err);
}

struct rule *rule_new(const struct rule_spec *spec)
{
	struct rule *rule = xalloc(sizeof(*rule));

	list_init(&rule->node);
	list_init(&rule->by_name.node);
	list_init(&rule->in_patterns);
	list_init(&rule->unsaved);
#define EACH(type, name, init, doc) rule->name = init;
#include "model/rule.def"
#define ASKED(type, name, init, doc) rule->name = spec->name;
#include "model/rule.def"
	if (spec->loglevel_type == LOGLEVEL_ALL)
		rule->loglevel = 0;
#define EACH(type, name, init, doc) ATTRIBUTE_OWN(type, rule->name);
#include "model/rule.def"
	return rule;
}

struct rule *rule_free(struct rule *rule)
{
	if (!rule)
		return NULL;
	list_remove(&rule->node);
	idmap_remove(&rule->by_name);
	list_remove(&rule->in_patterns);
	list_remove(&rule->unsaved);
#define EACH(type, name, init, doc) ATTRIBUTE_FREE(type, rule->name);
#include "model/rule.def"
	free(rule);
	return NULL;
}

uint64_t rule_bytes(const struct rule_spec *spec)
{
	uint64_t bytes = sizeof(struct rule);

#define ASKED(type, name, init, doc) bytes += ATTRIBUTE_BYTES(type, spec->name);
#include "model/rule.def"
	return bytes;
}

struct rule_spec rule_spec_of(const struct rule *rule)
{
	return (struct rule_spec){
#define ASKED(type, name, init, doc) .name = rule->name,
#include "model/rule.def"
	};
}

bool rule_is(const struct rule *rule, const struct rule_spec *spec)
{
	struct rule_spec same = *spec;

	if (spec->loglevel_type == LOGLEVEL_ALL)
		same.loglevel = rule->loglevel;
#define CHANGING(type, name, init, doc) same.name = rule->name;
#include "model/rule.def"
#define ASKED(type, name, init, doc)                       \
	if (!ATTRIBUTE_EQUAL(type, rule->name, same.name)) \
		return false;
#include "model/rule.def"
	return true;
}

bool rule_is_outdated(const struct rule *rule, const struct rule_spec *spec)
{
	struct rule_spec there = *spec;

	there.places = rule->places;
	return spec->kind == RULE_USER && rule_is(rule, &there) && !rule_is(rule, spec);
}

bool rule_change(struct rule *rule, const struct rule_spec *spec)
{
	bool changed = false;

#define CHANGING(type, name, init, doc)                       \
	if (!ATTRIBUTE_EQUAL(type, rule->name, spec->name)) { \
		ATTRIBUTE_SET(type, rule->name, spec->name);  \
		changed = true;                               \
	}
#include "model/rule.def"
	return changed;
}

/** A pattern without its escapes: the bytes before its first star and behind its last one; a
 *  pattern without a star has all of them in @first. */
struct rule_ends {
	char first[RULE_MAX_PATTERN + 1], last[RULE_MAX_PATTERN + 1];
	size_t nr_first, nr_last;
	bool has_star;
};

static void rule_ends_of(const char *pattern, struct rule_ends *ends)
{
	memset(ends, 0, sizeof(*ends));
	for (; *pattern && ends->nr_first + ends->nr_last < RULE_MAX_PATTERN; pattern++) {
		if (*pattern == '*') {
			ends->has_star = true;
			ends->nr_last = 0;
			continue;
		}
		if (*pattern == '\\' && pattern[1])
			pattern++;
		if (ends->has_star)
			ends->last[ends->nr_last++] = *pattern;
		else
			ends->first[ends->nr_first++] = *pattern;
	}
	ends->first[ends->nr_first] = ends->last[ends->nr_last] = '\0';
}

bool rule_patterns_meet(const char *a, const char *b)
{
	struct rule_ends x, y;
	size_t last;

	for (size_t i = 0; !strchr("*\\", a[i]) && !strchr("*\\", b[i]); i++)
		if (a[i] != b[i])
			return false; /* as most do */
	rule_ends_of(a, &x);
	rule_ends_of(b, &y);
	if (!x.has_star)
		return glob_match(b, x.first);
	if (!y.has_star)
		return glob_match(a, y.first);
	/* A star of each matches the part between the ends of the other one. */
	last = MIN(x.nr_last, y.nr_last);
	return memcmp(x.first, y.first, MIN(x.nr_first, y.nr_first)) == 0 &&
	       memcmp(x.last + x.nr_last - last, y.last + y.nr_last - last, last) == 0;
}

bool rule_matches(const struct rule *rule, const char *name, int loglevel)
{
	if (rule->loglevel_type == LOGLEVEL_AT_LEAST && loglevel > rule->loglevel)
		return false;
	if (rule->loglevel_type == LOGLEVEL_ONLY && loglevel != rule->loglevel)
		return false;
	return glob_match(rule->pattern, name) && !glob_match_list(rule->exclude, name) &&
	       !strstr(name, LTT_PROVIDER_LOGGER);
}
