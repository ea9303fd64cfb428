/* SPDX-License-Identifier: MIT */
/*
 * ltt/object.h - registers the sites of a loaded object (program or shared library) with
 * libltt. Included by the other headers, not by programs.
 *
 * Every site except a C++ marker has a pointer in the section `ltt_sites`; the linker joins these
 * into one array per loaded object. Every file that includes this header brings
 * a constructor; the first one that runs in an object registers the array, the last destructor
 * unregisters it. All symbols are hidden, so that each object registers only its own sites and
 * may be unloaded.
 */
#ifndef LTT_OBJECT_H
#define LTT_OBJECT_H

#include <ltt/site.h>

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "ltt: payloads are little-endian; this machine is not supported"
#endif

#define LTT__UNUSED __attribute__((unused))
#define LTT__HIDDEN __attribute__((visibility("hidden")))
#define LTT__MERGED __attribute__((weak, visibility("hidden")))

#ifdef __cplusplus
#define LTT__C_BEGIN extern "C" {
#define LTT__C_END }
#define LTT__ASSERT static_assert
#else
#define LTT__C_BEGIN
#define LTT__C_END
#define LTT__ASSERT _Static_assert
#endif

/* `retain`: lld collects unreferenced sections even where __start_ is used. */
#if defined(__has_attribute)
#if __has_attribute(retain)
#define LTT__RETAIN , retain
#endif
#endif
#ifndef LTT__RETAIN
#define LTT__RETAIN
#endif
#define LTT__LISTED __attribute__((section("ltt_sites"), used LTT__RETAIN))

LTT__C_BEGIN
extern struct ltt_site *const __start_ltt_sites[] LTT__MERGED;
extern struct ltt_site *const __stop_ltt_sites[] LTT__MERGED;

/* Number of this object's files whose constructors have run. */
LTT__MERGED int ltt__object_files = 0;

/* Sites that the section can't list: C++ markers in inline functions and templates. */
struct ltt__enrolment {
	struct ltt__enrolment *next;
	struct ltt_site *site;
};
LTT__MERGED struct ltt__enrolment *ltt__object_enrolled = 0;
LTT__C_END

LTT__OURS static inline void ltt__object_enrol(struct ltt__enrolment *enrolment)
{
	enrolment->next = ltt__object_enrolled;
	ltt__object_enrolled = enrolment;
	ltt_sites_register(&enrolment->site, &enrolment->site + 1, LTT_SITE_ABI);
}

#ifndef LTT__OBJECT_LATE /* libltt registers its own when they are needed */
LTT__OURS static __attribute__((constructor(150))) void ltt__object_enter(void)
{
	if (ltt__object_files++ == 0)
		ltt_sites_register(__start_ltt_sites, __stop_ltt_sites, LTT_SITE_ABI);
}

LTT__OURS static __attribute__((destructor(150))) void ltt__object_leave(void)
{
	struct ltt__enrolment *e;

	if (--ltt__object_files > 0)
		return;
	for (e = ltt__object_enrolled; e; e = e->next)
		ltt_sites_unregister(&e->site, &e->site + 1);
	ltt_sites_unregister(__start_ltt_sites, __stop_ltt_sites);
}
#endif

#endif
