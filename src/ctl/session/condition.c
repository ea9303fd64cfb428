/* SPDX-License-Identifier: GPL-2.0-only */
#include "condition.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/print/json.h"
#include "ctl/print/text.h"

#define MILLION 1000000u
#define MOST_WORDS 8u

/* --- numbers ----------------------------------------------------------------------------- */

/* A time with a unit. */
static int condition_time(const char *text, uint64_t *ret_ns, struct err *err)
{
	size_t digits = strspn(text, "0123456789."), len = strlen(text);
	uint64_t us;

	if (digits && strcmp(text + digits, "ns") == 0) {
		*ret_ns = strtoull(text, NULL, 10);
		return 0;
	}
	if (digits == len || parse_period(text, &us) != 0 || us > UINT64_MAX / 1000)
		return err_set(err, ERR_INVALID, "'%s' is not a time with a unit, such as 50ms",
			       text);
	*ret_ns = us * 1000;
	return 0;
}

static int condition_number(const char *text, const char *unit, uint64_t *ret, struct err *err)
{
	size_t len = strlen(text), end = strlen(unit);
	AUTO_FREE char *digits = NULL;

	if (len > end && strcmp(text + len - end, unit) == 0) {
		digits = xstrdup(text);
		digits[len - end] = '\0';
		if (parse_size(digits, ret) == 0)
			return 0;
	}
	return err_set(err, ERR_INVALID, "'%s' is not a number%s%s", text,
		       *unit ? " with the unit " : "", unit);
}

/* A share of 1, or of 100 with a percent sign, in parts of a million. */
static int condition_share(const char *text, double scale, uint64_t *ret, struct err *err)
{
	char *end;
	double value = strtod(text, &end);

	if (*end == '%' && scale == 1)
		scale = 100;
	if (end == text || !isdigit((unsigned char)*text) || (*end && strcmp(end, "%") != 0) ||
	    value > scale)
		return err_set(err, ERR_INVALID, "'%s' is not a share, such as 90%%", text);
	*ret = (uint64_t)(value / scale * MILLION + 0.5);
	return 0;
}

bool condition_has_session(enum ltt_ctl_condition condition)
{
	return condition > LTT_CTL_IF_SILENCE && condition != LTT_CTL_IF_SIGNAL;
}

int condition_parse_limit(const char *text, uint64_t *ret_nr, uint64_t *ret_us, struct err *err)
{
	if (parse_rate(text, ret_nr, ret_us) == 0)
		return 0;
	return err_set(err, ERR_INVALID,
		       "'%s' is not a number in a period, such as 3/h, 10/min or 1/90s", text);
}

/* --- forms ------------------------------------------------------------------------------- */

struct condition_words {
	char *words[MOST_WORDS + 1];
	unsigned int nr;
};

/* '>' and '<' are words of their own. @text: changed. Return: false: there are too many. */
static bool condition_split(char *text, struct condition_words *ret)
{
	char *rest = text, *word;

	while ((word = strtok_r(rest, " \t", &rest)) && *word) {
		if (ret->nr == MOST_WORDS)
			return false;
		ret->words[ret->nr++] = word;
	}
	return true;
}

/* @text with blanks around each '>' and '<'. */
static char *condition_spaced(const char *text)
{
	char *spaced = xalloc(3 * strlen(text) + 1), *to = spaced;

	for (; *text; text++) {
		bool sign = *text == '>' || *text == '<';

		if (sign)
			*to++ = ' ';
		*to++ = *text;
		if (sign)
			*to++ = ' ';
	}
	return spaced;
}

static bool condition_word_is(const struct condition_words *w, unsigned int n, const char *word)
{
	return n < w->nr && strcmp(w->words[n], word) == 0;
}

static bool condition_ends_above(const struct condition_words *w, unsigned int n)
{
	return w->nr == n + 2 && condition_word_is(w, n, ">");
}

static int condition_unclear(const char *form, struct err *err)
{
	return err_set(err, ERR_INVALID, "this condition is written as '%s'", form);
}

static int condition_pair(struct condition_words *w, struct ltt_ctl_trigger_options *ret,
			  struct err *err)
{
	char *dots = strstr(w->words[0], "..");
	unsigned int at = condition_word_is(w, 1, "by") && w->nr > 3 ? 3 : 1;

	if (!condition_ends_above(w, at))
		return condition_unclear("BEGIN..END [by FIELD] > TIME", err);
	*dots = '\0';
	ret->condition = LTT_CTL_IF_PAIR;
	ret->pattern = w->words[0];
	ret->end = dots + 2;
	ret->key = at == 3 ? w->words[2] : NULL;
	return condition_time(w->words[at + 1], &ret->threshold, err);
}

static int condition_quantile(struct condition_words *w, struct ltt_ctl_trigger_options *ret,
			      struct err *err)
{
	char *dot = w->nr > 2 ? strrchr(w->words[2], '.') : NULL;
	uint64_t share;

	if (!dot || !condition_ends_above(w, 3))
		return condition_unclear("p99 of EVENT.FIELD > VALUE", err);
	*dot = '\0';
	ret->condition = LTT_CTL_IF_QUANTILE;
	ret->pattern = w->words[2];
	ret->key = dot + 1;
	if (condition_share(w->words[0] + 1, 100, &share, err) != 0)
		return err->code;
	ret->quantile = (uint32_t)share;
	return condition_number(w->words[4], "", &ret->threshold, err);
}

