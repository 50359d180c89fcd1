/*
 * Reads the number of threads from /proc/self/stat. Runs on the control thread.
 */
#include "target/agent/alone.h"

#include "shared/arch/syscall.h"
#include "target/runtime/descriptor.h"

#include <fcntl.h>

#define STAT_MAX              1536 /* 52 numbers of up to 20 digits, and the name */
#define FIELDS_BEFORE_THREADS 18   /* counted from the name's closing parenthesis */
#define FIELDS_BEFORE_STATUS  50
#define NUMBER_MAX            0x10000
#define SIGNAL_BITS           0xff

static const char *after_name(const char *text)
{
	const char *end = text;

	for (; *text; text++)
		if (*text == ')')
			end = text;
	return end;
}

/* Parses the number after so many spaces of ") Z 1 2 ..."; stops above NUMBER_MAX. */
static unsigned number_behind(const char *text, unsigned fields)
{
	unsigned number = 0;

	for (unsigned spaces = 0; *text && spaces < fields; text++)
		spaces += *text == ' ';
	for (; *text >= '0' && *text <= '9' && number < NUMBER_MAX; text++)
		number = 10 * number + (unsigned)(*text - '0');
	return number;
}

static bool says_ended(const char *state)
{
	return state[0] && state[1] && state[2] == 'Z';
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

	/* The first thread is the application's, and counted until the process ends. While it
	 * lives, numbers prove nothing: a thread of limpet's may end between two reads. */
	return read_stat(text) && says_ended(after_name(text)) &&
	       number_behind(after_name(text), FIELDS_BEFORE_THREADS) == 2 + others;
}

int first_status(void)
{
	char text[STAT_MAX];
	unsigned status;

	if (!read_stat(text) || !says_ended(after_name(text)))
		return -1;
	status = number_behind(after_name(text), FIELDS_BEFORE_STATUS);
	return status & SIGNAL_BITS ? -1 : (int)(status >> 8);
}
