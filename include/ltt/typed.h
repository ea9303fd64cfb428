/* SPDX-License-Identifier: MIT */
/*
 * ltt/typed.h - probes of tracepoints that get the arguments of ltt_trace() as they are in C,
 * checked by the compiler. Included by ltt/tracepoint.h. Probes that read the recorded fields by
 * name, also those of markers, are in ltt/probe.h. No daemon is needed.
 *
 *	static void on_request(void *data, int id, const char *path);
 *
 *	ltt_register_trace(web, request, on_request, &state);
 *	...
 *	ltt_unregister_trace(web, request, on_request, &state);
 *	ltt_probe_synchronize();
 *	(now `state` may be freed)
 *
 * ltt_register_trace(PROVIDER, NAME, PROBE, DATA)
 *	calls PROBE(DATA, VALUES...) at each hit of the tracepoint, once, until the pair of PROBE
 *	and DATA has been unregistered as often as it was registered. The compiler refuses a PROBE
 *	of another type. Return: how often the pair is registered now; -ENOMEM, and nothing has
 *	changed; -ENOSYS: not on this kind of CPU (there are x86-64 and arm64).
 * ltt_unregister_trace(PROVIDER, NAME, PROBE, DATA)
 *	Return: how often it is still registered; -ENOENT: it was not. Calls may be running, until
 *	ltt_probe_synchronize() (ltt/probe.h) returns.
 *
 * Several probes are called in the order of their registration, and before sessions record the
 * event. A probe applies to all tracepoints of its name whose fields are the same, and whose
 * arguments are declared alike, word by word, also in libraries that are loaded later; at others it
 * is not called (ltt_typed_list() counts those). The tracepoint has to be declared where a probe is
 * registered.
 *
 * Threads. Both functions may be called from any thread, but not from a signal handler. A probe
 * runs in the thread that hit the event, which may be in a signal handler: it must not block, must
 * neither throw nor longjmp() out, must not call dlopen(), dlclose(), exit() or functions that
 * wait, and must be safe to run in several threads at once. errno is kept. Events that it causes
 * are events as any other, but probes of both kinds nest at most 4 deep in a thread; deeper calls
 * are skipped and counted.
 *
 * Arguments. Everything that C passes by value, but vectors of more than 16 bytes. In C++ these,
 * rvalue references, and classes that are not copied as bytes are refused by the compiler: several
 * probes would share one object that the first may change. They do so on arm64 with structures
 * of more than 16 bytes, which that ABI passes by their address: a probe must not change those
 * there.
 */
#ifndef LTT_TYPED_H
#define LTT_TYPED_H

#include <ltt/site.h>

#ifdef __cplusplus
extern "C++" { /* if a program includes this between the braces of extern "C" */
#include <type_traits>
}
#endif

/**
 * struct ltt_typed_kind - a tracepoint as it is declared where a probe is registered.
 * @size, @field_size: of this structure and of struct ltt_field where the program was built.
 * @fields: that @emit records, @nr_fields of them.
 * @emit: the function that records, with the site and the arguments.
 * @stack: called without any argument; returns the address behind the arguments on the stack.
 */
struct ltt_typed_kind {
	uint32_t size;
	uint16_t field_size;
	uint16_t nr_fields;
	const struct ltt_field *fields;
	const char *name;
	const char *arguments;
	void (*emit)(void);
	void (*stack)(void);
};

/** struct ltt_typed_request - a probe that a marker wants. Its data is the marker's site. */
struct ltt_typed_request {
	const struct ltt_typed_kind *kind;
	void (*probe)(void);
};

/**
 * struct ltt_typed_info - a registered probe.
 * @users: how often it is registered.
 * @nr_sites: places in the program where it is called.
 * @nr_others: places of that name that are declared otherwise.
 * @skipped: calls left out because probes were nested too deep.
 */
struct ltt_typed_info {
	size_t size;
	const char *name;
	const char *arguments;
	void (*probe)(void);
	void *data;
	uint32_t users;
	uint32_t nr_sites;
	uint32_t nr_others;
	uint32_t reserved;
	uint64_t skipped;
};

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** Called in place of the function that records while a site has typed probes. Not to be called
 *  otherwise. */
