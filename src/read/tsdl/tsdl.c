/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The blocks of CTF 1.8 metadata: trace, env, clock, stream, event. */
#include "tsdl.h"

#include <errno.h>
#include <string.h>

#include "trace/metadata.h"
#include "parser.h"

/* How many times the end of an unterminated declaration is searched by its form. */
#define MAX_BLIND_RESYNCS 16

void tsdl_advance(struct tsdl *p)
{
	if (tsdl_at(p, '{'))
		p->braces++;
	else if (tsdl_at(p, '}') && p->braces)
		p->braces--;
	if (p->tok.text) /* none is before the first token */
		p->passed = p->tok.text + p->tok.len;
	lex_next(&p->lex, &p->tok);
}

bool tsdl_accept(struct tsdl *p, char c)
{
	bool there = tsdl_at(p, c);

	if (there)
		tsdl_advance(p);
	return there;
}

int tsdl_expect(struct tsdl *p, char c)
{
	if (tsdl_accept(p, c))
		return 0;
	if (p->tok.kind == TOKEN_END)
		return tsdl_fail(p, "it ends where '%c' is expected", c);
	return tsdl_fail(p, "'%c' is expected before '%.*s'", c, (int)MIN(p->tok.len, 40u),
			 p->tok.text);
}

const char *tsdl_string(struct tsdl *p)
{
	char *text = arena_alloc(p->model.arena, p->tok.len + 1);

	if (p->tok.kind == TOKEN_STRING)
		token_unescape(&p->tok, text);
	else
		memcpy(text, p->tok.text, p->tok.len);
	tsdl_advance(p);
	return text;
}

int tsdl_path(struct tsdl *p, const char **ret_path)
{
	char path[256];
	size_t len = 0;

	for (;;) {
		if (p->tok.kind != TOKEN_WORD)
			return tsdl_fail(p, "a name is expected");
		if (len + p->tok.len + 1 > sizeof(path))
			return tsdl_fail(p, "a name is too long");
		memcpy(path + len, p->tok.text, p->tok.len);
		len += p->tok.len;
		tsdl_advance(p);
		if (!tsdl_at(p, '.') && p->tok.kind != TOKEN_ARROW)
			break;
		path[len++] = '.';
		tsdl_advance(p);
	}
	*ret_path = arena_strndup(p->model.arena, path, len);
	return 0;
}

int tsdl_value(struct tsdl *p, struct tsdl_value *ret_value)
{
	bool negative = tsdl_accept(p, '-');

	*ret_value = (struct tsdl_value){ .negative = negative };
	if (!negative)
		tsdl_accept(p, '+');
	if (p->tok.kind == TOKEN_NUMBER) {
		ret_value->kind = VALUE_NUMBER;
		ret_value->number = negative ? -p->tok.number : p->tok.number;
		tsdl_advance(p);
		return 0;
	}
	if (p->tok.kind == TOKEN_STRING) {
		ret_value->kind = VALUE_STRING;
		ret_value->text = tsdl_string(p);
		return 0;
	}
	ret_value->kind = VALUE_WORD;
	return tsdl_path(p, &ret_value->text);
}

/* --- contents of the blocks ----------------------------------------------- */

/* One statement: `key = value;` has @v, `key := type;` has @type. */
typedef int (*set_fn)(struct tsdl *p, void *object, const char *key, const struct tsdl_value *v,
		      const struct ctf_type *type);

static int parse_uuid(struct tsdl *p, const char *text, uint8_t *ret)
{
	unsigned byte[16];
	int used = 0;

	if (sscanf(text, "%2x%2x%2x%2x-%2x%2x-%2x%2x-%2x%2x-%2x%2x%2x%2x%2x%2x%n", &byte[0],
		   &byte[1], &byte[2], &byte[3], &byte[4], &byte[5], &byte[6], &byte[7], &byte[8],
		   &byte[9], &byte[10], &byte[11], &byte[12], &byte[13], &byte[14], &byte[15],
		   &used) != 16 ||
	    used != 36)
		return tsdl_fail(p, "the trace's UUID is invalid");
	for (int i = 0; i < 16; i++)
		ret[i] = byte[i];
	return 0;
}

static int set_trace(struct tsdl *p, void *object, const char *key, const struct tsdl_value *v,
		     const struct ctf_type *type)
{
	struct ctf_trace_class *tc = object;

	if (type) {
		if (!strcmp(key, "packet.header"))
			tc->packet_header = type;
		return 0;
	}
	if (!strcmp(key, "major") && v->kind == VALUE_NUMBER && v->number != 1)
		return tsdl_fail(p, "CTF %llu can't be read as TSDL, only CTF 1",
				 (unsigned long long)v->number);
	if (!strcmp(key, "byte_order") && v->kind == VALUE_WORD)
		tc->big_endian = !strcmp(v->text, "be") || !strcmp(v->text, "network");
	if (!strcmp(key, "uuid") && v->kind == VALUE_STRING) {
		int r = parse_uuid(p, v->text, tc->uuid);

		tc->has_uuid = !r;
		return r;
	}
	return 0;
}

