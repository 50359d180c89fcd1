/*
 * limpet ps: the processes one may see, and whether they can be attached.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "host/attach/listener.h"
#include "host/cli/common/command.h"
#include "host/cli/common/process_facts.h"
#include "host/core/cleanup.h"
#include "host/core/text/print.h"
#include "host/core/text/text.h"
#include "host/process/inspect/attachable.h"

struct ps_values {
	bool is_json;
	bool only_gpu;
	bool with_kernel_threads;
	size_t count; /* of the processes shown */
};

#define FIELD(member) offsetof(struct ps_values, member)

static const struct option_desc ps_options[] = {
	{ 'g', "gpu", NULL, "show only processes with a GPU runtime", FIELD(only_gpu) },
	{ 'a', "all", NULL, "show kernel threads too", FIELD(with_kernel_threads) },
	{ 'j', "json", NULL, "print one JSON object per line", FIELD(is_json) },
	{ 0 },
};

enum { PS_PID, PS_USER, PS_THREADS, PS_CPU, PS_LIBC, PS_GPU, PS_ATTACH, PS_COLUMNS };

struct ps {
	struct ps_values *values;
	const char *name;       /* wanted in name or command line; NULL: any */
	int width;              /* of a line, 0: unlimited */
	bool hides[PS_COLUMNS]; /* for which a line has no room */
};

#define COMMAND_MIN 20
#define CELL_BYTES  128

/* The columns before the command.  `leaves`: the order in which they are dropped for lack of
 * room. */
static const struct column {
	const char *title;
	int width; /* negative: left-aligned, as in printf */
	unsigned leaves;
} columns[PS_COLUMNS] = {
	[PS_PID] = { "PID", 7, 0 },         [PS_USER] = { "USER", -10, 4 },
	[PS_THREADS] = { "THR", 4, 3 },     [PS_CPU] = { "CPU%", 6, 5 },
	[PS_LIBC] = { "LIBC", -11, 1 },     [PS_GPU] = { "GPU", -8, 2 },
	[PS_ATTACH] = { "ATTACH", -28, 6 },
};

static int width_used(const struct ps *ps)
{
	int taken = 0;

	for (unsigned i = 0; i < PS_COLUMNS; i++)
		taken += ps->hides[i] ? 0 : abs(columns[i].width) + 1;
	return taken;
}

/* The command is more informative than the columns before it: it keeps its room. */
static void fit_columns(struct ps *ps)
{
	for (unsigned turn = 1; turn < PS_COLUMNS; turn++)
		for (unsigned i = 0; i < PS_COLUMNS; i++)
			if (columns[i].leaves == turn && ps->width &&
			    width_used(ps) + COMMAND_MIN > ps->width)
				ps->hides[i] = true;
}

static void print_line(const struct ps *ps, const char *const cells[PS_COLUMNS],
		       const char *command)
{
	char line[1024];
	size_t used = 0;

	for (unsigned i = 0; i < PS_COLUMNS; i++)
		if (!ps->hides[i])
			used += (size_t)snprintf(line + used, sizeof(line) - used, "%*s ",
						 columns[i].width, cells[i]);
	snprintf(line + used, sizeof(line) - used, "%s", command);
	print(stdout, "%.*s\n", ps->width ? ps->width : (int)sizeof(line), line);
}

static void print_row(const struct ps *ps, const struct process *process)
{
	char texts[PS_COLUMNS][CELL_BYTES], command[256], libc[64];
	unsigned permille = process_cpu_permille(process);
	const char *cells[PS_COLUMNS], *shown;
	struct err err;

	for (unsigned i = 0; i < PS_COLUMNS; i++)
		cells[i] = texts[i];
	snprintf(texts[PS_PID], CELL_BYTES, "%d", (int)process->pid);
	snprintf(texts[PS_USER], CELL_BYTES, "%.10s", process->user);
	snprintf(texts[PS_THREADS], CELL_BYTES, "%u", process->status.threads);
	snprintf(texts[PS_CPU], CELL_BYTES, "%u.%u", permille / 10, permille % 10);
	snprintf(texts[PS_LIBC], CELL_BYTES, "%s",
		 libc_describe(&process->libc, libc, sizeof(libc)));
	runtimes_describe(process->runtimes, texts[PS_GPU], CELL_BYTES);
	if (!texts[PS_GPU][0])
		cells[PS_GPU] = "-";
	if (listener_judge(process, &err) < 0)
		snprintf(texts[PS_ATTACH], CELL_BYTES, "no: %s", process_refusal(process, &err));
	else
		cells[PS_ATTACH] = "yes";
	if (ps->width)
		text_shorten(texts[PS_ATTACH], (size_t)abs(columns[PS_ATTACH].width));
	shown = show_command(process, command, sizeof(command));
	if (ps->width && width_used(ps) + (int)strlen(shown) > ps->width)
		shown = show_short_command(process, command, sizeof(command));
	print_line(ps, cells, shown);
}

static void ps_visit(const struct process *process, void *context)
{
	struct ps *ps = context;

	if (process->pid == process->rights.pid ||
	    (process->stat.is_kernel_thread && !ps->values->with_kernel_threads) ||
	    (ps->values->only_gpu && !process->runtimes) ||
	    (ps->name && !strstr(process->status.name, ps->name) &&
	     !strstr(process->command, ps->name)))
		return;
	ps->values->count++;
	if (ps->values->is_json)
		show_process_json(process);
	else
		print_row(ps, process);
}

/* 0: not a terminal.  COLUMNS, set by the user or the shell, takes precedence. */
static int terminal_width(void)
{
	const char *said = secure_getenv("COLUMNS");
	struct winsize size;
	uint64_t number;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		return 0;
	if (said && !text_parse_number(said, INT_MAX, &number) && number)
		return (int)number;
	return size.ws_col;
}

static int ps_run(const struct command_line *line, struct err *err)
{
	CLEANUP(viewer_done) struct viewer viewer = { 0 };
	struct ps ps = { .values = line->values,
			 .name = line->operands[0],
			 .width = terminal_width() };
	const char *kind = ps.values->only_gpu ? " with a GPU runtime" : "";
	const char *titles[PS_COLUMNS];
	int r;

	viewer_init(&viewer);
	fit_columns(&ps);
	for (unsigned i = 0; i < PS_COLUMNS; i++)
		titles[i] = columns[i].title;
	if (!ps.values->is_json)
		print_line(&ps, titles, "COMMAND");
	r = process_each(&viewer, ps_visit, &ps, err);
	if (r || ps.values->count)
		return r;
	if (ps.name)
		err_set(err, -ESRCH, "no process%s matches '%s'", kind, ps.name);
	else
		err_set(err, -ESRCH, "no other process%s is visible here", kind);
	return err_exit(err, EXIT_NO_PROCESS);
}

static void ps_summarize(const void *values, struct json *json)
{
	json_number(json, "processes", ((const struct ps_values *)values)->count);
}

const struct command command_ps = {
	.name = "ps",
	.summary = "list processes, and say which can be attached",
	.usage = "[NAME] [--gpu] [--all] [--json]",
	.options = ps_options,
	.values_size = sizeof(struct ps_values),
	.operands = &(const struct operand_rule){ .most = 1 },
	.run = ps_run,
	.summarize = ps_summarize,
	.notes = "examples:\n"
		 "  limpet ps python      those with python in name or command line\n"
		 "  limpet ps --gpu       those that have loaded a GPU runtime:"
#define RUNTIME(name, key, title) " " title
#include "host/runtimes/runtimes.def"
		 "\n",
};
