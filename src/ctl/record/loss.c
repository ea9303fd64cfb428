/* SPDX-License-Identifier: GPL-2.0-only */
#include "loss.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "ctl/connect.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/print/text.h"
#include "show/show.h"

#define MAX_REFUSALS_SHOWN 5u /* one by one */

static const struct cause {
	const char *key;
	const char *what;	 /* behind "N events" */
	const char *knob, *rest; /* with a @rest: the verb that sets sizes stands before it */
} causes[] = {
	{ "buffer_full", "lost because a buffer was full",
	  "use larger or more sub-buffers (lttctl ",
	  " --subbuf-size, --num-subbuf), or record fewer events" },
	{ "too_large", "lost because they were too large for the buffer",
	  "an event may have an eighth of a CPU's buffer (--subbuf-size times --num-subbuf of "
	  "lttctl ",
	  ") and 65,536 bytes at most, header and contexts included: make the buffer larger up to "
	  "512k, or the event smaller" },
	{ "buffer_busy", "lost because no buffer was free to be written",
	  "in the kernel, a probe was hit within the recording of another one; else some "
	  "application can't use restartable sequences, or one with buffers of its own forked "
	  "while the session daemon did not answer; see ENVIRONMENT in libltt(3)",
	  NULL },
	{ "output_failed", "lost because the trace could not be written",
	  "check the space, the quota and the health of the disk of the output directory, and "
	  "the limits of the session (lttctl list SESSION)",
	  NULL },
};

#define INVALID "invalid_bytes"

static char *invalid_bytes(uint64_t bytes)
{
	char buf[TEXT_BYTES];

	return xasprintf("%s were dropped because an application damaged its buffer; check it for "
			 "stray writes",
			 text_size(buf, bytes));
}

char *loss_sentence(const char *verb, const char *cause, uint64_t n)
{
	char buf[TEXT_BYTES];

	if (strcmp(cause, INVALID) == 0)
		return invalid_bytes(n);
	for (size_t i = 0; i < ARRAY_SIZE(causes); i++)
		if (strcmp(causes[i].key, cause) == 0)
			return xasprintf("%s event%s %s; %s%s%s", text_count(buf, n),
					 n == 1 ? " was" : "s were", causes[i].what, causes[i].knob,
					 causes[i].rest ? verb : "",
					 causes[i].rest ? causes[i].rest : "");
	return NULL;
}

/* The verb by which a user of this one sets the sizes of buffers. */
static const char *sizing_verb(const struct ctl *ctl)
{
	return strcmp(ctl->verb->name, "record") == 0 ? "record" : "enable-channel";
}

/* Buffers are also full because a disk is slow: in words, before the advice. "": it is not. */
static char *loss_slow_disk(struct json_object *totals, const char *cause)
{
	char time[TEXT_BYTES], size[TEXT_BYTES];

	if (strcmp(cause, "buffer_full") != 0 || !json_num(totals, "slow_ns"))
		return xstrdup("");
	return xasprintf("the disk took %s for %s: ",
			 text_duration(time, json_num(totals, "slow_ns")),
			 text_size(size, json_num(totals, "slow_bytes")));
}

static enum status loss_report_cause(struct ctl *ctl, const char *session,
				     struct json_object *totals, const char *cause)
{
	uint64_t n = json_num(json_get(totals, "lost_by_cause"), cause);
	char *sentence AUTO_FREE = n ? loss_sentence(sizing_verb(ctl), cause, n) : NULL;
	char *slow AUTO_FREE = loss_slow_disk(totals, cause);

	if (n == 0)
		return STATUS_OK;
	print_warning(ctl, "session '%s': %s%s", session, slow, sentence);
	return STATUS_LOST;
}

enum status loss_unknown(struct ctl *ctl, const char *name, uint64_t nr)
{
	char *sentence AUTO_FREE = NULL;

	if (!nr)
		return STATUS_OK;
	sentence = show_lost_buffers(name, nr);
	print_warning(ctl, "%s", sentence);
	return STATUS_LOST;
}

