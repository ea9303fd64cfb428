/* SPDX-License-Identifier: GPL-2.0-only */
#include "logger.h"

#include <errno.h>
#include <limits.h>
#include <ltt/provider.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/macros.h"
#include "base/mem.h"
#include "base/str.h"
#include "ctl/options.h"

static const struct logger_domain logger_domains[] = {
	{ .name = "jul",
	  .title = "java.util.logging",
	  .event = "lttng_jul:event",
	  .channel = "lttng_jul_channel",
	  .provider = "has the handler of ltt-agent.jar",
	  .prefix = "JUL_",
	  .levels = { { "OFF", INT_MAX },
		      { "SEVERE", 1000 },
		      { "WARNING", 900 },
		      { "INFO", 800 },
		      { "CONFIG", 700 },
		      { "FINE", 500 },
		      { "FINER", 400 },
		      { "FINEST", 300 },
		      { "ALL", INT_MIN } } },
	{ .name = "log4j",
	  .title = "log4j",
	  .event = "lttng_log4j:event",
	  .channel = "lttng_log4j_channel",
	  .provider = "has the appender of LTTng for log4j",
	  .prefix = "LOG4J_",
	  .levels = { { "OFF", INT_MAX },
		      { "FATAL", 50000 },
		      { "ERROR", 40000 },
		      { "WARN", 30000 },
		      { "INFO", 20000 },
		      { "DEBUG", 10000 },
		      { "TRACE", 5000 },
		      { "ALL", INT_MIN } } },
	{ .name = "log4j2",
	  .title = "log4j 2",
	  .event = "lttng_log4j2:event",
	  .channel = "lttng_log4j2_channel",
	  .provider = "has the appender of LTTng for log4j 2",
	  .prefix = "LOG4J2_",
	  .down = true,
	  .levels = { { "OFF", 0 },
		      { "FATAL", 100 },
		      { "ERROR", 200 },
		      { "WARN", 300 },
		      { "INFO", 400 },
		      { "DEBUG", 500 },
		      { "TRACE", 600 },
		      { "ALL", INT_MAX } } },
	{ .name = "python",
	  .title = "Python",
	  .event = "lttng_python:event",
	  .channel = "lttng_python_channel",
	  .provider = "imports ltt_agent",
	  .prefix = "PYTHON_",
	  .levels = { { "CRITICAL", 50 },
		      { "ERROR", 40 },
		      { "WARNING", 30 },
		      { "INFO", 20 },
		      { "DEBUG", 10 },
		      { "NOTSET", 0 } } },
};

const struct logger_domain *logger_domain_named(const struct domain_options *options)
{
	return logger_domain_find(options->jul	  ? "jul" :
				  options->log4j  ? "log4j" :
				  options->log4j2 ? "log4j2" :
				  options->python ? "python" :
						    "");
}

const struct logger_domain *logger_domain_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(logger_domains); i++)
		if (strcmp(logger_domains[i].name, name) == 0)
			return &logger_domains[i];
	return NULL;
}

const struct logger_domain *logger_domain_of_event(const char *event)
{
	for (size_t i = 0; i < ARRAY_SIZE(logger_domains); i++)
		if (strcmp(logger_domains[i].event, event) == 0)
			return &logger_domains[i];
	return NULL;
}

const struct logger_domain *logger_domain_of_name(const char *point)
{
	for (size_t i = 0; i < ARRAY_SIZE(logger_domains); i++) {
		size_t len = strcspn(logger_domains[i].event, ":");

		if (strncmp(point, logger_domains[i].event, len) == 0 &&
		    strncmp(point + len, LTT_PROVIDER_LOGGER, strlen(LTT_PROVIDER_LOGGER)) == 0)
			return &logger_domains[i];
	}
	return NULL;
}

static int logger_level_unknown(const struct logger_domain *domain, const char *text,
				struct err *err)
{
	const char *names[LOGGER_LEVELS + 1] = { NULL }, *near;
	char *list AUTO_FREE = xstrdup("");

	for (size_t i = 0; domain->levels[i].name; i++) {
		char *before AUTO_FREE = list;

		names[i] = domain->levels[i].name;
		list = xasprintf("%s%s%s", before, i ? ", " : "", names[i]);
	}
	near = nearest_word(text, names);
	return err_set(err, ERR_INVALID, "unknown log level '%.100s' of %s; %s%s%s", text,
		       domain->title, near ? "did you mean '" : "use a number or one of ",
		       near ? near : list, near ? "'?" : "");
}

int logger_level_parse(const struct logger_domain *domain, const char *text, int *ret_level,
		       struct err *err)
{
	size_t prefix = strlen(domain->prefix);
	const char *name = strncasecmp(text, domain->prefix, prefix) == 0 ? text + prefix : text;
	long number;
	char *end;

	for (size_t i = 0; domain->levels[i].name; i++) {
		if (strcasecmp(domain->levels[i].name, name) != 0)
			continue;
		*ret_level = domain->levels[i].level;
		return 0;
	}
	errno = 0;
	number = strtol(text, &end, 10);
	if (errno || end == text || *end || number < INT_MIN || number > INT_MAX)
		return logger_level_unknown(domain, text, err);
	*ret_level = (int)number;
	return 0;
}

/* As the text of an expression, in which a star matches anything, too. */
static char *logger_quoted(const char *name)
{
	char *quoted = xalloc(2 * strlen(name) + 3), *to = quoted;

	*to++ = '"';
	for (; *name; name++) {
		if (*name == '\\' && (name[1] == '*' || name[1] == '\\'))
			*to++ = *name++;
		else if (*name == '"' || *name == '\\')
			*to++ = '\\';
		*to++ = *name;
	}
	*to = '"';
	return quoted;
}

/* Both conditions; frees them. @before: NULL: the new one alone. */
static char *logger_join(char *before, char *condition)
{
	char *both = before ? xasprintf("(%s) && (%s)", before, condition) : xstrdup(condition);

	free(before);
	free(condition);
	return both;
}

char *logger_filter(const struct logger_domain *domain, const char *logger,
		    enum ltt_ctl_level_type type, int level, const char *filter)
{
	char *quoted AUTO_FREE = logger_quoted(logger);
	char *all = filter ? xstrdup(filter) : NULL;

	if (strcmp(logger, "*") != 0)
		all = logger_join(all, xasprintf("logger_name == %s", quoted));
	if (type != LTT_CTL_LEVEL_ALL)
		all = logger_join(all, xasprintf("int_loglevel %s %d",
						 type == LTT_CTL_LEVEL_ONLY ? "==" :
						 domain->down		    ? "<=" :
									      ">=",
						 level));
	return all;
}
