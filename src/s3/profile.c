/* SPDX-License-Identifier: GPL-2.0-only */
#include "profile.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

#define BLANKS " \t\r"

static const struct {
	const char *name;
	size_t offset;
} fields[] = {
	{ "aws_access_key_id", offsetof(struct profile, key) },
	{ "aws_secret_access_key", offsetof(struct profile, secret) },
	{ "aws_session_token", offsetof(struct profile, token) },
	{ "region", offsetof(struct profile, region) },
	{ "endpoint_url", offsetof(struct profile, endpoint) },
	{ "ca_bundle", offsetof(struct profile, ca_file) },
};

static const char *const other_kinds[] = { "role_arn", "credential_process", "sso_session",
					   "sso_account_id", "web_identity_token_file" };

/* Cut blanks at both ends; @end is behind the text. */
static char *profile_trim(char *text, char *end)
{
	while (end > text && strchr(BLANKS, end[-1]))
		end--;
	*end = '\0';
	return text + strspn(text, BLANKS);
}

static bool profile_is(char *line, const char *name)
{
	char *end = strchr(line, ']');

	if (!end)
		return false;
	line = profile_trim(line + 1, end);
	if (strncmp(line, "profile", 7) == 0 && strchr(BLANKS, line[7]) && line[7])
		line += 7 + strspn(line + 7, BLANKS);
	return strcmp(line, name) == 0;
}

static void profile_set(struct profile *profile, const char *name, const char *value)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		char **field = (char **)((char *)profile + fields[i].offset);

		if (strcmp(name, fields[i].name) == 0 && !*field && *value)
			*field = xstrdup(value);
	}
	for (size_t i = 0; i < ARRAY_SIZE(other_kinds); i++)
		if (strcmp(name, other_kinds[i]) == 0)
			profile->others = other_kinds[i];
}

void profile_read(struct profile *profile, const char *text, const char *name)
{
	char *copy AUTO_FREE = xstrdup(text), *rest = copy, *line;
	bool ours = false;

	while ((line = strsep(&rest, "\n"))) {
		char *equals = strchr(line, '=');

		/* A line that begins with a blank belongs to a setting of several lines. */
		if (*line == '[')
			ours = profile_is(line, name);
		else if (ours && equals && !strchr("#; \t", *line))
			profile_set(profile, profile_trim(line, equals),
				    profile_trim(equals + 1, equals + 1 + strlen(equals + 1)));
	}
}

void profile_fini(struct profile *profile)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		free(*(char **)((char *)profile + fields[i].offset));
	*profile = (struct profile){ 0 };
}
