/* SPDX-License-Identifier: GPL-2.0-only */
/* doctor.c - lttctl doctor: print the reasons why no data is recorded, and the remedies. */
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/doctor/doctor.h"
#include "ctl/options.h"
#include "ctl/print/color.h"
#include "ctl/print/json.h"
#include "ctl/print/text.h"

static struct {
	char *session, *pid;
	int kernel;
} opt;

static uint64_t pid;

static const struct poptOption options[] = {
	OPTION_SESSION(&opt.session),
	OPTION_FLAG("kernel", 'k', &opt.kernel, "check whether the kernel can be traced"),
	OPTION_TEXT("pid", 'p', &opt.pid, "find out why this process is not recorded", "PID"),
	POPT_TABLEEND,
};

static enum status doctor_check(struct ctl *ctl)
{
	if (opt.pid && (parse_u64(opt.pid, &pid) != 0 || pid == 0 || pid > INT_MAX))
		err_set(&ctl->err, ERR_INVALID, "--pid=%s: this is not the id of a process",
			opt.pid);
	else if (opt.pid && operand(ctl, 0))
		err_set(&ctl->err, ERR_INVALID, "--pid and a program exclude each other");
	return ctl->err.code ? STATUS_ERROR : STATUS_OK;
}

static void doctor_fini(struct doctor *d)
{
	free(d->rundir);
}

static enum status doctor_run(struct ctl *ctl)
{
	struct doctor d CLEANUP(doctor_fini) = { .ctl = ctl, .findings = json_object_new_array() };

	ctl->record = json_object_new_object();
	json_set(ctl->record, "findings", d.findings);
	doctor_daemon(&d);
	doctor_machine(&d);
	if (pid)
		doctor_process(&d, (pid_t)pid);
	else if (operand(ctl, 0))
		doctor_program(&d, operand(ctl, 0));
	if (opt.kernel)
		doctor_kernel(&d);
	if (d.pid)
		doctor_sessions(&d, opt.session);
	json_set_num(ctl->record, "bad", d.counts[GRADE_BAD]);
	json_set_num(ctl->record, "warn", d.counts[GRADE_WARN]);
	if (d.counts[GRADE_BAD])
		return STATUS_ERROR;
	return d.counts[GRADE_WARN] ? STATUS_WARNING : STATUS_OK;
}

static enum color doctor_color(const char *grade)
{
	if (strcmp(grade, "bad") == 0)
		return COLOR_BAD;
	return strcmp(grade, "warn") == 0 ? COLOR_WARN : COLOR_GOOD;
}

static void doctor_text(FILE *out, struct json_object *record)
{
	for (size_t i = 0; i < json_len(record, "findings"); i++) {
		struct json_object *finding = json_at(record, "findings", i);
		const char *grade = json_str(finding, "grade");

		fprintf(out, "%s%-5s%s", color_on(out, doctor_color(grade)), grade, color_off(out));
		text_form(out, finding, " {text}\n[          {repair?}\n]");
	}
	text_form(out, record,
		  "\n[{bad?} thing{bad:s} prevent[{bad=1}s] data|Nothing prevents data]"
		  "[; {warn?} warning{warn:s}].\n");
}

const struct verb verb_doctor = {
	.name = "doctor",
	.operands = "[--pid=PID | [--] PROGRAM [ARGUMENT]...]",
	.help = "Show why there is no data, and the remedy",
	.options = options,
	.daemon = DAEMON_UNUSED, /* that none can be reached is a finding */
	.command_behind = true,
	.check = doctor_check,
	.run = doctor_run,
	.text = doctor_text,
};
