/*
 * Cuts names to the room of a line.
 */
#include "host/cli/printable.h"

#include "host/core/text/foreign.h"

const char *printable(const char *text, char *buffer)
{
	return foreign_copy(buffer, NAME_MAX_SHOWN, text);
}
