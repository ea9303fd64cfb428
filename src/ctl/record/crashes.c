/* SPDX-License-Identifier: GPL-2.0-only */
#include "crashes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/mem.h"
#include "ctl/home.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/print/text.h"
#include "io/walk.h"

#define FACTS "crash.json"
#define FACTS_BYTES 65536u /* more is no file of ours */
#define LIST ".ltt-crashes"
#define LIST_BYTES 65536u  /* some hundred paths; older ones are forgotten */

/* --- the facts about one --------------------------------------------------------- */

static void crashes_copy(struct json_object *to, struct json_object *from, const char *key,
			 enum json_type type)
{
	struct json_object *value = json_get(from, key);

	if (json_object_is_type(value, type))
		json_set(to, key, json_object_get(value));
}

static struct json_object *crashes_copy_thread(struct json_object *from)
{
	struct json_object *o = json_object_new_object();

	json_set_num(o, "pid", 0);
	crashes_copy(o, from, "pid", json_type_int);
	json_set_num(o, "tid", 0);
	crashes_copy(o, from, "tid", json_type_int);
	crashes_copy(o, from, "name", json_type_string);
	return o;
}

static struct json_object *crashes_copy_program(struct json_object *from)
{
	static const char *const numbers[] = { "exit_status", "signal", "duration_ns" };
	struct json_object *o = json_object_new_object();
	struct json_object *command = json_get(from, "command");

	json_set(o, "command", json_object_new_array());
	for (size_t i = 0;
	     json_object_is_type(command, json_type_array) && i < json_object_array_length(command);
	     i++)
		if (json_object_is_type(json_at(from, "command", i), json_type_string))
			json_append(o, "command", json_object_get(json_at(from, "command", i)));
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		json_set_num(o, numbers[i], 0);
		crashes_copy(o, from, numbers[i], json_type_int);
	}
	if (json_object_is_type(json_get(from, "crash"), json_type_object))
		json_set(o, "crash", crashes_copy_thread(json_get(from, "crash")));
	return o;
}

static struct json_object *crashes_copy_machine(struct json_object *from)
{
	struct json_object *o = json_object_new_object();

	json_set_num(o, "uid", 0);
	crashes_copy(o, from, "uid", json_type_int);
	json_set_num(o, "joined", 0);
	crashes_copy(o, from, "joined", json_type_int);
	json_set_str(o, "name", "");
	crashes_copy(o, from, "name", json_type_string);
	json_set_str(o, "core", "");
	crashes_copy(o, from, "core", json_type_string);
	return o;
}

/* The file may come from another machine: only members of the right type are taken. NULL: there
 * is no such file. */
static struct json_object *crashes_read(const char *directory)
{
	char *path AUTO_FREE = xasprintf("%s/" FACTS, directory);
	char *text AUTO_FREE = xalloc(FACTS_BYTES);
	struct json_object *file AUTO_RECORD = NULL, *o;

	if (text_read(path, text, FACTS_BYTES))
		file = json_tokener_parse(text);
	if (!json_object_is_type(file, json_type_object))
		return NULL;
	o = json_object_new_object();
	json_set_str(o, "name", "");
	crashes_copy(o, file, "name", json_type_string);
	json_set_str(o, "directory", directory);
	json_set_time(o, "time_ns", json_object_get_int64(json_get(file, "time_ns")));
	json_set_num(o, "recorded", 0);
	crashes_copy(o, file, "recorded", json_type_int);
	json_set(o, "program", crashes_copy_program(json_get(file, "program")));
	if (json_object_is_type(json_get(file, "machine"), json_type_object))
		json_set(o, "machine", crashes_copy_machine(json_get(file, "machine")));
	return o;
}

