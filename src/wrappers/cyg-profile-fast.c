// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libltt-cyg-profile-fast.so: as libltt-cyg-profile.so, with half of the data: the
 * caller and the returning function follow from the order of a thread's events.
 */
#include <stdint.h>

#include <ltt/tracepoint.h>

#define EXPORT __attribute__((visibility("default"), no_instrument_function))

LTT_TRACEPOINT(ltt_cyg_profile_fast, func_entry, (void *function), LTT_DEBUG_FUNCTION,
	       ltt_ptr(addr, (uintptr_t)function))
LTT_TRACEPOINT(ltt_cyg_profile_fast, func_exit, (), LTT_DEBUG_FUNCTION)

EXPORT void __cyg_profile_func_enter(void *function, void *caller);
EXPORT void __cyg_profile_func_exit(void *function, void *caller);

void __cyg_profile_func_enter(void *function, void *caller)
{
	(void)caller;
	ltt_trace(ltt_cyg_profile_fast, func_entry, function);
}

void __cyg_profile_func_exit(void *function, void *caller)
{
	(void)function;
	(void)caller;
	ltt_trace(ltt_cyg_profile_fast, func_exit);
}
