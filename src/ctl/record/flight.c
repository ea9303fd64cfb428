/* SPDX-License-Identifier: GPL-2.0-only */
#include "flight.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/mem.h"
#include "base/str.h"
#include "crashes.h"
#include "ctl/connect.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/print/text.h"
#include "read/view.h"

#define SUBBUFS 8u
#define SUBBUF_LEAST 4096u
#define END_NS 2000000000u /* a core dump may take longer: its signal stays unknown */
#define END_POLL_MS 20
#define LINES 10u /* that are shown */
#define PROBE_REST 9u
#define PROBE_LEAST_NS 100000000u

int flight_take_size(const char *text, struct ltt_ctl_channel_options *ret, struct err *err)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint64_t size, subbuf;

	if (parse_size(text, &size) != 0 || !size)
		return err_set(err, ERR_INVALID,
			       "--flight=%s: this is not a size, such as 67108864, 64M or 1G",
			       text);
	subbuf = round_up_pow2(size / (uint64_t)MAX(cpus, 1l) / SUBBUFS + 1) / 2;
	if (subbuf < SUBBUF_LEAST)
		return err_set(err, ERR_INVALID,
			       "--flight=%s: the buffers of %ld CPUs need %ld KiB at least", text,
			       cpus, cpus * (long)(SUBBUFS * SUBBUF_LEAST) / 1024);
	ret->subbuf_size = subbuf;
	ret->num_subbuf = SUBBUFS;
	return 0;
}

/* --- the last events --------------------------------------------------------------- */

/** The last LINES lines of a text that is written to a stream. */
struct last_lines {
	char *lines[LINES]; /* the oldest is number @nr modulo LINES */
	size_t nr;
	char *rest; /* the beginning of a line */
	size_t len;
};

static void last_lines_fini(struct last_lines *last)
{
	for (size_t i = 0; i < LINES; i++)
		free(last->lines[i]);
	free(last->rest);
}

static void flight_add_line(struct last_lines *last, const char *text, size_t len)
{
	char **line = &last->lines[last->nr++ % LINES];

	free(*line);
	*line = xasprintf("%.*s%.*s", (int)last->len, last->rest ? last->rest : "", (int)len, text);
	last->len = 0;
}

static ssize_t flight_write(void *cookie, const char *data, size_t size)
{
	struct last_lines *last = cookie;
	const char *end = data + size, *newline;

	while ((newline = memchr(data, '\n', (size_t)(end - data)))) {
		flight_add_line(last, data, (size_t)(newline - data));
		data = newline + 1;
	}
	last->rest = xrealloc(last->rest, last->len + (size_t)(end - data) + 1);
	memcpy(last->rest + last->len, data, (size_t)(end - data));
	last->len += (size_t)(end - data);
	return (ssize_t)size;
}

/* @select: also hides state dumps. Return: false: there is none of these events. */
static bool flight_read(const char *directory, struct view_select select, struct last_lines *ret)
{
	const struct view_style style = { .format = VIEW_TEXT, .tasks = true };
	FILE *to = fopencookie(ret, "w", (cookie_io_functions_t){ .write = flight_write });
	struct view *view = NULL;
	bool read;

	select.hidden = VIEW_STATEDUMP;
	read = to && view_open(directory, NULL, NULL, &view) >= 0 &&
	       view_print(view, &select, &style, to) == 0;
	view_free(view);
	if (to)
		fclose(to);
	return read && ret->nr;
}

static bool flight_read_thread(const char *directory, struct json_object *crash,
			       struct last_lines *ret)
{
	char process[24], thread[24];

	if (!json_num(crash, "tid"))
		return false;
	snprintf(process, sizeof(process), "%" PRIu64, json_num(crash, "pid"));
	snprintf(thread, sizeof(thread), "%" PRIu64, json_num(crash, "tid"));
	return flight_read(directory,
			   (struct view_select){ .processes = process, .threads = thread }, ret);
}

struct json_object *flight_last(const char *directory, struct json_object *crash)
{
	struct json_object *o = json_object_new_object();
	struct last_lines last = { .nr = 0 };
	bool of_thread = flight_read_thread(directory, crash, &last);

