/* SPDX-License-Identifier: GPL-2.0-only */
/* Each verb of lttctl sends the request that was typed, and reports its result. */
#include "lib/ctl_fake.h"

static char *in_home(const char *name)
{
	return xasprintf("%s/%s", getenv("LTT_HOME"), name);
}

static char line[1000];
#define FMT(...) (snprintf(line, sizeof(line), __VA_ARGS__), line)

static void create(void)
{
	char cwd[500];
	char *rc AUTO_FREE = in_home(".lttrc");

	CHECK(getcwd(cwd, sizeof(cwd)));
	ctl_run("lttctl create demo -o here");
	CHECK_IS(ctl_output.status, ==, 0);
	CHECK_IS(strcmp(ctl_output.out,
			FMT("Session demo created.\nTraces will be output to %s/here\n", cwd)),
		 ==, 0);
	EXPECT_REQUESTS(FMT("create demo %s/here +fd\n", cwd));
	EXPECT(FMT("cat %s", rc), 0, FMT("session=demo\ntrace=%s/here\n", cwd), NULL);
	EXPECT("lttctl create demo -o other; test ! -e other", 0, "", "a session of this name");
	EXPECT("lttctl create demo -o other", 1, "", "Error: a session of this name exists\n");
	EXPECT("mkdir used; touch used/metadata; lttctl create x -o used", 1, "",
	       "contains a trace already");
	ctl_model.requests[0] = '\0';
}

static void create_unnamed(void)
{
	ctl_model.session[0] = '\0';
	ctl_run("lttctl create --no-output");
	CHECK_IS(ctl_output.status, ==, 0);
	CHECK_IS(strncmp(ctl_output.out, "Session auto-", 13), ==, 0);
	CHECK(strncmp(ctl_model.requests, "create auto-", 12) == 0 &&
	      !strstr(ctl_model.requests, "+fd"));
	ctl_model.session[0] = '\0';
	ctl_run("lttctl create; ls $LTT_HOME/ltt-traces");
	CHECK(strstr(ctl_output.out, "/ltt-traces/auto-"));
	ctl_model.session[0] = '\0';
	ctl_run("lttctl create named; ls -d $LTT_HOME/ltt-traces/named-2*");
	CHECK_IS(ctl_output.status, ==, 0);
	EXPECT("lttctl create $(printf %0240d 0)", 1, "", "name a directory with --output");
	EXPECT_PART("lttctl create named --set-url=file:///$PWD/url 2>&1; test ! -d url", 0,
		    "exists");
	EXPECT("lttctl create x --spool=0 --set-url=net://127.0.0.1:1", 1, "", "no relay answers");
	EXPECT("lttctl create x --set-url=net://127.0.0.1:1/dir", 5, "", "can't be chosen");
	EXPECT("lttctl create x --set-url=net://127.0.0.1:bad", 1, "", "not the URL of a relay");
	EXPECT("lttctl create x --data-url=tcp://127.0.0.1", 1, "", "goes with --ctrl-url");
	EXPECT("lttctl create x -C tcp://a -D tcp://b", 5, "", "one host");
	EXPECT("lttctl create x --set-url=file://relative", 1, "", "absolute");
	EXPECT("lttctl create x --live=500", 1, "", "the shortest is 20000 us");
	EXPECT("lttctl create x --live=soon", 1, "", "not a period");
	EXPECT("lttctl create x --live -o here", 1, "", "--output and --no-output have none");
	EXPECT("lttctl create x --live --spool=0 -U net://127.0.0.1:1", 1, "", "no relay answers");
	EXPECT("lttctl create --live x --spool=0 -U net://127.0.0.1:1", 1, "", "no relay answers");
	EXPECT("lttctl create x --snapshot --live", 1, "", "viewers can't follow snapshots");
	EXPECT("lttctl create a/b", 1, "", "'a/b' contains a slash");
	EXPECT("lttctl create .. -o dots; test ! -d dots", 0, "", "begins with a dot");
	strcpy(ctl_model.session, "demo");
	ctl_model.requests[0] = '\0';
	EXPECT("lttctl set-session demo", 0, "Current session is demo.\n", NULL);
	EXPECT("lttctl set-session dem", 1, "", "no session 'dem'; did you mean 'demo'?");
}

