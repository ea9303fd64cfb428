/* SPDX-License-Identifier: GPL-2.0-only */
#include "output.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "ctl/print/json.h"

/* The relay that a live session has if none is named: `load` starts it, too. */
#define OWN_RELAY "net://127.0.0.1:5342"

/* Whether @text is "YYYYmmdd-HHMMSS", with or without "-N" behind it. */
static bool is_stamp(const char *text)
{
	static const char form[] = "dddddddd-dddddd";
	size_t i;

	for (i = 0; form[i]; i++)
		if (form[i] == 'd' ? !isdigit((unsigned char)text[i]) : text[i] != form[i])
			return false;
	if (!text[i])
		return true;
	return text[i] == '-' && text[i + 1] && !text[i + 1 + strspn(text + i + 1, "0123456789")];
}

/* Whether a directory has the name that is made of the session's and the date, so that each
 * session gets a new one. */
static bool is_dated(const char *directory, const char *session)
{
	size_t len = strlen(session);
	const char *date = len > 15 ? session + len - 15 : "";

	if (strncmp(directory, session, len) != 0)
		return false;
	if (directory[len] == '-' && is_stamp(directory + len + 1))
		return true;
	return !directory[len] && is_stamp(date);
}

static void set_directory(struct json_object *o, const char *output)
{
	char *parent AUTO_FREE = xstrdup(output);
	char *slash = strrchr(parent, '/');

	if (!slash || !is_dated(slash + 1, json_str(o, "name"))) {
		json_set_str(o, "output", output);
		return;
	}
	slash[slash == parent] = '\0';
	json_set_str(o, "output_parent", parent);
}

void output_set(struct json_object *session, const char *output)
{
	if (*output == '/')
		set_directory(session, output);
	else if (*output && (!json_num(session, "live_us") || strcmp(output, OWN_RELAY) != 0))
		json_set_str(session, "url", output);
}
