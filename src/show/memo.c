/* SPDX-License-Identifier: GPL-2.0-only */
#include "memo.h"

#include <stdlib.h>

#include "base/mem.h"

void memo_fini(struct memo *memo)
{
	struct memo_form *form;

	while ((form = memo->forms)) {
		memo->forms = form->next;
		free(form);
	}
	free(memo->texts);
	*memo = (struct memo){ NULL, NULL };
}

const struct memo_form *memo_form(struct memo *memo, uint32_t key_len, const uint8_t *bytes,
				  uint32_t len)
{
	struct memo_form *form;

	for (form = memo->forms; form; form = form->next)
		if (form->key_len == key_len && form->len == len &&
		    memcmp(form->bytes, bytes, len) == 0)
			return form;
	form = xalloc(sizeof(*form) + len);
	form->key_len = key_len;
	form->len = len;
	memcpy(form->bytes, bytes, len);
	form->next = memo->forms;
	memo->forms = form;
	return form;
}

void memo_add(struct memo *memo, const struct memo_form *form, const uint8_t *at, const char *text,
	      size_t len, uint32_t columns)
{
	uint64_t key[MEMO_KEY_MOST / 8];
	struct memo_text *to;

	if (len > MEMO_TEXT)
		return;
	if (!memo->texts)
		memo->texts = xalloc(sizeof(*to) << MEMO_TEXTS_BITS);
	memo_key(key, at, form->key_len);
	to = &memo->texts[memo_slot(key)];
	to->form = form;
	memcpy(to->key, key, sizeof(key));
	to->len = (uint8_t)len;
	to->columns = (uint8_t)columns;
	memcpy(to->text, text, len);
}
