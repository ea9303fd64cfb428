/* SPDX-License-Identifier: MIT */
/*
 * lttng/tracepoint.h - the macros of LTTng-UST, for sources that were written for it: they build
 * unchanged, and libltt records their events. New code includes <ltt/tracepoint.h>. Compile with
 * `pkg-config --cflags --libs ltt-lttng`.
 *
 * Names, arguments and meaning are those of LTTng-UST 2.13; the older names (TRACEPOINT_EVENT,
 * tracepoint(), ctf_integer) are there unless LTTNG_UST_COMPAT_API_VERSION is 1 or more. As there,
 *	LTTNG_UST_TRACEPOINT_DEFINE in one file of a program or library makes its points,
 *	LTTNG_UST_TRACEPOINT_CREATE_PROBES in one file makes the descriptions and the code, and
 *	LTTNG_UST_TRACEPOINT_PROBE_DYNAMIC_LINKAGE, where the first is, lets that be in a library
 *	that is loaded later; then an event costs 5 to 15 ns more.
 *
 * An event has at most 64 fields here, and an enumeration at most 64 labels. Model URIs are read
 * and not recorded.
 */
#ifndef LTT_LTTNG_TRACEPOINT_H
#define LTT_LTTNG_TRACEPOINT_H

/* Programs use them without including them. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include <ltt/point.h>
#include <ltt/tracepoint.h>

#ifndef LTTNG_UST_COMPAT_API_VERSION
#define LTTNG_UST_COMPAT_API_VERSION 0
#endif
#define LTTNG_UST_COMPAT_API(major) (LTTNG_UST_COMPAT_API_VERSION <= (major))

#if LTTNG_UST_COMPAT_API(0)
#if defined(TRACEPOINT_DEFINE) && !defined(LTTNG_UST_TRACEPOINT_DEFINE)
#define LTTNG_UST_TRACEPOINT_DEFINE
#endif
#if defined(TRACEPOINT_PROBE_DYNAMIC_LINKAGE) && \
	!defined(LTTNG_UST_TRACEPOINT_PROBE_DYNAMIC_LINKAGE)
#define LTTNG_UST_TRACEPOINT_PROBE_DYNAMIC_LINKAGE
#endif
#endif

#define lttng_ust_tracepoint_enabled(provider, name) \
	ltt_site_armed(&lttng_ust_tracepoint_##provider##___##name.site)

#define lttng_ust_do_tracepoint(provider, name, ...) \
	lttng_ust_tracepoint_cb_##provider##___##name(__VA_ARGS__)

#define lttng_ust_tracepoint(provider, name, ...) \
	do { \
		if (lttng_ust_tracepoint_enabled(provider, name)) { \
			lttng_ust_do_tracepoint(provider, name, __VA_ARGS__); \
			LTT__RETURNS_HERE(); \
		} \
	} while (0)

/*
 * Arguments are pairs of a type and a name. LTT__PAIRS_TYPED: as parameters. LTT__PAIRS_NAMES: the
 * names, each behind a comma.
 */
