/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * doctor.h - why is there no data? An examination is a list of findings, each a
 * grade, a sentence and, where something is wrong, the command that repairs it.
 * Made and owned by verb/doctor.c; each doctor_*.c looks at one part of the way
 * from an instrumentation point to the file and adds what it finds. Nothing is
 * changed and no program is run. One thread.
 */
#ifndef CTL_DOCTOR_DOCTOR_H
#define CTL_DOCTOR_DOCTOR_H

#include "ctl/verb.h"

enum grade {
	GRADE_OK,
	GRADE_WARN, /* some data may be missing */
	GRADE_BAD,  /* there is no data, or will be none */
};

/**
 * struct doctor - one examination.
 * @rundir: of the daemon that answers, else where it was looked for; allocated.
 * @points: of all applications of the caller; NULL while no daemon answers.
 * @events: of the kernel, likewise, where doctor_kernel() has looked (@kernel_reported).
 * @findings: array; of each: grade, about, text, command.
 * @counts: of findings, by grade.
 */
struct doctor {
	struct ctl *ctl;
	char *rundir;
	struct json_object *points;
	struct json_object *events;
	bool kernel_reported;
	struct json_object *findings;
	unsigned int counts[GRADE_BAD + 1];
};

/** Add a finding about @about, a short word for programs. */
void doctor_found(struct doctor *d, enum grade grade, const char *about, const char *fmt, ...)
	PRINTF(4, 5);
/** Set the remedy of the last finding: a command that can be pasted. */
void doctor_repair(struct doctor *d, const char *fmt, ...) PRINTF(2, 3);
/** A word as a shell takes it; allocated. */
char *doctor_word(const char *text);
/** The first @len - 1 bytes of a file as a string. Return: its length, 0 where it can't be read. */
size_t doctor_read(const char *path, char *buf, size_t len);

/** Is there a daemon, which one, and what does it cost? Connects. */
void doctor_daemon(struct doctor *d);
/** Where none answers: has a service manager taken the socket of one that runs?
 *  Return: true: yes, and it has been said. */
bool doctor_service(struct doctor *d, const char *rundir);
/** Features of this machine for applications. */
void doctor_machine(struct doctor *d);
/** Can the kernel be traced? Said once. */
void doctor_kernel(struct doctor *d);
/** A rule of a channel of the kernel that fits nothing. @channel: as a shell takes it. */
void doctor_kernel_rule(struct doctor *d, const char *session, const char *channel,
			struct json_object *rule);
/** Events of a channel of the kernel that are not recorded. */
void doctor_refusals(struct doctor *d, const char *session, struct json_object *channel);
/** Whose kernel events a session records: anybody's? */
void doctor_trackers(struct doctor *d, struct json_object *session);
/** Sessions, channels, rules, losses, output. @name: this session; NULL: the current, else all. */
void doctor_sessions(struct doctor *d, const char *name);
/** Can this process be recorded? */
void doctor_process(struct doctor *d, pid_t pid);
/** Could this program be, if it were started as lttctl was? */
void doctor_program(struct doctor *d, const char *program);

#endif
