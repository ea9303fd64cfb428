/* SPDX-License-Identifier: GPL-2.0-only */
#include "servants.h"

#include <stddef.h>
#include <string.h>

#include "base/macros.h"
#include "base/str.h"

/* Patterns of names; those of C++ and Rust without the type that they return. */
static const char *const servants_names[] = {
	/* clang-format off */
	/* C++ */
	"operator new*", "operator delete*", "_Znw*", "_Zna*", "_Zdl*", "_Zda*", "std::*", "_ZNSt*",
	"_ZNKSt*", "_ZSt*", "_ZNSa*", "_ZNSs*", "__gnu_cxx::*", "_ZN9__gnu_cxx*", "__gthread_*",
	/* Rust */
	"alloc::*", "core::*", "<alloc::*", "<core::*", "<std::*", "__rust_alloc*",
	"__rust_realloc*", "__rdl_*", "hashbrown::*", "<hashbrown::*",
	/* those below main() and below a thread's function */
	"__libc_start_*", "_start", "start_thread",
	/* C, and GNU's programs */
	"malloc", "calloc", "realloc", "reallocarray", "strdup", "strndup", "asprintf", "vasprintf",
	"xmalloc", "xcalloc", "xzalloc", "xrealloc", "xstrdup", "xstrndup", "xmemdup", "xnmalloc",
	"x2realloc", "x2nrealloc", "xpalloc", "xasprintf", "xvasprintf",
	/* GLib */
	"g_malloc*", "g_realloc*", "g_try_malloc*", "g_try_realloc*", "g_slice_alloc*",
	"g_slice_copy", "g_strdup*", "g_strndup", "g_memdup*", "g_mutex_lock", "g_rec_mutex_lock",
	"g_rw_lock_*_lock", "g_cond_wait*",
	/* Python */
	"_PyObject_Malloc", "_PyObject_Calloc", "_PyObject_Realloc", "_PyMem_*", "PyObject_Malloc",
	"PyObject_Calloc", "PyObject_Realloc", "PyMem_*", "_PyObject_New*", "_PyObject_GC_*",
	"PyType_GenericAlloc", "PyType_GenericNew", "PyThread_acquire_lock*",
	/* HotSpot */
	"os::malloc(*", "os::realloc(*", "os::strdup*", "AllocateHeap(*", "ReallocateHeap(*",
	"CHeapObj*::operator new*", "ResourceObj::operator new*", "AnyObj::operator new*",
	"resource_allocate_bytes(*", "Arena::Arena(*", "Arena::grow(*", "Arena::A*alloc*",
	"Chunk::operator new*", "ChunkPool::*", "os::Platform*", "Monitor::wait*", "Mutex::lock*",
	/* OpenSSL */
	"CRYPTO_malloc", "CRYPTO_zalloc", "CRYPTO_realloc", "CRYPTO_clear_realloc", "CRYPTO_strdup",
	"CRYPTO_strndup", "CRYPTO_memdup", "CRYPTO_THREAD_*",
	/* PHP */
	"__zend_malloc", "__zend_calloc", "__zend_realloc", "_emalloc*", "_ecalloc", "_erealloc*",
	"_estrdup", "_estrndup", "_safe_*alloc", "zend_strndup",
	/* Erlang */
	"erts_alloc*", "erts_realloc*", "erts_sys_*alloc", "erts_sys_aligned_*alloc",
	"asmjit::*::Zone*", "ethr_*_lock", "ethr_cond_wait",
	/* PostgreSQL */
	"palloc*", "repalloc*", "pstrdup", "pnstrdup", "psprintf", "pg_malloc*", "pg_realloc",
	"pg_strdup", "MemoryContextAlloc*", "MemoryContextStrdup", "AllocSetAlloc",
	"AllocSetRealloc",
	/* nginx */
	"ngx_alloc", "ngx_calloc", "ngx_memalign", "ngx_create_pool", "ngx_palloc*", "ngx_pcalloc",
	"ngx_pnalloc", "ngx_pmemalign", "ngx_pstrdup", "ngx_create_temp_buf", "ngx_array_*",
	"ngx_list_push",
	/* R */
	"Rf_allocVector*", "R_alloc", "R_chk_calloc", "R_chk_realloc",
	/* clang-format on */
};

/* Of files that come with a compiler. */
static const char *const servants_places[] = {
	"/usr/include/*", "*/include/c++/*", "/usr/lib/gcc/*", "/usr/lib/llvm*", "/rustc/*",
	"*/lib/rustlib/*", "/usr/src/rustc-*", "library/alloc/src/*", "library/core/src/*",
	"library/std/src/*", "*/hashbrown-*/src/*",
};

static bool servants_has(const char *const *patterns, size_t nr, const char *text)
{
	for (size_t i = 0; i < nr; i++)
		if (glob_match(patterns[i], text))
			return true;
	return false;
}

/* The name of a function behind the type that it returns, which the symbols of templates have. */
static const char *servants_behind_type(const char *function)
{
	const char *name = function;
	unsigned int depth = 0;

	for (const char *at = function; *at; at++) {
		if (*at == '<')
			depth++;
		else if (*at == '>' && depth)
			depth--;
		else if (!depth && (*at == '(' || strncmp(at, "operator", 8) == 0))
			break;
		else if (!depth && *at == ' ')
			name = at + 1;
	}
	return name;
}

bool is_servant(const char *function, const char *file)
{
	return (file && servants_has(servants_places, ARRAY_SIZE(servants_places), file)) ||
	       servants_has(servants_names, ARRAY_SIZE(servants_names),
			    servants_behind_type(function));
}
