/*
 * Fuzzes the command line: the bytes are words, a newline between each two.
 */
#include "fuzz.h"

#include <string.h>

#include "host/core/options.h"

#define MAX_WORDS 100

struct values {
	bool flag;
	const char *text;
	uint64_t number, duration_ns;
	struct option_list list;
};

#define FIELD(member) offsetof(struct values, member)

static const struct option_desc table[] = {
	{ 'u', "unload", NULL, "", FIELD(flag) },
	{ 'o', "output", "FILE", "", FIELD(text), OPTION_TEXT },
	{ 'n', "count", "N", "", FIELD(number), OPTION_NUMBER },
	{ 'd', "duration", "TIME", "", FIELD(duration_ns), OPTION_DURATION },
	{ 'e', "env", "K=V", "", FIELD(list), OPTION_LIST },
	{ 0 },
};

static int split(char *text, char **argv)
{
	int count = 0;

	for (char *save = NULL, *word = strtok_r(text, "\n", &save); word && count < MAX_WORDS;
	     word = strtok_r(NULL, "\n", &save))
		argv[count++] = word;
	argv[count] = NULL;
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *text = malloc(size + 1), *argv[MAX_WORDS + 1];
	struct values values = { 0 };
	struct err err = { 0 };
	int words, operands;

	if (!text)
		abort();
	if (size)
		memcpy(text, bytes, size);
	text[size] = '\0';
	words = split(text, argv);
	(void)options_want_help(argv);
	operands = options_parse(table, argv, &values, &err);
	if (operands < 0) {
		must(err.code == operands && err.exit == EXIT_USAGE && err.what[0]);
	} else {
		must(operands <= words && argv[operands] == NULL);
		must(values.list.count <= OPTION_LIST_MAX);
		must(values.duration_ns <= INT64_MAX);
	}
	free(text);
	return 0;
}
