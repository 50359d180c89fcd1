/*
 * The first five minutes: examples, and processes they could be tried on.
 */
#include "host/cli/start_page.h"

#include <stdio.h>
#include <string.h>

#include "host/attach/listener.h"
#include "host/cli/common/command.h"
#include "host/cli/common/process_facts.h"
#include "host/core/cleanup.h"
#include "host/core/text/print.h"

#define BUSIEST       5
#define COMMAND_WIDTH 52 /* the rest of 80 columns */

static const char examples[] =
	"limpet shows what a running process does, without restarting it.\n"
	"\n"
	"  limpet ui 4242                  watch it on a page, in your browser\n"
	"  limpet top 4242                 watch it here: threads, functions, flame view\n"
	"  limpet dump shop.py             the stacks of all its threads, now\n"
	"  limpet record -p 4242 -d 10     record 10 seconds, into limpet-4242.limpet\n"
	"  limpet record -- ./program      record a program from its start to its end\n"
	"  limpet report FILE              where the time went\n"
	"  limpet export FILE -o it.html   a flame graph, for a browser\n"
	"  limpet stat 4242 -d 10          its CPU time, context switches, faults, cycles\n"
	"  limpet ps                       what runs here, and what can be attached\n"
	"  limpet doctor 4242              can it be attached; if not, why, and the fix\n"
	"  limpet attach 4242 --tool my.so load a library into it\n"
	"  limpet help                     all verbs\n";

struct row {
	pid_t pid;
	unsigned permille, threads;
	char command[256];
};

struct busiest {
	struct row rows[BUSIEST]; /* busiest first */
	size_t count;
};

static void start_page_insert(struct busiest *busiest, const struct row *row)
{
	size_t at = busiest->count;

	while (at > 0 && busiest->rows[at - 1].permille < row->permille)
		at--;
	if (at == BUSIEST)
		return;
	if (busiest->count < BUSIEST)
		busiest->count++;
	memmove(&busiest->rows[at + 1], &busiest->rows[at],
		(busiest->count - 1 - at) * sizeof(busiest->rows[0]));
	busiest->rows[at] = *row;
}

static void start_page_visit(const struct process *process, void *context)
{
	struct row row = { .pid = process->pid, .threads = process->status.threads };
	char command[sizeof(row.command)];
	struct err err;

	if (process->status.euid != process->rights.uid || listener_judge(process, &err) < 0)
		return;
	row.permille = process_cpu_permille(process);
	snprintf(row.command, sizeof(row.command), "%s",
		 show_short_command(process, command, sizeof(command)));
	start_page_insert(context, &row);
}

enum exit_code start_page_print(void)
{
	CLEANUP(viewer_done) struct viewer viewer = { 0 };
	struct busiest busiest = { 0 };
	struct err err = { 0 };

	print_lines(stdout, examples);
	viewer_init(&viewer);
	if (process_each(&viewer, start_page_visit, &busiest, &err) < 0)
		return command_fail(&err);
	if (busiest.count)
		print(stdout, "\nyour busiest processes that can be attached:\n%9s %6s %8s  %s\n",
		      "PID", "CPU%", "THREADS", "COMMAND");
	else
		print(stdout, "\nnone of your processes can be attached; `limpet ps` says why.\n");
	for (size_t i = 0; i < busiest.count; i++)
		print(stdout, "%9d %4u.%u %8u  %.*s\n", busiest.rows[i].pid,
		      busiest.rows[i].permille / 10, busiest.rows[i].permille % 10,
		      busiest.rows[i].threads, COMMAND_WIDTH, busiest.rows[i].command);
	return EXIT_DONE;
}
