/* SPDX-License-Identifier: GPL-2.0-only */
#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "control_reply.h"
#include "io/tcp.h"
#include "now.h"
#include "proto/consumer.h"
#include "proto/relay.h"

/** A request that is being answered. */
struct request {
	struct control *control;
	const struct msg_header *header;
	struct decoder *dec;
};

static void request_answer(const struct request *rq, const struct err *err)
{
	control_answer(rq->control, rq->header->type, rq->header->serial, err);
}

/* Then the kernel drops the descriptors of a message. */
static bool no_descriptor_is_free(void)
{
	int fds[MSG_MAX_FDS], error = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
		if (fds[i] < 0)
			error = errno;
	}
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		close_fd(fds[i]);
	return error == EMFILE || error == ENFILE;
}

static int request_is_bad(struct err *err)
{
	if (no_descriptor_is_free())
		return err_set(err, ERR_LIMIT,
			       "the consumer daemon (pid %d) may not open more files; raise its "
			       "limit (ulimit -n, LimitNOFILE=), or destroy sessions",
			       (int)getpid());
	return err_set(err, ERR_BAD_MESSAGE, "the message could not be decoded");
}

static int request_id_in_use(struct err *err, const char *what, uint64_t id)
{
	return err_set(err, ERR_INVALID, "there is a %s %llu already", what,
		       (unsigned long long)id);
}

static struct job *request_job(const struct request *rq, enum job_kind kind, struct output *output)
{
	struct job *job = job_new(kind, output);

	job->type = rq->header->type;
	job->serial = rq->header->serial;
	job->connection = rq->control->connection;
	return job;
}

/* Answer when the jobs that the worker received before are done. */
static void request_answer_behind(const struct request *rq, struct output *output, uint64_t ring)
{
	struct job *job = request_job(rq, JOB_WAIT, output);

	job->id = ring;
	worker_post(output->worker, job);
}

static void request_answer_all_adopted(const struct request *rq, const struct err *err)
{
	struct rep_con_adopted rep;
	uint8_t buf[128];
	struct encoder enc;

	control_begin_reply(&enc, buf, sizeof(buf), MSG_con_adopted, rq->header->serial, err);
	rep_con_adopted_encode(&enc, &rep);
	control_send(rq->control, &enc);
}

/*
 * Handlers: each returns a code (then the caller answers with @err), or 0 where the
 * answer has been given or is a worker's to give.
 */

/* --- opening and taking over ------------------------------------------------------- */

static bool control_is_relay(const char *addr, const char *name, const char *stamp, struct blob id,
			     uint8_t link)
{
	return id.len == RELAY_CONN_ID_BYTES && strlen(addr) < RELAY_ADDRS_BYTES &&
	       link <= RELAY_LINK_TLS && !name_check(name) && !name_check(stamp);
}

/* Of a request with these fields. */
#define CONTROL_TAKE_RELAY(config, req)                                                     \
	do {                                                                                \
		(config)->addr = xstrdup((req)->relay);                                     \
		(config)->url = *(req)->relay_url ? xstrdup((req)->relay_url) : NULL;       \
		(config)->name = xstrdup((req)->relay_name);                                \
		(config)->stamp = xstrdup((req)->relay_stamp);                              \
		memcpy((config)->id, (req)->relay_id.data, RELAY_CONN_ID_BYTES);            \
		(config)->host = *(req)->relay_host ? xstrdup((req)->relay_host) : NULL;    \
		(config)->link = (enum relay_link)(req)->relay_clear;                       \
	} while (0)

static int control_parse_relay(const struct req_con_output_open *req, struct worker_config *config,
			       struct err *err)
{
	if (!req->relay[0])
		return 0;
	if (!control_is_relay(req->relay, req->relay_name, req->relay_stamp, req->relay_id,
			      req->relay_clear))
		return request_is_bad(err);
	config->relay.spool = req->dir >= 0 || req->path[0];
	if (config->relay.spool && !req->max_size)
		return err_set(err, ERR_INVALID, "a spool has a greatest size");
	CONTROL_TAKE_RELAY(&config->relay, req);
	config->relay.live_us = req->relay_live_us;
	config->relay.compress = req->relay_compress != 0;
	config->relay.sync = config->sync;
	config->relay.sync_us = config->sync_us;
	config->relay_later = req->relay_later;
	config->leftover = req->relay_rest && config->relay.spool;
	return 0;
}

