/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The fragments: preamble, aliases, trace, clock, stream, event. */
#include "ctf2.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "trace/metadata.h"
#include "parser.h"

#define SEPARATOR '\x1e'
#define REMARK "remark"
#define LTTNG_NAMESPACE "lttng.org,2009"
#define BABELTRACE_NAMESPACE "babeltrace.org,2020"

/* --- properties ----------------------------------------------------------- */

void ctf2_add_name(struct ctf2 *p, struct ctf2_name **list, const char *name, void *is)
{
	struct ctf2_name *entry = arena_alloc(p->model.arena, sizeof(*entry));

	*entry = (struct ctf2_name){ name, is, *list };
	*list = entry;
}

void *ctf2_find_name(struct ctf2 *p, const struct ctf2_name *list, const char *name)
{
	while (list && strcmp(list->name, name) != 0) {
		if (model_spend(&p->model, 1) < 0)
			return NULL;
		list = list->next;
	}
	return list ? list->is : NULL;
}

int ctf2_number(struct ctf2 *p, const struct json *object, const char *key, uint64_t max,
		uint64_t *ret)
{
	const struct json *value = json_member(object, key);

	if (!value)
		return 0;
	if (value->kind != JSON_INTEGER || value->negative || value->number > max)
		return ctf2_fail(p, "its '%s' is no integer from 0 to %llu", key,
				 (unsigned long long)max);
	*ret = value->number;
	return 0;
}

static int ctf2_missing(struct ctf2 *p, const char *key)
{
	return ctf2_fail(p, "it has no '%s'", key);
}

int ctf2_needed_number(struct ctf2 *p, const struct json *object, const char *key, uint64_t max,
		       uint64_t *ret)
{
	return json_member(object, key) ? ctf2_number(p, object, key, max, ret) :
					  ctf2_missing(p, key);
}

int ctf2_text(struct ctf2 *p, const struct json *object, const char *key, const char **ret)
{
	const struct json *value = json_member(object, key);

	*ret = NULL;
	if (value && value->kind != JSON_STRING)
		return ctf2_fail(p, "its '%s' is no string", key);
	if (value)
		*ret = arena_strndup(p->model.arena, value->text, strlen(value->text));
	return 0;
}

int ctf2_needed_text(struct ctf2 *p, const struct json *object, const char *key, const char **ret)
{
	int r = ctf2_text(p, object, key, ret);

	return r || *ret ? r : ctf2_missing(p, key);
}

const struct json *ctf2_attribute(const struct json *object, const char *space, const char *key)
{
	return json_member(json_member(json_member(object, "attributes"), space), key);
}

/* --- fragments ------------------------------------------------------------ */

static int ctf2_uuid(struct ctf2 *p, const struct json *array)
{
	const struct json *byte = array->kind == JSON_ARRAY ? array->first : NULL;
	uint8_t bytes[16];
	uint32_t nr = 0;

	for (; byte && nr < sizeof(bytes); byte = byte->next) {
		if (byte->kind != JSON_INTEGER || byte->negative || byte->number > UINT8_MAX)
			break;
		bytes[nr++] = (uint8_t)byte->number;
	}
	if (byte || nr != sizeof(bytes))
		return ctf2_fail(p, "its 'uuid' is no array of 16 bytes");
	memcpy(p->model.tc->uuid, bytes, sizeof(bytes));
	p->model.tc->has_uuid = true;
	return 0;
}

/* An extension changes the format; none is known. */
static int ctf2_check_extensions(struct ctf2 *p, const struct json *fragment)
{
	const struct json *space = json_member(fragment, "extensions");

	space = space && space->kind == JSON_OBJECT ? space->first : NULL;
	while (space && (space->kind != JSON_OBJECT || !space->first))
		space = space->next;
	if (!space)
		return 0;
	p->declined = true;
	return ctf2_fail(p, "it needs the extension '%.60s' of '%.60s', which can't be read",
			 space->first->key, space->key);
}

