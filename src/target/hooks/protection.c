/*
 * Runs on limpet's threads, one at a time. Only /proc/self/maps shows a page's protection.
 */
#include "target/hooks/protection.h"

#include "shared/arch/syscall.h"
#include "target/hooks/patches.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#define PIECE_BYTES 65536u /* maximum; a multiple of every page size */
#define BUFFER_SIZE 4096

/* A file read letter by letter. */
struct letters {
	int fd;
	long count, at;
	char buffer[BUFFER_SIZE];
};

static char next_letter(struct letters *self)
{
	if (self->at == self->count) {
		self->count = raw3(SYS_read, self->fd, self->buffer, BUFFER_SIZE);
		self->at = 0;
	}
	return self->count > 0 ? self->buffer[self->at++] : '\0';
}

/* Reads a hexadecimal number and the letter behind it. */
static uint64_t next_number(struct letters *self)
{
	uint64_t value = 0;

	for (;;) {
		char letter = next_letter(self);

		if (letter >= '0' && letter <= '9')
			value = value << 4 | (uint64_t)(letter - '0');
		else if (letter >= 'a' && letter <= 'f')
			value = value << 4 | (uint64_t)(letter - 'a' + 10);
		else
			return value;
	}
}

static int next_protection(struct letters *self)
{
	int protection = next_letter(self) == 'r' ? PROT_READ : 0;

	protection |= next_letter(self) == 'w' ? PROT_WRITE : 0;
	return protection | (next_letter(self) == 'x' ? PROT_EXEC : 0);
}

static bool skip_line(struct letters *self)
{
	char letter;

	do
		letter = next_letter(self);
	while (letter && letter != '\n');
	return letter != '\0';
}

/* Returns the protection, and the range to change: a part of one mapping. -EFAULT, -EACCES. */
static int protection_at(uint64_t address, struct protection *ret)
{
	struct letters file = { .fd = (int)raw4(SYS_openat, AT_FDCWD, "/proc/self/maps",
						O_RDONLY | O_CLOEXEC, 0) };
	int found = -EFAULT;

	if (file.fd < 0)
		return -EACCES;
	do {
		uint64_t start = next_number(&file), end = next_number(&file);
		int protection = next_protection(&file);

		if (address < start || address >= end)
			continue;
		found = protection;
		ret->start = MAX(start, ALIGN_DOWN(address, PIECE_BYTES));
		ret->end = MIN(end, ret->start + PIECE_BYTES);
	} while (found == -EFAULT && skip_line(&file));
	raw1(SYS_close, file.fd);
	return found;
}

int protection_open(uint64_t *at, struct protection *ret)
{
	struct protection found = { 0 };

	*ret = found;
	if (word_is_writable(at))
		return 0;
	found.kept = protection_at((uint64_t)at, &found);
	if (found.kept < 0)
		return found.kept;
	/* Code is never made writable. */
	if (found.kept != PROT_READ ||
	    raw3(SYS_mprotect, found.start, found.end - found.start, PROT_READ | PROT_WRITE))
		return -EACCES;
	*ret = found;
	return 0;
}

void protection_close(const struct protection *protection)
{
	if (protection->kept)
		raw3(SYS_mprotect, protection->start, protection->end - protection->start,
		     protection->kept);
}
