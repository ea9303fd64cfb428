/* SPDX-License-Identifier: GPL-2.0-only */
/* place.h - the options of verbs for events at places of the kernel and of programs. */
#ifndef CTL_SESSION_PLACE_H
#define CTL_SESSION_PLACE_H

#include <ltt/control.h>

#include "ctl/ctl.h"
#include "ctl/options.h"

struct place_options {
	char *probe, *function, *program;
	char *fetch;		      /* all of them, joined; NULL: none */
	struct ltt_ctl_places *found; /* of @program; NULL: it was not searched */
};

/** @fetch: number of --fetch, whose argument goes to place_add_fetch(). */
#define OPTIONS_PLACE(var, fetch)                                                            \
	OPTION_TEXT("probe", 0, &(var).probe, "with -k: at a place in the kernel", "PLACE"), \
		OPTION_TEXT("function", 0, &(var).function,                                  \
			    "with -k: entry and exit of a function", "SYMBOL"),              \
		OPTION_EACH("fetch", 0, fetch, 0, "record this value, too; may be repeated", \
			    "[NAME=]VALUE[:TYPE]"),                                          \
		OPTION_TEXT("userspace-probe", 0, &(var).program,                            \
			    "with -k: at a function of a program or library, or where it "   \
			    "returns, or at a USDT probe",                                   \
			    "[return:]PATH:SYMBOL|sdt:PATH:PROVIDER:NAME")

void place_add_fetch(struct place_options *options, const char *argument);
/** The name of the option that was given; NULL: none. */
const char *place_option(const struct place_options *options);
/** Its argument. */
const char *place_given(const struct place_options *options);
/** The kind of an event there. */
enum ltt_ctl_rule_kind place_kind(const struct place_options *options);
/** Find the places in the program, if there is one: here, as root's daemon does not read programs
 *  of users. Return: 0 or the code set in the error of @ctl. */
int place_find_program(struct ctl *ctl, struct place_options *options) MUST_CHECK;

#endif
