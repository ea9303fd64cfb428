# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# lib.sh - for end-to-end tests written in sh: `. "$TOP/tests/lib/lib.sh"`.
#
# scripts/runtests gives each test a directory of its own as working directory
# and the environment TOP, BUILD, LTT_RUNDIR, LTT_HOME. lttctl spawns the private
# daemon by itself; every process that runs at the end of the test is ended here, and
# has to end within two seconds.

set -eu

PROG=$BUILD/prog
SLOW=${LTT_TEST_SLOW:-1}
PATIENCE=$((4 * SLOW)) # limits are times of an idle machine, and are multiplied by it

fail()
{
	echo "FAIL: $*" >&2
	exit 1
}

skip()
{
	echo "$*"
	exit 77
}

need()
{
	for program; do
		command -v "$program" >/dev/null || skip "needs $program"
	done
}

# eq WHAT GOT WANTED
eq()
{
	[ "$2" = "$3" ] || fail "$1: got '$2', want '$3'"
}

# exits STATUS COMMAND... - run it, its output in ./out and ./err
exits()
{
	wanted=$1
	shift
	got=0
	"$@" >out 2>err || got=$?
	[ "$got" -eq "$wanted" ] && return
	cat out err >&2
	fail "exit status $got, want $wanted: $*"
}

# has_line FILE PATTERN - the file has a line that matches (grep -E)
has_line()
{
	grep -qE -e "$2" "$1" && return
	cat "$1" >&2
	fail "$1 has no line like: $2"
}

quiet()
{
	[ -s "$1" ] || return 0
	cat "$1" >&2
	fail "$1 should be empty"
}

# until_true SECONDS COMMAND... - bounded wait for something with no event to wait for
until_true()
{
	tries=$(($1 * PATIENCE * 50))
	shift
	while ! "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || fail "waited in vain for: $*"
		sleep 0.02
	done
}

# --- the private daemons -------------------------------------------------------

# daemons NAME... - pids of this test's daemons, known by their environment
daemons()
{
	for name; do
		for pid in $(pgrep -x "$name" || true); do
			if { tr '\0' '\n' <"/proc/$pid/environ"; } 2>/dev/null |
				grep -qx "LTT_RUNDIR=$LTT_RUNDIR"; then
				echo "$pid"
			fi
		done
	done
}

no_daemons()
{
	[ -z "$(daemons ltt-sessiond ltt-consumerd ltt-keeperd)" ]
}

# End the session daemon; with it everything has to end.
daemon_stop()
{
	for pid in $(daemons ltt-sessiond); do
		kill -TERM "$pid" 2>/dev/null || true
	done
	tries=$((2 * PATIENCE * 100))
	while ! no_daemons; do
		tries=$((tries - 1))
		if [ "$tries" -le 0 ]; then
			echo "FAIL: daemons still there $((2 * PATIENCE)) s after SIGTERM:" \
				"$(daemons ltt-sessiond ltt-consumerd ltt-keeperd | tr '\n' ' ')" >&2
			return 1
		fi
		sleep 0.01
	done
}

at_exit()
{
	status=$?
	trap - EXIT
	kill_jobs
	daemon_stop || status=1
	exit "$status"
}
trap at_exit EXIT

# Programs that the test started in the background and left running.
kill_jobs()
{
	for pid in ${JOBS:-}; do
		kill -KILL "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true
	done
}

# --- traced programs ------------------------------------------------------------

# preload LIB... - value for LD_PRELOAD: wrappers by their short name
preload()
{
	value=${LTT_SAN_PRELOAD:-}
	for lib; do
		value="$value${value:+ }$BUILD/lib/libltt-$lib.so"
	done
	echo "$value"
}

# --- traces ------------------------------------------------------------------------

# read_trace DIR [FILE] - babeltrace2's text of a trace, without a complaint
read_trace()
{
	need babeltrace2
	babeltrace2 --no-delta "$1" >"${2:-trace.txt}" 2>bt.err || {
		cat bt.err >&2
		fail "babeltrace2 can't read $1"
	}
	quiet bt.err
}

# count NAME [FILE] - events of that name in a text made by read_trace
count()
{
	grep -cF " $1: " "${2:-trace.txt}" || true
}

# same_as_view DIR - lttctl view and babeltrace2 agree on every event's name, in order
same_as_view()
{
	read_trace "$1" bt.txt
	lttctl view --raw --statedump "$1" >view.txt 2>view.err || fail "lttctl view $1: $(cat view.err)"
	names bt.txt >bt.names
	names view.txt >view.names
	cmp bt.names view.names || fail "lttctl view and babeltrace2 differ"
}

# Event names of a text trace: the word that ends the prefix.
names()
{
	sed -nE 's/^\[[^]]*\] (\([^)]*\) )?([^ ]+ )?([A-Za-z_][A-Za-z0-9_:.-]*): \{.*/\3/p' "$1"
}

# word NAME FILE - the number behind a word in a line of figures ("lost 3")
word()
{
	sed -nE "s/.*\\b$1 (-?[0-9]+)\\b.*/\\1/p" "$2" | head -1
}
