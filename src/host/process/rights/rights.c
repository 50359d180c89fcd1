/*
 * Reads the rights of limpet, and what is known of those of other processes, without trying
 * anything; describes refusals of perf_event_open().
 */
#include "host/process/rights/rights.h"

#include "host/core/text/text.h"
#include "host/process/auxv.h"
#include "host/process/status.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

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
		.container = container_engine(),
	};
	if (status_read(ret->pid, ret->pid, &status, &ignored) == 0)
		ret->capabilities = status.capabilities;
	size = text_read_small("/sys/kernel/security/lsm", ret->modules, sizeof(ret->modules));
	if (size < 0)
		ret->modules[0] = '\0';
}

bool rights_have(const struct rights *rights, enum capability capability)
{
	return rights->capabilities >> capability & 1;
}

static enum sameness namespaces_compare(pid_t pid, const char *name)
{
	char theirs[48], ours[32];
	struct stat a, b;

	snprintf(theirs, sizeof(theirs), "/proc/%d/ns/%s", (int)pid, name);
	snprintf(ours, sizeof(ours), "/proc/self/ns/%s", name);
	if (stat(theirs, &a) < 0 || stat(ours, &b) < 0)
		return SAME_UNKNOWN;
	return a.st_ino == b.st_ino && a.st_dev == b.st_dev ? SAME_YES : SAME_NO;
}

void namespaces_read(pid_t pid, struct namespaces *ret)
{
	*ret = (struct namespaces){
		.mnt = namespaces_compare(pid, "mnt"),
		.pid = namespaces_compare(pid, "pid"),
		.user = namespaces_compare(pid, "user"),
		.net = namespaces_compare(pid, "net"),
	};
}

/* By the kernel's flag (AT_SECURE); where that may not be read, by facts visible to every user. */
bool program_is_privileged(pid_t pid)
{
	struct process_status status;
	struct err ignored = { 0 };
	struct auxv auxv;

	if (!auxv_read(pid, &auxv, &ignored))
		return auxv_value(&auxv, AT_SECURE);
	return !status_read(pid, pid, &status, &ignored) &&
	       (status.uid != status.euid || status.gid != status.egid ||
		(status.euid && status.capabilities));
}

int perf_access_level(void)
{
	char level[16];
	ssize_t size =
		text_read_small("/proc/sys/kernel/perf_event_paranoid", level, sizeof(level));

	return size > 0 ? (int)strtol(level, NULL, 10) : INT_MAX;
}

/* May limpet not even count itself?  Debian's and Android's kernels have level 3, which allows
 * users nothing; on others it equals 2. */
static bool perf_is_barred(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
					.type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_TASK_CLOCK,
					.exclude_kernel = 1,
					.exclude_hv = 1,
					.disabled = 1 };
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	bool is_barred = fd < 0 && (errno == EACCES || errno == EPERM);

	if (fd >= 0)
		close(fd);
	return is_barred;
}

static int perf_access_refuse(struct err *err)
{
	int level = perf_access_level();

	if (level >= 3 && level != INT_MAX && perf_is_barred()) {
		err_why(err, "kernel.perf_event_paranoid is %d: only CAP_PERFMON may use it",
			level);
		return err_fix(err, "sudo sysctl kernel.perf_event_paranoid=2, or %s",
			       rights_fix());
	}
	err_why(err, "the kernel lets only its own user and CAP_PERFMON look at a process");
	return err_fix(err, "%s", rights_fix());
}

int perf_access_explain(int code, struct err *err)
{
	err_set(err, code, "perf_event_open: %s", strerror(-code));
	if (code == -EACCES || code == -EPERM) {
		err_exit(err, EXIT_NOT_PERMITTED);
		return perf_access_refuse(err);
	}
	if (code == -ENOSYS)
		return err_why(err, "this kernel has no perf events, or a seccomp filter "
				    "hides them");
	if (code == -EMFILE)
		return err_fix(err, "ulimit -n 1048576");
	return code;
}
