/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <string.h>

#include "analyse/stacks.h"
#include "base/escape.h"
#include "base/macros.h"
#include "flame.h"
#include "text.h"

#define WIDTH 1200u
#define MARGIN 10u
#define ROW 18u
#define HEAD 56u
#define FOOT 10u
#define CHAR 7.25      /* width of a letter, of 12 pixels */
#define NAME_MOST 400u /* characters of a name */
#define PART 1000u     /* of the width: the smallest frame */

/* One picture that is being written. @least: value of the smallest frame. @rows: that are drawn. */
struct flame_drawing {
	FILE *out;
	const struct stacks *stacks;
	const struct flame_picture *picture;
	uint64_t least, left_out, drawn;
	uint32_t rows;
};

void flame_value(char *buf, size_t len, uint64_t value, const char *unit)
{
	char text[TEXT_BYTES];

	if (strcmp(unit, "ns") == 0)
		snprintf(buf, len, "%s", text_time(text, value));
	else if (strcmp(unit, "bytes") == 0)
		snprintf(buf, len, "%s", text_size(text, value));
	else
		snprintf(buf, len, "%s %s", text_count(text, value), unit);
}

/* --- texts --------------------------------------------------------------------------------- */

/* XML forbids some characters in any form, and others would change the text around them. */
static void flame_svg_char(FILE *out, const char *s, size_t len, uint32_t c)
{
	static const char *const entities[] = {
		['<'] = "&lt;",	  ['>'] = "&gt;",    ['&'] = "&amp;",
		['"'] = "&quot;", ['\''] = "&apos;",
	};

	if (c < ARRAY_SIZE(entities) && entities[c])
		fputs(entities[c], out);
	else if (!len || escape_is_harmful(c) || (c & 0xfffe) == 0xfffe)
		fputs("\xef\xbf\xbd", out); /* U+FFFD: replaced */
	else
		fwrite(s, 1, len, out);
}

/* At most @most characters; the last one is dots if there are more. */
static void flame_svg_text(FILE *out, const char *text, size_t most)
{
	size_t left = strlen(text), nr = 0, len;

	for (; left; text += len, left -= len) {
		uint32_t c = 0;

		len = escape_decode((const uint8_t *)text, left, &c);
		if (++nr == most && left > (len ? len : 1)) {
			fputs("\xe2\x80\xa6", out);
			return;
		}
		flame_svg_char(out, text, len, c);
		len = len ? len : 1;
	}
}

/* --- colours ------------------------------------------------------------------------------- */

static unsigned int flame_svg_channel(double hue, double saturation, double lightness, int n)
{
	double k = n + hue / 30, spread = saturation * MIN(lightness, 1 - lightness), part;

	while (k >= 12)
		k -= 12;
	part = MIN(MIN(k - 3, 9 - k), 1.0);
	return (unsigned int)(255 * (lightness - spread * MAX(part, -1.0)) + 0.5);
}

/* A name has one colour, whichever the picture of this kind. */
static void flame_svg_color(FILE *out, const char *name, unsigned int hue)
{
	uint32_t hash = 2166136261u;
	double h, l;

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 16777619u;
	hash ^= hash >> 15;
	h = (hue + hash % 37) % 360;
	l = 0.63 + (double)(hash / 37 % 13) / 100;
	fprintf(out, "#%02x%02x%02x", flame_svg_channel(h, 0.68, l, 0),
		flame_svg_channel(h, 0.68, l, 8), flame_svg_channel(h, 0.68, l, 4));
}

/* --- frames -------------------------------------------------------------------------------- */

static uint64_t flame_svg_count(const struct stacks *stacks, uint64_t least, uint32_t *ret_rows)
{
	const struct stacks_node *node = NULL;
	uint64_t nr = 0;
	uint32_t rows = 0;

	while ((node = stacks_next(stacks, node))) {
		if (node->total < least)
			continue;
		rows = MAX(rows, node->depth);
		nr++;
	}
	*ret_rows = rows + 1;
	return nr;
}

static void flame_svg_measure(struct flame_drawing *drawing)
{
	uint64_t total = drawing->stacks->root.total;

	drawing->least = MAX(total / PART, (uint64_t)1);
	while ((drawing->drawn = flame_svg_count(drawing->stacks, drawing->least, &drawing->rows)) >
	       FLAME_DRAWN_MOST)
		drawing->least *= 2;
	drawing->left_out = drawing->stacks->nr_nodes - drawing->drawn;
}

