/*
 * Describes refusals of perf_event_open().
 */
#include "host/process/rights/perf_access.h"

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/core/text/text.h"
#include "host/process/rights/rights.h"

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