void ltt_typed_call(void) LTT__NOPLT;
/** ltt_register_trace() and ltt_unregister_trace(), without the compiler's check. @kind must
 *  exist until the probe is unregistered and calls have ended. */
int ltt_typed_register(const struct ltt_typed_kind *kind, void (*probe)(void), void *data);
int ltt_typed_unregister(const struct ltt_typed_kind *kind, void (*probe)(void), void *data);
/** Call @each for every typed probe, in the order of their registration. A non-zero return value
 *  ends the list and is returned, else 0. Not from a probe, nor from a signal handler; @each must
 *  not call functions of this file or of ltt/probe.h. */
int ltt_typed_list(int (*each)(void *data, const struct ltt_typed_info *probe), void *data);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#define ltt_register_trace(provider, name, probe, data) \
	ltt_typed_register(&ltt_typed_##provider##__##name, \
			   LTT__TYPED_PROBE(ltt_probe_fn_##provider##__##name, probe), data)
#define ltt_unregister_trace(provider, name, probe, data) \
	ltt_typed_unregister(&ltt_typed_##provider##__##name, \
			     LTT__TYPED_PROBE(ltt_probe_fn_##provider##__##name, probe), data)

/* A call that the compiler does not see to be of another type. */
LTT__OURS static inline void (*ltt__typed_call(void))(void)
{
	return ltt_typed_call;
}

/* The ABIs' va_list: where the stack's arguments begin that have no name.
 * x86-64: System V ABI, figure 3.34, overflow_arg_area. arm64: AAPCS64, appendix B, __stack. */
LTT__OURS static inline void *ltt__stack_behind(void *list)
{
	void *behind = 0;

#if defined(__x86_64__)
	__builtin_memcpy(&behind, (char *)list + 8, sizeof(behind));
#elif defined(__aarch64__)
	__builtin_memcpy(&behind, list, sizeof(behind));
#else
	(void)list;
#endif
	return behind;
}

#ifndef __cplusplus
#define LTT__CHECK_PROBE(type, probe) \
	_Static_assert(__builtin_types_compatible_p(__typeof__(&*(probe)), type *), \
		       "ltt: the probe has not the type void (void *data, ARGUMENTS...)")
#define LTT__TYPED_PROBE(type, probe) \
	__extension__({ \
		LTT__CHECK_PROBE(type, probe); \
		(void (*)(void))(probe); \
	})
#else
extern "C++" {
template <class T> struct ltt__passed {
	static const bool is_vector = !std::is_scalar<T>::value && !std::is_class<T>::value &&
				      !std::is_union<T>::value && !std::is_reference<T>::value;
	static const bool value = std::is_lvalue_reference<T>::value ||
				  (!std::is_reference<T>::value &&
				   (is_vector ? sizeof(T) <= 16 :
						std::is_trivially_copy_constructible<T>::value &&
						std::is_trivially_destructible<T>::value));
};
template <class... Args> struct ltt__all_passed {
	static const bool value = true;
};
template <class First, class... Rest> struct ltt__all_passed<First, Rest...> {
	static const bool value = ltt__passed<First>::value && ltt__all_passed<Rest...>::value;
};
template <class Wanted> struct ltt__typed_probe;
template <class... Args> struct ltt__typed_probe<void(Args...)> {
	template <class Given> static constexpr bool is(Given)
	{
		static_assert(std::is_same<Given, void (*)(Args...)>::value,
			      "ltt: the probe has not the type void (void *data, ARGUMENTS...)");
		static_assert(ltt__all_passed<Args...>::value,
			      "ltt: a typed probe can't have an argument of such a type");
		return true;
	}
	template <class Given> static void (*plain(Given given))(void)
	{
		return is(given) ? reinterpret_cast<void (*)(void)>(given) : nullptr;
	}
};
}
#define LTT__CHECK_PROBE(type, probe) \
	static_assert(ltt__typed_probe<type>::is(probe), "")
#define LTT__TYPED_PROBE(type, probe) ltt__typed_probe<type>::plain(probe)
#endif

#endif
