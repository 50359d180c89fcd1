/*
 * The texts about missing counters.
 */
#include "host/counters/reason.h"

#include <errno.h>
#include <string.h>

#include "host/core/text/print.h"
#include "host/process/rights/rights.h"

void counter_machine_read(struct counter_machine *ret)
{
	ret->has_pmu = counter_has_pmu(&counter_sources_system);
	ret->paranoid = perf_access_level();
}

static void reason_set_paranoid(const struct counter_machine *machine, const char *hidden,
				struct counter_reason *ret)
{
	print_into(ret->why, sizeof(ret->why),
		   "kernel.perf_event_paranoid is %d: without CAP_PERFMON %s", machine->paranoid,
		   hidden);
	print_into(ret->fix, sizeof(ret->fix), "sudo sysctl kernel.perf_event_paranoid=1, or %s",
		   rights_fix());
}

static void reason_set_missing(const struct counter_event *event,
			       const struct counter_machine *machine, struct counter_reason *ret)
{
	if (event->needs_pmu && !machine->has_pmu) {
		print_into(ret->why, sizeof(ret->why),
			   "this machine shows no hardware counters (PMU); virtual "
			   "machines often hide them");
		print_into(ret->fix, sizeof(ret->fix),
			   "count on the machine itself, or give the virtual one a PMU");
		return;
	}
	print_into(ret->why, sizeof(ret->why), "%s does not count it",
		   event->needs_pmu ? "this CPU" : "this kernel");
	print_into(ret->fix, sizeof(ret->fix), "limpet stat --list shows what can be counted");
}

static void reason_set_refusal(const struct counter_event *event, int code,
			       const struct counter_machine *machine, struct counter_reason *ret)
{
	if (code == -EACCES || code == -EPERM) {
		reason_set_paranoid(machine, "what happens in the kernel is not counted", ret);
	} else if (code == -EDOM) {
		print_into(ret->why, sizeof(ret->why),
			   "it happens in the kernel: in user mode there is none");
		print_into(ret->fix, sizeof(ret->fix), "leave ':u' out");
	} else if (code == -EBUSY) {
		print_into(ret->why, sizeof(ret->why), "another program has the counters");
		print_into(ret->fix, sizeof(ret->fix), "end it, or count later");
	} else if (code == -EINVAL) {
		print_into(ret->why, sizeof(ret->why),
			   "the kernel does not count it for a process");
		print_into(ret->fix, sizeof(ret->fix),
			   "limpet stat --list shows what can be counted");
	} else {
		reason_set_missing(event, machine, ret);
	}
}

bool counter_reason_find(const struct counter_event *event, const struct counter_answer *answer,
			 const struct count *count, const struct counter_machine *machine,
			 struct counter_reason *ret)
{
	*ret = (struct counter_reason){ 0 };
	if (answer->refusal) {
		reason_set_refusal(event, answer->refusal, machine, ret);
	} else if (count->status == COUNT_NOT_COUNTED && event->is_partial) {
		print_into(ret->why, sizeof(ret->why),
			   "it ran on no CPU of %s, or their counters were taken", event->pmu);
	} else if (count->status == COUNT_NOT_COUNTED) {
		print_into(ret->why, sizeof(ret->why),
			   "the CPU's counters were taken by other events all the time");
		print_into(ret->fix, sizeof(ret->fix), "count fewer events: -e");
	} else if (count->status == COUNT_INCOMPLETE) {
		print_into(
			ret->why, sizeof(ret->why),
			"threads began meanwhile, and with --threads each is counted only once it "
			"is seen: what they did before is missing");
		print_into(ret->fix, sizeof(ret->fix), "count without --threads");
	} else if (answer->is_user_only && !event->is_time) {
		reason_set_paranoid(machine, "only user mode is counted", ret);
	} else if (count->status == COUNT_SCALED) {
		print_into(ret->why, sizeof(ret->why),
			   "the CPU has too few counters for all events at once: the value "
			   "is scaled from the share of time");
		print_into(ret->fix, sizeof(ret->fix), "count fewer events: -e");
	} else if (event->is_partial && count->share < 1) {
		print_into(ret->why, sizeof(ret->why), "counted while on CPUs of %s only",
			   event->pmu);
	}
	return ret->why[0];
}

void counter_shown_name(const struct counter_event *event, const struct counter_answer *answer,
			char ret[COUNTER_NAME_MAX])
{
	bool is_user_only = answer->is_user_only && !event->is_time && !event->exclusions;
	size_t length = strlen(event->name);
	const char *mark = length && event->name[length - 1] == '/' ? "u" : ":u";

	print_into(ret, COUNTER_NAME_MAX, "%s%s", event->name, is_user_only ? mark : "");
}
