/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * step_child.h - a child process that is stopped behind every instruction of a restartable
 * sequence. The sequence's descriptor is cleared at each stop, so that the kernel does not restart
 * the sequence, and set again where the child is to continue as after a preemption.
 */
#ifndef TESTS_STEP_CHILD_H
#define TESTS_STEP_CHILD_H

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testset.h"

#define STEP_MAX 20000

/** Whether this machine can be single-stepped through atomic operations: stepping through a
 * load-exclusive loop never ends, in any program. */
int step_through_atomics(void);

/** The CPU that step_begin() has bound the process to. */
extern int step_cpu;

/** Fork a child that calls @fn. Return: the child, stopped in front of the call. */
pid_t step_child_begin(void (*fn)(void *data), void *data);

/** Kill the stopped child and wait for its end. */
void step_child_kill(pid_t pid);

/** Continue the child by one instruction. Return: 0 once the call of @fn has returned. */
int step_child_once(pid_t pid);

/** State of a child that has stopped, and where it continues. */
struct stepper {
	pid_t pid;
	long descriptor; /* the last one that it announced */
	int busy;
};

/** Continue the child by up to @steps instructions, and note its last descriptor. */
void step_child_advance(struct stepper *s, unsigned int steps);

/** Continue to the end of the call, as after a preemption: the kernel finds the descriptor that the
 * child announced last, and the word at @at is @other. A descriptor that has been cleared since
 * covers no instruction behind its commit, and does no harm. */
void step_child_replace(struct stepper *s, void *at, const void *other);

/** Skip the test on machines and builds that can't be single-stepped; bind the process to one CPU,
 * so that it and all its children use one ring. */
void step_begin(void);

#endif
