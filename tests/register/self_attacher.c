/*
 * A program that attaches tools to itself, as told on its standard input: "attach TOOLS",
 * "detach", "reattach", "getenv NAME", "register NAME", "exit".  Answers each line with one: the
 * code and the reason, or the value.  Variables for the tools are its arguments, NAME=VALUE each.
 */
#include <rocprofiler-register/rocprofiler-register.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat/register/private.h"

static char buffer[4096]; /* uint32_t count, then name\0value\0 for each */

static void fill_buffer(char **arguments)
{
	uint32_t count = 0;
	size_t at = sizeof(count);

	for (; *arguments; arguments++, count++) {
		size_t size = strlen(*arguments) + 1;

		memcpy(buffer + at, *arguments, size);
		*strchr(buffer + at, '=') = 0;
		at += size;
	}
	memcpy(buffer, &count, sizeof(count));
}

static void answer(rocprofiler_register_error_code_t code)
{
	char reason[512] = "";

	limpet_register_reason(reason, sizeof(reason));
	printf("%d %s\n", (int)code, reason);
}

static void add(const char *name)
{
	static void *table[2];
	void *tables[] = { table };
	rocprofiler_register_library_indentifier_t id;

	answer(rocprofiler_register_library_api_table(name, NULL, 1, tables, 1, &id));
}

static void obey(const char *word, const char *rest)
{
	if (!strcmp(word, "attach"))
		answer(rocprofiler_register_attach(buffer, rest));
	else if (!strcmp(word, "detach"))
		answer(rocprofiler_register_detach());
	else if (!strcmp(word, "reattach"))
		answer(rocprofiler_register_invoke_reattach());
	else if (!strcmp(word, "register"))
		add(rest);
	else if (!strcmp(word, "getenv"))
		printf("%s\n", getenv(rest) ? getenv(rest) : "");
	else
		exit(0);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	char line[2048];

	(void)argc;
	fill_buffer(argv + 1);
	while (fgets(line, sizeof(line), stdin)) {
		char *rest = line + strcspn(line, " \n");

		rest[strcspn(rest, "\n")] = 0;
		if (*rest)
			*rest++ = 0;
		obey(line, rest);
	}
	return 0;
}
