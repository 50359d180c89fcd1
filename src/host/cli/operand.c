/*
 * Reads the operands of a verb.  A name is that of the process, of its program or of the script
 * that it runs, all of it: a part would sooner or later be that of a stranger, and is only offered.
 */
#include "host/cli/operand.h"

#include "host/cli/report.h"
#include "host/cli/show.h"
#include "host/core/cleanup.h"
#include "host/core/text/print.h"
#include "host/core/text/text.h"
#include "host/process/inspect/process.h"
#include "host/process/inspect/script.h"
#include "host/process/status.h"

#include <errno.h>
#include <string.h>

#define LISTED_MAX  5u
#define LISTED_TEXT 48u

struct namesakes {
	const char *name;
	pid_t first;
	size_t count;
	char list[320]; /* the first LISTED_MAX, a line each */
	pid_t alike;    /* one with the name in its own; 0: none */
	char alike_name[32];
};

static bool has_name(const struct process *process, const char *name)
{
	const char *slash = strrchr(process->executable, '/');
	char script[sizeof(process->command)];

	return !strcmp(process->status.name, name) || (slash && !strcmp(slash + 1, name)) ||
	       (process_script(process, script, sizeof(script)) && !strcmp(script, name));
}

static void note_alike(struct namesakes *found, const struct process *process)
{
	if (found->alike || !strstr(process->status.name, found->name))
		return;
	found->alike = process->pid;
	print_into(found->alike_name, sizeof(found->alike_name), "%s", process->status.name);
}

static void operand_visit(const struct process *process, void *context)
{
	struct namesakes *found = context;
	size_t used = strlen(found->list);
	char command[256], *shown;

	if (process->pid == process->rights.pid || process->stat.is_kernel_thread ||
	    process->has_ended)
		return;
	if (!has_name(process, found->name)) {
		note_alike(found, process);
		return;
	}
	if (!found->count++)
		found->first = process->pid;
	if (found->count > LISTED_MAX)
		return;
	shown = show_short_command(process, command, sizeof(command));
	text_shorten(shown, LISTED_TEXT);
	print_into(found->list + used, sizeof(found->list) - used, "%d: %s\n", (int)process->pid,
		   shown);
}

/* Its lines are limpet's, the text in them is printable already. */
static void list_namesakes(const struct namesakes *found, struct err *err)
{
	memcpy(err->why, found->list, MIN(sizeof(err->why), sizeof(found->list)));
	err->why[sizeof(err->why) - 1] = '\0';
}

static int refuse_number(const char *word, struct err *err)
{
	if (word)
		err_set(err, -EINVAL, "'%s' is not a process ID", word);
	else
		err_set(err, -EINVAL, "no process given");
	err_fix(err, "limpet ps lists processes and their PIDs");
	return err_exit(err, EXIT_USAGE);
}

static int judge_namesakes(const struct namesakes *found, pid_t *ret, struct err *err)
{
	if (found->count == 1) {
		print(stderr, "%s is process %d\n", found->name, (int)found->first);
		*ret = found->first;
		return 0;
	}
	if (!found->count) {
		err_set(err, -ESRCH, "no process is named '%s'", found->name);
		if (found->alike)
			err_fix(err,
				"%s, process %d, has it in its name; limpet ps %s lists all that do",
				found->alike_name, (int)found->alike, found->name);
		else
			err_fix(err, "limpet ps lists processes and their PIDs");
		return err_exit(err, EXIT_NO_PROCESS);
	}
	err_set(err, -EINVAL, "%zu processes are named '%s'", found->count, found->name);
	list_namesakes(found, err);
	err_fix(err, "give the PID of one; limpet ps %s lists them", found->name);
	return err_exit(err, EXIT_USAGE);
}

static int find_by_name(const char *name, pid_t *ret, struct err *err)
{
	CLEANUP(viewer_done) struct viewer viewer = { 0 };
	struct namesakes found = { .name = name };
	int r;

	viewer_init(&viewer);
	r = process_each(&viewer, operand_visit, &found, err);
	return r < 0 ? r : judge_namesakes(&found, ret, err);
}

/* Thread numbers as shown by top -H and gdb.  The verb reports a process that is not there. */
static int refuse_thread(pid_t pid, struct err *err)
{
	struct process_status status;
	struct err ignored = { 0 };

	if (status_read(pid, pid, &status, &ignored) || status.tgid == pid)
		return 0;
	err_set(err, -EINVAL, "%d (%s) is a thread, not a process", (int)pid, status.name);
	err_why(err, "it is one of the threads of process %d", (int)status.tgid);
	err_fix(err, "give the number of the process: %d", (int)status.tgid);
	return err_exit(err, EXIT_USAGE);
}

static bool is_number(const char *word)
{
	return strspn(word, "+-0123456789") == strlen(word);
}

int operand_process(const char *option, char **operands, int count, pid_t *ret, struct err *err)
{
	const char *word = option ? option : operands[0];

	if (count > (option ? 0 : 1))
		return report_surplus(operands[option ? 0 : 1], err);
	if (word && !text_parse_pid(word, ret))
		return refuse_thread(*ret, err);
	return !word || is_number(word) ? refuse_number(word, err) : find_by_name(word, ret, err);
}

int operand_processes(const struct option_list *option, char **operands, int count,
		      pid_t ret[OPTION_LIST_MAX], size_t *ret_count, struct err *err)
{
	size_t named = MAX(option->count, (size_t)1);
	int r = 0;

	for (size_t i = 0; !r && i < named; i++)
		r = operand_process(option->count ? option->items[i] : NULL, operands, count,
				    &ret[i], err);
	*ret_count = named;
	return r;
}
