/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ctl_fake.h - a session daemon for tests of lttctl: threads of the test serve client.def on the
 * real socket and reply with ctl_model.h. ctl_run() runs lttctl and keeps its output.
 */
#ifndef TESTS_CTL_FAKE_H
#define TESTS_CTL_FAKE_H

#include "ctl_model.h"

/** Serve $LTT_RUNDIR/client.sock until the test ends. */
void ctl_fake_start(void);

/* ---- running lttctl ---- */

struct ctl_output {
	int status;
	char out[20000];
	char err[20000];
};

/** Of the last ctl_run(). */
extern struct ctl_output ctl_output;

/** Run a shell command line in which lttctl is the one of this build. Return: its exit status. */
int ctl_run(const char *line);

/** Print the last run of lttctl and the daemon's requests since ctl_model.requests was cleared. */
void ctl_run_print(const char *line);

/** ctl_run() and compare: status, all of stdout, a part of stderr (NULL: it must be empty). */
#define EXPECT(line, want_status, want_out, want_err)                                 \
	do {                                                                          \
		const char *want_err_ = (want_err);                                   \
		bool good_ = ctl_run(line) == (want_status) &&                        \
			     strcmp(ctl_output.out, want_out) == 0 &&                 \
			     (want_err_ ? strstr(ctl_output.err, want_err_) != NULL : \
					  !*ctl_output.err);                          \
                                                                                      \
		if (!good_)                                                           \
			ctl_run_print(line);                                          \
		CHECK(good_);                                                         \
	} while (0)

/** ctl_run() and compare: status, a part of stdout. */
#define EXPECT_PART(line, want_status, part)                                                 \
	do {                                                                                 \
		bool good_ = ctl_run(line) == (want_status) && strstr(ctl_output.out, part); \
                                                                                             \
		if (!good_)                                                                  \
			ctl_run_print(line);                                                 \
		CHECK(good_);                                                                \
	} while (0)

/** Check the daemon's requests since the last time. */
#define EXPECT_REQUESTS(text)                                      \
	do {                                                       \
		if (strcmp(ctl_model.requests, text) != 0)         \
			ctl_run_print("requests");                 \
		CHECK_IS(strcmp(ctl_model.requests, text), ==, 0); \
		ctl_model.requests[0] = '\0';                      \
	} while (0)

#endif
