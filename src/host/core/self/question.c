/*
 * Reads the answer byte by byte, so that stdio buffers nothing of the user's later input.
 */
#include "host/core/self/question.h"

#include "host/core/text/print.h"

#include <stdarg.h>
#include <unistd.h>

static bool answer_read(void)
{
	bool is_first = true, is_yes = false;
	char letter;

	while (read(STDIN_FILENO, &letter, 1) == 1 && letter != '\n') {
		if (is_first)
			is_yes = letter == 'y' || letter == 'Y';
		is_first = false;
	}
	return is_yes;
}

bool question_ask(const char *format, ...)
{
	char text[512];
	va_list arguments;

	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return false;
	va_start(arguments, format);
	print_list(text, sizeof(text), format, arguments);
	va_end(arguments);
	print(stderr, "%s [y/N] ", text);
	return answer_read();
}
