/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tree.h"

static void filter_note(struct filter_compiler *c, enum filter_status status, uint32_t column,
			const char *format, va_list args)
{
	if (c->failed)
		return;
	if (status == FILTER_NEVER && c->result->status == FILTER_NEVER)
		return;
	c->failed = status == FILTER_INVALID;
	c->result->status = status;
	c->result->column = column;
	vsnprintf(c->result->text, sizeof(c->result->text), format, args);
}

void filter_fail(struct filter_compiler *c, uint32_t column, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	filter_note(c, FILTER_INVALID, column, format, args);
	va_end(args);
}

void filter_absent(struct filter_compiler *c, uint32_t column, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	filter_note(c, c->mode & FILTER_STRICT ? FILTER_INVALID : FILTER_NEVER, column, format,
		    args);
	va_end(args);
}

struct filter_node *filter_node_new(struct filter_compiler *c, enum filter_node_kind kind,
				    uint32_t column)
{
	struct filter_node *node = xalloc(sizeof(*node));

	node->kind = kind;
	node->column = column;
	node->allocated = c->allocated;
	c->allocated = node;
	return node;
}

static void filter_free_nodes(struct filter_compiler *c)
{
	struct filter_node *node;

	while ((node = c->allocated)) {
		c->allocated = node->allocated;
		free(node->text);
		free(node);
	}
}

double filter_double_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

uint64_t filter_bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static void filter_compile_key(struct filter_compiler *c)
{
	struct filter_node *key;

	c->result->in_ending = true;
	c->expression = c->at = c->ending->by;
	key = filter_parse(c);
	if (!c->failed && c->layout)
		c->key = filter_resolve_key(c, key);
}

static void filter_compile_for(struct filter_compiler *c)
{
	struct filter_node *root = !c->ending || *c->expression ? filter_parse(c) : NULL;

	if (!c->failed && root)
		root = filter_resolve(c, root);
	if (!c->failed && c->result->status == FILTER_COMPILED && c->ending && c->ending->by)
		filter_compile_key(c);
	if (!c->failed && c->layout && c->result->status == FILTER_COMPILED)
		filter_generate(c, root);
}

enum filter_status filter_compile(const char *expression, const struct layout *layout,
				  const struct filter_context *contexts, size_t nr_contexts,
				  enum filter_mode mode, struct filter_result *ret_result)
{
	return filter_compile_ending(expression, NULL, layout, contexts, nr_contexts, mode,
				     ret_result);
}

enum filter_status filter_compile_ending(const char *expression, const struct filter_ending *ending,
					 const struct layout *layout,
					 const struct filter_context *contexts, size_t nr_contexts,
					 enum filter_mode mode, struct filter_result *ret_result)
{
	struct filter_compiler c = { .expression = expression,
				     .ending = ending,
				     .at = expression,
				     .layout = layout,
				     .contexts = contexts,
				     .nr_contexts = nr_contexts,
				     .mode = mode,
				     .result = ret_result };

	memset(ret_result, 0, sizeof(*ret_result));
	if (strlen(expression) > FILTER_MAX_BYTES)
		filter_fail(&c, FILTER_MAX_BYTES + 1, "the expression is longer than %u bytes",
			    FILTER_MAX_BYTES);
	else
		filter_compile_for(&c);
	free(c.token.text);
	filter_free_nodes(&c);
	return ret_result->status;
}

void filter_result_fini(struct filter_result *result)
{
	free(result->program);
	result->program = NULL;
}

void filter_explain(const char *expression, const struct filter_result *result, char *buf,
		    size_t len)
{
	snprintf(buf, len, "column %u: %s\n%s\n%*s", result->column, result->text, expression,
		 (int)result->column, "^");
}