static void channels(void)
{
	EXPECT("lttctl enable-channel -u --subbuf-size=64k --num-subbuf 8 one,two", 0,
	       "User channel one enabled for session demo\n"
	       "User channel two enabled for session demo\n",
	       NULL);
	EXPECT_REQUESTS("channel demo one size 65536 nr 8 own 0 file 0 x 0 timer 0 over 0\n"
			"channel demo two size 65536 nr 8 own 0 file 0 x 0 timer 0 over 0\n");
	EXPECT("lttctl enable-channel -u --buffers-pid -C 1M -W 3 --switch-timer=1000 -s demo c", 0,
	       "User channel c enabled for session demo\n", NULL);
	EXPECT_REQUESTS("channel demo c size 0 nr 0 own 2 file 1048576 x 3 timer 1000 over 0\n");
	EXPECT("lttctl enable-channel -u --subbuf-size=5000 c", 0,
	       "User channel c enabled for session demo\n", "rounded up to a power of two: 8192");
	EXPECT("lttctl enable-channel -u channel0", 4, "", "Warning: channel 'channel0' exists");
	EXPECT("lttctl enable-channel -u --overwrite c", 5, "", "overwrite mode needs snapshots");
	EXPECT("lttctl enable-channel -u --overwrite --discard c", 1, "", "exclude each other");
	EXPECT("lttctl enable-channel -u --subbuf-size=0 c", 1, "", "--subbuf-size=0: ");
	EXPECT("lttctl enable-channel -u --subbuf-size=1P c", 1, "", "not a size");
	EXPECT("lttctl enable-channel -u -C 0 --tracefile-count=0 c", 0,
	       "User channel c enabled for session demo\n", NULL);
	EXPECT("lttctl enable-channel -u -W 3 c", 1, "", "needs --tracefile-size");
	EXPECT("lttctl enable-channel -u --buffers-global c", 1, "", "user");
	EXPECT("lttctl enable-channel -u --blocking-timeout=inf c", 0,
	       "User channel c enabled for session demo\n", NULL);
	EXPECT("lttctl enable-channel -u --blocking-timeout=0 c", 0,
	       "User channel c enabled for session demo\n", NULL);
	EXPECT("lttctl enable-channel -u --blocking-timeout=-1 c", 1, "", "or 'inf'");
	EXPECT("lttctl enable-channel -u --blocking-timeout=4294967295 c", 1, "", "or 'inf'");
	EXPECT("lttctl enable-channel -u --blocking-timeout= c", 2, "", "missing argument");
	EXPECT("lttctl enable-channel -k --blocking-timeout=1ms c", 1, "", "kernel does not wait");
	EXPECT("lttctl enable-channel -u --overwrite --blocking-timeout=inf c", 1, "",
	       "a buffer that is overwritten is never full");
	EXPECT("lttctl enable-channel -u --remember --blocking-timeout=inf c", 1, "",
	       "a buffer that keeps its first events stays full");
	EXPECT("lttctl record --blocking-timeout=x true", 1, "", "or 'inf'");
	EXPECT("lttctl record --flight=1M --blocking-timeout=1 true", 1, "", "never full");
	EXPECT("lttctl record -k --blocking-timeout=1 true", 1, "", "the kernel does not wait");
	EXPECT("lttctl enable-channel -u --buffer-preallocation=on-demand c", 0,
	       "User channel c enabled for session demo\n", NULL);
	EXPECT("lttctl enable-channel -u --buffer-preallocation=later c", 1, "", "or 'on-demand'");
	EXPECT("lttctl enable-channel -u --auto-reclaim-memory=consumed c", 0,
	       "User channel c enabled for session demo\n", NULL);
	EXPECT("lttctl enable-channel -u --auto-reclaim-memory=older-than:5 c", 0,
	       "User channel c enabled for session demo\n", NULL);
	EXPECT("lttctl enable-channel -u --auto-reclaim-memory=older-than:soon c", 1, "",
	       "a period, such as 200000 (microseconds) or 1s");
	EXPECT("lttctl enable-channel -u --auto-reclaim-memory=on c", 1, "",
	       "'consumed' or 'older-than:AGE'");
	EXPECT("lttctl enable-channel -u ../up", 1, "", "begins with a dot");
	ctl_model.requests[0] = '\0';
	EXPECT("lttctl enable-channel -k c", 0, "Kernel channel c enabled for session demo\n",
	       NULL);
	EXPECT_REQUESTS("channel demo c size 0 nr 0 own 0 file 0 x 0 timer 0 over 0\n");
	EXPECT("lttctl enable-channel -k --buffers-global c", 0,
	       "Kernel channel c enabled for session demo\n", NULL);
	ctl_model.requests[0] = '\0';
	EXPECT("lttctl enable-channel c", 1, "", "-u (--userspace)");
	EXPECT("lttctl disable-channel -u channel0", 0,
	       "User channel channel0 disabled for session demo\n", NULL);
	EXPECT("lttctl disable-channel -u chanel0", 1, "", "did you mean 'channel0'?");
	ctl_model.requests[0] = '\0';
}

