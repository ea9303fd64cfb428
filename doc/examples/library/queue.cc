/* SPDX-License-Identifier: MIT */
/*
 * queue.cc - a library whose tracepoints belong to it: programs need not know of libltt.
 */
#include "queue.h"

#include <ltt/tracepoint.h>

/* The events of one layout share its description. */
LTT_EVENT_CLASS(queue, job, (const char *name, const char *job, std::size_t length),
		ltt_string(name, name), ltt_string(job, job), ltt_int(std::size_t, length, length))
LTT_EVENT(queue, job, push, LTT_INFO)
LTT_EVENT(queue, job, pop, LTT_INFO)

Queue::Queue(const std::string &name) : name(name)
{
}

void Queue::push(const std::string &job)
{
	jobs.push_back(job);
	ltt_trace(queue, push, name.c_str(), job.c_str(), jobs.size());
}

bool Queue::pop(std::string &job)
{
	if (jobs.empty())
		return false;
	job = jobs.front();
	jobs.pop_front();
	ltt_trace(queue, pop, name.c_str(), job.c_str(), jobs.size());
	return true;
}
