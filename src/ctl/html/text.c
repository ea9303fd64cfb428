/* SPDX-License-Identifier: GPL-2.0-only */
#include "text.h"

#include <string.h>

#include "base/escape.h"

static void html_write_text(FILE *out, const char *text, size_t most, const char *special,
			    const char *format)
{
	size_t len = strnlen(text, most + 1);
	bool is_long = len > most;

	len -= is_long;
	for (size_t i = 0, n; i < len; i += n ? n : 1) {
		uint32_t c = 0xfffd;

		n = escape_decode((const uint8_t *)text + i, len - i, &c);
		if (!n || escape_is_harmful(c))
			fprintf(out, format, 0xfffdu);
		else if (n == 1 && strchr(special, (int)c))
			fprintf(out, format, c);
		else
			fwrite(text + i, 1, n, out);
	}
	if (is_long)
		fputs("\xe2\x80\xa6", out);
}

void html_text(FILE *out, const char *text)
{
	html_write_text(out, text, HTML_TEXT_BYTES, "<>&\"'", "&#%u;");
}

void html_json_part(FILE *out, const char *text, size_t most)
{
	putc('"', out);
	html_write_text(out, text, most, "<>&\"\\", "\\u%04x");
	putc('"', out);
}

void html_json(FILE *out, const char *text)
{
	html_json_part(out, text, HTML_TEXT_BYTES);
}
