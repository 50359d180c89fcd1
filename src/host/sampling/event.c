/*
 * perf's events by name.
 */
#include "host/sampling/event.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SECOND_NS 1000000000u

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
	bool is_time; /* its period is a time; else the kernel adapts the period to the rate */
} events[SAMPLER_EVENTS] = {
	[EVENT_CPU_CLOCK] = { "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true },
	[EVENT_CYCLES] = { "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false },
};

int event_find(const char *name, enum sampler_event *ret, struct err *err)
{
	char names[64] = "";

	for (unsigned i = 0; i < SAMPLER_EVENTS; i++) {
		if (!strcmp(events[i].name, name)) {
			*ret = i;
			return 0;
		}
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 i ? ", " : "", events[i].name);
	}
	err_set(err, -ENOENT, "unknown event '%s'", name);
	err_fix(err, "one of %s", names);
	return err_exit(err, EXIT_USAGE);
}

void event_count(enum sampler_event event, uint64_t period_ns, struct perf_event_attr *attr)
{
	attr->type = events[event].type;
	attr->config = events[event].config;
	attr->freq = !events[event].is_time;
	if (events[event].is_time)
		attr->sample_period = period_ns;
	else
		attr->sample_freq = SECOND_NS / period_ns;
}

int event_open(const struct perf_event_attr *attr, pid_t tid, int cpu)
{
	struct perf_event_attr copy = *attr; /* the kernel writes the size into it */
	long fd = syscall(SYS_perf_event_open, &copy, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && errno == EINVAL && copy.read_format) {
		copy.read_format = 0;
		fd = syscall(SYS_perf_event_open, &copy, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	}
	if (fd < 0 && errno == EINVAL && copy.inherit_thread) {
		copy.inherit_thread = 0;
		fd = syscall(SYS_perf_event_open, &copy, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	}
	return fd < 0 ? -errno : (int)fd;
}

/* On limpet itself, where these errors can only mean that the counter is missing. */
int event_probe(enum sampler_event event, struct err *err)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .disabled = 1, .exclude_kernel = 1 };
	int fd;

	if (events[event].is_time) /* without any events, samplers that need none remain */
		return 0;
	event_count(event, SECOND_NS, &attr);
	fd = event_open(&attr, 0, -1);
	if (fd >= 0)
		close(fd);
	if (fd != -ENOENT && fd != -ENODEV && fd != -EOPNOTSUPP)
		return 0;
	err_set(err, -ENODEV, "%s cannot be counted on this machine: %s", events[event].name,
		strerror(-fd));
	err_why(err, "its CPU has no counters, or the virtual machine hides them");
	return err_fix(err, "leave -e out: cpu-clock needs none");
}

bool event_is_time(enum sampler_event event)
{
	return events[event].is_time;
}
