/* SPDX-License-Identifier: GPL-2.0-only */
#include "doctor.h"

#include <stdarg.h>
#include <string.h>

#include "base/mem.h"
#include "ctl/print/json.h"

static const char *const grades[] = { "ok", "warn", "bad" };

void doctor_found(struct doctor *d, enum grade grade, const char *about, const char *fmt, ...)
{
	struct json_object *finding = json_object_new_object();
	char *text AUTO_FREE = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	json_set_str(finding, "grade", grades[grade]);
	json_set_str(finding, "subject", about);
	json_set_str(finding, "text", text ? text : "");
	json_object_array_add(d->findings, finding);
	d->counts[grade]++;
}

void doctor_repair(struct doctor *d, const char *fmt, ...)
{
	size_t nr = json_object_array_length(d->findings);
	char *text AUTO_FREE = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	if (nr && text)
		json_set_str(json_object_array_get_idx(d->findings, nr - 1), "repair", text);
}
