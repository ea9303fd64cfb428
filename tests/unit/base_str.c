/* SPDX-License-Identifier: GPL-2.0-only */
/* Names, globs, sizes, nearest words. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "check.h"

static void names(void)
{
	char longest[300];

	memset(longest, 'a', sizeof(longest));
	longest[254] = '\0';
	CHECK(!name_check("web") && !name_check("a b-c_d.e:*") && !name_check("\xc3\xa9t\xc3\xa9"));
	CHECK(!name_check(longest));
	longest[254] = 'a', longest[255] = '\0';
	CHECK(name_check(longest));
	longest[231] = '\0';
	CHECK(!name_check_channel(longest) && name_check_channel("a/b"));
	longest[231] = 'a', longest[232] = '\0';
	CHECK(!name_check(longest) && name_check_channel(longest));
	CHECK(name_check("") && name_check("a/b") && name_check(".x") && name_check(".."));
	CHECK(name_check("a\nb") && name_check("a\033[1m") && name_check("a\x7f"));
	CHECK(name_check("\xff") && name_check("\xc3") && name_check("\xc0\xaf"));
	CHECK(name_check("\xed\xa0\x80") && name_check("\xc2\x9b"));
}

static void globs(void)
{
	char text[2001], pattern[100];

	CHECK(glob_match("a", "a") && !glob_match("a", "ab") && !glob_match("ab", "a"));
	CHECK(glob_match("*", "") && glob_match("*", "web:x") && glob_match("web:*", "web:"));
	CHECK(glob_match("*b*d", "abcd") && glob_match("*b*d", "abbdd") &&
	      !glob_match("*b*d", "abc"));
	CHECK(glob_match("a\\*b", "a*b") && !glob_match("a\\*b", "axb"));
	CHECK(glob_match("a,b", "a,b") && !glob_match("", "a") && glob_match("", ""));
	CHECK(glob_is_pattern("a*") && !glob_is_pattern("a\\*") && !glob_is_pattern("a\\"));
	CHECK(glob_match_list("x,we*", "web") && !glob_match_list("x,we", "web"));
	CHECK(glob_match_list("a\\,b,c", "a,b") && glob_match_list("a\\,b,c", "c"));
	CHECK(!glob_match_list("", "a") && !glob_match_list("a\\,b", "a"));
	/* quadratic at worst, never exponential */
	memset(text, 'a', 2000);
	text[2000] = '\0';
	for (size_t i = 0; i < 98; i += 2)
		memcpy(pattern + i, "a*", 2);
	strcpy(pattern + 96, "b");
	CHECK(!glob_match(pattern, text));
}

static void numbers(void)
{
	uint64_t v, n;

	CHECK(parse_size("4096", &v) == 0 && v == 4096);
	CHECK(parse_size("4k", &v) == 0 && v == 4096);
	CHECK(parse_size("3M", &v) == 0 && v == 3 << 20);
	CHECK(parse_size("1G", &v) == 0 && v == 1ull << 30);
	CHECK(parse_size("999T", &v) == 0 && v == 999ull << 40);
	CHECK(parse_period("250", &v) == -EINVAL && parse_period("0", &v) == 0 && v == 0 && parse_period("7us", &v) == 0 && v == 7);
	CHECK(parse_period("20ms", &v) == 0 && v == 20000);
	CHECK(parse_period("5s", &v) == 0 && v == 5000000);
	CHECK(parse_period("2m", &v) == 0 && v == 120000000);
	CHECK(parse_period("2min", &v) == 0 && v == 120000000);
	CHECK(parse_rate("3/h", &n, &v) == 0 && n == 3 && v == 3600000000);
	CHECK(parse_rate("10/min", &n, &v) == 0 && n == 10 && v == 60000000);
	CHECK(parse_rate("1/90s", &n, &v) == 0 && n == 1 && v == 90000000);
	CHECK(parse_rate("3", &n, &v) && parse_rate("3/", &n, &v) && parse_rate("/h", &n, &v));
	CHECK(parse_rate("0/h", &n, &v) && parse_rate("3/0s", &n, &v) && parse_rate("3/5", &n, &v));
	CHECK(parse_rate("3/hh", &n, &v) && parse_rate("-3/h", &n, &v) && parse_rate("3/h/h", &n, &v));
	CHECK(parse_rate("3/111111111111111111111111111111111h", &n, &v) && n == 1 && v == 90000000);
	CHECK(parse_period("s", &v) == -EINVAL && parse_period("5 s", &v) == -EINVAL);
	CHECK(parse_period("-1s", &v) == -EINVAL && parse_period("99999999999999m", &v) == -ERANGE);
	CHECK(parse_size("", &v) == -EINVAL && parse_size("k", &v) == -EINVAL);
	CHECK(parse_size("-1", &v) == -EINVAL && parse_size("4kb", &v) == -EINVAL);
	CHECK_IS(parse_size("99999999999999999999", &v), ==, -ERANGE);
	CHECK_IS(parse_size("17179869184G", &v), ==, -ERANGE);
	CHECK(round_up_pow2(0) == 0 && round_up_pow2(1) == 1 && round_up_pow2(3) == 4);
	CHECK(round_up_pow2(1ull << 63) == 1ull << 63 && round_up_pow2((1ull << 63) + 1) == 0);
}

static void words(void)
{
	static const char *const verbs[] = { "create", "destroy", "enable-event", NULL };
	static const char *const alike[] = { "stats", "status", "stop", "start", NULL };
	int level;

	CHECK_IS(strcmp(nearest_word("craete", verbs), "create"), ==, 0);
	CHECK_IS(strcmp(nearest_word("enable", verbs), "enable-event"), ==, 0);
	CHECK_IS(strcmp(nearest_word("enable_event", verbs), "enable-event"), ==, 0);
	CHECK(!nearest_word("xyzzy", verbs));
	CHECK_IS(strcmp(nearest_word("strat", alike), "start"), ==, 0); /* a swap is one step */
	CHECK_IS(strcmp(nearest_word("tsop", alike), "stop"), ==, 0);
	CHECK_IS(strcmp(nearest_word("stat", alike), "stats"), ==, 0);
	CHECK(loglevel_parse("info", &level) == 0 && level == 6);
	CHECK(loglevel_parse("TRACE_DEBUG_LINE", &level) == 0 && level == 13);
	CHECK(loglevel_parse("14", &level) == 0 && level == 14);
	CHECK(loglevel_parse("15", &level) == -EINVAL && loglevel_parse("nope", &level) == -EINVAL);
	CHECK(strcmp(loglevel_name(6), "INFO") == 0 && strcmp(loglevel_name(77), "?") == 0);
}

int main(void)
{
	names();
	globs();
	numbers();
	words();
	return 0;
}
