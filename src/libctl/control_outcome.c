/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* control_outcome.c - ltt_ctl_last_outcome(): the facts about the last call, and their warnings. */
#include "base/macros.h"
#include "control.h"

const struct ltt_ctl_outcome *ltt_ctl_last_outcome(const struct ltt_ctl *ctl)
{
	static const struct ltt_ctl_outcome none = { .problem = "", .nearest = "" };

	return ctl->outcome ? ctl->outcome : &none;
}

int control_begin_outcome(struct ltt_ctl *ctl)
{
	if (control_begin(ctl) != 0)
		return ctl->err.code;
	ctl->outcome = pool_owner_new(sizeof(*ctl->outcome));
	if (!ctl->outcome)
		return err_memory(&ctl->err);
	ctl->outcome->problem = ctl->outcome->nearest = "";
	return 0;
}

static int control_outcome_conflict(struct ltt_ctl *ctl, struct decoder *dec)
{
	struct ltt_ctl_outcome *o = ctl->outcome;
	struct msg_conflict m;

	if (msg_conflict_decode(dec, &m) != 0)
		return ERR_BAD_MESSAGE;
	control_warn(
		ctl,
		"event '%s' of process %u is not recorded: its format is \"%s\", but \"%s\" is "
		"recorded under this name",
		m.name, m.pid, m.refused, m.armed);
	control_add_conflict(pool_of(o), &m, &o->conflicts, &o->nr_conflicts);
	return 0;
}

static int control_outcome_refusal(struct ltt_ctl *ctl, struct decoder *dec)
{
	struct ltt_ctl_outcome *o = ctl->outcome;
	struct msg_refusal m;

	if (msg_refusal_decode(dec, &m) != 0)
		return ERR_BAD_MESSAGE;
	control_warn(ctl, "event '%s' is not %s: %s", m.name,
		     m.domain == DOMAIN_USER && !m.recorded ? "counted" : "recorded", m.why);
	control_add_refusal(pool_of(o), &m, &o->refusals, &o->nr_refusals);
	return 0;
}

/* The request is being executed: without memory the facts are incomplete, and it succeeds. */
static void control_outcome_check_memory(struct ltt_ctl *ctl)
{
	ctl->outcome->incomplete = pool_of(ctl->outcome)->failed;
}

int control_outcome_item(void *priv, unsigned int type, struct decoder *dec)
{
	struct ltt_ctl *ctl = priv;
	int code = 0;

	if (type == MSG_conflict)
		code = control_outcome_conflict(ctl, dec);
	else if (type == MSG_refusal)
		code = control_outcome_refusal(ctl, dec);
	control_outcome_check_memory(ctl);
	return code;
}

void control_outcome_problem(struct ltt_ctl *ctl, const char *problem)
{
	ctl->outcome->problem = pool_str(pool_of(ctl->outcome), problem);
	control_outcome_check_memory(ctl);
}
