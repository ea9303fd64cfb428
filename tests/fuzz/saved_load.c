/* SPDX-License-Identifier: GPL-2.0-only */
/* Any bytes as a file of saved sessions, in the format of lttctl or of LTTng: sentences about
 * problems, or sessions, which are written and read again without a problem or a difference. */
#include <string.h>

#include "base/mem.h"
#include "ctl/print/json.h"
#include "ctl/saved/read.h"
#include "ctl/saved/write.h"
#include "must_hold.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void remove_lines(const struct shape *shape, struct json_object *o)
{
	json_object_object_del(o, SAVED_LINE);
	for (size_t i = 0; i < ARRAY_SIZE(shape->lists) && shape->lists[i].key; i++)
		for (size_t k = 0; k < json_len(o, shape->lists[i].key); k++)
			remove_lines(shape->lists[i].item, json_at(o, shape->lists[i].key, k));
}

static void remove_all_lines(struct json_object *sessions)
{
	for (size_t i = 0; i < json_object_array_length(sessions); i++)
		remove_lines(&shape_session, json_object_array_get_idx(sessions, i));
}

static void check_problems(const struct problems *problems)
{
	MUST_HOLD(problems->nr <= PROBLEMS_MAX);
	MUST_HOLD(problems->nr == PROBLEMS_MAX || !problems->omitted);
	for (size_t i = 0; i < problems->nr; i++)
		MUST_HOLD(strncmp(problems->texts[i], "f:", 2) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct problems problems CLEANUP(problems_fini) = { .file = "f" };
	struct problems none CLEANUP(problems_fini) = { .file = "f" };
	struct json_object *sessions AUTO_RECORD = NULL, *again AUTO_RECORD = NULL;
	struct err err = { 0 };
	char *text AUTO_FREE = NULL;

	sessions = saved_read((const char *)data, size, &problems);
	check_problems(&problems);
	if (json_object_array_length(sessions) == 0) {
		MUST_HOLD(problems.nr);
		return 0;
	}
	if (problems.nr)
		return 0; /* sessions of one name may be left, which no file has */
	text = saved_write(sessions, &err);
	MUST_HOLD(text && !err.code);
	again = saved_read(text, strlen(text), &none);
	MUST_HOLD(none.nr == 0);
	remove_all_lines(sessions);
	remove_all_lines(again);
	MUST_HOLD(json_object_equal(sessions, again));
	return 0;
}