static int start_worker(const struct request *rq, const struct req_con_output_open *req,
			struct err *err)
{
	struct control *c = rq->control;
	struct worker_config config = {
		.dir_fd = req->dir,
		.at_path = req->path[0] != '\0',
		.uid = req->uid,
		.gid = req->gid,
		.flush_us = req->flush_us,
		.keep_free = req->keep_free,
		.max_size = req->max_size,
		.sync = (enum sync_mode)MIN(req->sync, SYNC_PERIOD),
		.sync_us = req->sync_us,
		.snapshots = req->snapshots != 0,
		.gap = req->gap != 0,
		.doorbell_fd = req->doorbell,
		.done = &c->done,
	};
	struct worker *worker;
	struct output *output;
	struct job *job;
	int ret;

	if (control_parse_relay(req, &config, err) ||
	    (req->turning[0] && chunk_check_path(req->turning, err)))
		return err->code;
	ret = worker_new(&config, &worker);
	if (ret < 0)
		return err_errno(err, ERR_INTERNAL, -ret, "can't start a worker");
	output = output_new(c, req->output, worker);
	output->connection = c->connection;
	output->writer = req->output | (uint64_t)(req->part != 0) << 63;
	if (req->relay[0])
		(void)!output_watch_kernel(output,
					   c->loop); /* else a relay that is gone is noticed late */
	job = request_job(rq, JOB_START, output);
	if (req->dir < 0 && req->path[0]) {
		job->start.path = xstrdup(req->path);
		job->start.dir = (struct dirid){ req->path_dev, req->path_ino, req->path_born_ns };
	}
	job->id = output->writer;
	job->start.turning = req->turning[0] ? xstrdup(req->turning) : NULL;
	worker_post(worker, job);
	return 0;
}

static int on_con_output_open(const struct request *rq, struct req_con_output_open *req,
			      struct err *err)
{
	struct output *output;

	output = output_find(rq->control, req->output);
	if (output) {
		close_fd(req->dir);
		close_fd(req->doorbell);
		if (output->closing || output->connection == rq->control->connection)
			return request_id_in_use(err, "output", req->output);
		output->connection = rq->control->connection;
		output->hanging = false; /* not yet reported on this connection */
		request_answer(rq, err);
		return 0;
	}
	return start_worker(rq, req, err);
}

static struct output *request_output(const struct request *rq, uint64_t id, struct err *err)
{
	struct output *output = output_find(rq->control, id);

	if (output && !output->closing)
		return output;
	control_unknown(err, "output", id);
	return NULL;
}

static int control_trace(const struct request *rq, struct req_con_trace *req, struct err *err)
{
	struct output *output = request_output(rq, req->output, err);
	struct trace_ref *trace = trace_ref_find(rq->control, req->trace);
	struct job *job;

	if (!output)
		return err->code;
	if (trace && (!req->adopt || trace->output != output))
		return request_id_in_use(err, "trace", req->trace);
	if (req->uuid.len != sizeof(job->trace.uuid))
		return err_set(err, ERR_INVALID, "a trace's UUID has 16 bytes, not %u",
			       req->uuid.len);
	if (chunk_check_path(req->path, err))
		return err->code;
	if (!trace)
		trace_ref_new(rq->control, output, req->trace);
	job = request_job(rq, JOB_TRACE, output);
	job->trace.adopt = req->adopt != 0;
	job->id = req->trace;
	job->trace.path = xstrdup(req->path);
	if (job->trace.adopt) {
		job->trace.metadata_bytes = req->metadata_bytes;
		job->trace.metadata = TAKE_FD(req->metadata);
	}
	memcpy(job->trace.uuid, req->uuid.data, sizeof(job->trace.uuid));
	worker_post(output->worker, job);
	return 0;
}

