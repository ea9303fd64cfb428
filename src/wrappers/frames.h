// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * frames.h - the callers of a recorded function's caller, found in any thread, also in a signal's
 * handler. Only memory of the thread's own stack is read, between the current frame and the
 * stack's end: on another stack (of a handler, of a coroutine) there are no callers.
 *
 * Frame pointers are followed where they fit the code. Where they don't, the stack is searched a
 * little for return addresses of the program itself, else of libraries that were loaded with it
 * and so are never unloaded: behind a call of the function that is known to be below. That of a Go
 * program's thread is not: Go's scheduler keeps lists of such addresses there, and the code that
 * calls C has a stack of its own.
 */
#ifndef WRAPPERS_FRAMES_H
#define WRAPPERS_FRAMES_H

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FRAMES_ENVIRONMENT "LTT_CALL_SITE"
#define FRAMES_MOST 16u		    /* with the call site itself */
#define FRAMES_SEARCHED 64u	    /* words, for a caller */
#define FRAMES_FUNCTION (32u << 10) /* bytes of code from a function's begin to one of its calls */
#define FRAMES_LIBRARY_FUNCTION (8u << 10) /* the same in libraries, which have many small ones */
#define FRAMES_OBJECTS 128u
#define FRAMES_MAIN_STACK (8u << 20)
#define FRAMES_KNOWN 16u	    /* of each thread */
#define FRAMES_STARTS 64u /* threads that are about to start */

/* Parameters of an event, and its last fields. */
#define FRAMES_PARAMETERS void *site, const struct frames *callers
#define FRAMES_FIELDS \
	ltt_ptr(call_site, (uintptr_t)site), \
		ltt_sequence_hex(uintptr_t, callers, callers->at, uint8_t, callers->nr)

struct frames {
	uintptr_t at[FRAMES_MOST];
	uint8_t nr;
};

/** @depth: 0 and 1: no callers. @begin, @end: code of the program. @is_go: it is a Go program. */
static struct {
	unsigned int depth;
	uintptr_t begin, end;
	bool is_go;
} frames_of;

/** A thread's stack. @end: 0: not yet known; 1: unknown. */
static __thread struct {
	uintptr_t begin, end;
} frames_stack;

/* --- the stacks of threads ------------------------------------------------------------- */

typedef int frames_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/** @bytes: of the stack, with the C library's part of it. */
static struct frames_start {
	void *(*fn)(void *);
	void *arg;
	size_t bytes;
	bool is_used;
} frames_starts[FRAMES_STARTS];

static frames_create *frames_next_create;

/* Losing a race with another thread that looks it up does no harm. */
static frames_create *frames_find_create(void)
{
	frames_create *call = __atomic_load_n(&frames_next_create, __ATOMIC_RELAXED);

	if (!call) {
		call = (frames_create *)dlsym(RTLD_NEXT, "pthread_create");
		__atomic_store_n(&frames_next_create, call, __ATOMIC_RELAXED);
	}
	return call;
}

static struct frames_start *frames_claim_start(void)
{
	for (unsigned int i = 0; i < FRAMES_STARTS; i++)
		if (!__atomic_exchange_n(&frames_starts[i].is_used, true, __ATOMIC_ACQUIRE))
			return &frames_starts[i];
	return NULL;
}

/* The stack below this frame is the thread's alone. It is smaller than requested by guard pages and
 * by the data of the C library: an eighth of it is more than that. */
static void *frames_begin_thread(void *arg)
{
	struct frames_start *slot = arg;
	const struct frames_start start = *slot;

	__atomic_store_n(&slot->is_used, false, __ATOMIC_RELEASE);
	frames_stack.end = (uintptr_t)((uintptr_t *)__builtin_frame_address(0) + 2);
	frames_stack.begin = frames_stack.end - start.bytes / 8 * 7;
	return start.fn(start.arg);
}

static size_t frames_stack_bytes(const pthread_attr_t *attr)
{
	pthread_attr_t usual;
	size_t bytes = 0;

	if (attr)
		return pthread_attr_getstacksize(attr, &bytes) == 0 ? bytes : 0;
	if (pthread_attr_init(&usual) != 0)
		return 0;
	pthread_attr_getstacksize(&usual, &bytes);
	pthread_attr_destroy(&usual);
	return bytes;
}

