/*
 * Interrupted again and again by a handler that takes its time.
 */
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#define APART __attribute__((noinline, noipa))

static volatile unsigned sink;

APART void spin(unsigned rounds)
{
	while (rounds--)
		sink = sink + 1;
}

APART void on_signal(int number)
{
	spin(1000000u + (unsigned)number);
	sink = sink + 1;
}

APART void interrupted(void)
{
	spin(1000000);
	sink = sink + 1;
}

int main(void)
{
	const struct itimerval often = { { 0, 2000 }, { 0, 2000 } };
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	sigaction(SIGVTALRM, &action, 0);
	setitimer(ITIMER_VIRTUAL, &often, 0);
	for (;;)
		interrupted();
}