static void events(void)
{
	EXPECT("lttctl enable-event -u 'a:*,b\\,c*' -x 'a:x,a:y' --loglevel=INFO -c chan", 0,
	       "User event a:* enabled in channel channel0 of session demo"
	       " (2 instrumentation points now)\n"
	       "User event b,c* enabled in channel channel0 of session demo"
	       " (2 instrumentation points now)\n",
	       NULL);
	EXPECT_REQUESTS("event demo chan 'a:*' not 'a:x,a:y' level 1 6\n"
			"event demo chan 'b,c*' not 'a:x,a:y' level 1 6\n");
	EXPECT("lttctl enable-event -u -a --loglevel-only TRACE_DEBUG", 0,
	       "User event * enabled in channel channel0 of session demo"
	       " (2 instrumentation points now)\n",
	       NULL);
	EXPECT_REQUESTS("event demo  '*' not '' level 2 14\n");
	EXPECT("lttctl enable-event --userspace web:reqest", 0,
	       "User event web:reqest enabled in channel channel0 of session demo\n",
	       "did you mean 'web:request'?");
	EXPECT("lttctl enable-event -u 'web:*,x*'", 4,
	       "User event x* enabled in channel channel0 of session demo"
	       " (2 instrumentation points now)\n",
	       "Warning: it is enabled already");
	EXPECT("lttctl enable-event -u -a x", 1, "", "exclude each other");
	EXPECT("lttctl enable-event -u a,,b", 1, "", "empty name");
	EXPECT("lttctl enable-event -u --loglevel=INFOR x", 1, "", "did you mean 'INFO'?");
	ctl_model.requests[0] = '\0';
	EXPECT("lttctl enable-event -u --filter 'a > 1' 'db:*'", 0,
	       "User event db:* enabled in channel channel0 of session demo"
	       " (2 instrumentation points now)\n",
	       NULL);
	EXPECT_REQUESTS("event demo  'db:*' not '' level 0 0 if a > 1\n");
	EXPECT("lttctl enable-event -k 'sched:*'", 0,
	       "Kernel event sched:* enabled in channel channel0 of session demo"
	       " (2 events)\n",
	       NULL);
	EXPECT("lttctl enable-event -k --syscall openat", 0,
	       "Kernel event syscall_entry_openat enabled in channel channel0 of session demo\n"
	       "Kernel event syscall_exit_openat enabled in channel channel0 of session demo\n",
	       "no event that matches 'syscall_entry_openat', 'syscall_exit_openat'");
	EXPECT_REQUESTS("event demo  'sched:*' not '' level 0 0\n"
			"event demo  'syscall_entry_openat' not '' level 0 0\n"
			"event demo  'syscall_exit_openat' not '' level 0 0\n");
	EXPECT("lttctl enable-event -u --syscall openat", 1, "", "-k (--kernel)");
	EXPECT("lttctl enable-event -j x", 0,
	       "java.util.logging logger x enabled in channel channel0 of session demo\n",
	       "no running application has the handler of ltt-agent.jar");
	EXPECT("lttctl enable-event -s dmo -u x", 1, "", "did you mean 'demo'?");
	EXPECT("lttctl enable-event -k 'none:*' | wc -l", 0, "1\n", "no event that matches 'none:*'");
	EXPECT("lttctl disable-event -u 'web:*'", 0, "User event web:* disabled in session demo\n",
	       NULL);
	EXPECT("lttctl disable-event -u -a", 0, "User event * disabled in session demo\n", NULL);
	ctl_model.requests[0] = '\0';
	EXPECT("lttctl disable-event -u --syscall -a", 1, "", "use -k");
	EXPECT("lttctl disable-event -k --tracepoint -a", 1, "", "no rule of this kind");
	ctl_model.kernel = true;
	EXPECT("lttctl disable-event -k --syscall --all-events", 1, "", "no rule of this kind");
	EXPECT("lttctl disable-event -k --tracepoint -a -c other", 1, "", "no rule of this kind");
	EXPECT_REQUESTS("");
	EXPECT("lttctl disable-event -k --tracepoint -a", 0,
	       "Kernel event web:* disabled in session demo\n", NULL);
	ctl_model.rule = "syscall_exit_*";
	EXPECT("lttctl disable-event -k -a --syscall", 0,
	       "Kernel event syscall_exit_* disabled in session demo\n", NULL);
	EXPECT_REQUESTS("disable event web:*\ndisable event syscall_exit_*\n");
	ctl_model.rule = "web:*";
	ctl_model.kernel = false;
	EXPECT("lttctl disable-event -u 'web:'", 1, "", "did you mean 'web:*'?");
	ctl_model.conflict = true;
	EXPECT("lttctl enable-event -u net_rx 2>&1 | grep -c 'net_rx. of process 4711'", 0, "1\n",
	       NULL);
	ctl_model.conflict = false;
	ctl_model.requests[0] = '\0';
}