static struct json_object *crashes_facts(struct json_object *snapshot, struct json_object *program,
					 struct json_object *machine)
{
	struct json_object *o = json_object_new_object();
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	json_set_str(o, "name", json_str(snapshot, "session"));
	json_set_time(o, "time_ns", (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
	if (machine) {
		json_set_time(o, "time_ns", (int64_t)json_num(machine, "time_ns"));
		json_set(o, "machine", crashes_copy_machine(machine));
	}
	json_set_num(o, "recorded", json_num(snapshot, "recorded"));
	json_set(o, "program", json_object_get(program));
	return o;
}

/* Through no link of another user, which may own a directory on the way. */
static int crashes_write(const char *directory, struct json_object *facts)
{
	struct err err = { 0 };
	int dir AUTO_FD = -1, fd AUTO_FD = -1;

	if (walk_dir(directory, 0, &dir, NULL, &err) != 0)
		return -EACCES;
	fd = openat(dir, FACTS, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
	return fd >= 0 && json_object_to_fd(fd, facts, JSON_C_TO_STRING_PRETTY) == 0 ? 0 : -errno;
}

/* --- the list -------------------------------------------------------------------- */

/* The file's end, from the beginning of a line; "": there is none. Allocated. */
static char *crashes_list_read(int fd)
{
	char *text = xalloc(LIST_BYTES + 1), *newline;
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	off_t from = size > (off_t)LIST_BYTES ? size - (off_t)LIST_BYTES : 0;
	ssize_t len = fd < 0 ? 0 : pread(fd, text, LIST_BYTES, from);

	text[MAX(len, 0)] = '\0';
	newline = from ? strchr(text, '\n') : NULL;
	if (newline)
		memmove(text, newline + 1, strlen(newline));
	return text;
}

/* Others may add theirs at the same time. */
static int crashes_list_add(const char *directory)
{
	int fd AUTO_FD = home_open(LIST, O_RDWR | O_CREAT | O_APPEND, 0600);
	char *line AUTO_FREE = xasprintf("%s\n", directory);
	struct stat st;

	if (fd < 0)
		return fd;
	if (flock(fd, LOCK_EX) != 0 || fstat(fd, &st) != 0)
		return -errno;
	if (st.st_size > (off_t)LIST_BYTES) {
		char *kept AUTO_FREE = crashes_list_read(fd);
		size_t half = strlen(kept) / 2;
		const char *newline = strchr(kept + half, '\n');

		free(line);
		line = xasprintf("%s%s\n", newline ? newline + 1 : "", directory);
		if (ftruncate(fd, 0) != 0)
			return -errno;
	}
	return write(fd, line, strlen(line)) == (ssize_t)strlen(line) ? 0 : -errno;
}

struct json_object *crashes_list(void)
{
	int fd AUTO_FD = home_open(LIST, O_RDONLY, 0);
	struct json_object *list = json_object_new_array();
	char *text AUTO_FREE = NULL, *rest, *line;

	if (fd >= 0)
		(void)!flock(fd, LOCK_SH);
	rest = text = crashes_list_read(fd);
	while ((line = strsep(&rest, "\n"))) {
		struct json_object *crash = *line == '/' ? crashes_read(line) : NULL;

		if (crash)
			json_object_array_add(list, crash);
	}
	return list;
}

struct json_object *crashes_record(struct json_object *snapshot, struct json_object *program,
				   struct json_object *machine)
{
	struct json_object *o = crashes_facts(snapshot, program, machine);

	json_set_str(o, "directory", json_str(snapshot, "directory"));
	return o;
}

void crashes_save(struct ctl *ctl, struct json_object *snapshot, struct json_object *program,
		  struct json_object *machine)
{
	struct json_object *facts AUTO_RECORD = crashes_facts(snapshot, program, machine);
	const char *directory = json_str(snapshot, "directory");
	int ret = crashes_write(directory, facts);

	if (ret == 0 && !strchr(directory, '\n'))
		ret = crashes_list_add(directory);
	if (ret != 0)
		print_warning(ctl, "'lttctl crash' will not list this snapshot: %s",
			      strerror(-ret));
}

/* --- search ---------------------------------------------------------------------- */

static bool crashes_is_of(struct json_object *crash, const char *word, bool program)
{
	const char *command, *slash;

	if (!program)
		return strcmp(json_str(crash, "name"), word) == 0;
	if (strcmp(json_str(json_get(json_get(crash, "program"), "crash"), "name"), word) ==
	    0)
		return true;
	if (!json_len(json_get(crash, "program"), "command"))
		return false;
	command = json_object_get_string(json_at(json_get(crash, "program"), "command", 0));
	slash = strrchr(command, '/');
	return strcmp(slash ? slash + 1 : command, word) == 0;
}

static struct json_object *crashes_find_named(const char *word, bool program)
{
	struct json_object *list AUTO_RECORD = crashes_list();

	for (size_t i = json_object_array_length(list); i-- > 0;) {
		struct json_object *crash = json_object_array_get_idx(list, i);

		if (crashes_is_of(crash, word, program))
			return json_object_get(crash);
	}
	return NULL;
}

/* In the directory, or the last one in a directory of it: the output of `record --flight`. */
static struct json_object *crashes_find_in(const char *path)
{
	char *directory AUTO_FREE = realpath(path, NULL);
	AUTO_DIR DIR *dir = directory ? opendir(directory) : NULL;
	struct json_object *found = dir ? crashes_read(directory) : NULL;
	bool itself = found != NULL;
	struct dirent *entry;

	while (!itself && (entry = dir_next(dir))) {
		char *child AUTO_FREE = xasprintf("%s/%s", directory, entry->d_name);
		struct json_object *crash = crashes_read(child);

		if (!crash || json_num(crash, "time_ns") < json_num(found, "time_ns")) {
			json_object_put(crash);
			continue;
		}
		json_object_put(found);
		found = crash;
	}
	return found;
}

struct json_object *crashes_find(struct ctl *ctl, const char *word)
{
	struct json_object *found = NULL;

	if (!strchr(word, '/')) {
		found = crashes_find_named(word, false);
		if (!found)
			found = crashes_find_named(word, true);
	}
	if (!found)
		found = crashes_find_in(word);
	if (!found)
		err_set(&ctl->err, ERR_OUTPUT,
			"there is no crash '%s': 'lttctl crash' lists those that 'lttctl record "
			"--flight' and ltt-crash have saved",
			word);
	return found;
}
