/*
 * Finds out where limpet runs, which decides how it can get rights.
 */
#include "host/process/rights_fix.h"

#include "host/core/text/text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool cgroup_mentions(const char *word)
{
	char text[4096];

	return text_read_small("/proc/self/cgroup", text, sizeof(text)) > 0 && strstr(text, word);
}

/* First the engine with the most specific advice for capabilities. */
const char *container_engine(void)
{
	if (secure_getenv("KUBERNETES_SERVICE_HOST") || cgroup_mentions("kubepods"))
		return "kubernetes";
	if (access("/run/.containerenv", F_OK) == 0 || cgroup_mentions("libpod"))
		return "podman";
	if (access("/.dockerenv", F_OK) == 0 || cgroup_mentions("docker"))
		return "docker";
	if (secure_getenv("container"))
		return "container";
	return NULL;
}

const char *rights_fix(void)
{
	if (geteuid())
		return "run limpet as root, or: " RIGHTS_SETUP;
	return container_engine()
		       ? "start the container with the capabilities SYS_PTRACE, PERFMON and "
			 "BPF, as docker run --cap-add does"
		       : "run limpet with all capabilities: root lacks some here";
}

int rights_fix_with(struct err *err, const char *capability, const char *otherwise)
{
	const char *rest = otherwise ? "\n" : "", *words = otherwise ? otherwise : "";

	if (geteuid())
		return err_fix(err, "run limpet as root (sudo)%s%s", rest, words);
	if (container_engine())
		return err_fix(
			err,
			"start the container with the capability %s, as docker run --cap-add does%s%s",
			capability, rest, words);
	return err_fix(err, "run limpet with the capability CAP_%s: root lacks it here%s%s",
		       capability, rest, words);
}
