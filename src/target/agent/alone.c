/*
 * Asks /proc/self/stat for the number of threads.  Runs on the control thread.
 */
#include "target/agent/alone.h"

#include "shared/arch/syscall.h"
#include "target/runtime/descriptor.h"

#include <fcntl.h>

#define FIELDS_BEFORE_THREADS 18 /* counted from the name's closing parenthesis */
#define DIGIT_MAX             9

static const char *after_name(const char *text)
{
	const char *end = text;

	for (; *text; text++)
		if (*text == ')')
			end = text;
	return end;
}

/* ") S 1 2 ... THREADS ": the first thread, when it has ended, is counted until the process ends.
 */
static bool says_alone(const char *text, unsigned others)
{
	unsigned spaces = 0, all = 1 + others;

	text = after_name(text);
	all += text[0] && text[1] && text[2] == 'Z';
	for (; *text && spaces < FIELDS_BEFORE_THREADS; text++)
		spaces += *text == ' ';
	return all <= DIGIT_MAX && text[0] == (char)('0' + all) && text[1] == ' ';
}

bool is_alone(unsigned others)
{
	struct descriptor file = descriptor_own(
		(int)raw4(SYS_openat, AT_FDCWD, "/proc/self/stat", O_RDONLY | O_CLOEXEC, 0));
	char text[512];
	long size = file.fd < 0 ? -1 : raw3(SYS_read, file.fd, text, sizeof(text) - 1);

	descriptor_close(&file);
	if (size <= 0)
		return false;
	text[size] = 0;
	return says_alone(text, others);
}
