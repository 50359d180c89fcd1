/*
 * Asks the kernel.  Host only.
 */
#include "host/core/address_space.h"

#include "host/core/text/text.h"

#include <sys/resource.h>
#include <unistd.h>

uint64_t address_space_left(void)
{
	char statistics[128];
	struct rlimit limit;
	struct text text;
	uint64_t pages;

	if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	if (text_read_small("/proc/self/statm", statistics, sizeof(statistics)) <= 0)
		return 0;
	text = text_of(statistics);
	if (!text_take_number(&text, 10, &pages))
		return 0;
	pages *= (uint64_t)sysconf(_SC_PAGESIZE);
	return limit.rlim_cur - MIN(limit.rlim_cur, pages);
}
