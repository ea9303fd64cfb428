/* SPDX-License-Identifier: GPL-2.0-only */
/* hello_cxx [N] - the smallest traced C++ program. */
#include <iostream>
#include <string>

#include <ltt/marker.h>
#include <ltt/tracepoint.h>

namespace hello
{
LTT_TRACEPOINT(hello, cxx, (int number, const std::string &text), LTT_INFO,
	       ltt_int(int, number, number),
	       ltt_string(text, text.c_str()))

template <class T> void greet(T number)
{
	ltt_trace(hello, cxx, static_cast<int>(number), std::string("hello"));
	trace_mark(hello_template, "number %d", static_cast<int>(number));
}
} // namespace hello

int main(int argc, char **argv)
{
	int n = argc > 1 ? std::stoi(argv[1]) : 10;

	for (int i = 0; i < n; i++)
		hello::greet(i);
	std::cout << "said hello " << n << " times\n";
}