#define LTTNG_UST_TP_ARGS(...) (__VA_ARGS__)
#define LTT__PAIRS_TYPED(...) LTT__CAT(LTT__TYPED_, LTT__COUNT(__VA_ARGS__))(__VA_ARGS__)
#define LTT__TYPED_1(nothing) void
#define LTT__TYPED_2(t, n) t n
#define LTT__TYPED_4(t, n, ...) t n, LTT__TYPED_2(__VA_ARGS__)
#define LTT__TYPED_6(t, n, ...) t n, LTT__TYPED_4(__VA_ARGS__)
#define LTT__TYPED_8(t, n, ...) t n, LTT__TYPED_6(__VA_ARGS__)
#define LTT__TYPED_10(t, n, ...) t n, LTT__TYPED_8(__VA_ARGS__)
#define LTT__TYPED_12(t, n, ...) t n, LTT__TYPED_10(__VA_ARGS__)
#define LTT__TYPED_14(t, n, ...) t n, LTT__TYPED_12(__VA_ARGS__)
#define LTT__TYPED_16(t, n, ...) t n, LTT__TYPED_14(__VA_ARGS__)
#define LTT__TYPED_18(t, n, ...) t n, LTT__TYPED_16(__VA_ARGS__)
#define LTT__TYPED_20(t, n, ...) t n, LTT__TYPED_18(__VA_ARGS__)
#define LTT__PAIRS_NAMES(...) LTT__CAT(LTT__NAMES_, LTT__COUNT(__VA_ARGS__))(__VA_ARGS__)
#define LTT__NAMES_1(nothing)
#define LTT__NAMES_2(t, n) , n
#define LTT__NAMES_4(t, n, ...) , n LTT__NAMES_2(__VA_ARGS__)
#define LTT__NAMES_6(t, n, ...) , n LTT__NAMES_4(__VA_ARGS__)
#define LTT__NAMES_8(t, n, ...) , n LTT__NAMES_6(__VA_ARGS__)
#define LTT__NAMES_10(t, n, ...) , n LTT__NAMES_8(__VA_ARGS__)
#define LTT__NAMES_12(t, n, ...) , n LTT__NAMES_10(__VA_ARGS__)
#define LTT__NAMES_14(t, n, ...) , n LTT__NAMES_12(__VA_ARGS__)
#define LTT__NAMES_16(t, n, ...) , n LTT__NAMES_14(__VA_ARGS__)
#define LTT__NAMES_18(t, n, ...) , n LTT__NAMES_16(__VA_ARGS__)
#define LTT__NAMES_20(t, n, ...) , n LTT__NAMES_18(__VA_ARGS__)
#define LTT__PARAMETERS(args) (LTT__PAIRS_TYPED args)
#define LTT__TEXT_OF(...) #__VA_ARGS__
#define LTT__ARGUMENTS_TEXT(args) LTT__TEXT_OF args

/* In each file that hits an event: the declaration of its point, and the function that hits it. */
#define LTT__POINT_CALLED(id, args) \
	LTT__C_BEGIN \
	extern struct ltt_point lttng_ust_tracepoint_##id LTT__POINT_VISIBILITY; \
	LTT__C_END \
	LTT__OURS static inline __attribute__((always_inline, unused)) void \
	lttng_ust_tracepoint_cb_##id LTT__PARAMETERS(args) \
	{ \
		struct ltt_point *ltt__point = &lttng_ust_tracepoint_##id; \
		void (*ltt__emit)(void); \
		unsigned int ltt__token; \
		if (__builtin_expect(ltt__point->linked && !ltt__point->more, 1)) { \
			ltt__emit = __atomic_load_n(&ltt__point->emit, __ATOMIC_RELAXED); \
			if (ltt__emit) \
				LTT__POINT_EMIT(ltt__point, ltt__emit, args); \
			return; \
		} \
		ltt__token = ltt_point_enter(); \
		for (; ltt__point; \
		     ltt__point = __atomic_load_n(&ltt__point->more, __ATOMIC_SEQ_CST)) { \
			ltt__emit = __atomic_load_n(&ltt__point->emit, __ATOMIC_SEQ_CST); \
			if (ltt__emit) \
				LTT__POINT_EMIT(ltt__point, ltt__emit, args); \
		} \
		ltt_point_leave(ltt__token); \
	}
#define LTT__POINT_EMIT(point, function, args) \
	((void (*) LTT__APPLY(LTT__WITH_SITE, LTT__PARAMETERS(args)))(function))( \
		&(point)->site LTT__PAIRS_NAMES args)
#define LTT__APPLY(macro, tuple) macro tuple

#ifdef LTTNG_UST_TRACEPOINT_DEFINE
#ifdef LTTNG_UST_TRACEPOINT_PROBE_DYNAMIC_LINKAGE
#define LTT__POINT_LINKED(id) 0
#else
#define LTT__POINT_LINKED(id) &lttng_ust_descriptor_##id
#endif
#define LTT__POINT_DEFINED(id, name_, args) \
	LTT__C_BEGIN \
	extern const struct ltt_descriptor lttng_ust_descriptor_##id LTT__DESCRIPTOR_VISIBILITY; \
	struct ltt_point lttng_ust_tracepoint_##id LTT__POINT_VISIBILITY = { \
		sizeof(struct ltt_point), 0, name_, LTT__ARGUMENTS_TEXT(args), \
		LTT__POINT_LINKED(id), 0, 0, \
		{ 0, sizeof(struct ltt_site), 0, 0, 0, 0, 0 } \
	}; \
	LTT__C_END \
	LTT__LISTED_IN("ltt_points") static struct ltt_point *const ltt_listed_point_##id = \
		&lttng_ust_tracepoint_##id;
#else
#define LTT__POINT_DEFINED(id, name_, args)
#endif

