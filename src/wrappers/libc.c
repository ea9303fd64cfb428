// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libltt-libc.so: trace the allocator of any program, by LD_PRELOAD.
 *
 * Each function calls the next one of its name (libc's, or that of an allocator
 * which the program brings along) and then records. It runs in whatever thread
 * allocates, from before the first constructor to after the last destructor.
 *
 * operator new of C++ and strdup() are recorded in place of the malloc() that they call, as the
 * place that matters is that of their callers.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <ltt/tracepoint.h>

#include "closing.h"
#include "frames.h"

#define EXPORT __attribute__((visibility("default")))

LTT_TRACEPOINT(ltt_libc, malloc, (size_t size, void *result, FRAMES_PARAMETERS),
	       LTT_DEBUG_FUNCTION,
	       ltt_int(size_t, size, size),
	       ltt_ptr(ptr, (uintptr_t)result),
	       FRAMES_FIELDS)
LTT_TRACEPOINT(ltt_libc, free, (void *gone), LTT_DEBUG_FUNCTION,
	       ltt_ptr(ptr, (uintptr_t)gone))
LTT_TRACEPOINT(ltt_libc, calloc, (size_t count, size_t size, void *result, FRAMES_PARAMETERS),
	       LTT_DEBUG_FUNCTION,
	       ltt_int(size_t, nmemb, count),
	       ltt_int(size_t, size, size),
	       ltt_ptr(ptr, (uintptr_t)result),
	       FRAMES_FIELDS)
LTT_TRACEPOINT(ltt_libc, realloc, (void *old, size_t size, void *result, FRAMES_PARAMETERS),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(in_ptr, (uintptr_t)old),
	       ltt_int(size_t, size, size),
	       ltt_ptr(ptr, (uintptr_t)result),
	       FRAMES_FIELDS)
LTT_TRACEPOINT(ltt_libc, reallocarray, (void *old, size_t count, size_t size, void *result,
		FRAMES_PARAMETERS),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(in_ptr, (uintptr_t)old),
	       ltt_int(size_t, nmemb, count),
	       ltt_int(size_t, size, size),
	       ltt_ptr(ptr, (uintptr_t)result),
	       FRAMES_FIELDS)
LTT_TRACEPOINT(ltt_libc, memalign, (size_t align, size_t size, void *result, FRAMES_PARAMETERS),
	       LTT_DEBUG_FUNCTION,
	       ltt_int(size_t, alignment, align),
	       ltt_int(size_t, size, size),
	       ltt_ptr(ptr, (uintptr_t)result),
	       FRAMES_FIELDS)
LTT_TRACEPOINT(ltt_libc, aligned_alloc, (size_t align, size_t size, void *result,
		FRAMES_PARAMETERS),
	       LTT_DEBUG_FUNCTION,
	       ltt_int(size_t, alignment, align),
	       ltt_int(size_t, size, size),
	       ltt_ptr(ptr, (uintptr_t)result),
	       FRAMES_FIELDS)
LTT_TRACEPOINT(ltt_libc, posix_memalign, (void *out, size_t align, size_t size, int status,
		FRAMES_PARAMETERS),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(out_ptr, (uintptr_t)out),
	       ltt_int(size_t, alignment, align),
	       ltt_int(size_t, size, size),
	       ltt_int(int, result, status),
	       FRAMES_FIELDS)
LTT_TRACEPOINT(ltt_libc, valloc, (size_t size, void *result, FRAMES_PARAMETERS),
	       LTT_DEBUG_FUNCTION,
	       ltt_int(size_t, size, size),
	       ltt_ptr(ptr, (uintptr_t)result),
	       FRAMES_FIELDS)
LTT_TRACEPOINT(ltt_libc, pvalloc, (size_t size, void *result, FRAMES_PARAMETERS),
	       LTT_DEBUG_FUNCTION,
	       ltt_int(size_t, size, size),
	       ltt_ptr(ptr, (uintptr_t)result),
	       FRAMES_FIELDS)
LTT_TRACEPOINT(ltt_libc, strdup, (size_t size, void *result, FRAMES_PARAMETERS),
	       LTT_DEBUG_FUNCTION,
	       ltt_int(size_t, size, size),
	       ltt_ptr(ptr, (uintptr_t)result),
	       FRAMES_FIELDS)
