/*
 * Tries samplers without sampling.
 */
#include "host/recorder/samples/sampling.h"

void sampling_try(pid_t pid, struct sampling_trial *ret)
{
	const struct sampler_options options = {
		.pid = pid, .hz = SAMPLING_HZ, .on_cpu = true, .kernel_frames = true
	};
	struct sampler_refusals refusals = { 0 };
	struct sampler *sampler = NULL;

	*ret = (struct sampling_trial){ 0 };
	if (!sampler_choose(&sampler, &options, /* name */ NULL, &refusals, &ret->err))
		ret->kind = sampler->kind;
	sampler_explain(&refusals, sampler, ret->reasons, sizeof(ret->reasons));
	sampler_close(sampler);
}
