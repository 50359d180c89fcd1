/*
 * Reads the kernel's clock state (adjtimex), which needs no right.
 */
#include "host/fleet/node/node_clock.h"

#include "host/core/clock.h"

#include <sys/timex.h>

void node_clock_read(struct node_clock *ret)
{
	struct timex timex = { 0 };
	int state = adjtimex(&timex);

	ret->boot_ns = boot_now_ns();
	ret->real_ns = clock_read_ns(CLOCK_REALTIME);
	ret->is_synchronized = state >= 0 && state != TIME_ERROR && !(timex.status & STA_UNSYNC);
	ret->error_ns = state >= 0 && timex.maxerror > 0 ? (uint64_t)timex.maxerror * 1000 : 0;
}
