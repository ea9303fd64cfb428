/* SPDX-License-Identifier: GPL-2.0-only */
#include "encode.h"

#include <stdio.h>
#include <string.h>

static const char unreserved[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				 "0123456789-._~";

void encode_append(struct buf *buf, const char *text, char also)
{
	char code[4];

	for (; *text; text++) {
		if (strchr(unreserved, *text) || (also && *text == also)) {
			buf_append(buf, text, 1);
			continue;
		}
		snprintf(code, sizeof(code), "%%%02X", (unsigned char)*text);
		buf_append(buf, code, 3);
	}
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 :
	       c >= 'a' && c <= 'f' ? c - 'a' + 10 :
				      -1;
}

void encode_undo(char *text)
{
	char *to = text;

	while (*text) {
		int high = *text == '%' ? hex_digit(text[1]) : -1;
		int low = high >= 0 ? hex_digit(text[2]) : -1;

		if (low >= 0 && (high || low)) {
			*to++ = (char)(high << 4 | low);
			text += 3;
		} else {
			*to++ = *text++;
		}
	}
	*to = '\0';
}