static int set_env(struct tsdl *p, void *object, const char *key, const struct tsdl_value *v,
		   const struct ctf_type *type)
{
	struct ctf_trace_class *tc = object;
	struct ctf_env *env;

	if (type)
		return tsdl_fail(p, "env can't contain types");
	env = arena_alloc(p->model.arena, sizeof(*env));
	*env = (struct ctf_env){ key, v->text, (int64_t)v->number, tc->env };
	tc->env = env;
	return 0;
}

static int set_clock(struct tsdl *p, void *object, const char *key, const struct tsdl_value *v,
		     const struct ctf_type *type)
{
	struct ctf_clock *clock = object;

	if (type)
		return tsdl_fail(p, "a clock can't contain types");
	if (!strcmp(key, "name"))
		clock->name = v->text;
	if (v->kind != VALUE_NUMBER)
		return 0;
	if (!strcmp(key, "freq")) {
		if (!v->number || v->number >= 1ull << 62)
			return tsdl_fail(p, "a clock's frequency is invalid");
		clock->freq = v->number;
	} else if (!strcmp(key, "offset_s")) {
		clock->offset_s = v->number;
	} else if (!strcmp(key, "offset")) {
		clock->offset = v->number;
	}
	return 0;
}

static int set_stream(struct tsdl *p, void *object, const char *key, const struct tsdl_value *v,
		      const struct ctf_type *type)
{
	struct ctf_stream_class *sc = object;

	(void)p;
	if (type && !strcmp(key, "event.header")) {
		sc->header = type;
	} else if (type && !strcmp(key, "event.context")) {
		sc->event_context = type;
	} else if (type && !strcmp(key, "packet.context")) {
		sc->packet_context = type;
	} else if (v && v->kind == VALUE_NUMBER && !strcmp(key, "id")) {
		sc->id = v->number;
		sc->has_id = true;
	}
	return 0;
}

static int set_event(struct tsdl *p, void *object, const char *key, const struct tsdl_value *v,
		     const struct ctf_type *type)
{
	struct ctf_event_class *ec = object;

	(void)p;
	if (type && !strcmp(key, "context")) {
		ec->context = type;
	} else if (type && !strcmp(key, "fields")) {
		ec->fields = type;
	} else if (v && !strcmp(key, "name") && v->text) {
		ec->name = v->text;
	} else if (v && v->kind == VALUE_NUMBER && !strcmp(key, "id")) {
		ec->id = v->number;
		ec->has_id = true;
	} else if (v && v->kind == VALUE_NUMBER && !strcmp(key, "stream_id")) {
		ec->stream_id = v->number;
		ec->has_stream_id = true;
	} else if (v && v->kind == VALUE_NUMBER && !strcmp(key, "loglevel")) {
		ec->loglevel = v->number <= INT32_MAX ? (int)v->number : -1;
	}
	return 0;
}

static int set_nothing(struct tsdl *p, void *object, const char *key, const struct tsdl_value *v,
		       const struct ctf_type *type)
{
	(void)p, (void)object, (void)key, (void)v, (void)type;
	return 0;
}

static int statement(struct tsdl *p, void *object, set_fn set)
{
	struct tsdl_value value;
	struct ctf_type *type;
	const char *key;
	int r;

	if (tsdl_at_declaration(p))
		return tsdl_declaration(p);
	r = tsdl_path(p, &key);
	if (r < 0)
		return r;
	if (p->tok.kind == TOKEN_ASSIGN_TYPE) {
		tsdl_advance(p);
		r = tsdl_type(p, &type);
		r = r ? r : set(p, object, key, NULL, type);
	} else {
		r = tsdl_expect(p, '=');
		r = r ? r : tsdl_value(p, &value);
		r = r ? r : set(p, object, key, &value, NULL);
	}
	return r ? r : tsdl_expect(p, ';');
}

static int block(struct tsdl *p, void *object, set_fn set)
{
	int r = tsdl_scope_push(p);

	if (r < 0)
		return r;
	tsdl_advance(p);
	r = tsdl_expect(p, '{');
	while (!r && !tsdl_at(p, '}'))
		r = statement(p, object, set);
	tsdl_scope_pop(p);
	r = r ? r : tsdl_expect(p, '}');
	return r ? r : tsdl_expect(p, ';');
}