static int on_con_trace(const struct request *rq, struct req_con_trace *req, struct err *err)
{
	int code;

	code = control_trace(rq, req, err);
	close_fd(req->metadata);
	return code;
}

static struct trace_ref *request_trace(const struct request *rq, uint64_t id, struct err *err)
{
	struct trace_ref *trace = trace_ref_find(rq->control, id);

	if (trace && !trace->output->closing)
		return trace;
	control_unknown(err, "trace", id);
	return NULL;
}

static int on_con_trace_close(const struct request *rq, struct req_con_trace_close *req,
			      struct err *err)
{
	struct trace_ref *trace;
	struct job *job;

	trace = request_trace(rq, req->trace, err);
	if (!trace)
		return err->code;
	job = request_job(rq, JOB_TRACE_CLOSE, trace->output);
	job->id = req->trace;
	worker_post(trace->output->worker, job);
	return 0;
}

static int control_kallsyms(const struct request *rq, struct req_con_trace_kallsyms *req,
			    struct err *err)
{
	struct trace_ref *trace = request_trace(rq, req->trace, err);
	struct job *job;

	if (!trace)
		return err->code;
	if (req->file < 0)
		return err_set(err, ERR_INVALID, "the functions of the kernel are missing");
	job = request_job(rq, JOB_KALLSYMS, trace->output);
	job->id = req->trace;
	job->kallsyms.file = TAKE_FD(req->file);
	worker_post(trace->output->worker, job);
	return 0;
}

static int on_con_trace_kallsyms(const struct request *rq, struct req_con_trace_kallsyms *req,
				 struct err *err)
{
	int code = control_kallsyms(rq, req, err);

	close_fd(req->file);
	return code;
}

static int on_con_metadata_append(const struct request *rq, struct req_con_metadata_append *req,
				  struct err *err)
{
	struct trace_ref *trace;
	struct job *job;

	trace = request_trace(rq, req->trace, err);
	if (!trace)
		return err->code;
	job = request_job(rq, JOB_METADATA, trace->output);
	job->id = req->trace;
	job->metadata.text_len = req->text.len;
	job->metadata.text = xalloc(req->text.len);
	if (req->text.len)
		memcpy(job->metadata.text, req->text.data, req->text.len);
	worker_post(trace->output->worker, job);
	return 0;
}

static int make_desc(const struct req_con_ring *req, struct ltt_ring_desc *ret, struct err *err)
{
	*ret = (struct ltt_ring_desc){
		.mode = req->mode,
		.nr_rings = req->nr_rings,
		.num_subbuf = req->num_subbuf,
		.subbuf_size = req->subbuf_size,
		.clock = req->clock,
		.blocking_us = req->blocking_us,
		.gap = req->reclaim ? (uint32_t)sysconf(_SC_PAGESIZE) : 0,
	};
	if (ringset_check_channel(req->channel, err))
		return err->code;
	return ringmem_check(ret, err);
}

/* Descriptors of the request are the job's from then on. */
static int post_ring(const struct request *rq, struct req_con_ring *req, struct trace_ref *trace,
		     struct err *err)
{
	struct ltt_ring_desc desc;
	struct ring_ref *ring;
	struct job *job;