static void states(void)
{
	ctl_model.totals = (struct msg_totals){
		.recorded = 1234567, .written = 1234567, .bytes = 47395635, .packets = 90
	};
	EXPECT("lttctl start", 0, "Tracing started for session demo (2 applications)\n",
	       "1 of 2 applications");
	EXPECT("lttctl start", 4, "", "Warning: session records already");
	EXPECT("lttctl start nosuch", 1, "", "there is no session 'nosuch'");
	EXPECT("lttctl stop", 0,
	       "Tracing stopped for session demo: 1,234,567 events recorded, 0 lost, state dumps "
	       "included, 45.2 MiB written\n",
	       NULL);
	ctl_model.totals.lost_full = 3000;
	EXPECT("lttctl stop --no-wait", 6,
	       "Tracing stopped for session demo: 1,234,567 events recorded, 3,000 lost, state dumps "
	       "included, 45.2 MiB written\n",
	       "3,000 events were lost because a buffer was full; use larger");
	ctl_model.requests[0] = '\0';
	EXPECT("lttctl stop --glob 'd*'", 6,
	       "Tracing stopped for session demo: 1,234,567 events recorded, 3,000 lost, state dumps "
	       "included, 45.2 MiB written\n",
	       "--subbuf-size");
	EXPECT_REQUESTS("stop demo\n");
	ctl_model.totals.slow_ns = 3140000000u;
	ctl_model.totals.slow_bytes = 512u << 20;
	EXPECT("lttctl stop --glob 'd*'", 6,
	       "Tracing stopped for session demo: 1,234,567 events recorded, 3,000 lost, state dumps "
	       "included, 45.2 MiB written\n",
	       "the disk took 3.1 s for 512 MiB: 3,000 events were lost because a buffer");
	ctl_model.totals.slow_ns = ctl_model.totals.slow_bytes = 0;
	EXPECT_REQUESTS("stop demo\n");
	EXPECT("lttctl stop --glob 'x*'", 0, "", "no session matches");
	EXPECT("lttctl stop --all demo", 1, "", "exclude each other");
	EXPECT("lttctl -q stop", 6, "", NULL);
	ctl_model.totals.lost_full = 0;
	ctl_model.requests[0] = '\0';
}

