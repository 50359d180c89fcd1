/*
 * Fuzzes names of output files: the first line is the pattern, the second the command, the third
 * what every variable holds.
 */
#include "fuzz.h"

#include <string.h>

#include "host/export/amd/output/name_rule.h"

static const char *same_for_all(void *context, const char *name)
{
	must(name[0] && strlen(name) < 128);
	return context;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *text = malloc(size + 1), *rest = text, *name = NULL;
	struct name_facts facts = { .hostname = "host", .pid = 1, .variable = same_for_all };
	const char *pattern;
	char variable[32];

	if (!text)
		abort();
	if (size)
		memcpy(text, bytes, size);
	text[size] = '\0';
	pattern = strsep(&rest, "\n");
	facts.command = rest ? strsep(&rest, "\n") : NULL;
	facts.context = rest;
	if (name_rule_expand(pattern, &facts, &name) == 0)
		must(name[0] || !strpbrk(pattern, "abcdefgxyz") || strpbrk(pattern, "%{$"));
	free(name);
	while ((pattern = name_rule_next_variable(pattern, variable, sizeof(variable))))
		must(variable[0] && strlen(variable) < sizeof(variable));
	free(text);
	return 0;
}
