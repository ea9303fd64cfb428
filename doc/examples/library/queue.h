/* SPDX-License-Identifier: MIT */
/*
 * queue.h - the library's interface: it says nothing about tracing.
 */
#ifndef QUEUE_H
#define QUEUE_H

#include <deque>
#include <string>

class Queue {
public:
	explicit Queue(const std::string &name);
	void push(const std::string &job);
	bool pop(std::string &job);

private:
	std::string name;
	std::deque<std::string> jobs;
};

#endif