static void rotations(void)
{
	ctl_model.requests[0] = '\0';
	EXPECT("lttctl rotate", 0, "Session demo rotated; its archive, 7 B: \n", NULL);
	ctl_model.flag = 1;
	EXPECT("lttctl rotate", 0,
	       "Session demo rotated; its archive is complete when the relay, which is away, has "
	       "received the rest: \n",
	       NULL);
	ctl_model.flag = 0;
	EXPECT("lttctl rotate --no-wait", 0, "Session demo is being rotated; its archive: \n",
	       NULL);
	EXPECT("lttctl clear", 0, "Session demo cleared: 7 events removed\n", NULL);
	EXPECT("lttctl clear -n", 0, "Session demo is being cleared\n", NULL);
	EXPECT("lttctl rotate nosuch", 1, "", "there is no session 'nosuch'");
	EXPECT_REQUESTS("session_rotate demo\nsession_rotate demo\nsession_rotate demo\nsession_clear demo\n"
			"session_clear demo\nsession_rotate nosuch\n");
	ctl_model.requests[0] = '\0';
	EXPECT("lttctl enable-rotation --timer=1h --keep=24 demo", 0,
	       "Session demo is not rotated by itself\n", NULL); /* the model forgets it */
	EXPECT("lttctl disable-rotation --timer --size -s demo", 0,
	       "Session demo is not rotated by itself\n", NULL);
	EXPECT_REQUESTS("rotation_enable demo\nrotation_disable demo\n");
	ctl_model.requests[0] = '\0';
	EXPECT("lttctl enable-rotation", 1, "", "missing option: --timer=PERIOD or --size=SIZE");
	EXPECT("lttctl enable-rotation --timer=0", 1, "", "--timer=0: this is not a period");
	EXPECT("lttctl enable-rotation --size=big", 1, "", "--size=big: this is not a size");
	EXPECT("lttctl enable-rotation --keep=0", 1, "", "--keep=0: this is not a number");
	EXPECT("lttctl enable-rotation --keep-for=x", 1, "", "--keep-for=x: this is not a period");
	EXPECT("lttctl enable-rotation --keep-size=0", 1, "", "this is not a size");
	EXPECT("lttctl enable-rotation --size=1M -s demo web", 1, "", "exclude each other");
	EXPECT("lttctl disable-rotation", 1, "", "missing option: --timer, --size or both");
	EXPECT_REQUESTS("");
}

