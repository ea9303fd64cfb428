/* SPDX-License-Identifier: GPL-2.0-only */
#include "options.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/print/json.h"
#include "help.h"
#include "main.h"
#include "session/logger.h"

#define MAX_NAMES 64

const struct poptOption options_common[] = {
	{ .longName = "json", .val = OPTION_JSON, .descrip = "answer with a JSON object" },
	{ .shortName = 'h', .val = OPTION_USAGE, .descrip = "show how the verb is used" },
	{ .longName = "help", .val = OPTION_HELP, .descrip = "open the manual page" },
	{ .longName = "list-options", .val = OPTION_LIST, .descrip = "list the options" },
	POPT_TABLEEND,
};

static const struct poptOption no_options[] = { POPT_TABLEEND };

static bool table_end(const struct poptOption *option)
{
	return !option->longName && !option->shortName && !option->arg;
}

void options_list(FILE *out, const struct poptOption *table, bool described)
{
	for (; !table_end(table); table++) {
		char *text AUTO_FREE = NULL;

		if ((table->argInfo & POPT_ARGFLAG_DOC_HIDDEN) && !table->val)
			continue; /* one program's to another */
		if (described)
			text = xasprintf("\t%s\t%s", table->descrip,
					 table->argDescrip ? table->argDescrip : "");
		if (table->longName)
			fprintf(out, "--%s%s\n", table->longName, text ? text : "");
		if (table->shortName)
			fprintf(out, "-%c%s\n", table->shortName, text ? text : "");
	}
}

void options_help(FILE *out, const struct poptOption *table)
{
	for (; !table_end(table); table++) {
		char *name AUTO_FREE = NULL;

		if (table->argInfo & POPT_ARGFLAG_DOC_HIDDEN)
			continue;
		name = xasprintf("%s%s%s%s", table->longName ? "--" : "",
				 table->longName ? table->longName : "",
				 table->argDescrip ? "=" : "",
				 table->argDescrip ? table->argDescrip : "");
		if (table->shortName)
			fprintf(out, "  -%c%s ", table->shortName, *name ? "," : " ");
		else
			fputs("      ", out);
		fprintf(out, strlen(name) > 25 ? "%s\n%32s" : "%-25s %s", name, "");
		fprintf(out, "%s\n", table->descrip);
	}
}

static unsigned int ctl_options_add_names(const char **names, unsigned int nr,
					  const struct poptOption *table)
{
	for (; !table_end(table) && nr < MAX_NAMES; table++)
		if (table->longName)
			names[nr++] = table->longName;
	return nr;
}

/* An option without its argument; allocated. */
static char *option_word(const char *bad)
{
	char *word = xstrdup(bad);

	word[strncmp(bad, "--", 2) == 0 ? strcspn(bad, "=") : MIN(strlen(bad), 2u)] = '\0';
	return word;
}

/* The long option that was nearly typed, or NULL. */
static const char *nearest_option(const char *bad, const struct poptOption *table,
				  const struct poptOption *more)
{
	const char *names[MAX_NAMES + 1] = { NULL };
	char *word AUTO_FREE = NULL;
	unsigned int nr;

	if (strncmp(bad, "--", 2) != 0)
		return NULL;
	word = option_word(bad);
	nr = ctl_options_add_names(names, 0, table);
	nr = ctl_options_add_names(names, nr, more);
	names[nr] = NULL;
	return word[2] ? nearest_word(word + 2, names) : NULL;
}

