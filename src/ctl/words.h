/* SPDX-License-Identifier: GPL-2.0-only */
/* words.h - words for the numbers of enumerations of ltt/control.h, in JSON and saved sessions. */
#ifndef CTL_WORDS_H
#define CTL_WORDS_H

#include <stdbool.h>

struct words {
	const char *const *words; /* NULL: the number has no word */
	unsigned int nr;
};

extern const struct words words_domain, words_track_kind, words_owner, words_sync,
	words_output_type, words_rule_kind, words_level_type, words_condition, words_action,
	words_map_value, words_map_update, words_map_dead, words_trace_format;

/** The word of a number; "unknown" if it has none. */
const char *words_name(const struct words *words, unsigned int number);
/** The number of a word, the lowest if there are several; -1: unknown. */
int words_number(const struct words *words, const char *word);
/** Whether the number has a word, which no lower number has. @number: less than words->nr. */
bool words_has_own(const struct words *words, unsigned int number);

#endif
