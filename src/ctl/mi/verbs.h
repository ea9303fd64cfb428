/* SPDX-License-Identifier: GPL-2.0-only */
/* verbs.h - the outputs of verbs in LTTng's machine interface; see row.h. */
#ifndef CTL_MI_VERBS_H
#define CTL_MI_VERBS_H

#include "ctl/ctl.h"

/**
 * struct mi_answer - the answer of a verb that has run.
 * @record: of the verb; NULL: it failed. @before: see struct mi_verb; NULL: none.
 * @incomplete: set: a part of the request was not done.
 */
struct mi_answer {
	struct ctl *ctl;
	struct json_object *record, *before;
	bool incomplete;
};

/**
 * struct mi_verb - a verb that LTTng has.
 * @command: its name there; NULL: the same.
 * @without: words that it refuses, between blanks: their output is of another kind.
 * @before: fetch the objects that it removes or changes, an array, before it runs; NULL: none.
 * @output: return the children of the element "output"; NULL: none.
 */
struct mi_verb {
	const char *name, *command, *without;
	int (*before)(struct ctl *ctl, struct json_object **ret, struct err *err);
	struct json_object *(*output)(struct mi_answer *answer);
};

/** NULL: LTTng has no such verb, or no such document. */
const struct mi_verb *mi_verb_find(const char *name);

#endif
