/*
 * Asks /proc/self/stat for the number of threads.  Runs on the control thread.
 */
#include "target/agent/alone.h"

#include "shared/arch/syscall.h"
#include "target/runtime/descriptor.h"

#include <fcntl.h>

#define STAT_MAX              512
#define FIELDS_BEFORE_THREADS 18 /* counted from the name's closing parenthesis */
#define FIELDS_BEFORE_STATUS  50
#define STATUS_MAX            0x10000
#define SIGNAL_BITS           0xff
#define DIGIT_MAX             9

static const char *after_name(const char *text)
{
	const char *end = text;

	for (; *text; text++)
		if (*text == ')')
			end = text;
	return end;
}

/* ") Z 1 2 ... THREADS ": the first thread is the program's, and counted until the process ends.
 * While it lives nothing is concluded from numbers: one of ours may end between two looks. */
static bool says_alone(const char *text, unsigned others)
{
	unsigned spaces = 0, all = 2 + others;

	text = after_name(text);
	if (!text[0] || !text[1] || text[2] != 'Z')
		return false;
	for (; *text && spaces < FIELDS_BEFORE_THREADS; text++)
		spaces += *text == ' ';
	return all <= DIGIT_MAX && text[0] == (char)('0' + all) && text[1] == ' ';
}

static bool read_stat(char text[STAT_MAX])
{
	struct descriptor file = descriptor_own(
		(int)raw4(SYS_openat, AT_FDCWD, "/proc/self/stat", O_RDONLY | O_CLOEXEC, 0));
	long size = file.fd < 0 ? -1 : raw3(SYS_read, file.fd, text, STAT_MAX - 1);

	descriptor_close(&file);
	if (size <= 0)
		return false;
	text[size] = 0;
	return true;
}

bool is_alone(unsigned others)
{
	char text[STAT_MAX];

	return read_stat(text) && says_alone(text, others);
}

int first_status(void)
{
	char text[STAT_MAX];
	const char *state, *at;
	int status = 0;

	if (!read_stat(text))
		return -1;
	at = state = after_name(text);
	for (unsigned spaces = 0; *at && spaces < FIELDS_BEFORE_STATUS; at++)
		spaces += *at == ' ';
	for (; *at >= '0' && *at <= '9' && status < STATUS_MAX; at++)
		status = 10 * status + (*at - '0');
	return state[0] && state[1] && state[2] == 'Z' && !(status & SIGNAL_BITS) ? status >> 8
										  : -1;
}
