/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "doorbell.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "tracer/base/sys.h"

#define PAGE 4096

struct agent_doorbell {
	struct agent_doorbell *next;
	dev_t dev;
	ino_t ino;
	uint32_t *word;
	unsigned int refs;
};

static struct agent_doorbell *notifier;

static struct agent_doorbell *agent_doorbell_map(int fd, const struct stat *st)
{
	struct agent_doorbell *doorbell = malloc(sizeof(*doorbell));
	void *page =
		doorbell ? mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;

	if (page == MAP_FAILED) {
		free(doorbell);
		return NULL;
	}
	*doorbell = (struct agent_doorbell){
		.next = notifier, .dev = st->st_dev, .ino = st->st_ino, .word = page, .refs = 1
	};
	notifier = doorbell;
	return doorbell;
}

struct agent_doorbell *agent_doorbell_ref(int fd)
{
	struct stat st;

	if (sys_fstat(fd, &st) < 0 || st.st_size < PAGE)
		return NULL;
	for (struct agent_doorbell *b = notifier; b; b = b->next) {
		if (b->dev == st.st_dev && b->ino == st.st_ino) {
			b->refs++;
			return b;
		}
	}
	return agent_doorbell_map(fd, &st);
}

void agent_doorbell_unref(struct agent_doorbell *doorbell)
{
	struct agent_doorbell **at = &notifier;

	if (!doorbell || --doorbell->refs > 0)
		return;
	while (*at != doorbell)
		at = &(*at)->next;
	*at = doorbell->next;
	munmap(doorbell->word, PAGE);
	free(doorbell);
}

uint32_t *agent_doorbell_word(struct agent_doorbell *doorbell)
{
	return doorbell->word;
}
