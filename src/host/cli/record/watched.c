/*
 * limpet record --ui: the same recording, made by the page's own session, which shows it.
 */
#include "host/cli/doctor/members.h"
#include "host/cli/record/visit.h"
#include "host/cli/ui_page.h"
#include "host/cli/version.h"
#include "host/live/source.h"
#include "host/ui/browser.h"

#include <errno.h>

static int processes_check(const struct visit *visit, struct err *err)
{
	if (visit->pid_count == 1)
		return 0;
	err_set(err, -EINVAL, "--ui watches one process");
	err_fix(err, "one -p; --children records its descendants too");
	return err_exit(err, EXIT_USAGE);
}

int record_watched(struct visit *visit, struct recorder_options *options, struct err *err)
{
	const struct record_values *values = visit->values;
	struct source_options job = { .sampling = visit->samples ? &visit->sampling : NULL,
				      .is_kept = true };
	struct ui_options page = { .version = LIMPET_VERSION,
				   .examine = doctor_write_members,
				   .lease_ns = UI_LEASE_NS,
				   .record = &job };
	int r = processes_check(visit, err);

	if (r)
		return r;
	options->pids = visit->pids;
	options->pid_count = 1;
	options->has_children = values->samples.children;
	options->path = values->output;
	visit->sampling.sampler.pid = visit->pids[0];
	job.job = (struct background_options){
		.recorder = *options,
		.times = { .periods = &visit->period,
			   .period_count = 1,
			   .duration_ns = values->duration_ns,
			   .max_bytes = visit->job.times.max_bytes },
		.unload = values->unload,
	};
	invoker_find(&page.user, &page.group);
	return ui_page_run(&page, &(struct ui_page_words){ values->no_open, values->is_json }, err);
}
