/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memo.h - the text of values that repeat from event to event, those of a process and thread: found
 * by their bytes in the packet, without being decoded. Owned by a printer.
 */
#ifndef SHOW_MEMO_H
#define SHOW_MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MEMO_TEXTS_BITS 11u
#define MEMO_TEXT 80u /* bytes of a text */
#define MEMO_KEY_LEAST 8u
#define MEMO_KEY_MOST 32u
#define MEMO_FORM_MOST 256u

/** struct memo_form - how such values are written: equal forms and bytes have equal texts.
 *  @key_len: bytes of the values. @bytes: describe the rest. */
struct memo_form {
	struct memo_form *next;
	uint32_t key_len, len;
	uint8_t bytes[];
};

/** struct memo_text - @form: NULL: it is not used yet. @columns: that it takes. */
struct memo_text {
	const struct memo_form *form;
	uint64_t key[MEMO_KEY_MOST / 8];
	uint8_t len, columns;
	char text[MEMO_TEXT];
};

/** All zero: there is none. */
struct memo {
	struct memo_text *texts;
	struct memo_form *forms;
};

void memo_fini(struct memo *memo);

/** The form of this description. */
const struct memo_form *memo_form(struct memo *memo, uint32_t key_len, const uint8_t *bytes,
				  uint32_t len);

/** Keep a text, if it is short, in place of another one. @at: the bytes of its values. */
void memo_add(struct memo *memo, const struct memo_form *form, const uint8_t *at, const char *text,
	      size_t len, uint32_t columns);

static inline void memo_key(uint64_t key[], const uint8_t *at, uint32_t len)
{
	if (len >= 16) {
		memcpy(key, at, 16);
		memcpy(key + 2, at + len - 16, 16);
	} else {
		memcpy(key, at, 8);
		memcpy(key + 1, at + len - 8, 8);
		key[2] = key[3] = 0;
	}
}

static inline uint32_t memo_slot(const uint64_t key[])
{
	uint64_t mixed = (key[0] ^ key[1] ^ key[3]) * 0x9e3779b97f4a7c15u;

	return (uint32_t)(mixed >> (64 - MEMO_TEXTS_BITS));
}

/** The text of the values at @at. Return: NULL: it is not kept. */
static inline const struct memo_text *memo_find(const struct memo *memo,
						const struct memo_form *form, const uint8_t *at)
{
	const struct memo_text *text;
	uint64_t key[MEMO_KEY_MOST / 8];

	if (!memo->texts)
		return NULL;
	memo_key(key, at, form->key_len);
	text = &memo->texts[memo_slot(key)];
	return text->form == form && text->key[0] == key[0] && text->key[1] == key[1] &&
			       text->key[2] == key[2] && text->key[3] == key[3] ?
		       text :
		       NULL;
}

/** Copy the text to memory for MEMO_TEXT. Return: its end. */
static inline char *memo_put(char *to, const struct memo_text *text)
{
	memcpy(to, text->text, 48);
	if (text->len > 48)
		memcpy(to + 48, text->text + 48, MEMO_TEXT - 48);
	return to + text->len;
}

#endif
