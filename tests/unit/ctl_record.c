/* SPDX-License-Identifier: GPL-2.0-only */
/* lttctl record: the program's own status, signals, and nothing left where it could not run. */
#include "lib/ctl_fake.h"

#include <signal.h>

static void runs(void)
{
	ctl_model.totals = (struct msg_totals){ .recorded = 10, .written = 10, .bytes = 4096 };
	EXPECT("lttctl record -o t -- sh -c 'echo hello; echo $LTT_REGISTER_TIMEOUT'", 0,
	       "hello\n5000\n", "10 events recorded, 0 lost, state dumps included, 4 KiB written in ");
	/* a home of its own: there, `lttctl view` alone would show another trace */
	CHECK(strstr(ctl_output.err, "/t\nRead it with: lttctl view /") &&
	      strstr(ctl_output.err, "/t\n"));
	CHECK(strstr(ctl_model.requests, "event sh-") && strstr(ctl_model.requests, " '*' not ''"));
	CHECK(strstr(ctl_model.requests, "start sh-") && strstr(ctl_model.requests, "stop sh-") &&
	      strstr(ctl_model.requests, "destroy sh-"));
	CHECK(!*ctl_model.session);
	EXPECT("cat $LTT_HOME/.lttrc | sed 's,=.*/,=,'", 0, "trace=t\n", NULL);
	EXPECT("HOME=$LTT_HOME; unset LTT_HOME; lttctl record -o t0 -- true", 0, "",
	       "/t0\nRead it with: lttctl view\n");
	EXPECT("unset HOME LTT_HOME; lttctl record -o t1 -- true", 0, "",
	       "/t1\nRead it with: lttctl view /");
	ctl_model.requests[0] = '\0';
	EXPECT("LD_PRELOAD=$LTT_SAN_PRELOAD lttctl record -o u -e 'a:*,b' --name mine "
	       "--subbuf-size 2M -w libc -- sh -c 'case $LD_PRELOAD in *libltt-libc.so) "
	       "echo wrapped;; esac'",
	       0, "wrapped\n", "10 events");
	CHECK(strstr(ctl_output.err, "/u\nWaits and allocations, summed up: lttctl report /"));
	CHECK(strstr(ctl_model.requests, "create mine "));
	CHECK(strstr(ctl_model.requests, "'a:*'") && strstr(ctl_model.requests, "'b'"));
	ctl_model.requests[0] = '\0';
}

static void statuses(void)
{
	EXPECT("lttctl record -o s1 -- sh -c 'exit 7'", 7, "", "10 events");
	EXPECT("lttctl record -o s2 -- sh -c 'kill -9 $$'", 137, "", "ended by signal 9");
	ctl_model.totals.lost_size = 5;
	EXPECT("lttctl record -o s3 -- true", 6, "", "too large for the buffer");
	EXPECT("lttctl record -o s4 -- false", 1, "", "too large for the buffer");
	ctl_model.totals.lost_size = 0;
	/* the program's output is on stderr there */
	EXPECT("lttctl --json record -o s5 -- echo hi 2>/dev/null | python3 -c '"
	       "import json, sys; print(json.load(sys.stdin)[\"result\"][\"program\"][\"command\"])'",
	       0, "['echo', 'hi']\n", NULL);
	EXPECT("lttctl -q record -o s6 -- echo hi", 0, "hi\n", NULL);
	ctl_model.totals = (struct msg_totals){ 0 };
	EXPECT("lttctl record -o s7 -- true", 0, "", "--wrap=libc");
}

/* The reason for an empty trace, as far as it is known. */
static void nothing(void)
{
	ctl_model.totals = (struct msg_totals){ 0 };
	EXPECT("LD_PRELOAD=$LTT_SAN_PRELOAD lttctl record -o t1 -w dl -- true", 0, "",
	       "has called no function that --wrap=dl");
	CHECK(!strstr(ctl_output.err, "lttctl record --wrap"));
	ctl_model.announced = "web:request";
	EXPECT("lttctl record -o t2 -e web:requst -- true", 0, "",
	       "matches --events=web:requst; did you mean 'web:request'? It has these:\n"
	       "  web:request\n");
	EXPECT("lttctl --json record -o t3 -e other -- true | tr -d ' \n' |"
	       " grep -o '\"others\":[^]]*]'",
	       0, "\"others\":[\"web:request\"]\n", NULL);
	ctl_model.matched = true;
	EXPECT("lttctl record -o t4 -e 'web:*' -- true", 0, "",
	       "recorded with --events=web:*, and has passed none");
	ctl_model.matched = false;
	ctl_model.announced = NULL;
	ctl_model.totals = (struct msg_totals){ .recorded = 5, .lost_full = 5 };
	EXPECT("lttctl record -o t5 -- true", 6, "", "(lttctl record --subbuf-size, --num-subbuf)");
	CHECK(!strstr(ctl_output.err, "enable-channel"));
	ctl_model.totals = (struct msg_totals){ 0 };
}

