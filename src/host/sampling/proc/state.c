/*
 * The sampler "state": the states of threads, which every user can read of any process.
 */

#include "host/sampling/proc/polling.h"

static int state_open(struct sampler **ret, const struct sampler_options *options, struct err *err)
{
	struct polling *self;
	int r = polling_open(&self, &sampler_state, options, err);

	if (r < 0)
		return r;
	sampler_limit(&self->base, "states of threads only, no stacks%s",
		      options->children ? "; children are found once a second" : "");
	*ret = &self->base;
	return 0;
}

const struct sampler_kind sampler_state = {
	.name = "state",
	.summary = "looks at the states of threads",
	.open = state_open,
	.drain = polling_drain,
	.stop = polling_stop,
	.counts = polling_counts,
	.close = polling_close,
};
