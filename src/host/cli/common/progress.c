/*
 * A thread that waits, and prints the seconds.
 */
#include "host/cli/common/progress.h"

#include "host/core/clock.h"
#include "host/core/text/print.h"

#include <unistd.h>

#define SILENT_S 2u

static void *progress_run(void *argument)
{
	struct progress *self = argument;
	uint64_t second = SILENT_S;

	for (; worker_sleep_until(&self->worker, self->begin_ns + second * 1000000000u); second++)
		print(stderr, "\r%s %.60s: %u s ", self->doing, self->object, (unsigned)second);
	if (second > SILENT_S)
		fputs("\r\033[K", stderr);
	return NULL;
}

void progress_begin(struct progress *ret, const char *doing, const char *object)
{
	*ret = (struct progress){ .doing = doing, .object = object, .begin_ns = now_ns() };
	worker_init(&ret->worker);
	/* Without a thread nothing is printed. */
	if (isatty(STDERR_FILENO))
		(void)!worker_start(&ret->worker, progress_run, ret);
}

void progress_end(struct progress *self)
{
	worker_stop(&self->worker);
}
