/*
 * Skips lines whose name is not in the list.
 */
#include "target/amd/devices/devices.h"

#include "target/runtime/text.h"

#include <stdbool.h>
#include <string.h>

uint64_t property_number(const char *text)
{
	uint64_t value = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		value = value * 10 + (uint64_t)(*text - '0');
	return value;
}

static bool begins_with(const char *line, const char *name)
{
	while (*name && *line == *name)
		line++, name++;
	return !*name && *line == ' ';
}

static void take_line(void *structure, const struct property *list, unsigned count,
		      const char *line)
{
	for (unsigned i = 0; i < count; i++) {
		uint64_t value;

		if (!begins_with(line, list[i].name))
			continue;
		value = property_number(line + text_length(list[i].name) + 1);
		memcpy((char *)structure + list[i].at, &value, list[i].size);
	}
}

void properties_parse(void *structure, const struct property *list, unsigned count,
		      const char *text)
{
	while (*text) {
		take_line(structure, list, count, text);
		while (*text && *text != '\n')
			text++;
		text += *text == '\n';
	}
}
