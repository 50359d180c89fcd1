/*
 * limpet ps: the processes one may see, and whether they can be attached.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "host/attach/door.h"
#include "host/cli/command.h"
#include "host/cli/report.h"
#include "host/cli/show.h"
#include "host/core/cleanup.h"
#include "host/core/print.h"
#include "host/process/attachable.h"

struct ps_values {
	bool is_json;
	bool only_gpu;
	bool with_kernel_threads;
};

#define FIELD(member) offsetof(struct ps_values, member)

static const struct option_desc ps_options[] = {
	{ 'g', "gpu", NULL, "only processes with a GPU runtime", OPTION_FLAG, FIELD(only_gpu) },
	{ 'a', "all", NULL, "kernel threads too", OPTION_FLAG, FIELD(with_kernel_threads) },
	{ 'j', "json", NULL, "one JSON object per line", OPTION_FLAG, FIELD(is_json) },
	{ 0 },
};

struct ps {
	const struct ps_values *values;
	const char *name; /* what name or command line must contain; NULL: anything */
	size_t count;
	int width; /* of a line, 0: as long as it takes */
};

static bool is_wanted(const struct ps *ps, const struct process *process)
{
	if (process->pid == process->rights.pid)
		return false;
	if (process->stat.is_kernel_thread && !ps->values->with_kernel_threads)
		return false;
	if (ps->values->only_gpu && !process->runtimes)
		return false;
	return !ps->name || strstr(process->status.name, ps->name) ||
	       strstr(process->command, ps->name);
}

static void print_row(const struct ps *ps, const struct process *process)
{
	char command[256], libc[64], runtimes[64], verdict[128] = "yes", line[512];
	unsigned permille = process_cpu_permille(process);
	struct err err;

	if (door_judge(process, &err) < 0)
		snprintf(verdict, sizeof(verdict), "no: %s", process_refusal(process, &err));
	runtimes_describe(process->runtimes, runtimes, sizeof(runtimes));
	snprintf(line, sizeof(line), "%7d %-10.10s %4u %4u.%u %-11s %-8s %-28s %s",
		 (int)process->pid, process->user, process->status.threads, permille / 10,
		 permille % 10, libc_describe(&process->libc, libc, sizeof(libc)),
		 runtimes[0] ? runtimes : "-", verdict,
		 show_command(process, command, sizeof(command)));
	print(stdout, "%.*s\n", ps->width ? ps->width : (int)sizeof(line), line);
}

static void visit(const struct process *process, void *context)
{
	struct ps *ps = context;

	if (!is_wanted(ps, process))
		return;
	ps->count++;
	if (ps->values->is_json) {
		struct json json = { .out = stdout };

		show_process_json(&json, process);
		json_object_end(&json);
	} else {
		print_row(ps, process);
	}
}

static int terminal_width(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static int nothing_found(const struct ps *ps, struct err *err)
{
	const char *kind = ps->values->only_gpu ? " with a GPU runtime" : "";

	if (ps->name)
		err_set(err, -ESRCH, "no process%s matches '%s'", kind, ps->name);
	else
		err_set(err, -ESRCH, "no other process%s is visible here", kind);
	return err_exit(err, EXIT_NO_PROCESS);
}

static enum exit_code ps_end(const struct ps *ps, const struct err *err)
{
	struct json json = { .out = stdout };

	if (!ps->values->is_json)
		return report_end("ps", false, err);
	report_summary(&json, "ps", err);
	json_number(&json, "processes", ps->count);
	json_object_end(&json);
	return report_end("ps", false, err);
}

static enum exit_code ps_run(char **argv)
{
	CLEANUP(viewer_done) struct viewer viewer = { 0 };
	struct ps_values values = { 0 };
	struct ps ps = { .values = &values, .width = terminal_width() };
	struct err err = { 0 };
	int operands = options_parse(ps_options, argv, &values, &err);

	if (operands > 1)
		operands = report_surplus(argv[1], &err);
	if (operands < 0)
		return report_end("ps", values.is_json, &err);
	ps.name = argv[0];
	viewer_init(&viewer);
	if (!values.is_json)
		print(stdout, "%7s %-10s %4s %6s %-11s %-8s %-28s %s\n", "PID", "USER", "THR",
		      "CPU%", "LIBC", "GPU", "ATTACH", "COMMAND");
	if (process_each(&viewer, visit, &ps, &err) == 0 && ps.count == 0)
		nothing_found(&ps, &err);
	return ps_end(&ps, &err);
}

const struct command command_ps = {
	.name = "ps",
	.summary = "list processes, and say which can be attached",
	.usage = "[NAME] [--gpu] [--all] [--json]",
	.options = ps_options,
	.run = ps_run,
	.notes = "examples:\n"
		 "  limpet ps python      those with python in name or command line\n"
		 "  limpet ps --gpu       those that have loaded HIP, HSA, CUDA or OpenCL\n",
};