#define LTT__POINT(provider, name, args) \
	LTT__POINT_CALLED(provider##___##name, args) \
	LTT__POINT_DEFINED(provider##___##name, #provider ":" #name, args)

enum {
	LTTNG_UST_TRACEPOINT_LOGLEVEL_EMERG = 0,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_ALERT = 1,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_CRIT = 2,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_ERR = 3,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING = 4,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_NOTICE = 5,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO = 6,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_SYSTEM = 7,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_PROGRAM = 8,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_PROCESS = 9,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_MODULE = 10,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_UNIT = 11,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_FUNCTION = 12,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_LINE = 13,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG = 14
};

#if LTTNG_UST_COMPAT_API(0)
#define tracepoint lttng_ust_tracepoint
#define do_tracepoint lttng_ust_do_tracepoint
#define tracepoint_enabled lttng_ust_tracepoint_enabled
#define TP_ARGS LTTNG_UST_TP_ARGS
#define TP_FIELDS LTTNG_UST_TP_FIELDS
#define TP_ENUM_VALUES LTTNG_UST_TP_ENUM_VALUES
#define TRACEPOINT_ENUM LTTNG_UST_TRACEPOINT_ENUM
#define TRACEPOINT_EVENT LTTNG_UST_TRACEPOINT_EVENT
#define TRACEPOINT_EVENT_CLASS LTTNG_UST_TRACEPOINT_EVENT_CLASS
#define TRACEPOINT_EVENT_INSTANCE(provider, class_name, name, args) \
	LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(provider, class_name, provider, name, args)
#define TRACEPOINT_LOGLEVEL LTTNG_UST_TRACEPOINT_LOGLEVEL
#define TRACEPOINT_MODEL_EMF_URI LTTNG_UST_TRACEPOINT_MODEL_EMF_URI
#define TRACE_EMERG LTTNG_UST_TRACEPOINT_LOGLEVEL_EMERG
#define TRACE_ALERT LTTNG_UST_TRACEPOINT_LOGLEVEL_ALERT
#define TRACE_CRIT LTTNG_UST_TRACEPOINT_LOGLEVEL_CRIT
#define TRACE_ERR LTTNG_UST_TRACEPOINT_LOGLEVEL_ERR
#define TRACE_WARNING LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING
#define TRACE_NOTICE LTTNG_UST_TRACEPOINT_LOGLEVEL_NOTICE
#define TRACE_INFO LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO
#define TRACE_DEBUG_SYSTEM LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_SYSTEM
#define TRACE_DEBUG_PROGRAM LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_PROGRAM
#define TRACE_DEBUG_PROCESS LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_PROCESS
#define TRACE_DEBUG_MODULE LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_MODULE
#define TRACE_DEBUG_UNIT LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_UNIT
#define TRACE_DEBUG_FUNCTION LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_FUNCTION
#define TRACE_DEBUG_LINE LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_LINE
#define TRACE_DEBUG LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG
#endif

#endif

/* Each header of tracepoints may be read with other visibilities. */
#undef LTT__POINT_VISIBILITY
#ifdef LTTNG_UST_TRACEPOINT_HIDDEN_DEFINITION
#define LTT__POINT_VISIBILITY LTT__HIDDEN
#else
#define LTT__POINT_VISIBILITY __attribute__((visibility("default")))
#endif
#undef LTT__DESCRIPTOR_VISIBILITY
#ifdef LTTNG_UST_TRACEPOINT_PROVIDER_HIDDEN_DEFINITION
#define LTT__DESCRIPTOR_VISIBILITY LTT__HIDDEN
#else
#define LTT__DESCRIPTOR_VISIBILITY __attribute__((visibility("default")))
#endif

/* lttng/tracepoint-event.h defines them in other ways while it reads a header again. */
#ifndef LTTNG_UST_TRACEPOINT_EVENT
#define LTTNG_UST_TRACEPOINT_EVENT(provider, name, args, fields) LTT__POINT(provider, name, args)
#define LTTNG_UST_TRACEPOINT_EVENT_CLASS(provider, name, args, fields)
#define LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(class_provider, class_name, provider, name, args) \
	LTT__POINT(provider, name, args)
#define LTTNG_UST_TRACEPOINT_ENUM(provider, name, values)
#define LTTNG_UST_TRACEPOINT_LOGLEVEL(provider, name, level)
#define LTTNG_UST_TRACEPOINT_MODEL_EMF_URI(provider, name, uri)
#endif
