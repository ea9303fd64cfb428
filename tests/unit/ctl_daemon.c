/* SPDX-License-Identifier: GPL-2.0-only */
/* lttctl and daemons that are missing, silent, dying, sending invalid messages, or not to be
 * started. */
/* timeout: 90 */
#include "lib/ctl_fake.h"

#include <time.h>

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void none(void)
{
	EXPECT("lttctl list", 1, "", "no session daemon runs");
	EXPECT("lttctl -n create x", 1, "", "no session daemon runs");
	EXPECT("lttctl -n create x -o dir; test ! -e dir", 0, "", "no session daemon runs");
	EXPECT("lttctl --sessiond-path=/no/such create x", 1, "", "'/no/such' can't be started");
	EXPECT("LTT_SESSIOND_PATH=/no/env lttctl create x", 1, "", "'/no/env' can't be started");
	EXPECT("lttctl --sessiond-path=/bin/false create x", 1, "",
	       "one could not be started there");
	EXPECT_PART("lttctl version", 0, "no session daemon runs\n");
	EXPECT("lttctl --json status | grep -c no-daemon", 0, "1\n", "no session daemon");
	EXPECT("env -u LTT_RUNDIR -u LTT_HOME -u HOME -u XDG_RUNTIME_DIR "
	       "setpriv --reuid 65534 --clear-groups lttctl list 2>&1 | grep -c 'set HOME'",
	       0, "1\n", NULL);
}

/* A program that prints its arguments. */
static void spawned(void)
{
	CHECK_IS(ctl_run("printf '#!/bin/sh\\necho started \"$@\" >&2\\nexit 1\\n' >fakeds; "
			 "chmod +x fakeds"),
		 ==, 0);
	EXPECT("lttctl -g people --sessiond-path=$PWD/fakeds create x", 1, "",
	       "started --daemonize --exit-idle=5m --on-demand --group people");
}

static void strange(void)
{
	ctl_model.nonsense = true;
	EXPECT("lttctl list", 1, "", "is not a session daemon");
	ctl_model.nonsense = false;
	ctl_model.hang_up = true;
	EXPECT("lttctl list", 1, "", "disconnected before it answered");
	/* the same after an earlier request has lost the connection; a session may use the spool */
	EXPECT("mkdir -p -m 700 $LTT_HOME/ltt-traces/spool/b && lttctl spool remove a b 2>&1 | "
	       "grep -c 'disconnected before it answered'; rmdir $LTT_HOME/ltt-traces/spool/b",
	       0, "2\n", NULL);
	ctl_model.hang_up = false;
}

static void silent(void)
{
	double begin = now_s();

	ctl_model.mute = true;
	EXPECT("lttctl list", 1, "", "does not answer");
	ctl_model.mute = false;
	CHECK_IS(now_s() - begin, <, 10);
}

/* A slow daemon is not silent: as long as it sends hello, lttctl waits for its answer. */
static void slow(void)
{
	double begin = now_s();

	strcpy(ctl_model.session, "demo");
	ctl_model.slow = true;
	EXPECT_PART("lttctl stop demo", 0, "Tracing stopped for session demo");
	CHECK_IS(now_s() - begin, >, 6);
	ctl_model.slow = false;
}

static void outputs(void)
{
	EXPECT("lttctl list >/dev/full", 1, "", "can't write the answer: No space left");
	EXPECT("lttctl list | true", 0, "", NULL);
	EXPECT("(trap '' PIPE; lttctl list) | true", 0, "", NULL);
	EXPECT("lttctl -q list", 0, "", NULL);
	EXPECT("mkdir ro; chmod 500 ro; LTT_HOME=$PWD/ro/none lttctl set-session demo", 1, "",
	       "can't write");
	EXPECT("chmod 700 ro", 0, "", NULL);
}

int main(void)
{
	none();
	spawned();
	ctl_fake_start();
	strange();
	silent();
	slow();
	outputs();
	return 0;
}
