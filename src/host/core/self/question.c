/*
 * Reads the answer byte by byte, so that stdio buffers nothing of the user's later input.
 */
#include "host/core/self/question.h"

#include "host/core/text/print.h"

#include <stdarg.h>
#include <unistd.h>

bool question_ask(const char *format, ...)
{
	char text[512], letter, first = '\n';
	va_list arguments;

	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return false;
	va_start(arguments, format);
	print_list(text, sizeof(text), format, arguments);
	va_end(arguments);
	print(stderr, "%s [y/N] ", text);
	while (read(STDIN_FILENO, &letter, 1) == 1 && letter != '\n')
		first = first == '\n' ? letter : first;
	return first == 'y' || first == 'Y';
}
