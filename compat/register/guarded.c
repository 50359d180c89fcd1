/*
 * Reads through the kernel, which fails instead of faulting.  Runs inside the target.
 */
#include "compat/register/guarded.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define STEP 4096u

/* A copy that grows. */
struct copy {
	const char *from;
	char *bytes;
	size_t size;
};

/* The next bytes, up to the end of a page: the next page may be unreadable. */
static bool read_more(struct copy *self)
{
	size_t step = STEP - ((uintptr_t)self->from + self->size) % STEP;
	char *grown =
		self->size + step <= GUARDED_MAX ? realloc(self->bytes, self->size + step) : NULL;
	struct iovec local, remote = { (void *)(uintptr_t)(self->from + self->size), step };

	if (!grown) {
		errno = E2BIG;
		return false;
	}
	self->bytes = grown;
	local = (struct iovec){ grown + self->size, step };
	if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != (ssize_t)step)
		return false;
	self->size += step;
	return true;
}

/* Moves *at behind the next NUL; false when there is none to be had. */
static bool pass_text(struct copy *self, size_t *at)
{
	for (;; ++*at) {
		if (*at == self->size && !read_more(self))
			return false;
		if (!self->bytes[*at])
			break;
	}
	++*at;
	return true;
}

static char *give_up(struct copy *self, int error)
{
	free(self->bytes);
	errno = error;
	return NULL;
}

char *guarded_text(const char *text)
{
	struct copy self = { .from = text };
	size_t at = 0;

	return pass_text(&self, &at) ? self.bytes : give_up(&self, errno);
}

/* One pair: a name without '=' that is not empty, and a value. */
static bool pass_pair(struct copy *self, size_t *at)
{
	size_t name = *at;

	if (!pass_text(self, at))
		return false;
	if (!self->bytes[name] || strchr(self->bytes + name, '=')) {
		errno = EINVAL;
		return false;
	}
	return pass_text(self, at);
}

char *guarded_variables(const char *buffer)
{
	struct copy self = { .from = buffer };
	uint32_t count;
	size_t at = sizeof(count);

	while (self.size < sizeof(count))
		if (!read_more(&self))
			return give_up(&self, errno);
	memcpy(&count, self.bytes, sizeof(count));
	for (uint32_t i = 0; i < count; i++)
		if (!pass_pair(&self, &at))
			return give_up(&self, errno);
	return self.bytes;
}
