/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of C++ and Rust symbols, short ones for tables; symbols made to take all memory; functions
 * that only serve their callers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/symbol/demangle.h"
#include "analyse/servants.h"
#include "base/macros.h"
#include "check.h"

static void equal(const char *is, const char *wanted)
{
	is = is ? is : "none";
	wanted = wanted ? wanted : "none";
	if (strcmp(is, wanted) != 0)
		fprintf(stderr, "%s is not %s\n", is, wanted);
	CHECK(strcmp(is, wanted) == 0);
}

static void names(void)
{
	static const char *const all[][2] = {
		{ "_ZN5Cache8rememberEi", "Cache::remember(int)" },
		{ "_Znwm", "operator new(unsigned long)" },
		{ "_ZNSt6vectorIiSaIiEE9push_backERKi",
		  "std::vector<int, std::allocator<int> >::push_back(int const&)" },
		{ "_ZN12_GLOBAL__N_13runEv", "(anonymous namespace)::run()" },
		{ "_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const" },
		{ "_ZL6hiddenv.cold", "hidden() [clone .cold]" },
		{ "_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write" },
		{ "_RNvCs1234_7mycrate3foo", "mycrate::foo" },
		{ "main", NULL },
		{ "", NULL },
		{ "_", NULL },
		{ "_Z", NULL },
		{ "_R", NULL },
		{ "_Zebra", NULL },
		{ "_ZN5CacheE\xff", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		char *name = demangle(all[i][0]);

		equal(name, all[i][1]);
		free(name);
	}
}

static void brief_is(const char *name, const char *brief)
{
	char buf[256];

	demangle_brief(name, buf, sizeof(buf));
	equal(buf, brief);
}

static void brief(void)
{
	char buf[8];

	brief_is("Cache::remember(int)", "Cache::remember(int)");
	brief_is("std::map<int, std::vector<int> >::insert(int&&)", "std::map<...>::insert(int&&)");
	brief_is("std::map<int>::insert(std::pair<int, std::string> const&, unsigned long, bool)",
		 "std::map<...>::insert(...)");
	brief_is("(anonymous namespace)::a_rather_long_name_of_a_function(unsigned long, int) const",
		 "(anonymous namespace)::a_rather_long_name_of_a_function(...) const");
	brief_is("bool operator< <int>(A<int> const&, A<int> const&)",
		 "bool operator< <int>(A<...> const&, A<...> const&)");
	brief_is("A::operator<<(int)", "A::operator<<(int)");
	brief_is("A<int>::operator->() const", "A<...>::operator->() const");
	brief_is("f<(1)->(2)>(int)", "f<...>(int)");
	brief_is("<alloc::vec::Vec<T> as core::ops::Drop>::drop",
		 "<alloc::vec::Vec<...> as core::ops::Drop>::drop");
	brief_is("core::ptr::drop_in_place::<alloc::string::String>",
		 "core::ptr::drop_in_place::<...>");
	brief_is("a<b", "a<b");
	brief_is("a>b<c>", "a>b<...>");
	brief_is("", "");
	demangle_brief("std::vector<int>", buf, sizeof(buf));
	equal(buf, "std::ve");
}

/* Each parameter is two of the one before: 2^40 names. */
static char *doubling(void)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static char text[4096];
	char *to = stpcpy(text, "_Z1f1AIiiE");

	for (size_t i = 0; i < 34; i++)
		to += sprintf(to, "1AIS%c_S%c_E", digits[i], digits[i]);
	return text;
}

static char *deep(const char *begin, const char *part, size_t nr)
{
	char *text = malloc(strlen(begin) + nr * strlen(part) + 2), *to = stpcpy(text, begin);

	while (nr--)
		to = stpcpy(to, part);
	strcpy(to, "i");
	return text;
}

static void hostile(void)
{
	static const char *const parts[] = { "P", "1AI", "N1A", "FvP", "S_", "XadL_Z", "DpT_", "(" };
	char *name = demangle(doubling());

	CHECK(!name || strlen(name) < DEMANGLE_MOST);
	free(name);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		for (size_t nr = 100; nr < 100000; nr *= 30) {
			char *symbol = deep("_Z1f", parts[i], nr);

			name = demangle(symbol);
			CHECK(!name || strlen(name) < DEMANGLE_MOST);
			free(name);
			free(symbol);
			symbol = deep("_RNvC1a", parts[i], nr);
			free(demangle(symbol));
			free(symbol);
		}
	}
}

static void servants(void)
{
	static const char *const all[] = {
		"operator new(unsigned long)", "_Znwm", "_ZNSt6vectorIiSaIiEE9push_backERKi", "g_malloc0",
		"std::vector<int, std::allocator<int> >::push_back(int const&)",
		"std::pair<int, int>& std::deque<int>::emplace_back<int>(int&&)", "_PyObject_Malloc",
		"__gnu_cxx::new_allocator<int>::allocate(unsigned long)", "xmalloc", "core::fmt::write",
		"os::malloc(unsigned long, MEMFLAGS)", "Arena::Amalloc(unsigned long)", "_PyObject_GC_New",
		"erts_alloc_fnf", "asmjit::_abi_1_9::ZoneAllocator::_alloc(unsigned long, unsigned long&)",
		"palloc0", "ngx_pcalloc", "CRYPTO_zalloc", "__zend_realloc", "Rf_allocVector3",
	};
	static const char *const ours[] = {
		"main", "Cache::remember(int)", "malloc_trim_all", "run(std::string)", "my::std::get()",
		"std_get", "Cache::operator new(unsigned long)", "Box<std::string>::get()", "", "<", "(",
		"std::string render(int)",
		"os::init()", "Arena::render()", "PyObject_Call", "erts_schedule", "ngx_http_init_request",
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		CHECK(is_servant(all[i], NULL) && is_servant(all[i], "/home/me/app.c"));
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++) {
		bool is = is_servant(ours[i], NULL);

		if (is)
			fprintf(stderr, "%s\n", ours[i]);
		CHECK(!is && !is_servant(ours[i], "include/app.h"));
	}
	CHECK(is_servant("lock", "/usr/include/c++/12/bits/std_mutex.h"));
}

int main(void)
{
	servants();
	names();
	brief();
	hostile();
	return 0;
}
