/* SPDX-License-Identifier: GPL-2.0-only */
/* Any metadata and stream as a page: names of events, hosts and threads, values and times. The page
 * is UTF-8 without harmful characters, has no element that a name made, and data that are valid;
 * its size is bounded. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyse/flame.h"
#include "analyse/symbol/objects.h"
#include "analyse/overview.h"
#include "base/escape.h"
#include "base/mem.h"
#include "ctl/html/html.h"
#include "ctl/html/series.h"
#include "lib/view_dir.h"
#include "must_hold.h"
#include "read/event.h"

#define PAGE_MOST 8000000
#define NAMES "<script type=\"application/json\" id=\"names\">"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t count(const char *text, const char *part)
{
	uint32_t nr = 0;

	while ((text = strstr(text, part))) {
		text += strlen(part);
		nr++;
	}
	return nr;
}

static void check_characters(const char *text, size_t len)
{
	while (len) {
		uint32_t c;
		size_t nr = escape_decode((const uint8_t *)text, len, &c);

		MUST_HOLD(nr && (c == '\n' || c == '\t' || !escape_is_harmful(c)));
		text += nr;
		len -= nr;
	}
}

static void check_names(const char *text)
{
	const char *begin = strstr(text, NAMES), *end = begin ? strstr(begin, "</script>") : NULL;
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *o;

	MUST_HOLD(end);
	begin += strlen(NAMES);
	MUST_HOLD(!memchr(begin, '<', (size_t)(end - begin)));
	json_tokener_set_flags(tokener, JSON_TOKENER_VALIDATE_UTF8);
	o = json_tokener_parse_ex(tokener, begin, (int)(end - begin));
	MUST_HOLD(o && json_tokener_get_error(tokener) == json_tokener_success);
	json_object_put(o);
	json_tokener_free(tokener);
}

static void check_page(const char *path)
{
	char *text = xalloc(PAGE_MOST + 1);
	FILE *file = fopen(path, "r");
	size_t len;

	MUST_HOLD(file);
	len = fread(text, 1, PAGE_MOST + 1, file);
	fclose(file);
	MUST_HOLD(len && len <= PAGE_MOST && strlen(text) == len);
	check_characters(text, len);
	MUST_HOLD(count(text, "<script") == 3 && count(text, "</script") == 3);
	MUST_HOLD(count(text, "<style") == 1 && count(text, "</style") == 1);
	MUST_HOLD(count(text, "<!--") == 1); /* of the licence */
	check_names(text);
	free(text);
}

static void name_nothing(void *priv, const struct object *object, uint64_t address,
			 struct symbol *ret)
{
	(void)priv;
	(void)object;
	(void)address;
	(void)ret;
}

static void write_page(struct view *view, struct objects *objects, struct html_page *page,
		       const char *path)
{
	const struct view_host host = { .name = name_nothing };
	struct view_select select = { .pairs = pairs_new(NULL, NULL, 0) };
	struct overview *overview = overview_new(objects, &host, NULL, 5);
	struct err err = { 0 };
	struct event event;

	pairs_by_suffix(select.pairs, NULL);
	page->overview = overview;
	page->flame = flame_new_beside(overview, view, objects, &host);
	while (event_next(view, &select, &event) > 0) {
		uint64_t events = overview->events;

		overview_take(overview, &event);
		if (overview->events == events)
			continue;
		collect_take(page->collect, &event, overview->last.thread);
		flame_take(page->flame, &event);
	}
	MUST_HOLD(view_summary(view, &page->sum) == 0);
	overview_finish(overview);
	MUST_HOLD(html_write(page, path, &err) == 0);
	flame_free(page->flame);
	overview_free(overview);
	pairs_free(select.pairs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct view *view = fuzz_open(data, size);
	struct html_page page = { .path = "a</title>" };
	struct objects *objects;
	char path[80];

	if (!view)
		return 0;
	MUST_HOLD(objects_read(view, &objects) == 0);
	view_free(view);
	view = fuzz_open(data, size);
	MUST_HOLD(view);
	snprintf(path, sizeof(path), "%s.html", fuzz_dir);
	page.collect = collect_new(series_new("level,value;a_begin,n"));
	page.record = json_object_new_object();
	write_page(view, objects, &page, path);
	check_page(path);
	unlink(path);
	collect_free(page.collect);
	json_object_put(page.record);
	view_free(view);
	objects_free(objects);
	return 0;
}