static void lists(void)
{
	strcpy(ctl_model.path, "/tmp/out");
	ctl_model.state = SESSION_RECORDING;
	EXPECT("lttctl list", 0,
	       "    SESSION  STATE       RECORDED  LOST  OUTPUT\n"
	       "  * demo     recording  1,234,567     0  /tmp/out\n",
	       NULL);
	ctl_model.uid = getuid() + 1;
	EXPECT_PART("lttctl list", 0, "* demo (user ");
	ctl_model.uid = getuid();
	EXPECT("lttctl status", 0,
	       "Session demo: recording for 12.3 s, 2 applications\n"
	       "Output: /tmp/out\n"
	       "\n"
	       "  CHANNEL         IN USE   RECORDED  LOST   WRITTEN\n"
	       "  channel0  25% of 4 MiB  1,234,567     0  45.2 MiB\n"
	       "\n"
	       "  channel0 (user)\n"
	       "    web:*, not web:x* (INFO or more severe): 4 instrumentation points\n",
	       NULL);
	EXPECT_PART(
		"lttctl list demo", 0,
		"    buffers: 4 x 512 KiB a CPU, per user, discard mode; 4 MiB of memory now\n");
	EXPECT("lttctl list demo -d", 0, "user\n", NULL);
	EXPECT_PART("lttctl list -u demo", 0, "channel0");
	EXPECT("lttctl list demo -k", 1, "", "no channel of the domain 'kernel'");
	EXPECT("lttctl list demo -c channel1", 1, "", "did you mean 'channel0'?");
	EXPECT("lttctl list -u", 0,
	       "webd (process 42, user 1000)\n"
	       "  web:reply (tracepoint, INFO) web.c:10\n"
	       "  web:request (tracepoint, INFO) web.c:10\n",
	       NULL);
	EXPECT_PART("lttctl list -uf", 0, "      id: integer\n");
#ifndef LTT_SANITIZED
	/* each is printed as it is received */
	ctl_model.more_points = 20000;
	EXPECT("(ulimit -d 3000; lttctl list -u) | wc -l", 0, "20003\n", NULL);
	EXPECT("(ulimit -d 3000; lttctl list -u --json) | jq '.result.points | length'", 0,
	       "20002\n", NULL);
	ctl_model.more_points = 0;
#endif
	EXPECT("lttctl list --no-truncate | wc -l", 0, "2\n", NULL);
	EXPECT("lttctl list demo --mem-usage=total | tail -1", 0, "Memory of all buffers: 4 MiB\n",
	       NULL);
	EXPECT("lttctl list demo --mem-usage=most", 1, "", "'total', 'compact' or 'full'");
	EXPECT("lttctl list --mem-usage=full", 1, "", "missing session");
	EXPECT("lttctl list demo --style=wide", 1, "", "'compact' or 'breathe'");
	EXPECT("lttctl list demo --style=compact | grep -c '^$'", 1, "0\n", NULL);
	EXPECT("lttctl list --style=compact", 1, "", "missing session");
	EXPECT("lttctl --relayd-path=/x/y create rl --live", 1, "", "'/x/y' can't be started");
	EXPECT("lttctl show-maps -s demo | tail -n 2 | head -n 1", 0,
	       "  it's\\x09  -2147483647 (wrapped)\n", NULL);
	EXPECT("lttctl show-maps -s demo --per=part --shared --json | jq -c '.result.map_channels[0].values'",
	       0,
	       "[{\"map_key\":\"it's\\t\",\"value\":2,\"wrapped\":false,\"owner\":\"shared\",\"uid\":7,"
	       "\"part\":2}]\n",
	       NULL);
	EXPECT("lttctl export-maps -s demo | sed -n 5p", 0,
	       "INSERT INTO map_channels VALUES(1, 'demo', 'user', 'hits', 'signed-int-32', 1, 'process', "
	       "'per-event', 'sum-into-shared', 1, 3);\n",
	       NULL);
	EXPECT("lttctl export-maps -s demo | sed -n 7p", 0,
	       "INSERT INTO map_values VALUES(1, CAST(x'6974277309' AS TEXT), 'shared', 7, NULL, 2, 2);\n",
	       NULL);
	EXPECT("lttctl export-maps -s demo --format=csv", 1, "", "is not sqlite");
	EXPECT_PART("lttctl list demo --map-channel=hits", 0, "Map channel hits (user): 1 of 1 keys");
	EXPECT("lttctl list --map-channel=hits", 1, "", "lttctl list SESSION --map-channel=NAME");
	EXPECT("lttctl help metadata", 5, "", "metadata: 'regenerate metadata' does it");
	EXPECT("lttctl list -f", 1, "", "lttctl list -u --fields");
	EXPECT("lttctl list demmo", 1, "", "did you mean 'demo'?");
	ctl_model.problem = "the disk is full";
	EXPECT_PART("lttctl status", 0, "Problem: the disk is full\n");
	ctl_model.problem = "";
}

