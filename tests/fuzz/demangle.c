/*
 * Fuzzes mangled names: any bytes, any room.
 */
#include "fuzz.h"

#include <string.h>

#include "host/core/cleanup.h"
#include "host/symbols/demangle/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	CLEANUP(free) char *name = malloc(size + 1), *text = NULL;
	size_t room = size ? 1 + (size_t)bytes[0] * 16 : 1;

	text = malloc(room);
	must(name && text);
	memcpy(name, bytes, size);
	name[size] = '\0';
	if (!demangle(size ? name + 1 : name, text, room))
		must(!text[0]);
	must(strnlen(text, room) < room);
	return 0;
}
