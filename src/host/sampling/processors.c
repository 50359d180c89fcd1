/*
 * Reads which processors are online.
 */
#include "host/sampling/processors.h"

#include <unistd.h>

#include "host/core/text/text.h"

size_t processors_parse(const char *list, size_t size, int *cpus, size_t capacity)
{
	struct text text = { list, list + size };
	uint64_t first, last;
	size_t count = 0;

	while (text_take_number(&text, 10, &first)) {
		last = first;
		if (text_take_char(&text, '-') && !text_take_number(&text, 10, &last))
			break;
		for (; first <= last && count < capacity; first++)
			cpus[count++] = (int)first;
		text_take_char(&text, ',');
	}
	return count;
}

size_t processors_online(int *cpus, size_t capacity)
{
	char list[4096];
	ssize_t size = text_read_small("/sys/devices/system/cpu/online", list, sizeof(list));
	size_t count = size > 0 ? processors_parse(list, (size_t)size, cpus, capacity) : 0;
	size_t all = (size_t)sysconf(_SC_NPROCESSORS_CONF);

	if (count)
		return count;
	for (; count < all && count < capacity; count++)
		cpus[count] = (int)count;
	return count;
}
