/*
 * Runs on application threads. A wrong guess loses the values of one kernel, nothing else.
 */
#include "target/amd/sinks/sdk/counters/dispatch/choices.h"

#include <stddef.h>

static struct config_run *run_find(struct config_choices *self, uint64_t config)
{
	for (unsigned i = 0; i < CHOICES_KEPT; i++)
		if (self->runs[i].config == config)
			return &self->runs[i];
	return NULL;
}

static void run_end(struct config_choices *self, uint64_t next)
{
	struct config_run *run = run_find(self, self->last);

	if (!run)
		run = &self->runs[self->oldest++ % CHOICES_KEPT];
	*run = (struct config_run){ self->last, next, self->run };
}

static uint64_t choice_guess(struct config_choices *self, uint64_t config)
{
	const struct config_run *run;

	if (self->last && self->last != config)
		run_end(self, config);
	self->run = self->last == config ? self->run + 1 : 1;
	self->last = config;
	run = run_find(self, config);
	return run && self->run == run->length ? run->next : config;
}

uint64_t config_choices_note(struct config_choices *self, uint64_t config)
{
	uint64_t guess = config;

	/* Does not wait: two threads that launch at the same time have no order to learn. */
	if (__atomic_exchange_n(&self->is_taken, 1, __ATOMIC_ACQUIRE))
		return guess;
	guess = choice_guess(self, config);
	__atomic_store_n(&self->is_taken, 0, __ATOMIC_RELEASE);
	return guess;
}