static int ctf2_preamble(struct ctf2 *p, const struct json *fragment)
{
	const struct json *id = json_member(fragment, "uuid");
	uint64_t version = 0;
	int r = ctf2_needed_number(p, fragment, "version", UINT64_MAX, &version);

	if (!r && version != 2) {
		p->declined = true;
		r = ctf2_fail(p, "it is CTF %llu, only CTF 1 and 2 can be read",
			      (unsigned long long)version);
	}
	r = r ? r : ctf2_check_extensions(p, fragment);
	if (!r && id)
		r = ctf2_uuid(p, id);
	p->model.tc->hides = ctf2_attribute(fragment, CTF2_OWN, "packets") != NULL;
	p->has_preamble |= !r;
	return r;
}

static int ctf2_class_alias(struct ctf2 *p, const struct json *fragment)
{
	const struct ctf_type *type;
	const char *name;
	int r = ctf2_needed_text(p, fragment, "name", &name);

	r = r ? r : ctf2_class(p, fragment, "field-class", &type);
	if (r < 0)
		return r;
	if (strcmp(name, METADATA_RESULTS) == 0 && type->kind == TYPE_ENUM)
		p->model.tc->results = type;
	ctf2_add_name(p, &p->aliases, name, (void *)type);
	return 0;
}

static int ctf2_environment(struct ctf2 *p, const struct json *object)
{
	const struct json *at = object && object->kind == JSON_OBJECT ? object->first : NULL;

	for (; at; at = at->next) {
		struct ctf_env *env = arena_alloc(p->model.arena, sizeof(*env));

		if (at->kind != JSON_STRING && at->kind != JSON_INTEGER)
			return ctf2_fail(p,
					 "the entry '%.60s' of its environment is neither a string "
					 "nor an integer",
					 at->key);
		env->key = arena_strndup(p->model.arena, at->key, strlen(at->key));
		if (at->kind == JSON_STRING)
			env->text = arena_strndup(p->model.arena, at->text, strlen(at->text));
		else
			env->number = (int64_t)at->number;
		env->next = p->model.tc->env;
		p->model.tc->env = env;
	}
	return 0;
}

static int ctf2_trace_class(struct ctf2 *p, const struct json *fragment)
{
	struct ctf_trace_class *tc = p->model.tc;
	int r = ctf2_environment(p, json_member(fragment, "environment"));

	r = r ? r : ctf2_scope(p, fragment, "packet-header-field-class", &tc->packet_header);
	if (!r && tc->packet_header && tc->packet_header->nr_fields)
		tc->big_endian = tc->packet_header->fields[0].type->big_endian;
	return r;
}

static int ctf2_clock_offset(struct ctf2 *p, const struct json *offset, struct ctf_clock *clock)
{
	const struct json *seconds = json_member(offset, "seconds");
	uint64_t cycles = 0;
	int r = ctf2_number(p, offset, "cycles", INT64_MAX, &cycles);

	if (r < 0)
		return r;
	if (seconds &&
	    (seconds->kind != JSON_INTEGER || (!seconds->negative && seconds->number > INT64_MAX)))
		return ctf2_fail(p, "its 'seconds' is no integer");
	clock->offset_s = seconds ? (int64_t)seconds->number : 0;
	clock->offset = (int64_t)cycles;
	return 0;
}

static int ctf2_clock_class(struct ctf2 *p, const struct json *fragment)
{
	struct ctf_clock *clock = arena_alloc(p->model.arena, sizeof(*clock));
	const char *id;
	int r = ctf2_needed_text(p, fragment, "id", &id);

	r = r ? r : ctf2_text(p, fragment, "name", &clock->name);
	r = r ? r : ctf2_needed_number(p, fragment, "frequency", (1ull << 62) - 1, &clock->freq);
	r = r ? r : ctf2_clock_offset(p, json_member(fragment, "offset-from-origin"), clock);
	if (!r && !clock->freq)
		r = ctf2_fail(p, "its 'frequency' is 0");
	if (r < 0)
		return r;
	clock->name = clock->name ? clock->name : id;
	clock->next = p->model.tc->clocks;
	p->model.tc->clocks = clock;
	ctf2_add_name(p, &p->clocks, id, clock);
	return 0;
}

