/*
 * Fuzzes the parser of /proc/PID/task/TID/syscall.
 */
#include "fuzz.h"

#include <string.h>

#include "host/core/cleanup.h"
#include "shared/arch/blocked_call.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	CLEANUP(free) char *text = malloc(size + 1);
	struct blocked_call call;

	if (!text)
		abort();
	if (size)
		memcpy(text, bytes, size);
	text[size] = '\0';
	blocked_call_parse(text, &call);
	/* A number and eight more, each of three characters at least. */
	must(!call.is_known || strlen(text) >= 1 + 8 * 4);
	must(call.is_known || (!call.nr && !call.args[0] && !call.stack && !call.ip));
	return 0;
}