enum status loss_unknown_in(struct ctl *ctl, const char *session, struct json_object *totals)
{
	char *name AUTO_FREE = xasprintf("session '%s'", session);

	return loss_unknown(ctl, name, json_num(totals, "lost_buffers"));
}

static enum status loss_unrecorded(struct ctl *ctl, const char *session, uint64_t nr)
{
	char buf[TEXT_BYTES];

	if (!nr)
		return STATUS_OK;
	print_warning(
		ctl,
		"session '%s': %s program%s not recorded, or not from the beginning; the number "
		"of events is unknown",
		session, text_count(buf, nr), nr == 1 ? " was" : "s were");
	return STATUS_LOST;
}

enum status loss_report(struct ctl *ctl, const char *session, struct json_object *totals)
{
	enum status status = STATUS_OK;

	for (size_t i = 0; i < ARRAY_SIZE(causes); i++)
		if (loss_report_cause(ctl, session, totals, causes[i].key) != STATUS_OK)
			status = STATUS_LOST;
	if (loss_report_cause(ctl, session, totals, INVALID) != STATUS_OK)
		status = STATUS_LOST;
	if (loss_unknown_in(ctl, session, totals) != STATUS_OK)
		status = STATUS_LOST;
	if (loss_unrecorded(ctl, session, json_num(totals, "unrecorded")) != STATUS_OK)
		status = STATUS_LOST;
	return status;
}

enum status loss_conclude(struct ctl *ctl, const char *session, struct json_object *totals,
			  const char *problem)
{
	enum status status = totals ? loss_report(ctl, session, totals) : STATUS_OK;

	if (!*problem)
		return status;
	print_warning(ctl, "%s", problem);
	return status == STATUS_OK ? STATUS_LOST : status;
}

void loss_conflicts(struct ctl *ctl, struct json_object *owner)
{
	for (size_t i = 0; i < json_len(owner, "conflicts"); i++) {
		struct json_object *c = json_at(owner, "conflicts", i);

		print_warning(ctl,
			      "marker '%s' of process %" PRIu64 " is not recorded: its format is "
			      "\"%s\", but \"%s\" is recorded under this name",
			      json_str(c, "name"), json_num(c, "pid"), json_str(c, "refused"),
			      json_str(c, "armed"));
	}
}

bool loss_is_of_record(struct json_object *refusal)
{
	return strcmp(json_str(refusal, "refused"), "record") == 0;
}

bool loss_is_of_kernel(struct json_object *refusal)
{
	return strcmp(json_str(refusal, "domain"), "kernel") == 0;
}

void loss_take_outcome(struct ctl *ctl, struct json_object *owner)
{
	const struct ltt_ctl_outcome *outcome = ltt_ctl_last_outcome(ctl->library);

	for (size_t i = 0; i < outcome->nr_conflicts; i++)
		json_append(owner, "conflicts", json_conflict(outcome->conflicts[i]));
	for (size_t i = 0; i < outcome->nr_refusals; i++)
		json_append(owner, "refusals", json_refusal(outcome->refusals[i]));
	if (outcome->incomplete)
		print_warning(ctl, "there is no memory for all that is not recorded; 'lttctl "
				   "status' lists it");
}

enum status loss_refusals(struct ctl *ctl, struct json_object *owner)
{
	size_t nr = json_len(owner, "refusals");

	for (size_t i = 0; i < MIN(nr, (size_t)MAX_REFUSALS_SHOWN); i++) {
		struct json_object *r = json_at(owner, "refusals", i);

		print_warning(ctl, "%s '%s' is not %s: %s",
			      loss_is_of_kernel(r) ? "the kernel's event" : "event",
			      json_str(r, "name"), loss_is_of_record(r) ? "recorded" : "counted",
			      json_str(r, "why"));
	}
	if (nr > MAX_REFUSALS_SHOWN)
		print_warning(ctl, "%zu more are not recorded; 'lttctl status' lists them",
			      nr - MAX_REFUSALS_SHOWN);
	return nr ? STATUS_WARNING : STATUS_OK;
}