/*
 * A thread's stack is known from its begin on. pthread_getattr_np() would find it later, but
 * allocates: a wrapped function may be called inside an allocator, or in a signal's handler.
 */
__attribute__((visibility("default"))) int pthread_create(pthread_t *ret,
							   const pthread_attr_t *attr,
							   void *(*fn)(void *), void *arg)
{
	frames_create *call = frames_find_create();
	struct frames_start *start = frames_of.depth > 1 ? frames_claim_start() : NULL;
	int error;

	if (!call || !start)
		return call ? call(ret, attr, fn, arg) : EAGAIN;
	start->fn = fn;
	start->arg = arg;
	start->bytes = frames_stack_bytes(attr);
	error = call(ret, attr, frames_begin_thread, start);
	if (error)
		__atomic_store_n(&start->is_used, false, __ATOMIC_RELEASE);
	return error;
}

/* Whether these notes of a program have that of Go's linker. */
static bool frames_has_go(uintptr_t at, uintptr_t end)
{
	static const char go[4] = "Go\0";
	ElfW(Nhdr) note;

	while (end - at > sizeof(note) + sizeof(go)) {
		memcpy(&note, (const void *)at, sizeof(note));
		at += sizeof(note);
		if (note.n_namesz == sizeof(go) && memcmp((const void *)at, go, sizeof(go)) == 0)
			return true;
		if (note.n_namesz > end - at || note.n_descsz > end - at)
			return false;
		at += (note.n_namesz + 3u) / 4 * 4 + (note.n_descsz + 3u) / 4 * 4;
		if (at > end)
			return false;
	}
	return false;
}

/** The program and the libraries that were loaded with it, by address. */
static struct frames_object {
	uintptr_t begin, end;
	uintptr_t code, code_end;
	uintptr_t data, data_end; /* with the addresses of functions elsewhere */
} frames_objects[FRAMES_OBJECTS];
static unsigned int frames_nr_objects;

static void frames_widen(uintptr_t *begin, uintptr_t *end, uintptr_t at, uintptr_t size)
{
	*begin = *end && *begin < at ? *begin : at;
	*end = *end > at + size ? *end : at + size;
}

static int frames_find_object(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct frames_object object = { 0 };
	unsigned int place = frames_nr_objects;

	(void)size, (void)unused;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD)
			continue;
		frames_widen(&object.begin, &object.end, at, segment->p_memsz);
		if ((segment->p_flags & (PF_X | PF_R)) == (PF_X | PF_R) && !object.code_end)
			frames_widen(&object.code, &object.code_end, at, segment->p_memsz);
		if ((segment->p_flags & (PF_W | PF_R)) == (PF_W | PF_R) && !object.data_end)
			frames_widen(&object.data, &object.data_end, at, segment->p_memsz);
	}
	if (!object.end || frames_nr_objects == FRAMES_OBJECTS)
		return 0;
	for (; place && frames_objects[place - 1].begin > object.begin; place--)
		frames_objects[place] = frames_objects[place - 1];
	frames_objects[place] = object;
	frames_nr_objects++;
	return 0;
}

/* The first object is the program. */
static int frames_find_code(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size, (void)unused;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_NOTE && frames_has_go(at, at + segment->p_filesz))
			frames_of.is_go = true;
		if (segment->p_type != PT_LOAD ||
		    (segment->p_flags & (PF_X | PF_R)) != (PF_X | PF_R))
			continue;
		frames_of.begin = at;
		frames_of.end = frames_of.begin + segment->p_memsz;
	}
	return 1;
}

static void frames_start(void)
{
	const char *text = getenv(FRAMES_ENVIRONMENT);
	unsigned long depth = text ? strtoul(text, NULL, 10) : 1;

	dl_iterate_phdr(frames_find_code, NULL);
	if (depth > 1)
		dl_iterate_phdr(frames_find_object, NULL);
	frames_find_create();
	frames_of.depth = depth < FRAMES_MOST ? (unsigned int)depth : FRAMES_MOST;
}