static void flame_svg_hover(const struct flame_drawing *drawing, const struct stacks_node *node,
			    const char *name)
{
	double total = (double)drawing->stacks->root.total;
	char value[64], self[64];
	FILE *out = drawing->out;

	flame_value(value, sizeof(value), node->total, drawing->picture->unit);
	flame_value(self, sizeof(self), node->self, drawing->picture->unit);
	fputs("<g><title>", out);
	flame_svg_text(out, name, NAME_MOST);
	if (node->frame && node->frame->file) {
		fputc('\n', out);
		flame_svg_text(out, node->frame->file, NAME_MOST);
		fprintf(out, ":%" PRIu32, node->frame->line);
	}
	fprintf(out, "\n%s, %.2f %%", value, total > 0 ? 100 * (double)node->total / total : 0);
	if (node->self && node->self != node->total)
		fprintf(out, "; in itself %s", self);
	fputs("</title>", out);
}

static void flame_svg_frame(const struct flame_drawing *drawing, const struct stacks_node *node,
			    double x, double width)
{
	const char *name = node->frame ? node->frame->name : "all";
	uint32_t y = HEAD + (drawing->rows - 1 - node->depth) * ROW;
	double letters = (width - 6) / CHAR;
	FILE *out = drawing->out;

	flame_svg_hover(drawing, node, name);
	fprintf(out, "<rect x=\"%.3f\" y=\"%" PRIu32 "\" width=\"%.3f\" height=\"%u\" fill=\"", x,
		y, width, ROW - 1);
	if (node->frame)
		flame_svg_color(out, name, drawing->picture->hue);
	else
		fputs("#d5d5d5", out);
	fprintf(out, "\"/><text x=\"%.3f\" y=\"%" PRIu32 "\">", x + 3, y + 13);
	if (letters >= 3)
		flame_svg_text(out, name, (size_t)letters);
	fputs("</text></g>\n", out);
}

/* Frames that are drawn come first among the callees of their caller, as they are sorted. */
static void flame_svg_frames(const struct flame_drawing *drawing)
{
	const struct stacks *stacks = drawing->stacks;
	double scale = (WIDTH - 2 * MARGIN) / (double)MAX(stacks->root.total, (uint64_t)1);
	double next[STACKS_DEPTH_MOST + 2] = { MARGIN, MARGIN };
	const struct stacks_node *node = NULL;

	flame_svg_frame(drawing, &stacks->root, MARGIN, WIDTH - 2 * MARGIN);
	while ((node = stacks_next(stacks, node))) {
		double x = next[node->depth], width = (double)node->total * scale;

		next[node->depth] = x + width;
		next[node->depth + 1] = x;
		if (node->total >= drawing->least)
			flame_svg_frame(drawing, node, x, width);
	}
}

/* --- the file ------------------------------------------------------------------------------ */

static const char flame_style[] =
	"<style>text{font:12px monospace;fill:#111;pointer-events:none}"
	"#f g{cursor:pointer}#f rect{stroke:#fff;stroke-width:.5}"
	"#f g:hover rect{stroke:#000;stroke-width:1}"
	".a rect{opacity:.45}.m rect{fill:#d62fd6}"
	".t{font:bold 16px sans-serif}.s,.b{font:12px sans-serif;fill:#444}"
	".b{pointer-events:auto;cursor:pointer;text-decoration:underline}"
	"@media(prefers-color-scheme:dark){svg{background:#1d1f21}.p{fill:#1d1f21}"
	".t,.s,.b{fill:#ddd}#f rect{stroke:#1d1f21}"
	"#f g:hover rect{stroke:#fff}}</style>\n";

