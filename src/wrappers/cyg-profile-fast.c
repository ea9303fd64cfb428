// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libltt-cyg-profile-fast.so: as libltt-cyg-profile.so, with half of the data: the
 * caller and the returning function follow from the order of a thread's events.
 */
#include <stdint.h>

#include <ltt/tracepoint.h>

#include "closing.h"
#include "functions.h"

#define EXPORT __attribute__((visibility("default"), no_instrument_function))

LTT_TRACEPOINT(ltt_cyg_profile_fast, func_entry, (void *function), LTT_DEBUG_FUNCTION,
	       ltt_ptr(addr, (uintptr_t)function))
LTT_TRACEPOINT(ltt_cyg_profile_fast, func_exit, (), LTT_DEBUG_FUNCTION)

/* The next event is far from the one before: on the stack of a coroutine, or beside large data. */
LTT_TRACEPOINT(ltt_cyg_profile_fast, func_stack,
	       (uintptr_t before, uintptr_t now, void *function, void *caller),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(from, before),
	       ltt_ptr(to, now),
	       ltt_ptr(addr, (uintptr_t)function),
	       ltt_ptr(call_site, (uintptr_t)caller))

static inline __attribute__((always_inline)) void follow_stack(uintptr_t frame, void *function,
							       void *caller)
{
	uintptr_t before;

	if (functions_leave_stack(frame, &before))
		ltt_trace(ltt_cyg_profile_fast, func_stack, before, frame, function, caller);
}

__attribute__((constructor(101))) static void functions_init(void)
{
	functions_start();
}

EXPORT void __cyg_profile_func_enter(void *function, void *caller);
EXPORT void __cyg_profile_func_exit(void *function, void *caller);

void __cyg_profile_func_enter(void *function, void *caller)
{
	if (ltt_enabled(ltt_cyg_profile_fast, func_entry) && functions_is_chosen(function)) {
		follow_stack((uintptr_t)__builtin_frame_address(0), function, caller);
		ltt_trace(ltt_cyg_profile_fast, func_entry, function);
	}
}

void __cyg_profile_func_exit(void *function, void *caller)
{
	if (ltt_enabled(ltt_cyg_profile_fast, func_exit) && functions_is_chosen(function)) {
		follow_stack((uintptr_t)__builtin_frame_address(0), function, caller);
		ltt_trace(ltt_cyg_profile_fast, func_exit);
	}
}
