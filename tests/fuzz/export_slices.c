/* SPDX-License-Identifier: GPL-2.0-only */
/* Any metadata and stream as time lines of Chrome and Perfetto: names of events, hosts, threads and
 * fields, values and times. The first is valid JSON; of the other, each field has a known type and
 * lies within its message, and texts are UTF-8. */
#include <json-c/json.h>
#include <stdlib.h>

#include "base/escape.h"
#include "base/macros.h"
#include "ctl/export/export.h"
#include "lib/view_dir.h"
#include "must_hold.h"
#include "read/event.h"

#define DEPTH 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int export_next(const struct exporting *exporting, struct event *event)
{
	return event_next(exporting->view, exporting->select, event);
}

static void check_json(const char *text, size_t len)
{
	struct json_tokener *tokener = json_tokener_new_ex(DEPTH);
	struct json_object *o;

	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	o = json_tokener_parse_ex(tokener, text, (int)len);
	MUST_HOLD(o && json_tokener_get_error(tokener) == json_tokener_success);
	json_object_put(o);
	json_tokener_free(tokener);
}

static uint64_t read_varint(const uint8_t **at, const uint8_t *end)
{
	uint64_t value = 0;

	for (unsigned int shift = 0;; shift += 7) {
		MUST_HOLD(*at < end && shift < 64);
		value |= (uint64_t)(**at & 0x7f) << shift;
		if (!(*(*at)++ & 0x80))
			return value;
	}
}

/* The bytes of a field; of other types than bytes it skips them. Return: NULL: it has none. */
static const uint8_t *read_field(const uint8_t **at, const uint8_t *end, uint64_t *ret_tag,
				 uint64_t *ret_len)
{
	const uint8_t *bytes;

	*ret_tag = read_varint(at, end);
	MUST_HOLD(*ret_tag >> 3);
	*ret_len = 0;
	switch (*ret_tag & 7) {
	case 0:
		read_varint(at, end);
		return NULL;
	case 1:
		*ret_len = 8;
		break;
	case 2:
		*ret_len = read_varint(at, end);
		break;
	default:
		MUST_HOLD(false);
	}
	MUST_HOLD(*ret_len <= (uint64_t)(end - *at));
	bytes = *at;
	*at += *ret_len;
	return (*ret_tag & 7) == 2 ? bytes : NULL;
}

static void check_packet(const uint8_t *at, const uint8_t *end)
{
	uint64_t tag, len;

	while (at < end)
		read_field(&at, end, &tag, &len);
}

static void check_perfetto(const uint8_t *at, size_t size)
{
	const uint8_t *end = at + size;
	uint64_t tag, len;

	while (at < end) {
		const uint8_t *packet = read_field(&at, end, &tag, &len);

		MUST_HOLD(packet && tag == (1 << 3 | 2));
		check_packet(packet, packet + len);
	}
}

static void check_format(const uint8_t *data, size_t size, bool is_chrome)
{
	struct view *view = fuzz_open(data, size);
	struct view_select select = { 0 };
	struct exporting exporting = { .view = view, .select = &select, .counters = "level,value" };
	char *text = NULL;
	size_t len = 0;

	if (!view)
		return;
	exporting.pairs = select.pairs = pairs_new(NULL, NULL, 0);
	pairs_by_suffix(exporting.pairs, NULL);
	exporting.file = open_memstream(&text, &len);
	MUST_HOLD((is_chrome ? export_chrome : export_perfetto)(&exporting) == 0);
	fclose(exporting.file);
	if (is_chrome)
		check_json(text, len);
	else
		check_perfetto((const uint8_t *)text, len);
	free(text);
	pairs_free(exporting.pairs);
	view_free(view);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_format(data, size, true);
	check_format(data, size, false);
	return 0;
}
