/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * doctor.h - finds the reasons why no events are recorded. The result is a list of findings, each a
 * grade, a sentence and, for a problem, the command that solves it.
 * Made and owned by verb/doctor.c; each file of this folder checks one part of the path from an
 * instrumentation point to the trace file, and adds its findings. Nothing is changed and no program
 * is run. One thread.
 */
#ifndef CTL_DOCTOR_DOCTOR_H
#define CTL_DOCTOR_DOCTOR_H

#include "ctl/ctl.h"
#include "ctl/session/points.h"

enum grade {
	GRADE_OK,
	GRADE_WARN, /* some data may be missing */
	GRADE_BAD,  /* no data is recorded, or will be */
};

/**
 * struct doctor - one run of `lttctl doctor`.
 * @rundir: runtime directory of the daemon that answers, or else of the one that was tried;
 *	allocated.
 * @pid: of the daemon that answered; 0: none does.
 * @kernel_traced: the kernel can be; set by doctor_kernel() (@kernel_reported).
 * @findings: array of objects with the keys grade, about, text, command.
 * @counts: number of findings of each grade.
 */
struct doctor {
	struct ctl *ctl;
	char *rundir;
	uint32_t pid;
	bool kernel_reported, kernel_traced;
	struct json_object *findings;
	unsigned int counts[GRADE_BAD + 1];
};

/** Add a finding about @about, a short word for programs. */
void doctor_found(struct doctor *d, enum grade grade, const char *about, const char *fmt, ...)
	PRINTF(4, 5);
/** Set the remedy of the last finding: a command that can be pasted. */
void doctor_repair(struct doctor *d, const char *fmt, ...) PRINTF(2, 3);

/** Check that there is a daemon, and report its use of resources. Connects. */
void doctor_daemon(struct doctor *d);
/** If no daemon answers: check whether a service manager has replaced the socket of a running one.
 *  Return: whether it has; that was reported. */
bool doctor_service(struct doctor *d, const char *rundir);
/** Check the features of this machine that the tracing of applications uses. */
void doctor_machine(struct doctor *d);
/** Check that the kernel can be traced, and report its conditions (facts.h), which needs no daemon.
 *  Reported once. */
void doctor_kernel(struct doctor *d);
/** Report a rule of a kernel channel that matches no event. @channel: quoted for a shell. @near:
 *  the event with the most similar name; NULL: none. */
void doctor_kernel_rule(struct doctor *d, const char *session, const char *channel,
			const char *pattern, const char *near);
/** Report the events of a kernel channel that are not recorded. */
void doctor_refusals(struct doctor *d, const char *session, struct json_object *channel);
/** Check that the trackers of a session's events match some task. */
void doctor_trackers(struct doctor *d, struct json_object *session);
/** Check sessions: channels, rules, losses, output. @name: only this session; NULL: the current
 *  one, or, if there is none, all. */
void doctor_sessions(struct doctor *d, const char *name);
/** Check that this process can be recorded. */
void doctor_process(struct doctor *d, pid_t pid);
/** Print warnings for the problems of this process. @begin: omit those that the process solves by
 *  registering. Return: whether there are any. Connected. */
bool doctor_warn(struct ctl *ctl, pid_t pid, bool begin);
/** Check that this program could be recorded, if it were started in the environment of lttctl. */
void doctor_program(struct doctor *d, const char *program);

#endif