enum status options_bad(struct ctl *ctl, poptContext pc, int error, const struct poptOption *table,
			const struct poptOption *more)
{
	const char *bad = poptBadOption(pc, POPT_BADOPTION_NOALIAS);
	const char *near = error == POPT_ERROR_BADOPT ? nearest_option(bad, table, more) : NULL;
	const char *verb = ctl->verb ? ctl->verb->name : NULL;
	char *option AUTO_FREE = option_word(bad);
	const char *elsewhere = error == POPT_ERROR_BADOPT && verb ?
					verb_option_elsewhere(verb, option) :
					NULL;

	if (elsewhere)
		err_set(&ctl->err, ERR_INVALID, "there is no option '%s': %s", option, elsewhere);
	else if (near)
		err_set(&ctl->err, ERR_INVALID, "unknown option '%s'; did you mean '--%s'?", bad,
			near);
	else if (error == POPT_ERROR_BADOPT)
		err_set(&ctl->err, ERR_INVALID, "unknown option '%s'; 'lttctl %s%s-h' lists them",
			bad, verb ? verb : "", verb ? " " : "");
	else
		err_set(&ctl->err, ERR_INVALID, "option '%s': %s", bad, poptStrerror(error));
	return STATUS_UNDEFINED;
}

void options_list_missing(FILE *out, const char *verb, const struct poptOption *table)
{
	for (; !table_end(table); table++)
		if (table->val >= OPTION_LATER && table->longName)
			fprintf(out, "%s --%s: %s\n", verb, table->longName, table->descrip);
}

static const struct poptOption *find_option(const struct poptOption *table, int value)
{
	while (!table_end(table) && table->val != value)
		table++;
	return table;
}

enum status options_not_yet(struct ctl *ctl, const struct poptOption *table, int value)
{
	table = find_option(table, value);
	err_set(&ctl->err, ERR_UNSUPPORTED, "--%s: %s", table->longName ? table->longName : "?",
		table->descrip ? table->descrip : "");
	return STATUS_UNSUPPORTED;
}

static bool has_word(const char *argument)
{
	return argument[strspn(argument, ", \t\n")] != '\0' && strcmp(argument, "--") != 0;
}

static enum status check_argument(struct ctl *ctl, const struct poptOption *option,
				  const char *argument)
{
	const char letter[] = { option->shortName, '\0' };

	if (!argument || has_word(argument))
		return STATUS_OK;
	err_set(&ctl->err, ERR_INVALID, "%s%s: missing argument (%s)",
		option->longName ? "--" : "-", option->longName ? option->longName : letter,
		option->argDescrip ? option->argDescrip : "TEXT");
	return STATUS_UNDEFINED;
}

enum status options_check(struct ctl *ctl, const struct poptOption *table)
{
	enum status status = STATUS_OK;

	for (; !table_end(table) && status == STATUS_OK; table++)
		if (table->argInfo == POPT_ARG_STRING && table->arg)
			status = check_argument(ctl, table, *(char *const *)table->arg);
	return status;
}

bool options_has_joined(const struct ctl *ctl, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 1; ctl->argv[i] && strcmp(ctl->argv[i], "--") != 0; i++)
		if (strncmp(ctl->argv[i], "--", 2) == 0 &&
		    strncmp(ctl->argv[i] + 2, name, len) == 0 && ctl->argv[i][len + 2] == '=')
			return true;
	return false;
}

/* One option that popt hands back. */
static enum status ctl_options_take(struct ctl *ctl, poptContext pc, int value,
				    const struct poptOption *table, bool *ret_done)
{
	if (value >= OPTION_LATER)
		return options_not_yet(ctl, table, value);
	if (value >= OPTION_OWN) {
		char *argument AUTO_FREE = poptGetOptArg(pc);
		enum status status = check_argument(ctl, find_option(table, value), argument);

		return status ? status : ctl->verb->option(ctl, value - OPTION_OWN, argument);
	}
	switch (value) {
	case OPTION_HELP:
		*ret_done = true;
		return help_open(ctl->verb);
	case OPTION_USAGE:
		*ret_done = true;
		help_verb(stdout, ctl->verb);
		return STATUS_OK;
	case OPTION_LIST:
		*ret_done = true;
		options_list(stdout, table, ctl->verbose);
		options_list(stdout, options_common, ctl->verbose);
		return STATUS_OK;
	}
	return main_take_option(ctl, value, ret_done);
}

static enum status take_operands(struct ctl *ctl, poptContext pc)
{
	const char **args = poptGetArgs(pc);

