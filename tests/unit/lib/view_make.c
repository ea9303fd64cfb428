/* SPDX-License-Identifier: GPL-2.0-only */
#include "view_make.h"

char make_root[64];

void put_raw(struct bytes *b, const void *data, size_t len)
{
	while (b->size < b->len + len + 1) {
		b->size = b->size ? 2 * b->size : 4096;
		b->at = realloc(b->at, b->size);
		CHECK(b->at);
	}
	if (len)
		memcpy(b->at + b->len, data, len);
	b->len += len;
}

void poke(struct bytes *b, size_t at, uint64_t v, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		b->at[at + i] = (uint8_t)(v >> 8 * (b->big ? len - 1 - i : i));
}

void put(struct bytes *b, uint64_t v, unsigned len)
{
	static const uint8_t zeros[8];

	put_raw(b, zeros, len);
	poke(b, b->len - len, v, len);
}

void put_str(struct bytes *b, const char *s)
{
	put_raw(b, s, strlen(s) + 1);
}

void put_float(struct bytes *b, double d, unsigned len)
{
	float f = (float)d;
	uint32_t v32;
	uint64_t v64;

	memcpy(&v32, &f, 4);
	memcpy(&v64, &d, 8);
	put(b, len == 4 ? v32 : v64, len);
}

void bytes_fini(struct bytes *b)
{
	free(b->at);
	memset(b, 0, sizeof(*b));
}

int rm_rf_at(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	while (dir && (e = readdir(dir)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
		    unlinkat(fd, e->d_name, 0) != 0)
			rm_rf_at(fd, e->d_name);
	if (dir)
		closedir(dir);
	return unlinkat(at, name, AT_REMOVEDIR);
}

static void make_cleanup(void)
{
	if (make_root[0])
		rm_rf_at(AT_FDCWD, make_root);
}

const char *make_tmp(void)
{
	snprintf(make_root, sizeof(make_root), "%s/view-XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	CHECK(mkdtemp(make_root));
	atexit(make_cleanup);
	setenv("TZ", "UTC", 1);
	return make_root;
}

void make_path(char *ret, size_t size, const char *dir, const char *name)
{
	CHECK_IS((size_t)snprintf(ret, size, "%s/%s", dir, name), <, size);
}

void make_file(const char *dir, const char *name, const void *data, size_t len)
{
	char path[512];
	int fd;

	make_path(path, sizeof(path), dir, name);
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		CHECK(mkdir(path, 0700) == 0 || errno == EEXIST);
		*slash = '/';
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	CHECK_IS(fd, >=, 0);
	CHECK_IS(write(fd, data, len), ==, (ssize_t)len);
	close(fd);
}

uint32_t make_crc(const uint8_t *p, size_t len)
{
	uint32_t v = ~0u;

	for (; len; p++, len--) {
		v ^= *p;
		for (int bit = 0; bit < 8; bit++)
			v = v >> 1 ^ (v & 1 ? 0x82f63b78u : 0);
	}
	return ~v;
}

void packet_open(struct maker *m, uint64_t begin)
{
	struct bytes *b = &m->out;

	m->packet = b->len;
	m->epoch = begin >> 27;
	put(b, 0xc1fc1fc1, 4);
	put_raw(b, MAKE_UUID, 16);
	put(b, 0, 4);
	put(b, m->cpu, 8);
	put(b, begin, 8);
	for (int i = 0; i < 3; i++) /* end, content, packet */
		put(b, 0, 8);
	put(b, m->seq++, 8);
	put(b, 0, 8); /* discarded */
	put(b, m->cpu, 4);
	put(b, m->pos, 8);
	for (int i = 0; i < 5; i++) /* recorded and causes */
		put(b, 0, 8);
	CHECK_IS(b->len - m->packet, ==, HEAD_BYTES);
	if (m->crc)
		put(b, 0, CRC_BYTES);
}

void packet_close(struct maker *m, uint64_t end)
{
	struct bytes *b = &m->out;
	size_t p = m->packet, size = b->len - p;

	poke(b, p + HEAD_END, end, 8);
	poke(b, p + HEAD_SIZES, size * 8, 8);
	poke(b, p + HEAD_SIZES + 8, size * 8, 8);
	poke(b, p + HEAD_DISCARDED, m->lost[0] + m->lost[1] + m->lost[2] + m->lost[3], 8);
	poke(b, p + 92, m->recorded, 8);
	for (int i = 0; i < 4; i++)
		poke(b, p + 100 + 8 * i, m->lost[i], 8);
	m->pos += size - HEAD_BYTES - (m->crc ? CRC_BYTES : 0);
	if (m->crc)
		poke(b, p + HEAD_BYTES, make_crc(b->at + p, size), CRC_BYTES);
}

struct bytes *event(struct maker *m, uint32_t id, uint64_t ts)
{
	struct bytes *b = &m->out;

	m->recorded++;
	if (ts >> 27 != m->epoch || id > 65535) {
		put(b, 31, 1);
		put(b, id, 4);
		put(b, ts, 8);
	} else {
		put(b, (ts & 0x7ffffff) << 5 | (id < 30 ? id : 30), 4);
		if (id >= 30)
			put(b, id, 2);
	}
	m->epoch = ts >> 27;
	return b;
}

void index_begin(struct bytes *b)
{
	b->big = true;
	put(b, 0xc1f1dcc1, 4);
	put(b, 1, 4);
	put(b, 1, 4);
	put(b, 72, 4);
}

void index_add(struct bytes *b, uint64_t offset, uint64_t bytes, uint64_t begin, uint64_t end)
{
	uint64_t fields[9] = { offset, bytes * 8, bytes * 8, begin, end, 0, 0, 0, 0 };

	for (int i = 0; i < 9; i++)
		put(b, fields[i], 8);
}

void note_problem(void *priv, const char *sentence)
{
	struct seen *seen = priv;
	size_t used = strlen(seen->said);

	seen->problems++;
	CHECK(!strpbrk(sentence, "\n\033"));
	snprintf(seen->said + used, sizeof(seen->said) - used, "%s\n", sentence);
	if (getenv("VERBOSE"))
		fprintf(stderr, "  said: %s\n", sentence);
}

void seen_fini(struct seen *seen)
{
	free(seen->text);
	view_free(seen->view);
	memset(seen, 0, sizeof(*seen));
}

int see_style(struct seen *seen, const char *dir, const struct view_select *select,
	      const struct view_style *style)
{
	FILE *file;
	int r;

	memset(seen, 0, sizeof(*seen));
	r = view_open(dir, note_problem, seen, &seen->view);
	if (r < 0)
		return r;
	file = open_memstream(&seen->text, &seen->len);
	CHECK(file);
	CHECK_IS(view_print(seen->view, select, style, file), ==, 0);
	CHECK_IS(fclose(file), ==, 0);
	CHECK_IS(view_summary(seen->view, &seen->sum), ==, 0);
	return 0;
}

int see(struct seen *seen, const char *dir)
{
	return see_style(seen, dir, NULL, NULL);
}

size_t count_text(const char *text, const char *what)
{
	size_t nr = 0;

	for (const char *at = strstr(text, what); at; at = strstr(at + strlen(what), what))
		nr++;
	return nr;
}

void check_same(const char *what, const char *got, const char *want)
{
	size_t at = 0, line = 1;

	while (got[at] && got[at] == want[at])
		line += got[at++] == '\n';
	if (got[at] == want[at])
		return;
	while (at && got[at - 1] != '\n')
		at--;
	fprintf(stderr, "%s, line %zu:\n  got  %.400s\n  want %.400s\n", what, line, got + at,
		want + at);
	exit(1);
}
