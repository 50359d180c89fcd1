/*
 * Reads samples of the sampler "copy" at once.
 */
#include <errno.h>
#include <string.h>

#include "host/core/clock.h"
#include "host/sampling/copy/copy.h"

#define PROMPT_NS  20000000u
#define YOUNG_NS   1000000000u /* how long to read often, to learn the needed size of copies */
#define UNHEARD_MS 2           /* between readings where no sample wakes the reader */

bool copy_judge(const struct copy_sampler *self, uint32_t *ret_size, bool *ret_hasty)
{
	const struct perf_event_attr *now = &self->events.attrs.items[COPY_CLOCK];

	*ret_size = stack_need_size(&self->need, now->sample_stack_user);
	*ret_hasty = now->wakeup_events || stack_need_haste(&self->need, *ret_size);
	return !self->is_stopped &&
	       (*ret_size != now->sample_stack_user || *ret_hasty != (bool)now->wakeup_events);
}

int copy_take(struct copy_round *round, struct err *err)
{
	struct copy_sampler *self = round->self;
	struct perf_batch batch;
	int r = perf_batch_take(&batch, &self->events);

	if (r < 0)
		return err_set(err, r, "take samples: %s", strerror(-r));
	r = copy_hear_all(round, &batch);
	perf_batch_done(&batch, &self->events);
	return r < 0 ? err_set(err, r, "read samples: %s", strerror(-r)) : 0;
}

/* The context of a watcher's callback. */
struct promptly {
	struct copy_round *round;
	struct err *err;
};

/* Other than 0: an error, or the events must be reopened. */
static int take_promptly(void *context)
{
	struct promptly *promptly = context;
	uint32_t size;
	bool is_hasty;
	int r = copy_take(promptly->round, promptly->err);

	return r ? r : copy_judge(promptly->round->self, &size, &is_hasty);
}

struct watchers *copy_seek_watchers(struct copy_sampler *self)
{
	if (!self->has_sought_watchers && self->events.attrs.items[COPY_CLOCK].wakeup_events) {
		self->has_sought_watchers = true;
		(void)!watchers_open(&self->watchers, &self->events);
	}
	return self->watchers;
}

/* Until the events must be reopened, or the time is over. */
static int take_for(struct promptly *promptly, uint64_t limit_ns)
{
	struct copy_sampler *self = promptly->round->self;
	struct watchers *watchers = copy_seek_watchers(self);
	int r = watchers ? watchers_let(watchers, take_promptly, promptly, limit_ns) : -ENODATA;

	if (r != -ENODATA)
		return r;
	perf_events_wait(&self->events, self->events.attrs.items[COPY_CLOCK].wakeup_events
						? (int)(limit_ns / 1000000 + 1)
						: UNHEARD_MS);
	return take_promptly(promptly);
}

int copy_take_promptly(struct copy_round *round, struct err *err)
{
	struct copy_sampler *self = round->self;
	struct promptly promptly = { round, err };
	uint64_t end_ns = now_ns() + PROMPT_NS, now;
	uint32_t size;
	bool is_hasty;
	int r = copy_judge(self, &size, &is_hasty);

	while (!r && !self->is_stopped && (now = now_ns()) < end_ns)
		r = take_for(&promptly, end_ns - now);
	return MIN(r, 0);
}

bool copy_is_prompt(const struct copy_sampler *self)
{
	return self->has_interpreter || self->events.attrs.items[COPY_CLOCK].wakeup_events ||
	       now_ns() - self->opened_ns < YOUNG_NS;
}