	ctl->operands = args;
	for (ctl->nr_operands = 0; args && args[ctl->nr_operands];)
		ctl->nr_operands++;
	if (ctl->verb->command_behind || ctl->nr_operands <= ctl->verb->max_operands)
		return STATUS_OK;
	err_set(&ctl->err, ERR_INVALID, "'%s' is one word too many; usage: lttctl %s %s",
		ctl->operands[ctl->verb->max_operands], ctl->verb->name, ctl->verb->operands);
	return STATUS_ERROR;
}

enum status options_verb(struct ctl *ctl, int argc, const char **argv, bool *ret_done)
{
	const struct poptOption *table = ctl->verb->options ? ctl->verb->options : no_options;
	static struct poptOption all[] = {
		{ .argInfo = POPT_ARG_INCLUDE_TABLE },
		{ .argInfo = POPT_ARG_INCLUDE_TABLE, .arg = (void *)options_common },
		{ .argInfo = POPT_ARG_INCLUDE_TABLE, .arg = (void *)options_general },
		POPT_TABLEEND,
	};
	enum status status = STATUS_OK;
	poptContext pc;
	int value = 0;

	ctl->argv = argv;
	all[0].arg = (void *)table; /* popt keeps a pointer to it */
	pc = poptGetContext(NULL, argc, argv, all,
			    ctl->verb->command_behind ? POPT_CONTEXT_POSIXMEHARDER : 0);
	ctl->words = pc;
	*ret_done = false;
	while (status == STATUS_OK && !*ret_done && (value = poptGetNextOpt(pc)) > 0)
		status = ctl_options_take(ctl, pc, value, table, ret_done);
	if (status != STATUS_OK || *ret_done)
		return status;
	if (value < -1)
		return options_bad(ctl, pc, value, table, options_common);
	main_take_values(ctl);
	status = options_check(ctl, table);
	if (!status)
		status = options_check(ctl, options_general);
	return status ? status : take_operands(ctl, pc);
}

int options_parse_period(const char *text, uint64_t *ret_us)
{
	return parse_u64(text, ret_us) == 0 ? 0 : parse_period(text, ret_us);
}

int options_parse_blocking(const char *text, uint32_t *ret_us)
{
	uint64_t us = LTT_CTL_BLOCKING_FOREVER;

	if (strcmp(text, "inf") != 0 &&
	    (options_parse_period(text, &us) != 0 || us >= LTT_CTL_BLOCKING_FOREVER))
		return -EINVAL;
	*ret_us = (uint32_t)us;
	return 0;
}

bool domain_any(const struct domain_options *domain)
{
	return domain->kernel || domain->user || domain->jul || domain->log4j || domain->log4j2 ||
	       domain->python;
}

enum status domain_check_any(struct ctl *ctl, const struct domain_options *domain)
{
	unsigned int others = !!domain->jul + !!domain->log4j + !!domain->log4j2 + !!domain->python;

	if (!domain_any(domain)) {
		err_set(&ctl->err, ERR_INVALID,
			"missing domain: use -u (--userspace) or -k (--kernel)");
		return STATUS_ERROR;
	}
	if (others + !!domain->kernel + !!domain->user > 1) {
		err_set(&ctl->err, ERR_INVALID,
			others ? "there is one domain in each call: omit the others" :
				 "-u (--userspace) and -k (--kernel) exclude each other");
		return STATUS_ERROR;
	}
	return STATUS_OK;
}

enum status domain_check(struct ctl *ctl, const struct domain_options *domain)
{
	const struct logger_domain *loggers = logger_domain_named(domain);
	enum status status = domain_check_any(ctl, domain);

	if (status != STATUS_OK || !loggers)
		return status;
	err_set(&ctl->err, ERR_UNSUPPORTED,
		"messages of %s are events of applications, in channel '%s': use -u (--userspace)",
		loggers->title, loggers->channel);
	return STATUS_UNSUPPORTED;
}

enum domain_id domain_named(const struct domain_options *domain)
{
	return domain->kernel ? DOMAIN_KERNEL : DOMAIN_USER;
}

const char *domain_title(struct json_object *record)
{
	return strcmp(json_str(record, "domain"), "kernel") == 0 ? "Kernel" : "User";
}
