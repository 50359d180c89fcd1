/*
 * Reads the limit from the kernel.
 */
#include "host/core/self/address_space.h"

#include "host/core/text/text.h"

#include <string.h>
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

/* The third line of meminfo; UINT64_MAX: it cannot be read. */
static uint64_t machine_memory_left(void)
{
	static const char word[] = "MemAvailable:";
	char statistics[512];
	const char *line;
	struct text text;
	uint64_t kib;

	if (text_read_small("/proc/meminfo", statistics, sizeof(statistics)) <= 0)
		return UINT64_MAX;
	line = strstr(statistics, word);
	if (!line)
		return UINT64_MAX;
	text = text_of(line + strlen(word));
	text_skip_blanks(&text);
	return text_take_number(&text, 10, &kib) ? kib * 1024 : UINT64_MAX;
}

uint64_t memory_left(void)
{
	return MIN(address_space_left(), machine_memory_left());
}