static int ctf2_default_clock(struct ctf2 *p, const struct json *fragment,
			      struct ctf_stream_class *sc)
{
	const char *id;
	int r = ctf2_text(p, fragment, "default-clock-class-id", &id);

	if (r < 0 || !id)
		return r;
	sc->clock = ctf2_find_name(p, p->clocks, id);
	return sc->clock ? 0 : ctf2_fail(p, "its clock '%.60s' is not declared before it", id);
}

static int ctf2_stream_class(struct ctf2 *p, const struct json *fragment)
{
	struct ctf_stream_class *sc = arena_alloc(p->model.arena, sizeof(*sc));
	int r = ctf2_number(p, fragment, "id", UINT64_MAX, &sc->id);

	sc->has_id = true;
	if (!r && trace_class_stream(p->model.tc, sc->id))
		r = ctf2_fail(p, "its 'id' is that of another stream");
	r = r ? r : ctf2_default_clock(p, fragment, sc);
	r = r ? r : ctf2_scope(p, fragment, "packet-context-field-class", &sc->packet_context);
	r = r ? r : ctf2_scope(p, fragment, "event-record-header-field-class", &sc->header);
	r = r ? r :
		ctf2_scope(p, fragment, "event-record-common-context-field-class",
			   &sc->event_context);
	return r ? r : model_add_stream(&p->model, sc);
}

/* An attribute: LTTng's number, or babeltrace2's name. */
static int ctf2_loglevel(const struct json *fragment)
{
	static const char *const names[] = {
		"emergency",	"alert",      "critical",	"error",	 "warning",
		"notice",	"info",	      "debug:system",	"debug:program", "debug:process",
		"debug:module", "debug:unit", "debug:function", "debug:line",	 "debug",
	};
	const struct json *at = ctf2_attribute(fragment, LTTNG_NAMESPACE, "log-level");

	if (at && at->kind == JSON_INTEGER)
		return at->number <= INT32_MAX ? (int)at->number : -1;
	at = ctf2_attribute(fragment, BABELTRACE_NAMESPACE, "log-level");
	for (size_t i = 0; at && at->kind == JSON_STRING && i < ARRAY_SIZE(names); i++)
		if (!strcmp(at->text, names[i]))
			return (int)i;
	return -1;
}

static int ctf2_event_class(struct ctf2 *p, const struct json *fragment)
{
	struct ctf_event_class *ec = model_new_event(&p->model);
	const char *name;
	int r = ctf2_number(p, fragment, "id", UINT64_MAX, &ec->id);

	ec->has_id = ec->has_stream_id = true;
	ec->loglevel = ctf2_loglevel(fragment);
	r = r ? r : ctf2_number(p, fragment, "data-stream-class-id", UINT64_MAX, &ec->stream_id);
	r = r ? r : ctf2_text(p, fragment, "name", &name);
	r = r ? r : ctf2_scope(p, fragment, "specific-context-field-class", &ec->context);
	r = r ? r : ctf2_scope(p, fragment, "payload-field-class", &ec->fields);
	if (r < 0)
		return r;
	ec->name = name ? name : "";
	model_add_event(&p->model, ec);
	return 0;
}

static int ctf2_fragment(struct ctf2 *p, const struct json *json)
{
	static const struct {
		const char *type;
		int (*parse)(struct ctf2 *p, const struct json *fragment);
	} kinds[] = {
		{ "event-record-class", ctf2_event_class },
		{ "data-stream-class", ctf2_stream_class },
		{ "clock-class", ctf2_clock_class },
		{ "field-class-alias", ctf2_class_alias },
		{ "trace-class", ctf2_trace_class },
		{ "preamble", ctf2_preamble },
	};
	const struct json *type = json_member(json, "type");

	if (!type || type->kind != JSON_STRING)
		return ctf2_fail(p, "it is no object with a 'type'");
	if (!p->has_preamble && strcmp(type->text, "preamble") != 0) {
		report(p->model.reporter, "%s: no preamble is before its first declaration",
		       p->model.where);
		p->has_preamble = true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(type->text, kinds[i].type))
			return kinds[i].parse(p, json);
	return ctf2_fail(p, "its type '%.60s' is unknown", type->text);
}

