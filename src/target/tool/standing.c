/*
 * Reads the calling thread's status in /proc, only by system calls that attaching makes anyway:
 * filters were not checked for others.
 */
#include "target/tool/standing.h"

#include "shared/arch/syscall.h"
#include "target/runtime/descriptor.h"

#include <fcntl.h>
#include <stddef.h>

#define STATUS_BYTES 4096 /* a longer file (many groups) cannot be read */

static const char *find_line(const char *text, const char *name)
{
	while (*text) {
		const char *at = text, *letter = name;

		while (*letter && *at == *letter) {
			at++;
			letter++;
		}
		if (!*letter)
			return at;
		while (*text && *text++ != '\n')
			;
	}
	return NULL;
}

static int digit_of(char letter)
{
	if (letter >= '0' && letter <= '9')
		return letter - '0';
	return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : 16;
}

static const char *read_number(const char *at, unsigned base, uint64_t *ret)
{
	*ret = 0;
	while (*at == '\t' || *at == ' ')
		at++;
	for (; digit_of(*at) < (int)base; at++)
		*ret = *ret * base + (uint64_t)digit_of(*at);
	return at;
}

static bool read_ids(const char *text, const char *name, uint32_t ret[ID_KINDS])
{
	const char *at = find_line(text, name);
	uint64_t number;

	for (unsigned i = 0; at && i < ID_KINDS; i++) {
		at = read_number(at, 10, &number);
		ret[i] = (uint32_t)number;
	}
	return at;
}

static bool read_value(const char *text, const char *name, unsigned base, uint64_t *ret)
{
	const char *at = find_line(text, name);

	if (at)
		read_number(at, base, ret);
	return at;
}

static bool standing_parse(const char *text, struct standing *ret)
{
	const char *groups = find_line(text, "Groups:\t");
	uint64_t modest = 0;

	if (!groups || !read_ids(text, "Uid:", ret->users) ||
	    !read_ids(text, "Gid:", ret->groups) ||
	    !read_value(text, "CapBnd:", 16, &ret->bounding) ||
	    !read_value(text, "CapAmb:", 16, &ret->ambient) ||
	    !read_value(text, "NoNewPrivs:", 10, &modest))
		return false;
	ret->has_other_groups = digit_of(*groups) < 10;
	ret->is_modest = modest;
	return true;
}

bool standing_read(struct standing *ret)
{
	char text[STATUS_BYTES];
	long size = 0, r = 0;
	struct descriptor file = descriptor_own((int)raw4(
		SYS_openat, AT_FDCWD, "/proc/thread-self/status", O_RDONLY | O_CLOEXEC, 0));

	if (file.fd < 0)
		return false;
	do {
		r = raw3(SYS_read, file.fd, text + size, STATUS_BYTES - 1 - size);
		size += r > 0 ? r : 0;
	} while (r > 0);
	descriptor_close(&file);
	text[size] = 0;
	return standing_parse(text, ret);
}