	if (make_desc(req, &desc, err))
		return err->code;
	if (req->adopt && req->module >= 0) {
		int ret = output_watch_kernel(trace->output, rq->control->loop);

		if (ret < 0)
			return err_errno(err, ERR_INTERNAL, -ret,
					 "can't poll the kernel's buffers");
	}
	trace->output->clock_add = MAX(trace->output->clock_add, req->clock_add);
	ring = ring_ref_new(rq->control, trace->output, req->ring, req->nr_rings);
	ring->connection = rq->control->connection;
	ring->adopting = req->adopt;
	job = request_job(rq, JOB_RING, trace->output);
	job->id = req->ring;
	job->ring.adopt = ring->adopting;
	job->ring.trace = req->trace;
	if (job->ring.adopt) {
		job->ring.fds =
			(struct ringmem_fds){ TAKE_FD(req->data), -1, TAKE_FD(req->ctl_rw) };
		job->ring.module = TAKE_FD(req->module);
	}
	job->ring.spec = (struct ringset_spec){
		.id = req->ring,
		.desc = desc,
		.channel = xstrdup(req->channel),
		.stream_class = req->stream_class,
		.first_instance = req->first_instance,
		.tracefile_size = req->tracefile_size,
		.tracefile_count = req->tracefile_count,
		.clock_add = req->clock_add,
		.boxes = ring->boxes,
		.module = job->ring.module >= 0,
		.splice = req->splice,
		.kept = req->kept != 0,
		.remembered = req->kept == RING_REMEMBERED,
		.sparse = req->on_demand,
		.exclusive = req->exclusive != 0,
		.reclaim_ns = MIN(req->reclaim_ns, UINT64_MAX / 4), /* it is added to times */
	};
	worker_post(trace->output->worker, job);
	return 0;
}

/* Ours already, or soon: only the session daemon is another. */
static int keep_ring(const struct request *rq, struct ring_ref *ring, uint64_t clock_add,
		     struct err *err)
{
	if (ring->connection == rq->control->connection)
		return request_id_in_use(err, "ring set", ring->node.id);
	ring->connection = rq->control->connection;
	if (ring->repaired)
		control_send_counters(rq->control, rq->header->serial, ring);
	if (ring->set) /* con_clock_add may not have come */
		ringmem_add_to_clock(&ring->set->mem, clock_add);
	if (ring->set || ring->closing)
		control_answer_kept(rq->control, rq->header->serial);
	else
		request_answer_behind(rq, ring->output, ring->node.id);
	return 0;
}

static int control_ring(const struct request *rq, struct req_con_ring *req, struct err *err)
{
	struct ring_ref *ring = ring_ref_find(rq->control, req->ring);
	struct trace_ref *trace = request_trace(rq, req->trace, err);

	if (!trace)
		return err->code;
	if (ring && !req->adopt)
		return request_id_in_use(err, "ring set", req->ring);
	if ((req->data < 0) != (req->ctl_rw < 0))
		return err_set(err, ERR_INVALID, "the request has no descriptors of buffers");
	if (ring && ring->repaired && req->data >= 0) /* the memory was found after all */
		ring = ring_ref_free(ring);
	return ring ? keep_ring(rq, ring, req->clock_add, err) : post_ring(rq, req, trace, err);
}

static int on_con_ring(const struct request *rq, struct req_con_ring *req, struct err *err)
{
	int code;

	code = control_ring(rq, req, err);
	close_fd(req->data);
	close_fd(req->ctl_rw);
	close_fd(req->module);
	return code;
}

/* --- rings and ends ---------------------------------------------------------------- */

/* One that is still being opened is switched then. */
static void switch_ring(struct ring_ref *ring, bool on)
{
	ring->switched = true;
	ring->on = on;
	if (ring->set)
		ringset_switch(ring->set, on);
}

/* A ring that is not there any more is not recorded to. */
static int on_con_ring_enable(const struct request *rq, struct req_con_ring_enable *req,
			      struct err *err)
{
	struct msg_con_ring_ref ref;

	if (!request_output(rq, req->output, err))
		return err->code;
	while (msg_con_ring_ref_next(&req->rings, &ref)) {
		struct ring_ref *ring = ring_ref_find(rq->control, ref.ring);

		if (!ring || ring->closing || ring->output->node.id != req->output)
			control_unknown(err, "open ring set", ref.ring);
		else
			switch_ring(ring, req->on);
	}
	request_answer(rq, err);
	return 0;
}

/* A ring set that is still being opened gets it then. */
static int on_con_clock_add(const struct request *rq, struct req_con_clock_add *req,
			    struct err *err)
{
	struct output *output;
	struct ring_ref *ring;

	output = request_output(rq, req->output, err);
	if (!output)
		return err->code;
	output->clock_add = req->cycles;
	list_for_each(ring, &output->rings, output_node)
		if (ring->set)
			ringmem_add_to_clock(&ring->set->mem, req->cycles);
	request_answer(rq, err);
	return 0;
}

