/*
 * Foreign code: runs on a thread of the runner.
 */
#include "target/agent/register.h"

#include "target/lifecycle/runner.h"
#include "target/sdk/tables.h"

#include <errno.h>

typedef int take_function(const char *, uint64_t, uint64_t, void **, uint64_t, void *);
typedef int each_function(take_function *, void *);
typedef int invoke_function(void);

struct question {
	void *function;
	bool takes_callback;
	int result;
};

static void ask(void *argument)
{
	struct question *self = argument;

	if (self->takes_callback)
		self->result = ((each_function *)self->function)(tables_take, NULL);
	else
		self->result = ((invoke_function *)self->function)();
}

static void nothing(void *argument)
{
	(void)argument;
}

int register_ask(const struct boot_libc *libc, void *function, bool takes_callback,
		 uint32_t timeout_ms)
{
	struct question question = { function, takes_callback, 0 };
	int r = runner_call(libc, ask, nothing, &question, sizeof(question), timeout_ms);

	return r ? r : question.result ? -ENXIO : 0;
}
