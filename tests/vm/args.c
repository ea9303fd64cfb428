// SPDX-License-Identifier: GPL-2.0-only
/*
 * The values to record at a place, as the tests write them: ",KIND:STEP.STEP...,KIND:...".
 *
 * KIND is uBYTES for a number, tBYTES for a text of the kernel, xBYTES for one of the
 * program. A STEP is a letter and a number: n the number itself, g a register, a an
 * argument, s a word of the stack, v the returned value, c the name of the task; then p to
 * add, iREGISTER+FACTOR to add a register, eBYTES+SIGNED to extend, rBYTES+OFFSET to read
 * memory of the kernel, wBYTES+OFFSET of the program.
 */
#include "reader.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	char letter;
	uint32_t op;
	int is_offset;
} ops[] = {
	{ 'n', LTT_KMOD_STEP_NUMBER, 1 },   { 'g', LTT_KMOD_STEP_REGISTER, 0 },
	{ 'a', LTT_KMOD_STEP_ARGUMENT, 0 }, { 's', LTT_KMOD_STEP_STACK, 0 },
	{ 'v', LTT_KMOD_STEP_RETURNED, 0 }, { 'c', LTT_KMOD_STEP_COMM, 0 },
	{ 'p', LTT_KMOD_STEP_ADD, 1 },	    { 'r', LTT_KMOD_STEP_READ, 0 },
	{ 'w', LTT_KMOD_STEP_READ_USER, 0 }, { 'i', LTT_KMOD_STEP_ADD_REGISTER, 0 },
	{ 'e', LTT_KMOD_STEP_EXTEND, 0 },
};

static char *parse_step(char *text, struct ltt_kmod_step *ret)
{
	size_t i = 0;

	while (i < sizeof(ops) / sizeof(*ops) && ops[i].letter != *text)
		i++;
	if (i == sizeof(ops) / sizeof(*ops))
		errx(1, "step %s", text);
	*ret = (struct ltt_kmod_step){ .op = ops[i].op };
	if (ops[i].is_offset)
		ret->offset = strtoll(text + 1, &text, 0);
	else
		ret->nr = (uint32_t)strtoul(text + 1, &text, 0);
	if (*text == '+')
		ret->offset = strtoll(text, &text, 0);
	return text;
}

static char *parse_arg(char *text, struct ltt_kmod_arg *ret)
{
	const char *kinds = "utx", *kind = strchr(kinds, *text);

	if (!kind)
		errx(1, "argument %s", text);
	*ret = (struct ltt_kmod_arg){ .kind = (uint32_t)(kind - kinds) };
	ret->bytes = (uint16_t)strtoul(text + 1, &text, 0);
	while (*text == ':' || *text == '.') {
		if (ret->nr_steps == LTT_KMOD_STEPS_MAX)
			errx(1, "too many steps");
		text = parse_step(text + 1, &ret->steps[ret->nr_steps++]);
	}
	return text;
}

uint32_t parse_args(const char *text, struct ltt_kmod_arg args[LTT_KMOD_ARGS_MAX])
{
	char *at = strdupa(text);
	uint32_t nr = 0;

	while (*at == ',' && nr < LTT_KMOD_ARGS_MAX)
		at = parse_arg(at + 1, &args[nr++]);
	if (*at)
		errx(1, "argument %s", at);
	return nr;
}
