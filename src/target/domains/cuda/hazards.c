/*
 * Selects the precautions for the process's version of CUPTI (hazards.def).
 */
#include "target/domains/cuda/cuda.h"

enum {
	ALL_FIRST = 0,
	CUDA_13_0 = 130000,
	CUDA_13_0_U1 = 130001,
	CUDA_13_1_U1 = 130101,
	CUDA_13_4_U1 = 130401,
	CHECKED_LAST = CUDA_13_4_U1, /* the last version whose release notes were checked */
	ALL_END = INT32_MAX,
};

static const struct {
	uint32_t first, end;
	enum cuda_care care;
} hazards[] = {
#define HAZARD(first, end, care, hazard, source) { first, end, care },
#include "target/domains/cuda/hazards.def"
#undef HAZARD
};

bool hazards_are_known(uint32_t version)
{
	return version <= CHECKED_LAST;
}

/* An unchecked version gets every precaution that still allows tracing. */
uint32_t hazards_care(uint32_t version)
{
	uint32_t care = 0;

	if (!hazards_are_known(version))
		return (CARE_LAST << 1) - 1 - CARE_REFUSE;
	for (unsigned i = 0; i < ARRAY_SIZE(hazards); i++)
		if (version >= hazards[i].first && version < hazards[i].end)
			care |= hazards[i].care;
	return care;
}

bool hazards_want_renewal(uint32_t care, const struct cuda_wear *wear)
{
	return care & CARE_RENEW &&
	       (wear->records >= CUDA_RECORDS_MAX || wear->timeless >= CUDA_TIMELESS_MAX);
}
