/*
 * All metrics of a chip, by their base names.
 */
#include "nvml/pm.h"

bool pm_list(const struct cupti *cupti, const struct pm_chip *chip,
	     void tell(const char *name, const char *description), struct pm_failure *failure)
{
	struct cupti_host_new made =
		CUPTI_GIVEN(struct cupti_host_new, host, .profiler = CUPTI_PM_SAMPLING,
			    .chip = chip->name, .availability = chip->availability);

	if (!pm_check(cupti, cupti->host_new(&made), failure))
		return false;
	for (int kind = 0; kind < CUPTI_METRIC_KINDS; kind++) {
		struct cupti_base_metrics found = CUPTI_GIVEN(struct cupti_base_metrics, count,
							      .host = made.host, .kind = kind);

		if (!pm_check(cupti, cupti->base_metrics(&found), failure))
			return false;
		for (size_t i = 0; i < found.count; i++) {
			struct cupti_properties facts =
				CUPTI_GIVEN(struct cupti_properties, kind, .host = made.host,
					    .name = found.names[i]);

			tell(found.names[i], cupti->properties(&facts) ? NULL : facts.description);
		}
	}
	return true;
}
