/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Points in time as users write them. */
#include <errno.h>
#include <time.h>

#include "view_priv.h"

/* .123 -> 123000000. Return: 0; -EINVAL: something else is there. */
static int parse_fraction(const char *text, int64_t *ret_ns)
{
	int64_t ns = 0, unit = 100000000;

	if (*text == '.' && text[1])
		for (text++; *text >= '0' && *text <= '9'; text++, unit /= 10)
			ns += (*text - '0') * unit;
	*ret_ns = ns;
	return *text ? -EINVAL : 0;
}

static int parse_seconds(const char *text, int64_t *ret_ns)
{
	long long seconds;
	int64_t fraction;
	int used = 0;

	if (sscanf(text, "%19lld%n", &seconds, &used) != 1 || seconds < 0 ||
	    seconds > INT64_MAX / 1000000000 - 1 || parse_fraction(text + used, &fraction) < 0)
		return -EINVAL;
	*ret_ns = seconds * 1000000000 + fraction;
	return 0;
}

/* HH:MM[:SS[.frac]] */
static int parse_time_of_day(const char *text, struct tm *tm, int64_t *ret_fraction)
{
	int used = 0;

	*ret_fraction = 0;
	tm->tm_sec = 0;
	if (sscanf(text, "%2d:%2d%n", &tm->tm_hour, &tm->tm_min, &used) != 2)
		return -EINVAL;
	text += used;
	if (*text == ':') {
		used = 0;
		if (sscanf(text, ":%2d%n", &tm->tm_sec, &used) != 1 ||
		    parse_fraction(text + used, ret_fraction) < 0)
			return -EINVAL;
	} else if (*text) {
		return -EINVAL;
	}
	return tm->tm_hour < 0 || tm->tm_hour > 24 || tm->tm_min < 0 || tm->tm_min > 59 ||
			       tm->tm_sec < 0 || tm->tm_sec > 60 ?
		       -EINVAL :
		       0;
}

/* YYYY-MM-DD. Return: bytes used, 0: there is no date, or one that no calendar has. */
static int parse_date(const char *text, struct tm *tm)
{
	struct tm day;
	int used = 0;

	if (sscanf(text, "%4d-%2d-%2d%n", &tm->tm_year, &tm->tm_mon, &tm->tm_mday, &used) != 3)
		return 0;
	tm->tm_year -= 1900;
	tm->tm_mon--;
	day = *tm;
	timegm(&day); /* 02-30 becomes 03-02 */
	return day.tm_mon == tm->tm_mon && day.tm_mday == tm->tm_mday ? used : 0;
}

/* The day on which the earliest packet begins. Return: 0 or negative errno. */
static int trace_day(struct view *view, bool gmt, struct tm *ret)
{
	time_t s = 0;
	int r = view_peek(view, NULL);

	for (size_t i = 0; i < view->merge.nr; i++)
		if (view->merge.heap[i].ns > INT64_MIN &&
		    (!s || seconds_of(view->merge.heap[i].ns) < s))
			s = seconds_of(view->merge.heap[i].ns);
	if (gmt)
		gmtime_r(&s, ret);
	else
		localtime_r(&s, ret);
	return r;
}

bool view_time_is_absolute(const char *text)
{
	struct tm unused = { 0 };

	return *text != '+' && (!strpbrk(text, ":-") || parse_date(text, &unused));
}

int view_parse_time(struct view *view, const char *text, bool gmt, int64_t *ret_ns)
{
	struct tm tm = { 0 };
	int64_t fraction = 0, s;
	int used;

	if (!strpbrk(text, ":-"))
		return parse_seconds(text, ret_ns);
	used = parse_date(text, &tm);
	if (!used) {
		int r = trace_day(view, gmt, &tm);

		if (r < 0)
			return r;
		tm.tm_hour = tm.tm_min = 0;
	}
	text += used;
	text += used && (*text == ' ' || *text == 'T');
	if ((*text || !used) && parse_time_of_day(text, &tm, &fraction) < 0)
		return -EINVAL;
	tm.tm_isdst = -1;
	s = gmt ? timegm(&tm) : mktime(&tm);
	if (s < 0 || s > INT64_MAX / 1000000000 - 1)
		return -EINVAL;
	*ret_ns = s * 1000000000 + fraction;
	return 0;
}