static int on_con_reclaim(const struct request *rq, struct req_con_reclaim *req, struct err *err)
{
	struct output *output = request_output(rq, req->output, err);
	struct job *job;

	if (!output)
		return err->code;
	job = request_job(rq, JOB_RECLAIM, output);
	job->reclaim = (struct job_reclaim){ .all = req->all != 0,
					     .stream_class = req->stream_class,
					     .age_ns = req->age_ns };
	worker_post(output->worker, job);
	return 0;
}

static int on_con_output_flush(const struct request *rq, struct req_con_output_flush *req,
			       struct err *err)
{
	struct output *output;

	output = request_output(rq, req->output, err);
	if (!output)
		return err->code;
	worker_post(output->worker, request_job(rq, JOB_FLUSH, output));
	return 0;
}

/* Each copy of a trace has a UUID of its own, but for a request that is repeated, also to another
 * consumer: hashes of idmap.h differ in each process. FNV-1a. */
static void control_mix(uint8_t ret[16], const struct req_con_snapshot *req)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (const char *at = req->name; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 0x100000001b3ull;
	memcpy(ret, req->relay_id.data, 16);
	for (size_t i = 0; i < sizeof(hash); i++)
		ret[i] ^= (uint8_t)(hash >> 8 * i);
}

/* The time until now is added: the events before the request are wanted. */
static uint64_t control_last(const struct req_con_snapshot *req)
{
	uint64_t now = now_ns();

	if (!req->last_ns || !req->since_ns || now <= req->since_ns)
		return req->last;
	return req->last + (uint64_t)((unsigned __int128)req->last * (now - req->since_ns) /
				      req->last_ns);
}

static int control_snapshot(const struct request *rq, struct req_con_snapshot *req, struct err *err)
{
	struct output *output = request_output(rq, req->output, err);
	struct job *job;

	if (!output || ((req->remembered || req->to) && chunk_check_path(req->name, err)))
		return err->code;
	if (req->to && ((!req->remembered && req->to != req->output) ||
			req->relay_id.len != sizeof(job->snapshot.to_id)))
		return request_is_bad(err);
	if (req->to && !request_output(rq, req->to, err))
		return err->code;
	if ((!req->remembered && !req->to && name_check(req->name)) ||
	    (!*req->relay && !req->to && req->dir < 0 && !*req->path &&
	     worker_dir_fd(output->worker) < 0))
		return err_set(err, ERR_INVALID, "there is no directory for a snapshot '%.255s'",
			       req->name);
	if (*req->relay && !control_is_relay(req->relay, req->relay_name, req->relay_stamp,
					     req->relay_id, req->relay_clear))
		return request_is_bad(err);
	job = request_job(rq, JOB_SNAPSHOT, output);
	job->id = req->output;
	job->snapshot.name = xstrdup(req->name);
	job->snapshot.dir_fd = TAKE_FD(req->dir);
	job->snapshot.path = *req->path ? xstrdup(req->path) : NULL;
	job->snapshot.dir = (struct dirid){ req->path_dev, req->path_ino, req->path_born_ns };
	job->snapshot.max_size = req->max_size;
	job->snapshot.last = control_last(req);
	job->snapshot.remembered = req->remembered;
	job->snapshot.to = req->to;
	if (req->to)
		control_mix(job->snapshot.to_id, req);
	if (*req->relay)
		CONTROL_TAKE_RELAY(&job->snapshot.relay, req);
	worker_post(output->worker, job);
	return 0;
}

static int on_con_snapshot(const struct request *rq, struct req_con_snapshot *req, struct err *err)
{
	int ret;

	ret = control_snapshot(rq, req, err);
	close_fd(req->dir);
	return ret;
}

static int on_con_turn(const struct request *rq, struct req_con_turn *req, struct err *err)
{
	struct output *output = request_output(rq, req->output, err);
	struct job *job;

	if (!output || chunk_check_path(req->name, err))
		return err->code;
	job = request_job(rq, JOB_TURN, output);
	job->id = output->writer;
	job->turn.name = xstrdup(req->name);
	job->turn.clear = req->clear != 0;
	worker_post(output->worker, job);
	return 0;
}