LTT_TRACEPOINT(ltt_libc, operator_new, (size_t size, void *result, FRAMES_PARAMETERS),
	       LTT_DEBUG_FUNCTION,
	       ltt_int(size_t, size, size),
	       ltt_ptr(ptr, (uintptr_t)result),
	       FRAMES_FIELDS)
LTT_TRACEPOINT(ltt_libc, operator_new_array, (size_t size, void *result, FRAMES_PARAMETERS),
	       LTT_DEBUG_FUNCTION,
	       ltt_int(size_t, size, size),
	       ltt_ptr(ptr, (uintptr_t)result),
	       FRAMES_FIELDS)

/* --- memory for the time before the real allocator is known ----------------------- */

/*
 * Finding it may allocate (dlsym), and the loader allocates before any allocator can be found.
 * Such memory comes from here and is never freed.
 */
#define BOOT_BYTES (64u << 10)
#define BOOT_ALIGN 16u

static _Alignas(64) char boot[BOOT_BYTES];
static size_t boot_used;

static bool is_boot(const void *p)
{
	return (const char *)p >= boot && (const char *)p < boot + BOOT_BYTES;
}

/* A word in front of each block holds its size. The memory is zero. */
static void *boot_alloc(size_t align, size_t size)
{
	size_t worst, at, start;

	if (align < BOOT_ALIGN)
		align = BOOT_ALIGN;
	if (size > BOOT_BYTES || align > BOOT_BYTES || (align & (align - 1)))
		return NULL;
	worst = size + align + BOOT_ALIGN;
	at = __atomic_fetch_add(&boot_used, worst, __ATOMIC_RELAXED);
	if (at > BOOT_BYTES || worst > BOOT_BYTES - at)
		return NULL;
	start = ((uintptr_t)boot + at + BOOT_ALIGN + align - 1) / align * align - (uintptr_t)boot;
	memcpy(boot + start - sizeof(size), &size, sizeof(size));
	return boot + start;
}

static size_t boot_size(const void *p)
{
	size_t size;

	memcpy(&size, (const char *)p - sizeof(size), sizeof(size));
	return size;
}

/* --- the real functions ----------------------------------------------------------- */

static struct {
	void *(*malloc)(size_t);
	void (*free)(void *);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void *(*reallocarray)(void *, size_t, size_t);
	void *(*memalign)(size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);
	char *(*strdup)(const char *);
	char *(*strndup)(const char *, size_t);
} real;

static int state; /* 0: not looked up yet, 1: lookup in progress, 2: complete */

/* Not 0 while this thread is inside: an allocator's own allocations are
 * not requests of the program. */
static __thread int depth;