	if (!of_thread)
		(void)!flight_read(directory, (struct view_select){ 0 }, &last);
	json_set_bool(o, "of_thread", of_thread);
	json_set(o, "lines", json_object_new_array());
	for (size_t i = 0; i < LINES; i++)
		if (last.lines[(last.nr + i) % LINES])
			json_append(o, "lines",
				      json_object_new_string(last.lines[(last.nr + i) % LINES]));
	last_lines_fini(&last);
	return o;
}

void flight_show(FILE *out, struct json_object *last, struct json_object *crash)
{
	if (!json_len(last, "lines"))
		return;
	if (json_flag(last, "of_thread"))
		text_form(out, crash,
			  "The last events of thread {tid} of process {pid}, which crashed:\n");
	else
		fputs("The last events of all threads:\n", out);
	text_forms(out, last, "lines", "  {}\n");
}

/* --- snapshots ---------------------------------------------------------------------- */

static struct json_object *flight_crash_record(const struct fault *fault, bool named)
{
	struct json_object *crash = json_object_new_object();

	JSON_COPY(crash, fault, pid, tid);
	if (named)
		json_set_str(crash, "name", fault->name);
	return crash;
}

/* The thread that crashed: the program's, else that of the last process that it started. */
static const struct fault *flight_fault(const struct run *run)
{
	const struct faults *faults = run->faults;

	if (faults->own.pid)
		return &faults->own;
	return faults->nr ? &faults->last[(faults->nr - 1) % FAULTS_KEPT] : NULL;
}

static struct json_object *flight_program_record(const struct ctl *ctl, int status, int signal,
						 uint64_t ns)
{
	struct json_object *o = json_object_new_object();

	for (unsigned int i = 0; i < ctl->nr_operands; i++)
		json_append(o, "command", json_object_new_string(ctl->operands[i]));
	json_set_num(o, "exit_status", (uint64_t)status);
	json_set_num(o, "signal", (uint64_t)signal);
	json_set_num(o, "duration_ns", ns);
	return o;
}

struct json_object *flight_program(const struct ctl *ctl, const struct run *run)
{
	const struct fault *fault = run->faults && run->exit_status ? flight_fault(run) : NULL;
	struct json_object *o =
		flight_program_record(ctl, run->exit_status, run->signal, run->duration_ns);

	if (fault && fault->tid)
		json_set(o, "crash", flight_crash_record(fault, false));
	return o;
}

/* @sure: a failure is a warning. */
static struct json_object *flight_save(struct ctl *ctl, const char *session, bool sure)
{
	struct ltt_ctl_snapshot_options wanted;
	struct ltt_ctl_snapshot *snapshot = NULL;
	struct json_object *saved = NULL;
	struct err err = { 0 };

	ltt_ctl_snapshot_options_init(&wanted);
	wanted.session = session;
	wanted.name = "flight";
	if (ctl_done(ctl, ltt_ctl_snapshot_record(ctl->library, &wanted, &snapshot), &err) == 0)
		saved = json_snapshot(session, snapshot);
	else if (sure)
		print_warning(ctl, "the last events are not saved: %s", err.text);
	ltt_ctl_snapshot_free(snapshot);
	return saved;
}

/* The session daemon may just have been killed: its successor has the buffers. */
static struct json_object *flight_save_surely(struct flight *flight, bool sure)
{
	struct json_object *saved = NULL;

	if (!ctl_is_connected(flight->ctl) && flight->run->repair(flight->run->priv) < 0)
		return NULL;
	faults_attend(flight->run->faults);
	saved = flight_save(flight->ctl, flight->session, sure);
	faults_unattend(flight->run->faults);
	return saved;
}

struct json_object *flight_save_program(struct flight *flight)
{
	struct json_object *saved = flight_save_surely(flight, true);
	struct json_object *program AUTO_RECORD = flight_program(flight->ctl, flight->run);

	if (saved)
		crashes_save(flight->ctl, saved, program, NULL);
	return saved;
}

/* --- crashes of other processes ------------------------------------------------------ */

static struct json_object *flight_crash_program(const struct flight *flight,
						const struct flight_crash *crash)
{
	int signo = crash->fault.signal;
	struct json_object *o =
		flight_program_record(flight->ctl, signo ? 128 + signo : 0, signo, crash->at_ns);

	json_set(o, "crash", flight_crash_record(&crash->fault, true));
	return o;
}