static int on_con_archive_remove(const struct request *rq, struct req_con_archive_remove *req,
				 struct err *err)
{
	struct output *output = request_output(rq, req->output, err);
	struct job *job;

	if (!output)
		return err->code;
	job = request_job(rq, JOB_ARCHIVES, output);
	job->id = req->output;
	job->archives = (struct job_archives){ .most = req->most,
					       .since_s = req->since_s,
					       .max_size = req->max_size };
	worker_post(output->worker, job);
	return 0;
}

static int on_con_ring_close(const struct request *rq, struct req_con_ring_close *req,
			     struct err *err)
{
	struct ring_ref *ring;
	struct job *job;

	ring = ring_ref_find(rq->control, req->ring);
	if (!ring || ring->output->closing ||
	    (ring->closing && ring->closing_life == rq->control->connection))
		return control_unknown(err, "open ring set", req->ring);
	if (ring->closing) { /* requested by an earlier daemon that did not receive the reply */
		ring->closing_life = rq->control->connection;
		request_answer_behind(rq, ring->output, req->ring);
		return 0;
	}
	ring_ref_begin_closing(ring);
	ring->closing_life = rq->control->connection;
	job = request_job(rq, JOB_RING_CLOSE, ring->output);
	job->id = req->ring;
	worker_post(ring->output->worker, job);
	return 0;
}

static int on_con_ring_forget(const struct request *rq, struct req_con_ring_forget *req,
			      struct err *err)
{
	struct ring_ref *ring;

	ring = ring_ref_find(rq->control, req->ring);
	if (!ring || !ring->closed || ring->output->closing)
		return control_unknown(err, "closed ring set", req->ring);
	ring_ref_free(ring);
	request_answer(rq, err);
	return 0;
}

static void close_ring(struct ring_ref *ring)
{
	struct job *job = job_new(JOB_RING_CLOSE, ring->output);

	ring_ref_begin_closing(ring);
	job->id = ring->node.id;
	worker_post(ring->output->worker, job);
}

static void leave_output(struct output *output)
{
	struct job *job = job_new(JOB_END, output);

	job->end.leave = true;
	output_begin_leaving(output);
	worker_post(output->worker, job);
}

static int on_con_adopted(const struct request *rq, struct req_con_adopted *req, struct err *err)
{
	struct output *output;
	struct ring_ref *ring;
	struct job *job;

	(void)req;
	list_for_each(output, &rq->control->all, all_node) {
		if (output->closing)
			continue;
		if (output->connection != rq->control->connection)
			output_end(output);
		else
			list_for_each(ring, &output->rings, output_node)
				if (ring->connection != rq->control->connection && !ring->closing)
					close_ring(ring);
		if (!output->closing) {
			job = job_new(JOB_COMPLETE, output);
			job->id = output->writer;
			worker_post(output->worker, job);
		}
	}
	request_answer_all_adopted(rq, err);
	return 0;
}

static int on_con_output_close(const struct request *rq, struct req_con_output_close *req,
			       struct err *err)
{
	struct output *output;
	struct job *job;

	output = request_output(rq, req->output, err);
	if (!output)
		return err->code;
	output_begin_closing(output);
	job = request_job(rq, JOB_END, output);
	job->id = output->writer;
	worker_post(output->worker, job);
	return 0;
}

static int on_con_held(const struct request *rq, struct req_con_held *req, struct err *err)
{
	struct output *output;

	(void)req;
	list_for_each(output, &rq->control->all, all_node)
		if (!output->closing)
			control_send_held(rq->control, rq->header->serial, output);
	request_answer(rq, err);
	return 0;
}

/* --- figures --------------------------------------------------------------------- */

/* Is a ring set that has counters already still being taken over? */
static bool is_adopting(const struct output *output)
{
	const struct ring_ref *ring;

	list_for_each(ring, &output->rings, output_node)
		if (ring->adopting)
			return true;
	return false;
}

