/*
 * Fuzzes the parsers of /proc/PID/status and /proc/PID/stat.
 */
#include "fuzz.h"

#include <string.h>

#include "host/process/stat.h"
#include "host/process/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct process_status status;
	struct process_stat stat;
	struct err err;

	if (status_parse((const char *)bytes, size, &status, &err) == 0) {
		must(status.state != '\0');
		must(memchr(status.name, '\0', sizeof(status.name)) != NULL);
	}
	if (stat_parse((const char *)bytes, size, &stat, &err) == 0)
		must(memchr(stat.name, '\0', sizeof(stat.name)) != NULL);
	return 0;
}