/* The kernel reports the signal when the process has ended, which is after its core dump. */
static void flight_list(struct flight *flight, bool all)
{
	for (size_t i = flight->nr - MIN(flight->nr, FLIGHT_KEPT); i < flight->nr; i++) {
		struct flight_crash *crash = &flight->kept[i % FLIGHT_KEPT];
		const struct fault *fault =
			faults_find(flight->run->faults, (pid_t)crash->fault.pid);
		struct json_object *program;

		if (crash->stored)
			continue;
		if (fault)
			crash->fault.signal = fault->signal;
		if (!crash->fault.signal && !all)
			continue;
		program = flight_crash_program(flight, crash);
		crashes_save(flight->ctl, crash->snapshot, program, NULL);
		crash->stored = true;
		json_object_put(program);
	}
}

/* The process was gone before /proc was read: the context of its events has its name. Return:
 * whether there are any. */
static bool flight_name(struct fault *fault, const char *directory)
{
	char process[24], *mark AUTO_FREE = xasprintf("[%u:", fault->pid);
	struct last_lines last CLEANUP(last_lines_fini) = { .nr = 0 };
	const char *line, *end, *begin;

	snprintf(process, sizeof(process), "%u", fault->pid);
	if (!flight_read(directory, (struct view_select){ .processes = process }, &last))
		return false;
	line = last.lines[(last.nr - 1) % LINES];
	end = strstr(line, mark);
	for (begin = end; begin && begin > line && begin[-1] != ' ';)
		begin--;
	if (end && !*fault->name)
		snprintf(fault->name, sizeof(fault->name), "%.*s", (int)(end - begin), begin);
	return true;
}

static void flight_remove(struct json_object *snapshot)
{
	if (snapshot)
		dir_remove(AT_FDCWD, json_str(snapshot, "directory"));
	json_object_put(snapshot);
}

static void flight_keep(struct flight *flight, struct fault *fault, struct json_object *snapshot)
{
	struct flight_crash *crash;

	if (!*fault->name)
		(void)flight_name(fault, json_str(snapshot, "directory"));
	crash = &flight->kept[flight->nr++ % FLIGHT_KEPT];
	flight_remove(crash->snapshot);
	*crash = (struct flight_crash){
		.fault = *fault,
		.snapshot = snapshot,
		.at_ns = run_now_ns() - flight->run->begin_ns,
	};
}

static bool flight_next(struct flight *flight, struct fault *ret)
{
	const struct faults *faults = flight->run->faults;

	while (flight->seen < faults->nr) {
		size_t behind = faults->nr - flight->seen;

		*ret = faults->last[flight->seen++ % FAULTS_KEPT];
		flight->crashed++;
		if (behind <= FLIGHT_KEPT)
			return true;
	}
	return false;
}

/* Which of the unsure ones have events in a snapshot that is made after their crashes: these are of
 * the program. The first of them has this snapshot. */
static void flight_find_own(struct flight *flight, size_t nr, struct json_object *snapshot)
{
	const struct faults *faults = flight->run->faults;
	const char *directory = json_str(snapshot, "directory");

	for (; snapshot && flight->probed < nr; flight->probed++) {
		struct fault fault = faults->unsure[flight->probed % FAULTS_UNSURE];
		struct json_object *own = snapshot;

		if (!fault.pid || !flight_name(&fault, directory))
			continue;
		flight->crashed++;
		snapshot = flight_save_surely(flight, true);
		directory = json_str(snapshot, "directory");
		flight_keep(flight, &fault, own);
	}
	flight_remove(snapshot);
	flight->probed = nr;
}

/* Most are processes that have nothing to do with the program: they cost a tenth of the time, at
 * most, and ten snapshots a second. */
static void flight_probe(struct flight *flight)
{
	size_t nr = flight->run->faults->nr_unsure;
	uint64_t begin = run_now_ns(), end;

	flight->probed = MAX(flight->probed, nr - MIN(nr, FAULTS_UNSURE));
	flight_find_own(flight, nr, flight_save_surely(flight, false));
	end = run_now_ns();
	flight->probe_ns = end + MAX(PROBE_REST * (end - begin), PROBE_LEAST_NS);
}