static void answer_stats(const struct request *rq, const struct output *output,
			 const struct err *err)
{
	const struct relay_facts relay = worker_relay(output->worker);
	struct rep_con_stats rep = {
		.spooled = worker_spooled(output->worker),
		.clock_offset_ns = relay.clock_offset_ns,
		.clock_error_ns = relay.clock_error_ns,
		.undurable = worker_undurable(output->worker),
		.live_url = relay.live_url,
	};
	struct encoder enc;
	uint8_t buf[64 + RELAY_CONN_LIVE_BYTES];

	control_begin_reply(&enc, buf, sizeof(buf), MSG_con_stats, rq->header->serial, err);
	rep_con_stats_encode(&enc, &rep);
	control_send(rq->control, &enc);
}

/* The session daemon sends such a request while others have not been answered for long. */
static void watch_outputs(struct control *c)
{
	struct output *output;

	list_for_each(output, &c->all, all_node)
		control_watch_output(c, output);
}

static int on_con_stats(const struct request *rq, struct req_con_stats *req, struct err *err)
{
	struct output *output;

	output = output_find(rq->control, req->output);
	if (!output) {
		watch_outputs(rq->control);
		return control_unknown(err, "output", req->output);
	}
	if (is_adopting(output) && !output->closing) {
		request_answer_behind(rq, output, 0);
		return 0;
	}
	control_watch_output(rq->control, output);
	control_send_all_counters(rq->control, rq->header->serial, output);
	answer_stats(rq, output, err);
	return 0;
}

/* --- all of them ----------------------------------------------------------------- */

static int on_con_end(const struct request *rq, struct req_con_end *req, struct err *err)
{
	(void)req, (void)err;
	rq->control->ops->end(rq->control);
	return 0;
}

#define COMMAND(name, number, access, turn, doc)                                          \
	static int take_##name(const struct request *rq, struct err *err)                 \
	{                                                                                 \
		struct req_##name req;                                                    \
                                                                                          \
		return req_##name##_decode(rq->dec, &req) < 0 ? request_is_bad(err) :     \
								on_##name(rq, &req, err); \
	}
#include "proto/consumer.def"

void control_message(struct control *c, const struct msg_header *header, struct decoder *dec)
{
	static const struct {
		uint16_t type;
		int (*take)(const struct request *rq, struct err *err);
	} rows[] = {
#define COMMAND(name, number, access, turn, doc) { number, take_##name },
#include "proto/consumer.def"
	};
	struct request rq = { .control = c, .header = header, .dec = dec };
	struct err err = { 0 };
	size_t i = 0;

	while (i < ARRAY_SIZE(rows) && rows[i].type != header->type)
		i++;
	if (c->ending)
		err_set(&err, ERR_STATE, "the consumer daemon is ending");
	else if (i == ARRAY_SIZE(rows))
		err_set(&err, ERR_UNKNOWN_COMMAND, "unknown command %u", header->type);
	else if (rows[i].take(&rq, &err) == 0)
		return;
	request_answer(&rq, &err);
}

/* --- life --------------------------------------------------------------------- */

int control_init(struct control *c, struct loop *loop, const struct control_ops *ops)
{
	int ret;

	memset(c, 0, sizeof(*c));
	c->ops = ops;
	c->loop = loop;
	idmap_init(&c->outputs);
	idmap_init(&c->traces);
	idmap_init(&c->rings);
	list_init(&c->all);
	ret = job_queue_init(&c->done, true);
	if (ret == 0)
		ret = loop_fd_init(&c->done_source, loop, c->done.event_fd, EPOLLIN,
				   control_on_done);
	return ret;
}

void control_fini(struct control *c)
{
	loop_fd_fini(&c->done_source);
	job_queue_fini(&c->done);
	idmap_fini(&c->outputs);
	idmap_fini(&c->traces);
	idmap_fini(&c->rings);
}

void control_end(struct control *c, bool leave)
{
	struct output *output;

	if (c->ending)
		return;
	c->ending = true;
	list_for_each(output, &c->all, all_node)
		if (!output->closing)
			(leave ? leave_output : output_end)(output);
}