extern void *__libc_stack_end __attribute__((weak));

/* That of the main thread. Other threads without one were not begun by pthread_create(). */
static void frames_find_stack(void)
{
	frames_stack.end = 1;
	if (getpid() != (pid_t)syscall(SYS_gettid) || !&__libc_stack_end)
		return;
	frames_stack.end = (uintptr_t)__libc_stack_end & -sizeof(uintptr_t);
	frames_stack.begin = frames_stack.end - FRAMES_MAIN_STACK;
}

static bool frames_is_program(uintptr_t at)
{
	return at - frames_of.begin < frames_of.end - frames_of.begin;
}

enum frames_call {
	FRAMES_NO_CALL,
	FRAMES_CALL,  /* of an unknown function */
	FRAMES_OTHER, /* of another function */
	FRAMES_FITS,  /* of the function */
};

/* Whether the code @at jumps to a library: an entry of the linkage table. */
static bool frames_is_link(uintptr_t at)
{
	if (!frames_is_program(at) || frames_of.end - at < 16)
		return false;
#if defined(__x86_64__)
	static const unsigned char branch_target[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	const unsigned char *code = (const unsigned char *)at;

	if (memcmp(code, branch_target, sizeof(branch_target)) == 0)
		code += sizeof(branch_target);
	code += code[0] == 0xf2;
	return code[0] == 0xff && code[1] == 0x25;
#elif defined(__aarch64__)
	uint32_t code;

	memcpy(&code, (const void *)at, sizeof(code));
	return (code & 0x9f00001fu) == 0x90000010u; /* adrp x16 */
#else
	return false;
#endif
}

/* Whether the code before @at, of the program, calls the function with the code @inner. */
static enum frames_call frames_calls(uintptr_t at, uintptr_t inner)
{
	uintptr_t target;
#if defined(__x86_64__)
	const unsigned char *code = (const unsigned char *)at;
	int32_t distance;

	if (at - frames_of.begin < 8)
		return FRAMES_NO_CALL;
	if (code[-5] != 0xe8)
		return (code[-2] == 0xff && (code[-1] & 0x38) == 0x10) ||
				       (code[-3] == 0xff && (code[-2] & 0x38) == 0x10) ||
				       (code[-6] == 0xff && (code[-5] & 0x38) == 0x10) ?
			       FRAMES_CALL :
			       FRAMES_NO_CALL;
	memcpy(&distance, code - 4, sizeof(distance));
	target = at + (uintptr_t)(intptr_t)distance;
#elif defined(__aarch64__)
	uint32_t code;

	if (at - frames_of.begin < 8 || at % 4)
		return FRAMES_NO_CALL;
	memcpy(&code, (const void *)(at - 4), sizeof(code));
	if ((code & 0xfffffc1fu) == 0xd63f0000u)
		return FRAMES_CALL;
	if ((code & 0xfc000000u) != 0x94000000u)
		return FRAMES_NO_CALL;
	target = at - 4 + (uintptr_t)((intptr_t)(int32_t)(code << 6) >> 4);
#else
	(void)at;
	return FRAMES_NO_CALL;
#endif
	if (!frames_is_program(inner))
		return frames_is_link(target) ? FRAMES_CALL : FRAMES_OTHER;
	return inner - target < FRAMES_FUNCTION && !frames_is_link(target) ? FRAMES_FITS :
									     FRAMES_OTHER;
}

/* Return: where the stack has the return address of a call of @inner; 0: nowhere near. */
static uintptr_t frames_search(uintptr_t from, uintptr_t to, uintptr_t inner)
{
	const enum frames_call wanted = frames_is_program(inner) ? FRAMES_FITS : FRAMES_CALL;
	const uintptr_t *word = (const uintptr_t *)from;

	for (unsigned int i = 0; i < FRAMES_SEARCHED && (uintptr_t)(word + 1) <= to; i++, word++)
		if (frames_is_program(*word) && frames_calls(*word, inner) == wanted)
			return (uintptr_t)word;
	return 0;
}

/* Return: NULL: it is of none, or of one that came later. */
static const struct frames_object *frames_object_of(uintptr_t at)
{
	unsigned int low = 0, high = frames_nr_objects;

	if (!high || at < frames_objects[0].begin || at >= frames_objects[high - 1].end)
		return NULL;
	while (high - low > 1) {
		unsigned int middle = low + (high - low) / 2;

		if (frames_objects[middle].begin <= at)
			low = middle;
		else
			high = middle;
	}
	return at < frames_objects[low].end ? &frames_objects[low] : NULL;
}

#if defined(__x86_64__)
static bool frames_is_code(const struct frames_object *object, uintptr_t at, size_t bytes)
{
	return at >= object->code && at < object->code_end && object->code_end - at >= bytes;
}

/* The function whose address is stored at a distance, which is before @at in the code; 0: none. */
static uintptr_t frames_stored(const struct frames_object *object, uintptr_t at)
{
	uintptr_t slot;
	int32_t distance;

	memcpy(&distance, (const char *)at - sizeof(distance), sizeof(distance));
	slot = at + (uintptr_t)(intptr_t)distance;
	if (slot % sizeof(slot) || slot < object->data || slot >= object->data_end ||
	    object->data_end - slot < sizeof(slot))
		return 0;
	return *(const uintptr_t *)slot;
}

/* The function that the code before @at calls, also by way of the linkage table; 0: unknown. */
static uintptr_t frames_callee(const struct frames_object *object, uintptr_t at)
{
	static const unsigned char branch_target[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	const unsigned char *code = (const unsigned char *)at;
	uintptr_t target;
	int32_t distance;

	if (!frames_is_code(object, at - 8, 8))
		return 0;
	if (code[-6] == 0xff && code[-5] == 0x15)
		return frames_stored(object, at);
	if (code[-5] != 0xe8)
		return 0;
	memcpy(&distance, code - 4, sizeof(distance));
	target = at + (uintptr_t)(intptr_t)distance;
	if (!frames_is_code(object, target, 16))
		return 0;
	code = (const unsigned char *)target;
	if (memcmp(code, branch_target, sizeof(branch_target)) == 0)
		code += sizeof(branch_target);
	code += code[0] == 0xf2;
	return code[0] == 0xff && code[1] == 0x25 ? frames_stored(object, (uintptr_t)code + 6) :
						    target;
}

/* As frames_search(), in code of libraries. */
static uintptr_t frames_search_libraries(uintptr_t from, uintptr_t to, uintptr_t inner)
{
	const uintptr_t *word = (const uintptr_t *)from;

	for (unsigned int i = 0; i < FRAMES_SEARCHED && (uintptr_t)(word + 1) <= to; i++, word++) {
		const struct frames_object *object =
			frames_is_program(*word) ? NULL : frames_object_of(*word);

		if (object && inner - frames_callee(object, *word) < FRAMES_LIBRARY_FUNCTION)
			return (uintptr_t)word;
	}
	return 0;
}

/* Whether @at, outside of the program's code, may be behind a call. */
static bool frames_may_return(uintptr_t at)
{
	const struct frames_object *object = frames_object_of(at);
	const unsigned char *code = (const unsigned char *)at;

	return !object ||
	       (frames_is_code(object, at - 8, 8) &&
		(code[-5] == 0xe8 || (code[-2] == 0xff && (code[-1] & 0x38) == 0x10) ||
		 (code[-3] == 0xff && (code[-2] & 0x38) == 0x10) ||
		 (code[-6] == 0xff && (code[-5] & 0x38) == 0x10) ||
		 (code[-4] == 0xff && (code[-3] & 0x38) == 0x10) ||
		 (code[-7] == 0xff && (code[-6] & 0x38) == 0x10)));
}
#else
static uintptr_t frames_search_libraries(uintptr_t from, uintptr_t to, uintptr_t inner)
{
	(void)from, (void)to, (void)inner;
	return 0;
}

static bool frames_may_return(uintptr_t at)
{
	const struct frames_object *object = frames_object_of(at);

	return !object || (at - object->code < object->code_end - object->code);
}
#endif

/* Whether the frame pointer @frame, of the thread's stack, is that of a caller of @inner. */
static bool frames_is_sound(uintptr_t frame, uintptr_t from, uintptr_t inner)
{
	enum frames_call call;
	uintptr_t back;

	if (frame < from || frame % sizeof(uintptr_t) ||
	    frame > frames_stack.end - 2 * sizeof(uintptr_t))
		return false;
	back = ((const uintptr_t *)frame)[1];
	if (back - frames_stack.begin < frames_stack.end - frames_stack.begin || back < 4096)
		return false;
	if (!frames_is_program(back))
		return frames_may_return(back);
	call = frames_calls(back, inner);
	return call == FRAMES_FITS || call == FRAMES_CALL;
}

/* The frame pointer that code before @to saved for its caller @inner; 0: none. */
static uintptr_t frames_saved(uintptr_t from, uintptr_t to, uintptr_t inner)
{
	uintptr_t saved = 0;

	for (const uintptr_t *word = (const uintptr_t *)from; (uintptr_t)word < to; word++)
		if (frames_is_sound(*word, to + sizeof(*word), inner))
			saved = *word;
	return saved;
}

/*
 * Sound frames of the program that were found before: most have not changed when the next event
 * comes. Mixed up by a signal's handler, one is not found, or is another frame of this stack.
 */
static __thread struct {
	uintptr_t pointer, back, inner;
} frames_known[FRAMES_KNOWN];

#define FRAMES_PLACE(pointer) ((pointer) / (2 * sizeof(uintptr_t)) % FRAMES_KNOWN)

static inline bool frames_is_known(uintptr_t pointer, uintptr_t from, uintptr_t inner)
{
	unsigned int place = FRAMES_PLACE(pointer);

	return frames_known[place].pointer == pointer && pointer >= from &&
	       frames_known[place].inner == inner &&
	       frames_known[place].back == ((const uintptr_t *)pointer)[1];
}

static void frames_learn(uintptr_t pointer, uintptr_t inner)
{
	unsigned int place = FRAMES_PLACE(pointer);

	frames_known[place].pointer = pointer;
	frames_known[place].back = ((const uintptr_t *)pointer)[1];
	frames_known[place].inner = inner;
}

static void frames_walk(struct frames *to, const uintptr_t *frame)
{
	uintptr_t pointer = frame[0], inner = frame[1], from = (uintptr_t)(frame + 2), found, saved;
	uintptr_t end, library;

	while (to->nr + 1u < frames_of.depth) {
		if (frames_is_known(pointer, from, inner)) {
			inner = ((const uintptr_t *)pointer)[1];
			from = pointer + 2 * sizeof(uintptr_t);
			pointer = *(const uintptr_t *)pointer;
			to->at[to->nr++] = inner;
			continue;
		}

		bool sound = frames_is_sound(pointer, from, inner);
		bool safe = sound && frames_is_program(((const uintptr_t *)pointer)[1]);

		/* code of libraries has no frame pointers, or passes them on */
		found = frames_of.is_go || (safe && frames_is_program(inner)) ?
				0 :
				frames_search(from, safe ? pointer : frames_stack.end, inner);
		if (!frames_of.is_go && (!frames_is_program(inner) || (!found && !sound))) {
			end = sound ? pointer : frames_stack.end;
			library = frames_search_libraries(from, found ? found : end, inner);
			found = library ? library : found;
		}
		if (found) {
			saved = frames_saved(from, found, *(const uintptr_t *)found);
			pointer = saved ? saved : pointer;
		} else if (sound) {
			if (safe && frames_is_program(inner))
				frames_learn(pointer, inner);
			found = pointer + sizeof(uintptr_t);
			pointer = *(const uintptr_t *)pointer;
		} else {
			return;
		}
		inner = *(const uintptr_t *)found;
		from = found + sizeof(uintptr_t);
		to->at[to->nr++] = inner;
	}
}

/* @frame: that of the recorded function. */
static const struct frames *frames_take(struct frames *to, const void *frame)
{
	to->nr = 0;
	if (frames_of.depth <= 1)
		return to;
	if (__builtin_expect(!frames_stack.end, 0))
		frames_find_stack();
	if ((uintptr_t)frame - frames_stack.begin < frames_stack.end - frames_stack.begin)
		frames_walk(to, frame);
	return to;
}

#endif