int flight_save_crash(void *priv)
{
	struct flight *flight = priv;
	const struct faults *faults = flight->run->faults;
	struct json_object *snapshot;
	struct fault fault;
	uint64_t now;

	if (flight_next(flight, &fault)) {
		snapshot = flight_save_surely(flight, true);
		if (snapshot)
			flight_keep(flight, &fault, snapshot);
	} else if (flight->probed < faults->nr_unsure && run_now_ns() >= flight->probe_ns) {
		flight_probe(flight);
	}
	flight_list(flight, false);
	if (flight->seen < faults->nr)
		return 0;
	if (flight->probed == faults->nr_unsure)
		return -1;
	now = run_now_ns();
	return now >= flight->probe_ns ? 0 : (int)((flight->probe_ns - now) / 1000000 + 1);
}

/* Whether a process that crashed has not ended yet: its signal is not known, or lttctl is to reap
 * it. */
static bool flight_is_ending(const struct flight *flight)
{
	for (size_t i = flight->nr - MIN(flight->nr, FLIGHT_KEPT); i < flight->nr; i++) {
		const struct flight_crash *crash = &flight->kept[i % FLIGHT_KEPT];
		siginfo_t info;

		if (!crash->stored ||
		    waitid(P_PID, crash->fault.pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
			return true;
	}
	return false;
}

struct json_object *flight_end(struct flight *flight)
{
	struct json_object *o = json_object_new_object();
	uint64_t limit = run_now_ns() + END_NS;

	(void)run_pause(flight->run, 0);
	flight->probe_ns = 0;
	while (flight_save_crash(flight) == 0)
		;
	while (flight_is_ending(flight) && run_now_ns() < limit &&
	       !run_pause(flight->run, END_POLL_MS))
		;
	flight_list(flight, true);
	JSON_COPY(o, flight, crashed);
	json_set_bool(o, "reported", flight->run->faults->fd >= 0);
	json_set(o, "saved", json_object_new_array());
	for (size_t i = flight->nr; i-- > 0 && flight->nr - i <= FLIGHT_KEPT;) {
		const struct flight_crash *crash = &flight->kept[i % FLIGHT_KEPT];
		struct json_object *program AUTO_RECORD = flight_crash_program(flight, crash);

		json_append(o, "saved", crashes_record(crash->snapshot, program, NULL));
	}
	return o;
}

void flight_fini(struct flight *flight)
{
	for (size_t i = 0; i < FLIGHT_KEPT; i++)
		json_object_put(flight->kept[i].snapshot);
}

/* --- text ---------------------------------------------------------------------------- */

static void flight_show_process(FILE *out, struct json_object *saved)
{
	struct json_object *program = json_get(saved, "program");
	struct json_object *crash = json_get(program, "crash");
	const char *name = json_str(crash, "name");
	int signo = json_object_get_int(json_get(program, "signal"));

	fprintf(out, "  %s (pid %" PRIu64, *name ? name : "?", json_num(crash, "pid"));
	if (signo)
		fprintf(out, ", signal %d: %s", signo, strsignal(signo));
	fprintf(out, "): %s\n", json_str(saved, "directory"));
}

void flight_show_crashes(FILE *out, struct json_object *crashes)
{
	uint64_t nr = json_num(crashes, "crashed");
	size_t saved = json_len(crashes, "saved");

	if (!nr && !json_flag(crashes, "reported"))
		fputs("The kernel does not report crashes of processes that the program started; "
		      "Linux 6.6 and newer\ndo, outside of containers.\n",
		      out);
	if (!nr)
		return;
	fprintf(out, "%" PRIu64 " process%s that the program started crashed", nr,
		nr == 1 ? "" : "es");
	if (saved < nr)
		fprintf(out, "; the last events of %zu of them are saved", saved);
	fputs(saved ? ". The last events before each, the newest first:\n" : ".\n", out);
	for (size_t i = 0; i < saved; i++)
		flight_show_process(out, json_at(crashes, "saved", i));
	if (saved)
		fputs("Show those of one with: lttctl crash DIRECTORY\n", out);
}
