/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * options.h - the options of lttctl and of its verbs: tables of popt, and the common options of
 * all verbs. An option of LTTng that is not supported yet is in the table as well (LATER), with
 * a sentence for the user.
 */
#ifndef CTL_OPTIONS_H
#define CTL_OPTIONS_H

#include "ctl.h"

/* values that poptGetNextOpt() returns; verbs use none of them but OPTION_OWN */
enum option_value {
	OPTION_HELP = 1,
	OPTION_USAGE,
	OPTION_LIST,
	OPTION_JSON,
	OPTION_MI,
	OPTION_VERBOSE,
	OPTION_VERSION,
	OPTION_LIST_COMMANDS,
	OPTION_LIST_MISSING,
	OPTION_OWN = 100,    /* and above: the verb's own, see struct verb */
	OPTION_LATER = 1000, /* and above: one for each */
};

#define OPTION_FLAG(name, letter, var, text)                                                 \
	{                                                                                    \
		.longName = name, .shortName = letter, .argInfo = POPT_ARG_NONE, .arg = var, \
		.descrip = text                                                              \
	}
#define OPTION_TEXT(name, letter, var, text, what)                                             \
	{                                                                                      \
		.longName = name, .shortName = letter, .argInfo = POPT_ARG_STRING, .arg = var, \
		.descrip = text, .argDescrip = what                                            \
	}
/** An option that may be repeated: @var is a char **, which ends with NULL. */
#define OPTION_LIST_OF(name, letter, var, text, what)                                        \
	{                                                                                    \
		.longName = name, .shortName = letter, .argInfo = POPT_ARG_ARGV, .arg = var, \
		.descrip = text, .argDescrip = what                                          \
	}
/** An option that may be repeated; the verb's option() is called each time.
 *  @how: 0, or POPT_ARGFLAG_OPTIONAL. */
#define OPTION_EACH(name, letter, number, how, text, what)                                 \
	{                                                                                  \
		.longName = name, .shortName = letter, .argInfo = POPT_ARG_STRING | (how), \
		.val = OPTION_OWN + (number), .descrip = text, .argDescrip = what          \
	}
/** An option that is known but not supported. @sentence: follows its name in messages. */
#define OPTION_NOT_YET(name, letter, kind, number, sentence)                                 \
	{                                                                                    \
		.longName = name, .shortName = letter,                                       \
		.argInfo = (kind) | POPT_ARGFLAG_DOC_HIDDEN, .val = OPTION_LATER + (number), \
		.descrip = sentence                                                          \
	}

#define OPTION_SESSION(var) \
	OPTION_TEXT("session", 's', var, "of this session, not the current", "NAME")
#define OPTION_CHANNEL(var, text) OPTION_TEXT("channel", 'c', var, text, "NAME")

/** Options of LTTng's domains; see domain_check(). */
struct domain_options {
	int kernel, user, jul, log4j, log4j2, python;
};
#define OPTIONS_DOMAIN(var)                                                         \
	OPTION_FLAG("userspace", 'u', &(var).user, "user-space events"),            \
		OPTION_FLAG("kernel", 'k', &(var).kernel, "kernel events"),         \
		OPTION_FLAG("jul", 'j', &(var).jul, "messages of java.util.logging"), \
		OPTION_FLAG("log4j", 'l', &(var).log4j, "messages of log4j"),         \
		OPTION_FLAG("log4j2", 0, &(var).log4j2, "messages of log4j 2"),       \
		OPTION_FLAG("python", 'p', &(var).python, "messages of Python's logging")

/** Check that exactly one domain is named. Otherwise ctl->err is set. */
enum status domain_check_any(struct ctl *ctl, const struct domain_options *domain);
/** The same, and that it is not the domain of a logging library, whose messages are events of
 *  applications. */
enum status domain_check(struct ctl *ctl, const struct domain_options *domain);
bool domain_any(const struct domain_options *domain);
/** The domain that the options name; of a logging library: that of applications. */
enum domain_id domain_named(const struct domain_options *domain);
/** "Kernel" or "User", for the domain in a record. */
const char *domain_title(struct json_object *record);

/** Parse a period of an option that LTTng has, too: a number without a unit is one of microseconds.
 *  Return: as parse_period(). */
int options_parse_period(const char *text, uint64_t *ret_us) MUST_CHECK;

/** The value of --blocking-timeout: a period, or `inf`. Return: 0 or a negative errno. */
int options_parse_blocking(const char *text, uint32_t *ret_us) MUST_CHECK;
/** The values that it accepts, for messages. */
#define OPTIONS_BLOCKING \
	"a period below 71 minutes, such as 1000 (microseconds), 1ms or 1s, or 'inf'"

/** Options that every verb has. */
extern const struct poptOption options_common[];

/**
 * options_verb() - parse the words after the verb.
 * @ret_done: the option was handled completely (help): exit with the status.
 * Fills ctl->operands. Return: STATUS_OK, or a status with ctl->err set.
 */
enum status options_verb(struct ctl *ctl, int argc, const char **argv, bool *ret_done);

/** Check the texts that popt has stored for the options of @table: one without a word is refused,
 *  and so is `--`, which ends the options. Return: STATUS_OK, or a status with ctl->err set. */
enum status options_check(struct ctl *ctl, const struct poptOption *table);
/** Whether the words of the verb have the long option @name with "=" and an argument behind it. */
bool options_has_joined(const struct ctl *ctl, const char *name);

/** Print the options of @table that are not supported yet, as `VERB --NAME: SENTENCE`. */
void options_list_missing(FILE *out, const char *verb, const struct poptOption *table);
/** Handle an OPTION_NOT_YET of the table that popt returned: sets ctl->err. */
enum status options_not_yet(struct ctl *ctl, const struct poptOption *table, int value);

/** Set ctl->err for an error of popt; with the nearest option of two tables. */
enum status options_bad(struct ctl *ctl, poptContext pc, int error, const struct poptOption *table,
			const struct poptOption *more);
/** Print one option on each line, for completion. @described: with its description and argument,
 *  each behind a tab. */
void options_list(FILE *out, const struct poptOption *table, bool described);
/** Print a line of help for each option: letter, name, argument, description. */
void options_help(FILE *out, const struct poptOption *table);

#endif
