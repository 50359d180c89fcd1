/*
 * Shows a workload: by AMD's program where it is installed, which shows more, else by itself.
 */
#include "modes.h"

#include "definitions/definitions.h"
#include "host/core/text/print.h"
#include "host/core/text/text.h"
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROWS_SHOWN 10u

/* Another program than this one. */
static bool is_amds(const char *path)
{
	struct stat own, other;

	return !access(path, X_OK) && !stat(path, &other) && S_ISREG(other.st_mode) &&
	       !stat("/proc/self/exe", &own) &&
	       (own.st_dev != other.st_dev || own.st_ino != other.st_ino);
}

/* Only returns where it is not there. */
static void amds_run(char **argv, struct speaker *speaker)
{
	const char *home = secure_getenv("ROCPROF_COMPUTE_HOME");
	char named[600] = "";
	const char *const paths[] = { named, "/opt/rocm/bin/rocprof-compute",
				      "/opt/rocm/libexec/rocprofiler-compute/rocprof-compute" };

	if (home && home[0])
		print_into(named, sizeof(named), "%s/rocprof-compute", home);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		if (!is_amds(paths[i]))
			continue;
		speaker_say(speaker, SAY_INFO, "analysis by %s", paths[i]);
		argv[0] = (char *)(uintptr_t)paths[i];
		execv(paths[i], argv);
		speaker_say(speaker, SAY_WARNING,
			    "'%s' cannot be run (%s): limpet's own analysis follows", paths[i],
			    strerror(errno));
	}
}

static bool is_run_chosen(const struct frame *frame, size_t row, const void *context)
{
	const struct texts *runs = context;
	const double *numbers = frame_column(frame, "Dispatch_ID");
	uint64_t wanted;

	for (size_t i = 0; i < runs->count; i++)
		if (numbers && !text_parse_number(runs->items[i], UINT32_MAX, &wanted) &&
		    numbers[row] == (double)wanted)
			return true;
	return !runs->count;
}

static bool is_gpu_chosen(const struct frame *frame, size_t row, const void *context)
{
	const double *numbers = frame_column(frame, "GPU_ID");
	uint64_t wanted;

	return !context || (numbers && !text_parse_number(context, UINT32_MAX, &wanted) &&
			    numbers[row] == (double)wanted);
}

struct kernel_choice {
	const struct texts *numbers;
	const char **names;
	size_t count;
};

/* By its number in the first table, or by its name. */
static bool is_kernel_chosen(const struct frame *frame, size_t row, const void *context)
{
	const struct kernel_choice *self = context;
	uint64_t number;

	for (size_t i = 0; i < self->numbers->count; i++) {
		const char *text = self->numbers->items[i];

		if (text_parse_number(text, UINT32_MAX, &number)
			    ? !strcmp(frame->kernels[row], text)
			    : number < self->count && frame->kernels[row] == self->names[number])
			return true;
	}
	return !self->numbers->count;
}

static int rows_choose(const struct compute_options *options, struct workload *workload,
		       struct err *err)
{
	struct kernel_choice choice = { &options->kernels, NULL, 0 };

	choice.names = kernels_ordered(&workload->frame, &choice.count);
	if (!choice.names)
		return err_set(err, -ENOMEM, "no memory for kernels");
	frame_filter(&workload->frame, is_kernel_chosen, &choice);
	frame_filter(&workload->frame, is_run_chosen, &options->dispatches);
	frame_filter(&workload->frame, is_gpu_chosen, options->gpu);
	free(choice.names);
	if (workload->frame.rows)
		return 0;
	err_set(err, -ENOENT, "there is no kernel to show");
	err_why(err, "none was counted, or none is left by -k, -d and --gpu-id");
	return err_exit(err, EXIT_NOTHING_CAPTURED);
}

static int metrics_show(const struct compute_options *options, struct compute_report *report,
			struct err *err)
{
	const char *architecture = workload_system(report->workload, "gpu_arch");
	struct compute_definitions definitions;
	struct panels panels = { 0 };
	char folder[600];
	int r = compute_definitions_find(&definitions, options->config_folder, err);

	if (r)
		return r;
	print_into(folder, sizeof(folder), "%s/%s", definitions.reports, architecture);
	r = panels_read(&panels, folder, err);
	report->panels = &panels;
	if (!r)
		r = workload_prepare(report->workload, options->unit, err);
	if (!r)
		r = report_panels(report, err);
	report->panels = NULL;
	panels_done(&panels);
	return r;
}

static int workload_show(const struct compute_options *options, struct workload *workload,
			 struct err *err)
{
	struct compute_report report = { workload, NULL, &options->blocks, ROWS_SHOWN, stdout };
	uint64_t rows = ROWS_SHOWN;
	int r = rows_choose(options, workload, err);

	if (!r && options->rows && text_parse_number(options->rows, UINT32_MAX, &rows))
		return err_usage(err, NULL, "'%s' is no number of rows", options->rows);
	report.most_rows = rows;
	if (!r)
		r = report_kernels(&report, err);
	return r || options->lists_stats ? r : metrics_show(options, &report, err);
}

int analyze_mode_run(const struct compute_options *options, char **argv, struct speaker *speaker,
		     struct err *err)
{
	const struct texts *blocks = &options->blocks;
	struct workload workload;
	struct metric_id id;
	int r;

	for (size_t i = 0; i < blocks->count; i++)
		if (metric_id_parse(blocks->items[i], &id))
			return err_usage(err, NULL, "Invalid metric id: %s", blocks->items[i]);
	if (!options->path) {
		return err_usage(err, "rocprof-compute analyze -p workloads/NAME/MODEL",
				 "no workload is given");
	}
	if (!options->is_native)
		amds_run(argv, speaker);
	r = workload_read(&workload, options->path, err);
	if (r)
		return r;
	r = workload_show(options, &workload, err);
	workload_done(&workload);
	return r;
}
