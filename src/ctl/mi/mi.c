/* SPDX-License-Identifier: GPL-2.0-only */
#include "mi.h"

#include <string.h>

#include "base/mem.h"
#include "ctl/connect.h"
#include "ctl/print/json.h"
#include "document.h"
#include "verbs.h"

static struct json_object *mi_before;

static bool mi_has_word(const char *words, const char *word)
{
	char *spaced AUTO_FREE = xasprintf(" %s ", word);

	return words && strstr(words, spaced);
}

enum status mi_check(struct ctl *ctl)
{
	const struct mi_verb *verb = mi_verb_find(ctl->verb->name);

	if (!verb)
		err_set(&ctl->err, ERR_UNSUPPORTED,
			"%s: --mi=xml is for verbs whose answers LTTng has as XML; use --json",
			ctl->verb->name);
	for (size_t i = 1; verb && ctl->argv[i] && !ctl->err.code; i++)
		if (mi_has_word(verb->without, ctl->argv[i]))
			err_set(&ctl->err, ERR_UNSUPPORTED,
				"%s: the output of '%s' has no form in --mi=xml; omit one of both",
				ctl->verb->name, ctl->argv[i]);
	if (!ctl->err.code)
		return STATUS_OK;
	ctl->mi = ctl->json = false;
	return STATUS_UNSUPPORTED;
}

void mi_begin(struct ctl *ctl)
{
	const struct mi_verb *verb = mi_verb_find(ctl->verb->name);
	struct err ignored = { 0 };

	if (verb->before && ctl_is_connected(ctl) && verb->before(ctl, &mi_before, &ignored) != 0)
		mi_before = NULL;
}

static struct json_object *mi_command(struct mi_answer *answer, enum status status)
{
	struct ctl *ctl = answer->ctl;
	const struct mi_verb *verb = mi_verb_find(ctl->verb->name);
	struct json_object *command = json_object_new_object();
	struct err failure = ctl->err; /* of the verb; requests for the document come after */

	json_set_str(command, "name", verb->command ? verb->command : verb->name);
	json_set(command, "output", verb->output ? verb->output(answer) : NULL);
	ctl->err = failure;
	json_set_bool(command, "success",
		      !ctl->err.code && !(status == STATUS_WARNING && answer->incomplete));
	return command;
}

int mi_print(struct ctl *ctl, enum status status)
{
	struct mi_answer answer = { .ctl = ctl, .record = ctl->record, .before = mi_before };
	struct json_object *command AUTO_RECORD = NULL;
	char *text AUTO_FREE = NULL;
	struct err err = { 0 };

	if (!ctl->verb || !mi_verb_find(ctl->verb->name)) /* bad words: as LTTng does */
		return 0;
	command = mi_command(&answer, status);
	text = mi_document(command, &err);
	if (text)
		fputs(text, stdout);
	else if (!ctl->err.code)
		ctl->err = err;
	json_object_put(TAKE(mi_before));
	return text ? 0 : ctl->err.code;
}
