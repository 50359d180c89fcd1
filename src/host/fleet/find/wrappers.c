/*
 * Names of programs that start others, cut to 15 letters as in the kernel.
 */
#include "host/fleet/find/job_processes.h"

#include "shared/base/macros.h"

#include <string.h>

static const char *const wrappers[] = {
	"sh",     "bash",    "dash",      "zsh",     "ksh",       "csh",         "tcsh",
	"fish",   "busybox", "timeout",   "time",    "strace",    "ltrace",      "sudo",
	"su",     "script",  "catchsegv", "tini",    "dumb-init", "conda",       "mamba",
	"uv",     "poetry",  "pipenv",    "starter", "apptainer", "singularity", "podman",
	"conmon", "crun",    "runc",      "enroot",  "flock",     "setpriv",
};

static const char *const launchers[] = {
	"orted",          "prted",   "orterun",        "prterun",       "mpirun",
	"mpirun.openmpi", "mpiexec", "mpiexec.openmp", "mpiexec.hydra", "hydra_bstrap_pr",
	"srun",           "sbatch",  "salloc",         "slurmstepd",    "torchrun",
	"flux-shell",     "palsd",   "sshd",           "ssh",
};

static bool is_among(const char *const *list, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strncmp(list[i], name, 15))
			return true;
	return false;
}

bool program_is_wrapper(const char *name)
{
	return is_among(wrappers, ARRAY_SIZE(wrappers), name);
}

bool program_is_launcher(const char *name, bool without_proxy)
{
	return is_among(launchers, ARRAY_SIZE(launchers), name) ||
	       (!without_proxy && !strcmp(name, "hydra_pmi_proxy"));
}
