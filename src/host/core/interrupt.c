/*
 * Asks for signals that wait.  Host only.
 */
#include "host/core/interrupt.h"

#include <signal.h>

bool interrupt_is_waiting(void)
{
	sigset_t waiting;

	return !sigpending(&waiting) &&
	       (sigismember(&waiting, SIGINT) == 1 || sigismember(&waiting, SIGTERM) == 1);
}
