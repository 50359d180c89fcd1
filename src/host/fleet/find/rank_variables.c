/*
 * The table of variables.
 */
#include "host/fleet/find/rank_variables.h"

#include "host/core/text/text.h"
#include "host/fleet/rank_set.h"

const struct rank_variable rank_variables[] = {
	{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
	{ "PMIX_RANK", "SLURM_NTASKS" },
	{ "PMI_RANK", "PMI_SIZE" },
	{ "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE" },
	{ "PALS_RANKID", NULL },
	{ "FLUX_TASK_RANK", "FLUX_JOB_SIZE" },
	{ "RANK", "WORLD_SIZE" },
	{ "SLURM_PROCID", "SLURM_NTASKS" },
	{ "JOB_COMPLETION_INDEX", NULL },
	{ 0 },
};

_Static_assert(ARRAY_SIZE(rank_variables) <= RANK_VARIABLES_MAX, "there is room for all");

static bool number_read(const struct variables *variables, const char *name, uint64_t max,
			uint32_t *ret)
{
	const char *text = name ? variables_value(variables, name) : NULL;
	uint64_t value;

	if (!text || text_parse_number(text, max, &value))
		return false;
	*ret = (uint32_t)value;
	return true;
}

bool rank_variable_read(const struct variables *variables, const struct rank_variable *variable,
			uint32_t *ret_rank, uint32_t *ret_size)
{
	*ret_size = 0;
	if (!variables->text || !number_read(variables, variable->name, RANK_MAX, ret_rank))
		return false;
	(void)number_read(variables, variable->size_name, (uint64_t)RANK_MAX + 1, ret_size);
	return true;
}
