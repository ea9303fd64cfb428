/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel.c - checks whether the kernel can be traced, and which kernel events of a session are
 * not recorded
 */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/mem.h"
#include "ctl/print/text.h"
#include "doctor.h"
#include "facts.h"
#include "ctl/record/loss.h"
#include "ctl/session/points.h"
#include "ctl/print/json.h"

#define MAX_REFUSALS 5u

/* ---- the module ---- */

static bool is_roots(const struct doctor *d)
{
	struct stat st;

	return stat(d->rundir, &st) == 0 && st.st_uid == 0;
}

static bool is_started_without(uint32_t pid)
{
	char *path AUTO_FREE = xasprintf("/proc/%u/cmdline", pid);
	char words[4096];
	size_t len = text_read(path, words, sizeof(words));

	for (size_t i = 0; i < len; i += strlen(words + i) + 1)
		if (strcmp(words + i, "--no-kernel") == 0)
			return true;
	return false;
}

static void repair_module(struct doctor *d, const struct facts *facts)
{
	uint32_t pid = d->pid;

	if (!is_roots(d))
		doctor_repair(d, "sudo lttctl doctor -k");
	else if (is_started_without(pid))
		doctor_repair(d, "ps -p %u -o args # start it without --no-kernel", pid);
	else if (access("/dev/ltt", F_OK) == 0)
		doctor_repair(d,
			      "sudo kill %u; sudo lttctl list -k # another daemon opens the "
			      "device; sessions end",
			      pid);
	else if (!*facts->module && !facts->headers)
		doctor_repair(d, "sudo apt install linux-headers-$(uname -r) # or your "
				 "distribution's package: the module is built with them");
	else if (!*facts->module)
		doctor_repair(d,
			      "make -C build kmod && sudo insmod build/kmod/kmod/ltt_instr.ko && "
			      "sudo insmod build/kmod/kmod/ltt.ko # in ltt-control's sources");
	else if (facts->secure_boot)
		doctor_repair(d, "sudo mokutil --import /var/lib/dkms/mok.pub # then boot again");
	else
		doctor_repair(d, "sudo modprobe ltt; sudo dmesg | tail # the kernel's log");
}

static void count_event(const struct ltt_ctl_point *event, void *data)
{
	size_t *nr = data;

	(void)event;
	++*nr;
}

void doctor_kernel(struct doctor *d)
{
	struct facts_user user;
	struct err err = { 0 };
	struct utsname kernel;
	struct facts facts;
	size_t nr = 0;

	if (d->kernel_reported)
		return;
	d->kernel_reported = true;
	uname(&kernel);
	facts_read(&facts, "", kernel.release);
	facts_read_user(&user);
	if (d->pid && points_each(d->ctl, DOMAIN_KERNEL, count_event, &nr, &err) != 0) {
		doctor_found(d, GRADE_BAD, "kernel", "the kernel can't be traced: %s", err.text);
		repair_module(d, &facts);
	} else if (d->pid) {
		d->kernel_traced = true;
		doctor_found(d, GRADE_OK, "kernel", "the kernel can be traced: it has %zu events",
			     nr);
	}
	facts_report(d, &facts, &user);
}

/* ---- a session ---- */

void doctor_kernel_rule(struct doctor *d, const char *session, const char *channel,
			const char *pattern, const char *near)
{
	char *word AUTO_FREE = text_shell_word(session);

	if (!d->kernel_traced) /* which has been reported */
		return;
	doctor_found(d, GRADE_WARN, "match",
		     "session '%s': rule '%s' matches no event of this kernel%s%s%s", session,
		     pattern, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	if (near)
		doctor_repair(d, "lttctl enable-event -k -s %s -c %s %s", word, channel, near);
	else
		doctor_repair(d, "lttctl list -k");
}

void doctor_refusals(struct doctor *d, const char *session, struct json_object *channel)
{
	char *word AUTO_FREE = text_shell_word(session);
	size_t nr = json_len(channel, "refusals");

	for (size_t i = 0; i < MIN(nr, (size_t)MAX_REFUSALS); i++) {
		struct json_object *r = json_at(channel, "refusals", i);

		if (!loss_is_of_kernel(r) && loss_is_of_record(r)) {
			doctor_found(d, GRADE_WARN, "refusal",
				     "session '%s': event '%s' is not recorded: %s", session,
				     json_str(r, "name"), json_str(r, "why"));
			continue;
		}
		if (!loss_is_of_kernel(r)) {
			doctor_found(d, GRADE_WARN, "refusal",
				     "session '%s': event '%s' is not counted: %s; start it anew "
				     "with this libltt",
				     session, json_str(r, "name"), json_str(r, "why"));
			continue;
		}
		doctor_found(d, GRADE_WARN, "refusal",
			     "session '%s': the kernel's event '%s' is not recorded: %s%s", session,
			     json_str(r, "name"), json_str(r, "why"),
			     nr > MAX_REFUSALS ? " (nor are others)" : "");
		doctor_repair(d, "lttctl status %s; sudo dmesg | tail", word);
	}
}

static void doctor_check_tracked(struct doctor *d, const char *session, struct json_object *tracker,
				 uint64_t id)
{
	const char *kind = json_str(tracker, "kind");
	bool is_kernel = loss_is_of_kernel(tracker);
	char *path AUTO_FREE = xasprintf("/proc/%" PRIu64, id);
	char *word AUTO_FREE = text_shell_word(session);

	if (access(path, F_OK) == 0)
		return;
	doctor_found(d, GRADE_WARN, "tracker",
		     "session '%s' records %s events of %s %" PRIu64 ", which does not run",
		     session, is_kernel ? "kernel" : "user", kind, id);
	doctor_repair(d, "lttctl untrack %s -s %s --%s=%" PRIu64, is_kernel ? "-k" : "-u", word,
		      kind, id);
}

static void check_tracker(struct doctor *d, const char *session, struct json_object *tracker)
{
	const char *kind = json_str(tracker, "kind");
	bool is_task = strcmp(kind, "pid") == 0 || strcmp(kind, "tid") == 0;
	bool is_kernel = loss_is_of_kernel(tracker);
	char *word AUTO_FREE = text_shell_word(session);
	size_t nr = json_len(tracker, "ids");

	for (size_t i = 0; is_task && i < nr; i++)
		doctor_check_tracked(d, session, tracker,
				     json_object_get_uint64(json_at(tracker, "ids", i)));
	if (nr)
		return;
	doctor_found(d, GRADE_BAD, "tracker", "session '%s' records no %s events: no %s is tracked",
		     session, is_kernel ? "kernel" : "user", kind);
	doctor_repair(d, "lttctl track %s -s %s --%s --all", is_kernel ? "-k" : "-u", word, kind);
}

void doctor_trackers(struct doctor *d, struct json_object *session)
{
	for (size_t i = 0; i < json_len(session, "trackers"); i++)
		check_tracker(d, json_str(session, "name"), json_at(session, "trackers", i));
}
