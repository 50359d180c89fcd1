/*
 * Finds the script in the command line of an interpreter.
 */
#include "host/process/inspect/script.h"

#include "host/core/text/text.h"

#include <stdio.h>
#include <string.h>

/* Lists of options are words between blanks. */
static const struct interpreter {
	const char *name;  /* of the program; a version may follow: python3.11 */
	const char *takes; /* options with an argument in the next word */
	const char *code;  /* options after which the program itself follows, and no script */
} interpreters[] = {
	{ "python", " -W -X ", " -c " },
	{ "pypy", " -W -X ", " -c " },
	{ "ruby", " -I -r -C -E ", " -e " },
	{ "perl", " -I ", " -e -E " },
	{ "node", " -r --require --import --loader ", " -e --eval -p --print " },
	{ "php", " -d -c ", " -r " },
	{ "bash", " -O -o --rcfile --init-file ", " -c " },
	{ "dash", " -o ", " -c " },
	{ "sh", " -o ", " -c " },
	{ "zsh", " -o ", " -c " },
	{ "lua", " -l ", " -e " },
	{ "luajit", " -l -b -O ", " -e " },
	{ "java", " -cp -classpath --class-path -p --module-path ", "" },
	{ "Rscript", "", " -e " },
	{ "guile", " -L -l ", " -c " },
	{ "tclsh", "", "" },
};

/* The next word, without the blanks before it; false at the end. */
static bool next_word(const char **at, struct text *ret)
{
	const char *begin = *at + strspn(*at, " ");

	*at = begin + strcspn(begin, " ");
	*ret = (struct text){ begin, *at };
	return *at > begin;
}

static struct text without_folders(struct text word)
{
	for (const char *at = word.at; at < word.end; at++)
		if (*at == '/' && at + 1 < word.end)
			word.at = at + 1;
	return word;
}

static bool is_version(const char *at, const char *end)
{
	while (at < end && strchr("0123456789.", *at))
		at++;
	return at == end;
}

static const struct interpreter *find_interpreter(struct text program)
{
	size_t length = (size_t)(program.end - program.at);

	for (size_t i = 0; i < ARRAY_SIZE(interpreters); i++) {
		size_t known = strlen(interpreters[i].name);

		if (length >= known && !memcmp(program.at, interpreters[i].name, known) &&
		    is_version(program.at + known, program.end))
			return &interpreters[i];
	}
	return NULL;
}

static bool is_listed(const char *list, struct text word)
{
	char key[64];

	if (snprintf(key, sizeof(key), " %.*s ", (int)(word.end - word.at), word.at) >=
	    (int)sizeof(key))
		return false;
	return strstr(list, key) != NULL;
}

bool process_script(const struct process *process, char *ret, size_t room)
{
	const char *at = process->command;
	const struct interpreter *interpreter;
	struct text word;

	if (!next_word(&at, &word))
		return false;
	interpreter = find_interpreter(without_folders(word));
	while (interpreter && next_word(&at, &word) && word.at[0] == '-') {
		if (is_listed(interpreter->code, word))
			return false;
		if (is_listed(interpreter->takes, word))
			next_word(&at, &word);
	}
	if (!interpreter || word.at == word.end || word.at[0] == '-')
		return false;
	word = without_folders(word);
	snprintf(ret, room, "%.*s", (int)(word.end - word.at), word.at);
	return true;
}