static int condition_buffer(struct condition_words *w, struct ltt_ctl_trigger_options *ret,
			    struct err *err)
{
	bool low = condition_word_is(w, 2, "<");

	if (w->nr != 4 || (!low && !condition_word_is(w, 2, ">")))
		return condition_unclear("buffer CHANNEL > 90%", err);
	ret->condition = low ? LTT_CTL_IF_USAGE_LOW : LTT_CTL_IF_USAGE_HIGH;
	ret->channel = w->words[1];
	return condition_share(w->words[3], 1, &ret->threshold, err);
}

static int condition_rotation(struct condition_words *w, struct ltt_ctl_trigger_options *ret,
			      struct err *err)
{
	bool ends = condition_word_is(w, 1, "ends");

	if (w->nr != 2 || (!ends && !condition_word_is(w, 1, "begins")))
		return condition_unclear("rotation begins, or: rotation ends", err);
	ret->condition = ends ? LTT_CTL_IF_ROTATION_ENDED : LTT_CTL_IF_ROTATION_BEGUN;
	return 0;
}

static int condition_losses(struct condition_words *w, struct ltt_ctl_trigger_options *ret,
			    struct err *err)
{
	ret->condition = LTT_CTL_IF_LOSSES;
	ret->threshold = 1;
	if (w->nr == 1)
		return 0;
	if (!condition_ends_above(w, 1))
		return condition_unclear("losses [> N]", err);
	if (condition_number(w->words[2], "", &ret->threshold, err) != 0)
		return err->code;
	ret->threshold++;
	return 0;
}

static int condition_program(struct condition_words *w, struct ltt_ctl_trigger_options *ret,
			     struct err *err)
{
	if (w->nr != 5 || !condition_word_is(w, 2, "ends") || !condition_word_is(w, 3, "by"))
		return condition_unclear("program NAME ends by SEGV, or: ... ends by any", err);
	ret->condition = LTT_CTL_IF_SIGNAL;
	ret->pattern = w->words[1];
	ret->key = w->words[4];
	return 0;
}

static int condition_of_events(struct condition_words *w, struct ltt_ctl_trigger_options *ret,
			       struct err *err)
{
	ret->pattern = w->words[0];
	if (w->nr == 1)
		return 0;
	if (condition_word_is(w, 1, "silent") && condition_word_is(w, 2, "for") && w->nr == 4) {
		ret->condition = LTT_CTL_IF_SILENCE;
		return condition_time(w->words[3], &ret->threshold, err);
	}
	ret->condition = LTT_CTL_IF_RATE;
	if (!condition_ends_above(w, 1))
		return err_set(err, ERR_INVALID,
			       "'%s ...' is no condition; 'lttctl on --help' lists their forms",
			       w->words[0]);
	return condition_number(w->words[2], "/s", &ret->threshold, err);
}

static int condition_read(struct condition_words *w, struct ltt_ctl_trigger_options *ret,
			  struct err *err)
{
	const char *first = w->nr ? w->words[0] : "";

	if (!*first)
		return err_set(err, ERR_INVALID, "the condition is empty");
	if (strcmp(first, "losses") == 0)
		return condition_losses(w, ret, err);
	if (strcmp(first, "buffer") == 0)
		return condition_buffer(w, ret, err);
	if (strcmp(first, "rotation") == 0)
		return condition_rotation(w, ret, err);
	if (strcmp(first, "program") == 0)
		return condition_program(w, ret, err);
	if (*first == 'p' && isdigit((unsigned char)first[1]) && condition_word_is(w, 1, "of"))
		return condition_quantile(w, ret, err);
	if (strcmp(first, "size") == 0 && condition_ends_above(w, 1)) {
		ret->condition = LTT_CTL_IF_CONSUMED;
		return condition_number(w->words[2], "", &ret->threshold, err);
	}
	if (strstr(first, ".."))
		return condition_pair(w, ret, err);
	return condition_of_events(w, ret, err);
}

int condition_parse(const char *text, struct ltt_ctl_trigger_options *ret, char **ret_memory,
		    struct err *err)
{
	struct condition_words words = { .nr = 0 };
	char *spaced = condition_spaced(text);

	*ret_memory = spaced;
	if (!condition_split(spaced, &words))
		return err_set(err, ERR_INVALID,
			       "'%s' has too many words; 'lttctl on --help' lists the forms", text);
	return condition_read(&words, ret, err);
}

/* --- as text ------------------------------------------------------------------------------ */

char *condition_text(struct json_object *trigger)
{
	static const char form[] =
		"[{condition=event-rule-matches}{event}|"
		"{condition=pair}{event}..{end}[ by {key_field?}|] > {threshold:T}|"
		"{condition=rate}{event} > {threshold}/s|"
		"{condition=silence}{event} silent for {threshold:T}|"
		"{condition=losses}losses >= {threshold}|"
		"{condition=quantile}p{quantile} of {event}.{key_field} > {threshold}|"
		"{condition=channel-buffer-usage-ge}buffer {channel} > {percent}%|"
		"{condition=channel-buffer-usage-le}buffer {channel} < {percent}%|"
		"{condition=session-consumed-size-ge}size > {threshold:b}|"
		"{condition=session-rotation-starts}rotation begins|"
		"{condition=session-rotation-finishes}rotation ends|"
		"{condition=signal}program {program_name} ends by {signals}|{condition}]"
		"[ at {location?}|][{domain=kernel} of the kernel|][ of session {session?}|]";
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return xstrdup("");
	text_form(out, trigger, form);
	fclose(out);
	return text;
}