static void cannot(void)
{
	ctl_model.requests[0] = '\0';
	EXPECT("lttctl record -o n -- ./no-such", 127, "", "can't run './no-such': No such file");
	EXPECT("lttctl record -o n -- no-such-program", 127, "", "no program 'no-such-program'");
	EXPECT("lttctl record -o n -- /tmp", 126, "", "can't run '/tmp': Permission denied");
	EXPECT("lttctl record -o n -w lbc -- true", 1, "", "did you mean 'libc'?");
	EXPECT("lttctl record -o n", 1, "", "missing program");
	EXPECT_REQUESTS("");
	/* found, but not executable: known only when exec is tried */
	EXPECT("printf '#!/no/interpreter\\n' >odd; chmod +x odd; lttctl record -o n -- ./odd", 127,
	       "", "can't run './odd'");
	CHECK(!*ctl_model.session);
	EXPECT("test ! -e n", 0, "", NULL);
	EXPECT("mkdir n; lttctl record -o n -- ./odd; ls n", 0, "", "can't run './odd'");
}

static void signals(void)
{
	/* A signal to lttctl alone reaches the program; the trace is ended in order. */
	EXPECT("lttctl record -o i -- sh -c 'trap \"echo caught; exit 3\" HUP; echo >ready;"
	       " while :; do sleep 0.02; done' & until test -e ready; do sleep 0.02; done;"
	       " kill -HUP $!; wait $!",
	       3, "caught\n", "events recorded");
	EXPECT("lttctl record -o j -- sh -c 'echo >ready2; exec sleep 60' &"
	       " until test -e ready2; do sleep 0.02; done; kill -TERM $!; wait $!",
	       143, "", "ended by signal 15");
	CHECK(!*ctl_model.session);
	/* SIGPIPE has its default effect on the program, though lttctl ignores it. */
	EXPECT("lttctl record -o p -- sh -c 'kill -PIPE $$'", 141, "", "ended by signal 13");
}

/* An interrupted call has lost its connection: the session is ended by another one. */
static void interrupted(void)
{
	ctl_model.interrupt = true;
	EXPECT("lttctl record -o i1 --name given -- true; echo $?; test -e i1", 1, "130\n",
	       "Error: interrupted while the session daemon at ");
	ctl_model.interrupt = false;
	CHECK(!*ctl_model.session && !strstr(ctl_output.err, "may still be there") &&
	      !strstr(ctl_output.err, "could not be destroyed"));
}

/* A shell's child has the shell's name until it executes the program. */
static void attaches(void)
{
	ctl_model.requests[0] = '\0';
	EXPECT("(sleep 0.5; exec sleep 0.3) & lttctl record -k -p $! -o k; wait", 0, "",
	       "The trace is in ");
	CHECK(strstr(ctl_model.requests, "create sleep-"));
}

#define ADD "track f domain 1 kind 8 op 2: "

/* Of the kernel, the program is followed, from before it is executed; or nothing is left out. */
static void follows(void)
{
	const char *none, *added, *start;
	char pid[16];

	ctl_model.requests[0] = '\0';
	EXPECT("lttctl record -k -o f1 --name f -- sh -c 'echo $$ >pid'", 0, "", "The trace is in ");
	none = strstr(ctl_model.requests, "track f domain 1 kind 8 op 1:\n");
	start = strstr(ctl_model.requests, "start f\n");
	added = strstr(ctl_model.requests, ADD);
	CHECK(none && start && added && none < start && start < added);
	snprintf(pid, sizeof(pid), "%ld\n", strtol(added + strlen(ADD), NULL, 10));
	EXPECT("cat pid", 0, pid, NULL);
	ctl_model.requests[0] = '\0';
	if (geteuid() == 0) {
		EXPECT("unshare -pf lttctl record -k -o f4 --name f -- true", 0, "", "in a container");
		CHECK(strstr(ctl_model.requests, "start f") &&
		      !strstr(ctl_model.requests, "track"));
	}
	ctl_model.requests[0] = '\0';
	EXPECT("lttctl record -k -a -o f2 --name f -- true", 0, "", "The trace is in ");
	CHECK(strstr(ctl_model.requests, "start f") && !strstr(ctl_model.requests, "track"));
	EXPECT("lttctl record -a -o f3 -- true", 1, "", "--all record programs that run already");
}

int main(void)
{
	signal(SIGPIPE, SIG_DFL); /* reset the state that the test runner left */
	ctl_fake_start();
	runs();
	statuses();
	nothing();
	cannot();
	signals();
	interrupted();
	attaches();
	follows();
	return 0;
}
