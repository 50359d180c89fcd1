/*
 * Finds the files of rocprof-compute.
 */
#include "definitions.h"

#include "host/core/text/print.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REPORTS "rocprof_compute_soc/analysis_configs"

static bool folder_is_there(const char *path)
{
	return access(path, R_OK | X_OK) == 0;
}

static int nothing_refuse(struct err *err)
{
	err_set(err, -ENOENT, "there are no definitions of rocprof-compute");
	err_why(err, "AMD's metrics and sets are read from its files, which limpet does not carry: "
		     "ROCPROF_COMPUTE_HOME, /opt/rocm/libexec/rocprofiler-compute and "
		     "/usr/libexec/rocprofiler-compute have none");
	err_fix(err, "install rocprofiler-compute, or name its folder: --config-dir "
		     ".../rocprof_compute_soc/analysis_configs");
	return err_exit(err, EXIT_USAGE);
}

int compute_definitions_find(struct compute_definitions *ret, const char *folder, struct err *err)
{
	const char *homes[] = { secure_getenv("ROCPROF_COMPUTE_HOME"),
				"/opt/rocm/libexec/rocprofiler-compute",
				"/usr/libexec/rocprofiler-compute",
				"/usr/local/libexec/rocprofiler-compute" };
	bool is_found = false;
	char file[600];

	*ret = (struct compute_definitions){ 0 };
	if (folder) {
		print_into(ret->reports, sizeof(ret->reports), "%s", folder);
		if (!folder_is_there(folder)) {
			err_set(err, -errno, "the folder of definitions '%s' cannot be read: %s",
				folder, strerror(errno));
			err_fix(err, "--config-dir FOLDER: rocprof-compute's analysis_configs");
			return err_exit(err, EXIT_USAGE);
		}
		is_found = true;
	}
	for (size_t i = 0; !is_found && i < ARRAY_SIZE(homes); i++) {
		if (!homes[i] || !homes[i][0])
			continue;
		print_into(ret->reports, sizeof(ret->reports), "%s/" REPORTS, homes[i]);
		is_found = folder_is_there(ret->reports);
	}
	if (!is_found)
		return nothing_refuse(err);
	/* Sets and counters are in folders beside the reports. */
	print_into(ret->counters, sizeof(ret->counters), "%s/../profile_configs", ret->reports);
	print_into(ret->sets, sizeof(ret->sets), "%s/../profile_configs/sets", ret->reports);
	print_into(file, sizeof(file), "%s/counter_defs.yaml", ret->counters);
	if (access(file, R_OK))
		ret->counters[0] = '\0';
	return 0;
}
