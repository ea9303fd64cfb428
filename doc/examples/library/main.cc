/* SPDX-License-Identifier: MIT */
/*
 * main.cc - a program that uses the library.
 */
#include "queue.h"

int main()
{
	Queue queue("mail");
	std::string job;

	for (int i = 0; i < 10; i++)
		queue.push("letter " + std::to_string(i));
	while (queue.pop(job))
		;
	return 0;
}