/* Zoom: a frame, and those above it, over the whole width; those below it are pale. */
static const char flame_script[] =
	"<script><![CDATA[\n"
	"(function(){'use strict';\n"
	"var X=%u,W=%u,C=%g,all=[].map.call(document.querySelectorAll('#f>g'),function(g){\n"
	" var r=g.querySelector('rect'),n=g.querySelector('title').textContent.split('\\n')[0];\n"
	" return {g:g,r:r,t:g.querySelector('text'),n:n,x:+r.getAttribute('x'),"
	"w:+r.getAttribute('width'),y:+r.getAttribute('y')};});\n"
	"var root=all[0],now=root,sought='',info=document.getElementById('i'),first=info.textContent;\n"
	"function draw(e,x,w){var n=Math.floor((w-6)/C),c=Array.from(e.n);\n"
	" e.g.style.display='';e.r.setAttribute('x',x);e.r.setAttribute('width',Math.max(w,0));\n"
	" e.t.setAttribute('x',x+3);\n"
	" e.t.textContent=n<3?'':c.length<=n?e.n:c.slice(0,n-1).join('')+'\\u2026';}\n"
	"function zoom(to){var s=W/to.w,d=.002;now=to;all.forEach(function(e){\n"
	" var under=e.y>=to.y&&e.x<=to.x+d&&e.x+e.w>=to.x+to.w-d,\n"
	"  above=e.y<to.y&&e.x>=to.x-d&&e.x+e.w<=to.x+to.w+d;\n"
	" e.g.classList.toggle('a',under&&e!==to);\n"
	" if(under)draw(e,X,W);else if(above)draw(e,X+(e.x-to.x)*s,e.w*s);"
	"else e.g.style.display='none';});}\n"
	"function search(text){var end=-1,sum=0,hits=[];sought=text;all.forEach(function(e){\n"
	" var hit=text!==''&&e!==root&&e.n.toLowerCase().indexOf(text.toLowerCase())>=0;\n"
	" e.g.classList.toggle('m',hit);if(hit)hits.push(e);});\n"
	" hits.sort(function(a,b){return a.x-b.x||b.w-a.w;}).forEach(function(e){\n"
	"  if(e.x+e.w>end+.002){sum+=e.x+e.w-Math.max(e.x,end);end=e.x+e.w;}});\n"
	" info.textContent=text===''?first:'\"'+text+'\": '+hits.length+' frames, '+"
	"(100*sum/W).toFixed(1)+' %%';}\n"
	"function ask(){var text=prompt('Names with',sought);if(text!==null)search(text);}\n"
	"all.forEach(function(e){e.g.addEventListener('click',function(){zoom(e);});});\n"
	"document.getElementById('q').addEventListener('click',ask);\n"
	"document.addEventListener('keydown',function(e){if(e.ctrlKey||e.altKey||e.metaKey)return;\n"
	" if(e.key==='/'){e.preventDefault();ask();}\n"
	" if(e.key==='Escape'){search('');zoom(root);}});\n"
	"document.getElementById('q').textContent='search (/)';\n"
	"window.flame={zoom:function(n){zoom(all[n]);},search:search,frames:all};\n"
	"})();\n"
	"]]></script>\n";

static void flame_svg_head(const struct flame_drawing *drawing, uint32_t height)
{
	const struct stacks *stacks = drawing->stacks;
	char value[64], nr[TEXT_BYTES];
	FILE *out = drawing->out;

	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%" PRIu32
		"\" viewBox=\"0 0 %u %" PRIu32 "\">\n<title>",
		WIDTH, height, WIDTH, height);
	flame_svg_text(out, drawing->picture->title, NAME_MOST);
	fprintf(out,
		"</title>\n%s"
		"<rect class=\"p\" width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
		"<text class=\"t\" x=\"%u\" y=\"24\">",
		flame_style, MARGIN);
	flame_svg_text(out, drawing->picture->title, WIDTH / 10);
	flame_value(value, sizeof(value), stacks->root.total, drawing->picture->unit);
	fprintf(out, "</text>\n<text class=\"s\" id=\"i\" x=\"%u\" y=\"44\">%s", MARGIN, value);
	if (drawing->left_out)
		fprintf(out, "; left out: %s frame%s narrower than %.2g %%",
			text_count(nr, drawing->left_out), text_plural(drawing->left_out),
			100 * (double)drawing->least /
				(double)MAX(stacks->root.total, (uint64_t)1));
	flame_value(value, sizeof(value), stacks->left_out, drawing->picture->unit);
	if (stacks->nr_left_out)
		fprintf(out, "; not in it: %s, for which there was no room", value);
	fprintf(out,
		"</text>\n<text class=\"b\" id=\"q\" x=\"%u\" y=\"24\" "
		"text-anchor=\"end\"></text>\n<g id=\"f\">\n",
		WIDTH - MARGIN);
}

uint64_t flame_svg(FILE *out, const struct stacks *stacks, const struct flame_picture *picture)
{
	struct flame_drawing drawing = { .out = out, .stacks = stacks, .picture = picture };

	flame_svg_measure(&drawing);
	flame_svg_head(&drawing, HEAD + drawing.rows * ROW + FOOT);
	flame_svg_frames(&drawing);
	fputs("</g>\n", out);
	fprintf(out, flame_script, MARGIN, WIDTH - 2 * MARGIN, CHAR);
	fputs("</svg>\n", out);
	return drawing.left_out;
}