static void find_real(void)
{
	int nobody = 0;

	if (!__atomic_compare_exchange_n(&state, &nobody, 1, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		return;
	real.malloc = dlsym(RTLD_NEXT, "malloc");
	real.free = dlsym(RTLD_NEXT, "free");
	real.calloc = dlsym(RTLD_NEXT, "calloc");
	real.realloc = dlsym(RTLD_NEXT, "realloc");
	real.reallocarray = dlsym(RTLD_NEXT, "reallocarray");
	real.memalign = dlsym(RTLD_NEXT, "memalign");
	real.aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
	real.posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
	real.valloc = dlsym(RTLD_NEXT, "valloc");
	real.pvalloc = dlsym(RTLD_NEXT, "pvalloc");
	real.strdup = dlsym(RTLD_NEXT, "strdup");
	real.strndup = dlsym(RTLD_NEXT, "strndup");
	__atomic_store_n(&state, 2, __ATOMIC_RELEASE);
}

/* Return: whether the real functions may be called. */
static bool libc_ready(void)
{
	if (__builtin_expect(__atomic_load_n(&state, __ATOMIC_ACQUIRE) == 2, 1))
		return true;
	find_real();
	return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == 2;
}

__attribute__((constructor(101))) static void libc_start(void)
{
	depth++; /* the search may allocate */
	frames_start();
	depth--;
	libc_ready();
}

/* --- the functions ------------------------------------------------------------------ */

/* Of the exported function. */
#define CALL_SITE __builtin_return_address(0)

#define RECORD_CALL(name, ...) \
	do { \
		struct frames callers; \
\
		ltt_trace(ltt_libc, name, __VA_ARGS__, CALL_SITE, \
			  frames_take(&callers, __builtin_frame_address(0))); \
	} while (0)

#define RECORD(name, ...) \
	do { \
		if (!depth) \
			RECORD_CALL(name, __VA_ARGS__); \
	} while (0)

/* The result of `call`, made one level down. */
#define DEEPER(call) \
	({ \
		depth++; \
		__typeof__(call) made_ = (call); \
		depth--; \
		made_; \
	})

/*
 * The frame of the operator new that this thread is in; NULL: none. It may leave by an exception,
 * past us: so it is a frame, and no count, and the first allocation ends it.
 */
static __thread const char *new_frame;

/* Return: whether the allocation is that of operator new, which records it. A failed one is not. */
static bool is_of_new(const void *p)
{
	bool inside = new_frame && (const char *)__builtin_frame_address(0) < new_frame;

	new_frame = NULL;
	return inside && p;
}

static void *no_memory(void)
{
	errno = ENOMEM;
	return NULL;
}

EXPORT void *malloc(size_t size)
{
	void *p;

	if (!libc_ready() || !real.malloc)
		return boot_alloc(BOOT_ALIGN, size);
	p = DEEPER(real.malloc(size));
	if (!depth && !is_of_new(p))
		RECORD_CALL(malloc, size, p);
	return p;
}

EXPORT void free(void *p)
{
	if (!p || is_boot(p))
		return;
	if (!depth)
		ltt_trace(ltt_libc, free, p); /* before another thread may get the same address */
	if (!libc_ready() || !real.free)
		return;
	depth++;
	real.free(p);
	depth--;
}

EXPORT void *calloc(size_t count, size_t size)
{
	size_t bytes;
	void *p;

	if (!libc_ready() || !real.calloc)
		return __builtin_mul_overflow(count, size, &bytes) ? no_memory() :
								     boot_alloc(BOOT_ALIGN, bytes);
	p = DEEPER(real.calloc(count, size));
	RECORD(calloc, count, size, p);
	return p;
}

/* Move a block of the boot memory. */
static void *move_boot(void *old, size_t size)
{
	size_t had = boot_size(old);
	void *p = libc_ready() && real.malloc ? DEEPER(real.malloc(size)) :
						boot_alloc(BOOT_ALIGN, size);

	if (p)
		memcpy(p, old, had < size ? had : size);
	return p;
}

EXPORT void *realloc(void *old, size_t size)
{
	void *p;

	if (old && is_boot(old))
		p = move_boot(old, size);
	else if (!libc_ready() || !real.realloc)
		return old ? no_memory() : boot_alloc(BOOT_ALIGN, size);
	else
		p = DEEPER(real.realloc(old, size));
	RECORD(realloc, old, size, p);
	return p;
}

EXPORT void *reallocarray(void *old, size_t count, size_t size)
{
	size_t bytes;
	void *p;

	if (__builtin_mul_overflow(count, size, &bytes))
		p = no_memory();
	else if (old && is_boot(old))
		p = move_boot(old, bytes);
	else if (!libc_ready() || !real.realloc)
		return old ? no_memory() : boot_alloc(BOOT_ALIGN, bytes);
	else if (real.reallocarray)
		p = DEEPER(real.reallocarray(old, count, size));
	else
		p = DEEPER(real.realloc(old, bytes));
	RECORD(reallocarray, old, count, size, p);
	return p;
}

EXPORT void *memalign(size_t align, size_t size)
{
	void *p;

	if (!libc_ready() || !real.memalign)
		return boot_alloc(align, size);
	p = DEEPER(real.memalign(align, size));
	RECORD(memalign, align, size, p);
	return p;
}

EXPORT void *aligned_alloc(size_t align, size_t size)
{
	void *p;

	if (!libc_ready() || !real.aligned_alloc)
		return boot_alloc(align, size);
	p = DEEPER(real.aligned_alloc(align, size));
	if (!depth && !is_of_new(p))
		RECORD_CALL(aligned_alloc, align, size, p);
	return p;
}

EXPORT int posix_memalign(void **out, size_t align, size_t size)
{
	int status;

	if (!libc_ready() || !real.posix_memalign) {
		*out = boot_alloc(align, size);
		return *out ? 0 : ENOMEM;
	}
	status = DEEPER(real.posix_memalign(out, align, size));
	RECORD(posix_memalign, status ? NULL : *out, align, size, status);
	return status;
}

EXPORT void *valloc(size_t size)
{
	void *p;

	if (!libc_ready() || !real.valloc)
		return boot_alloc(4096, size);
	p = DEEPER(real.valloc(size));
	RECORD(valloc, size, p);
	return p;
}

EXPORT void *pvalloc(size_t size)
{
	void *p;

	if (!libc_ready() || !real.pvalloc)
		return boot_alloc(4096, (size + 4095) / 4096 * 4096);
	p = DEEPER(real.pvalloc(size));
	RECORD(pvalloc, size, p);
	return p;
}

/* --- functions that allocate for their callers ------------------------------------------ */

EXPORT char *strndup(const char *s, size_t most)
{
	size_t len = strnlen(s, most);
	char *p;

	if (!libc_ready() || !real.strndup) {
		p = boot_alloc(BOOT_ALIGN, len + 1);
		return p ? memcpy(p, s, len) : NULL; /* the memory is zero */
	}
	p = DEEPER(real.strndup(s, most));
	RECORD(strdup, len + 1, p);
	return p;
}

EXPORT char *strdup(const char *s)
{
	size_t size = strlen(s) + 1;
	char *p;

	if (!libc_ready() || !real.strdup) {
		p = boot_alloc(BOOT_ALIGN, size);
		return p ? memcpy(p, s, size) : NULL;
	}
	p = DEEPER(real.strdup(s));
	RECORD(strdup, size, p);
	return p;
}

/* The next function of this name. One of a library that was loaded for its user alone is searched
 * in the scope of the caller. */
static void *libc_find_new(void **known, const char *name, void *caller)
{
	void *call = __atomic_load_n(known, __ATOMIC_ACQUIRE), *handle;
	Dl_info info;

	if (__builtin_expect(call != NULL, 1))
		return call;
	depth++; /* the search may allocate */
	call = dlsym(RTLD_NEXT, name);
	if (!call && dladdr(caller, &info) &&
	    (handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD))) {
		call = dlsym(handle, name);
		closing_next()(handle);
	}
	depth--;
	if (!call)
		__builtin_trap(); /* the caller is linked with a library that has it */
	__atomic_store_n(known, call, __ATOMIC_RELEASE);
	return call;
}

/* Mangled names of operators, by that of size_t. An operator may call another one. */
#if __SIZEOF_SIZE_T__ == 8
#define SIZE_T "m"
#else
#define SIZE_T "j"
#endif
#define OPERATOR_NEW(number, mangled, event, parameters, arguments) \
	EXPORT void *libc_new_##number parameters __asm__(mangled); \
	EXPORT void *libc_new_##number parameters \
	{ \
		static void *next; \
		void *(*call) parameters = libc_find_new(&next, mangled, CALL_SITE); \
		const char *frame = __builtin_frame_address(0); \
		bool outer = !depth && !(new_frame && frame < new_frame); \
		void *p; \
\
		if (outer) \
			new_frame = frame; \
		p = call arguments; \
		if (outer) { \
			new_frame = NULL; \
			if (p) \
				RECORD_CALL(event, size, p); \
		} \
		return p; \
	}

OPERATOR_NEW(1, "_Znw" SIZE_T, operator_new, (size_t size), (size))
OPERATOR_NEW(2, "_Znw" SIZE_T "RKSt9nothrow_t", operator_new, (size_t size, const void *tag),
	     (size, tag))
OPERATOR_NEW(3, "_Znw" SIZE_T "St11align_val_t", operator_new, (size_t size, size_t align),
	     (size, align))
OPERATOR_NEW(4, "_Znw" SIZE_T "St11align_val_tRKSt9nothrow_t", operator_new,
	     (size_t size, size_t align, const void *tag), (size, align, tag))
OPERATOR_NEW(5, "_Zna" SIZE_T, operator_new_array, (size_t size), (size))
OPERATOR_NEW(6, "_Zna" SIZE_T "RKSt9nothrow_t", operator_new_array, (size_t size, const void *tag),
	     (size, tag))
OPERATOR_NEW(7, "_Zna" SIZE_T "St11align_val_t", operator_new_array, (size_t size, size_t align),
	     (size, align))
OPERATOR_NEW(8, "_Zna" SIZE_T "St11align_val_tRKSt9nothrow_t", operator_new_array,
	     (size_t size, size_t align, const void *tag), (size, align, tag))
