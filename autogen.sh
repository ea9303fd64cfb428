#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# autogen.sh [--lists] - make `configure` and its inputs, after a clone.
#
# A source file is built because of the folder it is in: sources.am has the lists of files
# that automake wants, and is made here. --lists: bring it up to date, nothing else (quick;
# `make` sees for itself that it has changed).
#
#   src/common/**     libcommon.a, in every daemon and tool; src/model/** are tables
#   src/tracer/**     libltt; links libc only, hidden symbols
#   src/wrappers/*.c  one preloadable library each: libltt-NAME.so
#   src/sessiond/**   ltt-sessiond      src/consumerd/**  ltt-consumerd
#   src/lttng/**      liblttng-ust.so.1 for programs built for LTTng-UST; with libltt alone
#   src/loggers/**    libltt-java.so, of ltt-agent.jar; modules of Python are installed as they are
#   src/keeperd/**    ltt-keeperd       src/relayd/**     ltt-relayd
#   src/crash/**      ltt-crash         src/archive/**    ltt-archive
#   src/keys/**       ltt-keys          src/tunnel/**     ltt-tunnel
#   src/libread/**    libltt-read, with src/read
#   src/libctl/**, src/ctl/**                lttctl, with src/read, src/analyse and src/show
#   src/viewer/**     with src/read/**, src/analyse/**, src/show/**: ltt-view, a static program
#   src/s3/**         the client of object stores, of ltt-archive
#   src/tools/**      prototool, which is not installed
#   tests/unit/*.c    one program each; tests/unit/*.cc likewise (C++)
#   tests/unit/part/NAME.*.c  more files of the unit test NAME
#   tests/unit/lib/**         modules that unit tests share, linked into those that use them;
#                     those in lib/tracer need libltt alone
#   tests/unit/dso/*.{c,cc}   libraries that unit tests load
#   tests/unit/{ring,tracepoint,marker,probe}_*  link libltt.a only, too: cross builds
#                     run these (make tracer-unit)
#   tests/prog/*.{c,cc}       programs that the end-to-end tests trace
#                     those named below are built for 32 bits, too
#   tests/bench/*.c   one program each  tests/fuzz/*.c    one fuzz target each
#   tests/fuzz/lib/*.c        modules that fuzz targets share, linked as tests/unit/lib
set -eu
cd "$(dirname "$0")"

found() # FOLDER... - sources and headers below them
{
	find "$@" \( -name '*.c' -o -name '*.h' -o -name '*.def' \) | LC_ALL=C sort
}

list() # NAME - NAME = the words that are read
{
	awk -v name="$1" 'BEGIN { printf "%s =", name } { printf " \\\n\t%s", $0 } END { print "" }'
}

names() # FOLDER FILE... - FOLDER/NAME of each file that is there
{
	folder=$1
	shift
	for file; do
		[ ! -e "$file" ] || echo "$folder/$(base "$file")"
	done
}

base()
{
	set -- "${1##*/}"
	echo "${1%.*}"
}

canonical()
{
	echo "$1" | tr -c 'A-Za-z0-9_\n' _
}

# target PROGRAM KIND SOURCE... - a program; Makefile.am has the rest, by its kind
target()
{
	program=$(canonical "$1") kind=$2
	shift 2
	echo "${program}_SOURCES = $*"
	case $1 in *.cc) language=CXX ;; *) language=CC ;; esac
	echo "${program}_LINK = \$(${kind}_${language}LINK)"
	echo "${program}_LDADD = \$(${kind}_LIBS)"
	echo "${program}_DEPENDENCIES = \$(${kind}_NEEDS)"
	case $kind in
	WRAPPER | WRAPPER32 | DSO | BENCH | PROG32)
		echo "${program}_CFLAGS = \$(${kind}_CFLAGS)"
		echo "${program}_CXXFLAGS = \$(${kind}_CXXFLAGS)"
		;;
	esac
}

programs_32="tests/prog/rapp.c tests/prog/hello_fields.c tests/prog/hello_marker.c"

