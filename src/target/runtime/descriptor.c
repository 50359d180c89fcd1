/*
 * Runs inside the target: no libc.
 */
#include "target/runtime/descriptor.h"

#include "shared/arch/syscall.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/stat.h>

/* Lower bounds for a free number, best first: the limit of descriptors may be low. */
static const unsigned short high_numbers[] = { 400, 200, 100, 50, 25, 12, 6 };

static bool descriptor_identify(int fd, struct descriptor *ret)
{
	struct stat file;

	if (raw2(SYS_fstat, fd, &file) < 0)
		return false;
	*ret = (struct descriptor){ fd, file.st_dev, file.st_ino };
	return true;
}

static long copy_high(int fd)
{
	long high = -1;

	for (unsigned i = 0; high < 0 && i < ARRAY_SIZE(high_numbers); i++)
		high = fd < high_numbers[i] ? raw3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, high_numbers[i])
					    : -1;
	return high;
}

struct descriptor descriptor_own(int fd)
{
	struct descriptor self = { -1, 0, 0 };
	long high;

	if (fd < 0)
		return self;
	high = copy_high(fd);
	if (high >= 0) {
		raw1(SYS_close, fd);
		fd = (int)high;
	}
	if (!descriptor_identify(fd, &self))
		self.fd = fd;
	return self;
}

struct descriptor descriptor_see(int fd)
{
	struct descriptor self = { -1, 0, 0 };

	(void)descriptor_identify(fd, &self);
	return self;
}

bool descriptor_is_ours(const struct descriptor *self)
{
	struct descriptor now;

	return self->fd >= 0 && descriptor_identify(self->fd, &now) && now.device == self->device &&
	       now.inode == self->inode;
}

bool descriptors_lack_first(void)
{
	struct descriptor seen;

	for (int fd = 0; fd < 3; fd++)
		if (!descriptor_identify(fd, &seen))
			return true;
	return false;
}

void descriptor_close(struct descriptor *self)
{
	if (descriptor_is_ours(self))
		raw1(SYS_close, self->fd);
	self->fd = -1;
}

/* The kernel copies at least the first 64 descriptors, and closes the copies, as after a fork. */
bool descriptors_leave(int kept)
{
	if (raw3(SYS_close_range, kept + 1, ~0u, CLOSE_RANGE_UNSHARE) < 0)
		return false;
	if (kept > 0)
		raw3(SYS_close_range, 0, kept - 1, 0);
	return true;
}
