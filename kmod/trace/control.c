// SPDX-License-Identifier: GPL-2.0-only
#include "control.h"

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/security.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "ltt_trace.h"
#include "trace.h"

#define CONTROL_LINE_MAX  1024u
#define CONTROL_WORDS_MAX 5
#define CONTROL_LOG_MAX	  80 /* bytes of a line in the kernel's log */

#define CONTROL_CREATE \
	"usage: create NAME [overwrite|discard] [subbuf-size=BYTES] [num-subbuf=NUMBER]"

/** struct control - a line. @why: the reason of a failure. */
struct control {
	char *words[CONTROL_WORDS_MAX + 1];
	int nr;
	const char *why;
};

/** struct control_command - @least, @most: words of its line. */
struct control_command {
	const char *name;
	int least, most;
	int (*run)(struct control *control);
	const char *usage;
};

static DEFINE_MUTEX(control_lock); /* a line at a time */

/* --- the commands ----------------------------------------------------------------- */

/* Return: 0; -EINVAL: not a number. */
static int control_number(const char *text, u64 *ret)
{
	char *end;

	*ret = memparse(text, &end);
	return *end || end == text ? -EINVAL : 0;
}

static int control_option(struct ltt_trace_options *options, const char *word)
{
	size_t size = str_has_prefix(word, "subbuf-size=");
	size_t number = str_has_prefix(word, "num-subbuf=");
	u64 value = 0;
	int ret = size || number ? control_number(word + size + number, &value) : 0;

	if (ret || value > SZ_1G)
		return -EINVAL;
	if (size)
		options->subbuf_size = value;
	else if (number)
		options->num_subbuf = value;
	else if (!strcmp(word, "discard"))
		options->mode = LTT_TRACE_DISCARD;
	else
		return strcmp(word, "overwrite") ? -EINVAL : 0;
	return 0;
}

static int control_create(struct control *control)
{
	struct ltt_trace_options options = {
		.name = control->words[1], .subbuf_size = SZ_64K, .num_subbuf = 8,
		.mode = LTT_TRACE_OVERWRITE,
	};
	int ret = 0, i;

	for (i = 2; i < control->nr && !ret; i++)
		ret = control_option(&options, control->words[i]);
	if (ret) {
		control->why = CONTROL_CREATE;
		return ret;
	}
	ret = ltt_trace_create(&options);
	if (ret > 0)
		__module_get(THIS_MODULE);
	else if (ret == -EINVAL)
		control->why = "a name is a word, and sizes are powers of two, of 4K at least";
	else if (ret == -EEXIST)
		control->why = "there is a trace of this name";
	else if (ret == -ENOMEM)
		control->why = "its buffers need more memory than there is";
	return ret;
}

/* Return: its number, or -errno. */
static int control_trace(struct control *control)
{
	int ret = trace_find(control->words[1], THIS_MODULE);

	if (ret == -ENOENT)
		control->why = "there is no trace of this name";
	else if (ret == -EPERM)
		control->why = "the trace is another module's, which controls it";
	return ret;
}

static int control_events(struct control *control, int (*change)(int trace, const char *pattern))
{
	int ret = control_trace(control);

	if (ret < 0)
		return ret;
	ret = change(ret, control->words[2]);
	if (ret == -ENOENT)
		control->why = "there is no such event; the file available lists them";
	return ret;
}

static int control_enable(struct control *control)
{
	return control_events(control, ltt_trace_enable);
}

static int control_disable(struct control *control)
{
	return control_events(control, ltt_trace_disable);
}

static int control_start(struct control *control)
{
	int trace = control_trace(control);

	return trace < 0 ? trace : ltt_trace_start(trace);
}

static int control_stop(struct control *control)
{
	int trace = control_trace(control);

	return trace < 0 ? trace : ltt_trace_stop(trace);
}

static int control_destroy(struct control *control)
{
	int trace = control_trace(control);
	int ret = trace < 0 ? trace : ltt_trace_destroy(trace);

	if (!ret)
		module_put(THIS_MODULE); /* the open file holds the module, too */
	return ret;
}

static const struct control_command commands[] = {
	{ "create", 2, CONTROL_WORDS_MAX, control_create, CONTROL_CREATE },
	{ "enable", 3, 3, control_enable, "usage: enable NAME PATTERN" },
	{ "disable", 3, 3, control_disable, "usage: disable NAME PATTERN" },
	{ "start", 2, 2, control_start, "usage: start NAME" },
	{ "stop", 2, 2, control_stop, "usage: stop NAME" },
	{ "destroy", 2, 2, control_destroy, "usage: destroy NAME" },
};

/* --- lines ------------------------------------------------------------------------ */

static int control_run(struct control *control)
{
	const struct control_command *command;
	int i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		command = &commands[i];
		if (!control->nr || strcmp(command->name, control->words[0]))
			continue;
		if (control->nr >= command->least && control->nr <= command->most)
			return command->run(control);
		control->why = command->usage;
		return -EINVAL;
	}
	control->why = "the commands are create, enable, disable, start, stop and destroy";
	return -EINVAL;
}

/* @line: without its newline; it is changed. */
static int control_line(struct control *control, char *line, size_t len)
{
	char *word;

	if (memchr(line, 0, len)) {
		control->why = "the line has a byte 0";
		return -EINVAL;
	}
	while ((word = strsep(&line, " \t")))
		if (*word && control->nr <= CONTROL_WORDS_MAX)
			control->words[control->nr++] = word;
	return control_run(control);
}

/* Return: bytes of the first line, or -errno. @bytes: of the text, which @size bytes had. */
static ssize_t control_text(struct control *control, char *text, size_t bytes, size_t size)
{
	char *end = memchr(text, '\n', bytes);
	int ret;

	if (!end) {
		control->why = bytes < size ? "the line is longer than 1023 bytes" :
					      "the line does not end with a newline";
		return bytes < size ? -E2BIG : -EINVAL;
	}
	*end = 0;
	/* the file may have been opened before the lockdown */
	ret = security_locked_down(LOCKDOWN_TRACEFS);
	if (ret)
		control->why = "the kernel is locked down";
	else
		ret = control_line(control, text, end - text);
	return ret < 0 ? ret : end + 1 - text;
}

ssize_t control_write(struct file *file, const char __user *from, size_t size, loff_t *pos)
{
	size_t bytes = min_t(size_t, size, CONTROL_LINE_MAX);
	struct control control = { .why = "it failed" };
	char *text = memdup_user_nul(from, bytes);
	char start[CONTROL_LOG_MAX];
	ssize_t ret;
	int shown;

	if (IS_ERR(text))
		return PTR_ERR(text);
	shown = strchrnul(text, '\n') - text;
	shown = min_t(int, shown, sizeof(start));
	memcpy(start, text, shown);
	ret = mutex_lock_interruptible(&control_lock);
	if (!ret) {
		ret = control_text(&control, text, bytes, size);
		mutex_unlock(&control_lock);
		if (ret < 0)
			pr_warn("ltt: control: '%*pE': %s (error %zd)\n", shown, start,
				control.why, ret);
	}
	kfree(text);
	return ret;
}
