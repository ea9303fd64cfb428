/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stacks - a thread whose signal handler runs on an alternate stack with SS_AUTODISARM, right above
 * its own: both emit long events, each of one letter. Prints the number of events.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <ltt/tracepoint.h>

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1u << 31)
#endif

enum { STACK_BYTES = 1 << 18, EVENTS = 3000, TEXT_BYTES = 3000 };

LTT_TRACEPOINT(stacks, event, (const char *text, int len), LTT_INFO,
	       ltt_sequence_text(text, text, uint16_t, len))

static char normal[TEXT_BYTES], signalled[TEXT_BYTES];
static volatile sig_atomic_t handled;

static void on_signal(int signo)
{
	(void)signo;
	ltt_trace(stacks, event, signalled, TEXT_BYTES);
	handled = handled + 1;
}

static void *emit(void *above)
{
	stack_t stack = { .ss_sp = above, .ss_size = STACK_BYTES, .ss_flags = (int)SS_AUTODISARM };

	if (sigaltstack(&stack, NULL) != 0)
		perror("sigaltstack");
	for (int i = 0; i < EVENTS; i++)
		ltt_trace(stacks, event, normal, TEXT_BYTES - i % 2000);
	return NULL;
}

static timer_t signal_often(void)
{
	const struct itimerspec often = { { 0, 50000 }, { 0, 50000 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
	    timer_settime(timer, 0, &often, NULL) != 0)
		perror("timer");
	return timer;
}

int main(void)
{
	const struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
	char *memory = mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t mask;
	timer_t timer;

	memset(normal, 'n', sizeof(normal));
	memset(signalled, 's', sizeof(signalled));
	sigaction(SIGUSR1, &action, NULL);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, memory, STACK_BYTES);
	if (memory == MAP_FAILED || pthread_create(&thread, &attr, emit, memory + STACK_BYTES) != 0)
		return 1;
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &mask, NULL);
	timer = signal_often();
	pthread_join(thread, NULL);
	timer_delete(timer);
	printf("%d\n", EVENTS + (int)handled);
	return 0;
}