/* --- the whole text, past invalid fragments ------------------------------- */

static void ctf2_report_fragment(struct ctf2 *p, size_t at, bool is_last)
{
	report(p->model.reporter,
	       is_last ? "%s: byte %zu: the last fragment is not complete (%s)" :
			 "%s: byte %zu: %s; this fragment is left out",
	       p->model.where, at, p->model.error);
}

static bool ctf2_is_blank(const char *text, size_t len)
{
	size_t i = 0;

	while (i < len && strchr(" \t\r\n", text[i]) && text[i])
		i++;
	return i == len;
}

/* A fragment at byte @at of the text. */
static void ctf2_take_fragment(struct ctf2 *p, const char *text, size_t at, size_t len,
			       bool is_last)
{
	struct arena scratch = { NULL };
	struct ctf_event_class *last = p->model.tc->events;
	struct json *json;
	const char *why;
	size_t wrong;

	p->model.error[0] = 0;
	p->nesting = 0;
	why = json_read(text + at, len, &scratch, &json, &wrong);
	if (why)
		ctf2_fail(p, "%s", why);
	if (why || ctf2_fragment(p, json) < 0)
		ctf2_report_fragment(p, why ? at + wrong : at, why && is_last && wrong == len);
	arena_fini(&scratch);
	if (p->model.tc->events == last)
		return;
	p->model.tc->events->text = text + at;
	p->model.tc->events->text_len = len;
}

bool ctf2_is_text(const char *text, size_t len)
{
	return len && (*text == SEPARATOR || *text == '{');
}

int ctf2_parse(const char *text, size_t len, const char *where, struct arena *arena,
	       struct reporter *reporter, struct ctf_trace_class **ret_tc)
{
	struct ctf2 *p AUTO_FREE = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	model_init(&p->model, where, arena, reporter);
	p->model.has_roles = true;
	for (size_t at = 0, size; at < len && !p->declined; at += size + 1) {
		const char *end = memchr(text + at, SEPARATOR, len - at);

		size = end ? (size_t)(end - text) - at : len - at;
		if (!ctf2_is_blank(text + at, size))
			ctf2_take_fragment(p, text, at, size, !end);
	}
	if (p->declined || model_resolve(&p->model) < 0)
		return -EPROTO;
	*ret_tc = p->model.tc;
	return 0;
}

/* The remark of a fragment. */
static void ctf2_add_remark(FILE *f, const char *fragment, size_t len)
{
	struct arena scratch = { NULL };
	const struct json *remark;
	struct json *json;
	size_t wrong;

	if (!json_read(fragment, len, &scratch, &json, &wrong)) {
		remark = ctf2_attribute(json, CTF2_OWN, REMARK);
		if (remark && remark->kind == JSON_STRING)
			fputs(remark->text, f);
	}
	arena_fini(&scratch);
}

char *ctf2_remarks(const char *text, size_t len)
{
	static const char word[] = "\"" REMARK "\"";
	const char *end = text + len, *at = memmem(text, len, word, strlen(word)), *from, *stop;
	char *remarks = NULL;
	size_t size = 0;
	FILE *f = at ? open_memstream(&remarks, &size) : NULL;

	while (f && at) {
		from = memrchr(text, SEPARATOR, (size_t)(at - text));
		stop = memchr(at, SEPARATOR, (size_t)(end - at));
		from = from ? from + 1 : text;
		stop = stop ? stop : end;
		ctf2_add_remark(f, from, (size_t)(stop - from));
		at = memmem(stop, (size_t)(end - stop), word, strlen(word));
	}
	if (f)
		fclose(f);
	return remarks;
}
