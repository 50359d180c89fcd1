/*
 * Reads the rights of this process without trying anything.
 */
#include "host/process/rights/rights.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/core/text/text.h"
#include "host/process/status.h"

static int read_sysctl(const char *path, int missing)
{
	char text[32];
	uint64_t value;
	ssize_t size = text_read_small(path, text, sizeof(text));
	struct text rest = { text, text + MAX(size, 0) };

	return text_take_number(&rest, 10, &value) ? (int)value : missing;
}

/* "         0          0 4294967295": the map of the machine's own users. */
static bool has_mapped_users(void)
{
	char text[256];
	uint64_t inside = 0, outside = 0, count = UINT32_MAX;
	ssize_t size = text_read_small("/proc/self/uid_map", text, sizeof(text));
	struct text rest = { text, text + MAX(size, 0) };

	text_skip_blanks(&rest);
	text_take_number(&rest, 10, &inside);
	text_skip_blanks(&rest);
	text_take_number(&rest, 10, &outside);
	text_skip_blanks(&rest);
	text_take_number(&rest, 10, &count);
	return inside != 0 || outside != 0 || count != UINT32_MAX;
}

static bool cgroup_mentions(const char *word)
{
	char text[4096];

	return text_read_small("/proc/self/cgroup", text, sizeof(text)) > 0 && strstr(text, word);
}

/* First the engine with the most specific advice for capabilities. */
static const char *find_container(void)
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

void rights_read(struct rights *ret)
{
	struct process_status status;
	struct err ignored;
	ssize_t size;

	*ret = (struct rights){
		.pid = getpid(),
		.uid = geteuid(),
		.gid = getegid(),
		.yama_scope = read_sysctl("/proc/sys/kernel/yama/ptrace_scope", -1),
		.memfd_noexec = read_sysctl("/proc/sys/vm/memfd_noexec", 0),
		.is_user_namespace = has_mapped_users(),
		.container = find_container(),
	};
	if (status_read(ret->pid, ret->pid, &status, &ignored) == 0)
		ret->capabilities = status.capabilities;
	size = text_read_small("/sys/kernel/security/lsm", ret->modules, sizeof(ret->modules));
	if (size < 0)
		ret->modules[0] = '\0';
}

const char *rights_fix(void)
{
	if (geteuid())
		return "run limpet as root, or: " RIGHTS_SETUP;
	return find_container()
		       ? "start the container with the capabilities SYS_PTRACE, PERFMON and "
			 "BPF, as docker run --cap-add does"
		       : "run limpet with all capabilities: root lacks some here";
}

int rights_fix_with(struct err *err, const char *capability, const char *otherwise)
{
	const char *rest = otherwise ? "\n" : "", *words = otherwise ? otherwise : "";

	if (geteuid())
		return err_fix(err, "run limpet as root (sudo)%s%s", rest, words);
	if (find_container())
		return err_fix(
			err,
			"start the container with the capability %s, as docker run --cap-add does%s%s",
			capability, rest, words);
	return err_fix(err, "run limpet with the capability CAP_%s: root lacks it here%s%s",
		       capability, rest, words);
}

bool rights_have(const struct rights *rights, enum capability capability)
{
	return rights->capabilities >> capability & 1;
}