static int clock_block(struct tsdl *p)
{
	struct ctf_clock *clock = arena_alloc(p->model.arena, sizeof(*clock));
	int r;

	clock->freq = 1000000000;
	r = block(p, clock, set_clock);
	if (!r && !clock->name)
		r = tsdl_fail(p, "a clock has no name");
	if (r < 0)
		return r;
	clock->next = p->model.tc->clocks;
	p->model.tc->clocks = clock;
	return 0;
}

static int stream_block(struct tsdl *p)
{
	struct ctf_stream_class *sc = arena_alloc(p->model.arena, sizeof(*sc));
	int r = block(p, sc, set_stream);

	return r ? r : model_add_stream(&p->model, sc);
}

static int event_block(struct tsdl *p)
{
	struct ctf_event_class *ec = model_new_event(&p->model);
	int r;

	ec->text = p->tok.text;
	r = block(p, ec, set_event);
	if (r < 0)
		return r;
	ec->text_len = (size_t)(p->passed - ec->text);
	model_add_event(&p->model, ec);
	return 0;
}

static int env_block(struct tsdl *p)
{
	size_t at = (size_t)(p->tok.text - p->text);
	int r = block(p, p->model.tc, set_env);

	p->model.tc->nr_envs++;
	p->model.tc->env_at = at;
	p->model.tc->env_end = (size_t)(p->passed - p->text);
	return r;
}

static int top_level(struct tsdl *p)
{
	if (token_is(&p->tok, "trace"))
		return block(p, p->model.tc, set_trace);
	if (token_is(&p->tok, "env"))
		return env_block(p);
	if (token_is(&p->tok, "clock"))
		return clock_block(p);
	if (token_is(&p->tok, "stream"))
		return stream_block(p);
	if (token_is(&p->tok, "event"))
		return event_block(p);
	if (token_is(&p->tok, "callsite"))
		return block(p, NULL, set_nothing);
	if (tsdl_at_declaration(p))
		return tsdl_declaration(p);
	return tsdl_fail(p, "'%.*s' begins no declaration", (int)MIN(p->tok.len, 40u), p->tok.text);
}

/* --- the whole text, past invalid declarations ---------------------------- */

static void tsdl_report_error(struct tsdl *p)
{
	size_t line = 1;

	if (p->model.reporter->count >= REPORT_MAX) { /* the line number is for a report only */
		p->model.reporter->count++;
		return;
	}
	for (const char *s = p->text; s < p->tok.text; s++)
		line += *s == '\n';
	if (p->tok.kind == TOKEN_END)
		report(p->model.reporter, "%s: the last declaration is not complete (%s)", p->model.where,
		       p->model.error);
	else
		report(p->model.reporter, "%s: line %zu: %s; this declaration is left out", p->model.where,
		       line, p->model.error);
}

/* To where the broken declaration seems to end: the first `;` outside braces. */
static void tsdl_resync(struct tsdl *p, uint32_t *blind_left)
{
	struct lex here = p->lex;
	const char *stop;

	while (p->tok.kind != TOKEN_END && (p->braces || !tsdl_at(p, ';')))
		tsdl_advance(p);
	if (p->tok.kind == TOKEN_END && p->braces && (*blind_left)--) {
		stop = memmem(here.at, here.end - here.at, "\n};", 3);
		p->lex.at = stop ? stop + 3 : here.end;
		p->tok.kind = TOKEN_END;
	}
	p->braces = 0;
	p->tok.kind = TOKEN_END;
	lex_next(&p->lex, &p->tok);
}

static void parse_all(struct tsdl *p)
{
	uint32_t blind_left = MAX_BLIND_RESYNCS;

	tsdl_advance(p);
	while (p->tok.kind != TOKEN_END) {
		p->nr_scopes = 1;
		p->nesting = 0;
		p->model.error[0] = 0;
		if (tsdl_accept(p, ';') || !top_level(p))
			continue;
		tsdl_report_error(p);
		tsdl_resync(p, &blind_left);
	}
}

int tsdl_parse(const char *text, size_t len, const char *where, struct arena *arena,
	       struct reporter *reporter, struct ctf_trace_class **ret_tc)
{
	struct tsdl *p AUTO_FREE = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->lex = (struct lex){ text, text + len };
	p->text = text;
	model_init(&p->model, where, arena, reporter);
	p->model.tc->hides = metadata_hides(text, len);
	parse_all(p);
	if (model_resolve(&p->model) < 0)
		return -EPROTO;
	*ret_tc = p->model.tc;
	return 0;
}