lists()
{
	echo '# Made by autogen.sh: do not edit.'
	for folder in archive common tracer lttng loggers sessiond consumerd crash keeperd relayd keys tunnel libctl libread ctl s3 viewer tools; do
		found "src/$folder" | list "$(echo $folder | tr a-z A-Z)_FILES"
	done
	found src/read | list READ_FILES
	found src/read src/analyse src/show | list VIEW_FILES
	# A unit test may use any module: the daemons but their main().
	{
		found src/common src/model src/sessiond src/consumerd src/keeperd src/relayd src/archive src/keys src/tunnel \
			src/s3 src/libctl src/read src/analyse src/show tests/unit/lib tests/fuzz/lib
		find src/ctl -name durable.c
		# the readers of saved sessions
		find src/ctl/saved/ -name '*.[ch]' ! -name 'make.*' ! -name 'files.*'
		find src/ctl/mi/ -name '*.[ch]' ! -name 'mi.*' ! -name 'verbs.*'
		ls src/ctl/print/json.c src/ctl/print/text.c src/ctl/words.c src/ctl/names.c \
			src/ctl/session/logger.c
		ls src/ctl/print/flame_svg.c src/ctl/print/flame_folded.c
		found src/ctl/export src/ctl/html
		ls src/ctl/trace/outfile.c
		ls src/ctl/query/events.[ch] src/ctl/query/rows.[ch] src/ctl/query/sqlite.[ch] \
			src/ctl/query/table.[ch]
		ls src/ctl/doctor/doctor.c src/ctl/doctor/facts.c
	} | grep -v '/main\.c$' | list UNITLIB_FILES
	found tests/unit/lib/tracer | list TRACERUNITLIB_FILES
	names lib src/wrappers/*.c | sed 's|^lib/|lib/libltt-|; s|$|.so|' | list WRAPPER_BINARIES
	names lib32 src/wrappers/*.c | sed 's|^lib32/|lib32/libltt-|; s|$|.so|' | list WRAPPER32_BINARIES
	names unit tests/unit/*.c tests/unit/*.cc | list UNIT_BINARIES
	names tracer-unit tests/unit/ring_*.c tests/unit/tracepoint_*.c tests/unit/marker_*.c \
		tests/unit/probe_*.c | list TRACERUNIT_BINARIES
	names dso tests/unit/dso/*.c tests/unit/dso/*.cc | sed 's|$|.so|' | list DSO_BINARIES
	names prog tests/prog/*.c tests/prog/*.cc | list PROG_BINARIES
	names prog32 $programs_32 | list PROG32_BINARIES
	names fuzz tests/fuzz/*.c | list FUZZ_BINARIES
	names bench tests/bench/*.c | list BENCH_BINARIES
	find man -type f | LC_ALL=C sort | list MAN_FILES
	find include/ltt -name '*.h' | LC_ALL=C sort | list INCLUDE_FILES
	find include/compat -name '*.h' | LC_ALL=C sort | list COMPAT_FILES
	for file in src/wrappers/*.c; do
		target "lib/libltt-$(base "$file").so" WRAPPER "$file" src/wrappers/*.h
		target "lib32/libltt-$(base "$file").so" WRAPPER32 "$file" src/wrappers/*.h
	done
	for file in tests/unit/*.c tests/unit/*.cc; do
		[ -e "$file" ] || continue
		name=$(base "$file") parts=
		for part in tests/unit/part/"$name".*.c; do
			[ ! -e "$part" ] || parts="$parts $part"
		done
		target "unit/$name" UNIT "$file" $parts
		case $file in
		*/ring_*.c | */tracepoint_*.c | */marker_*.c | */probe_*.c)
			target "tracer-unit/$name" TRACERUNIT "$file" $parts
			;;
		esac
	done
	for file in tests/unit/dso/*.c tests/unit/dso/*.cc; do
		[ ! -e "$file" ] || target "dso/$(base "$file").so" DSO "$file"
	done
	for file in tests/prog/*.c tests/prog/*.cc; do
		[ ! -e "$file" ] || target "prog/$(base "$file")" PROG "$file"
	done
	for file in $programs_32; do
		target "prog32/$(base "$file")" PROG32 "$file"
	done
	for file in tests/fuzz/*.c; do
		target "fuzz/$(base "$file")" FUZZ "$file" '$(FUZZ_MAIN)'
	done
	for file in tests/bench/*.c; do
		target "bench/$(base "$file")" BENCH "$file"
	done
}

new=$(lists)
if [ ! -e sources.am ] || [ "$new" != "$(cat sources.am)" ]; then
	echo "$new" >sources.am.new
	mv sources.am.new sources.am
fi
[ "${1:-}" = --lists ] || exec autoreconf -fi
