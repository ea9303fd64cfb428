/* SPDX-License-Identifier: GPL-2.0-only */
/* filter_check: whether the expression of a filter can hold for events of applications that run,
 * or of the kernel. */
#include "cmd.h"

#include "base/mem.h"
#include "base/str.h"
#include "sessiond/domain/rec/filter.h"

struct checking {
	struct command *cmd;
	const char *pattern;
	bool kernel;
	struct filter_verdicts verdicts;
	uint32_t left_out; /* verdicts that the client has */
	bool more;
};

/* An event of the kernel also has a name with its system. */
static bool filter_check_matches(const struct checking *c, const struct domain_point *point)
{
	AUTO_FREE char *whole = NULL;

	if (!*c->pattern || glob_match(c->pattern, point->shape->name))
		return true;
	if (!c->kernel)
		return false;
	whole = xasprintf("%s:%s", point->process, point->shape->name);
	return glob_match(c->pattern, whole);
}

static void filter_check_point(const struct domain_point *point, void *data)
{
	struct checking *c = data;
	const struct filter_verdict *verdict;
	struct msg_verdict item = { .why = "" };
	bool first;

	if (c->more || !point->shape || !filter_check_matches(c, point))
		return;
	c->more = command_choked(c->cmd);
	if (c->more)
		return;
	verdict = filter_verdict_get(&c->verdicts, point->shape, &first);
	if (first && c->left_out) {
		c->left_out--;
		return;
	}
	item.name = point->shape->name;
	item.column = verdict->column;
	if (verdict->column)
		item.why = verdict->why;
	if (first)
		item_verdict(c->cmd, &item);
}

enum cmd_now cmd_filter_check(struct command *cmd, struct req_filter_check *req,
			      struct rep_filter_check *rep)
{
	uint8_t domain = req->domain ? req->domain : DOMAIN_USER; /* older clients */
	struct checking c = {
		.cmd = cmd,
		.pattern = req->pattern,
		.kernel = domain == DOMAIN_KERNEL,
		.verdicts = { .expression = req->expression },
		.left_out = req->after,
	};
	struct domain_tracer *tracer;

	if (command_domain(cmd, domain) != CMD_DONE)
		return CMD_FAILED;
	tracer = command_tracer(cmd, domain);
	c.verdicts.tracer = tracer->ops->filters(tracer);
	if (filter_check_syntax(c.verdicts.tracer, req->expression, &cmd->err))
		return CMD_FAILED;
	tracer->ops->each_point(tracer, &cmd->caller, filter_check_point, &c);
	filter_verdicts_fini(&c.verdicts);
	rep->more = c.more;
	return CMD_DONE;
}
