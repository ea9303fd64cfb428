/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * logger.h - the domains of logging libraries: Python's logging, java.util.logging, log4j. Their
 * messages are events of applications, one event for all messages of a library; a rule for a logger
 * is one for this event with a filter, in the form in which LTTng saves it.
 */
#ifndef CTL_SESSION_LOGGER_H
#define CTL_SESSION_LOGGER_H

#include <ltt/control.h>
#include <stdbool.h>

#include "ctl/ctl.h"

struct domain_options;

struct logger_level {
	const char *name;
	int level;
};

#define LOGGER_LEVELS 10u

/** struct logger_domain - a logging library. @provider: a phrase about programs that have its
 *  messages. */
struct logger_domain {
	const char *name;  /* in JSON, and as LTTng names it, in small letters */
	const char *title; /* for users */
	const char *event;
	const char *channel;
	const char *provider;
	const char *prefix; /* that LTTng has in front of a level's name */
	bool down;	    /* smaller numbers are more severe */
	struct logger_level levels[LOGGER_LEVELS + 1];
};

/** The library that the options name; NULL: none. */
const struct logger_domain *logger_domain_named(const struct domain_options *options);
/** The library of this name, or with this event; NULL: none. */
const struct logger_domain *logger_domain_find(const char *name);
const struct logger_domain *logger_domain_of_event(const char *event);
/** The library that has a point of this name for each of its loggers; NULL: it is another point. */
const struct logger_domain *logger_domain_of_name(const char *point);
/** Return: 0, or the code set in @err. */
int logger_level_parse(const struct logger_domain *domain, const char *text, int *ret_level,
		       struct err *err);
/** The filter of a rule for @logger; NULL: every message. @filter: the user's, or NULL.
 *  Allocated. */
char *logger_filter(const struct logger_domain *domain, const char *logger,
		    enum ltt_ctl_level_type type, int level, const char *filter);

#endif
