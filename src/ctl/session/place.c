/* SPDX-License-Identifier: GPL-2.0-only */
#include "place.h"

#include "base/mem.h"
#include "base/str.h"
#include "ctl/connect.h"
#include "ctl/print/print.h"

void place_add_fetch(struct place_options *options, const char *argument)
{
	char *before AUTO_FREE = options->fetch;

	options->fetch = xasprintf("%s%s%s", before ? before : "", before ? " " : "", argument);
}

const char *place_option(const struct place_options *options)
{
	return options->probe	 ? "probe" :
	       options->function ? "function" :
	       options->program	 ? "userspace-probe" :
				   NULL;
}

const char *place_given(const struct place_options *options)
{
	return options->probe	 ? options->probe :
	       options->function ? options->function :
				   options->program;
}

enum ltt_ctl_rule_kind place_kind(const struct place_options *options)
{
	return options->probe	 ? LTT_CTL_RULE_PROBE :
	       options->function ? LTT_CTL_RULE_FUNCTION :
	       options->program	 ? LTT_CTL_RULE_USER :
				   LTT_CTL_RULE_EVENTS;
}

int place_find_program(struct ctl *ctl, struct place_options *options)
{
	int code = options->program ?
			   ltt_ctl_find_places(ctl->library, options->program, &options->found) :
			   0;

	if (!options->program || ctl_done(ctl, code, &ctl->err) != 0)
		return code;
	if (*options->found->left_out)
		print_note(ctl,
			   "%s can't be recorded: the location is unknown, or the type is not a "
			   "number",
			   options->found->left_out);
	return 0;
}