static void json(void)
{
	EXPECT_PART("lttctl --json list | python3 -c 'import json, sys; d = json.load(sys.stdin); "
		    "print(d[\"success\"], d[\"result\"][\"sessions\"][0][\"totals\"][\"lost\"])'",
		    0, "True 0\n");
	EXPECT_PART("lttctl status --json", 0, "\"problem\": \"\"");
	EXPECT_PART("lttctl --json start nosuch", 1, "\"code\": \"no-session\"");
	EXPECT_PART("lttctl -m json version", 0, "\"version\": \"9.9\"");
	EXPECT_PART("lttctl -m xml version", 0, "<name>version</name><output><version>");
	EXPECT("lttctl -m xml doctor", 5, "", "--mi=xml is for verbs");
	ctl_model.rule = "tr\033[2Jouble\x7f\xc2\x9b\xff";
	EXPECT_PART("lttctl status", 0, "tr\\x1b[2Jouble\\x7f\\xc2\\x9b\\xff");
	EXPECT_PART("lttctl --json status", 0, "\"text\": \"tr\\u001b[2Jouble\\u007f\\u009b\\ufffd\"");
	EXPECT_PART("lttctl --json status", 0, "\"hex\": \"74721b5b324a6f75626c657fc29bff\"");
	ctl_model.rule = "web\xe2\x80\xae:*\xe2\x80\x8b\xf3\xa0\x81\x81";
	EXPECT_PART("lttctl status", 0, "web\\xe2\\x80\\xae:*\\xe2\\x80\\x8b\\xf3\\xa0\\x81\\x81");
	EXPECT_PART("lttctl --json status", 0, "\"web\\u202e:*\\u200b\\udb40\\udc41\"");
	ctl_model.rule = "web:*";
}

static void destroy(void)
{
	ctl_model.totals.lost_output = 1;
	EXPECT("lttctl destroy", 6,
	       "Session demo destroyed: 1,234,566 events recorded, 1 lost, state dumps "
	       "included, 45.2 MiB written\n"
	       "The trace is in /tmp/out\n",
	       "1 event was lost because the trace could not be written");
	strcpy(ctl_model.session, "demo");
	ctl_model.state = SESSION_STOPPED; /* then `stop` has reported it */
	EXPECT_PART("lttctl destroy demo", 0, "1 lost");
	ctl_model.totals.lost_output = 0;
	strcpy(ctl_model.session, "demo");
	EXPECT("lttctl set-session demo", 0, "Current session is demo.\n", NULL);
	EXPECT("lttctl destroy nosuch", 1, "", "no session 'nosuch'");
	ctl_model.requests[0] = '\0';
	ctl_model.state = SESSION_STOPPED;
	EXPECT("lttctl destroy -n", 0,
	       "Session demo destroyed: 1,234,567 events recorded, 0 lost, state dumps "
	       "included, 45.2 MiB written\n"
	       "The trace is in /tmp/out\n",
	       NULL);
	EXPECT_REQUESTS("destroy demo no_wait\n");
	EXPECT("cat $LTT_HOME/.lttrc", 0, "trace=/tmp/out\n", NULL);
	EXPECT("lttctl destroy", 1, "", "no session is named and none is current");
	EXPECT("lttctl destroy --all", 0, "", "there is no session");
	strcpy(ctl_model.session, "demo");
	ctl_model.state = SESSION_NEW; /* so there is no trace to be named */
	EXPECT("lttctl destroy demo", 0,
	       "Session demo destroyed: 1,234,567 events recorded, 0 lost, state dumps "
	       "included, 45.2 MiB written\n",
	       NULL);
	EXPECT("lttctl list", 0, "There is no session; 'lttctl create' makes one.\n", NULL);
}

int main(void)
{
	ctl_fake_start();
	create();
	create_unnamed();
	channels();
	events();
	states();
	rotations();
	lists();
	json();
	destroy();
	return 0;
}
