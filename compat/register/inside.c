/*
 * Runs inside the target, on any thread.
 */
#include "compat/register/inside.h"

#include <errno.h>

static __thread bool is_inside;

struct inside inside_enter(void)
{
	struct inside self = { .saved_errno = errno, .is_first = !is_inside };

	is_inside = true;
	return self;
}

void inside_leave(const struct inside *self)
{
	if (self->is_first)
		is_inside = false;
	errno = self->saved_errno;
}
