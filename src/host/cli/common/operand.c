/*
 * Finds processes by name: that of the process, of its program or of the script that it runs, in
 * full.  A part of a name would sooner or later match a stranger's process, and is only suggested.
 */
#include "host/cli/common/operand.h"

#include "host/cli/common/process_facts.h"
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
#define LIST_FIX    "limpet ps lists processes and their PIDs"

struct namesakes {
	const char *name;
	pid_t first;
	size_t count;
	char list[320]; /* the first LISTED_MAX, a line each */
	pid_t alike;    /* one with the name in its own; 0: none */
	char alike_name[32];
};

static void operand_visit(const struct process *process, void *context)
{
	struct namesakes *found = context;
	const char *slash = strrchr(process->executable, '/'), *own_name = process->status.name;
	char script[sizeof(process->command)], command[256], *shown;

	if (process->pid == process->rights.pid || process->stat.is_kernel_thread ||
	    process->has_ended)
		return;
	if (strcmp(own_name, found->name) && !(slash && !strcmp(slash + 1, found->name)) &&
	    !(process_script(process, script, sizeof(script)) && !strcmp(script, found->name))) {
		if (!found->alike && strstr(own_name, found->name)) {
			found->alike = process->pid;
			print_into(found->alike_name, sizeof(found->alike_name), "%s", own_name);
		}
		return;
	}
	if (!found->count++)
		found->first = process->pid;
	if (found->count > LISTED_MAX)
		return;
	shown = show_short_command(process, command, sizeof(command));
	text_shorten(shown, LISTED_TEXT);
	print_append(found->list, sizeof(found->list), "%d: %s\n", process->pid, shown);
}

static int judge_namesakes(const struct namesakes *found, pid_t *ret, struct err *err)
{
	if (found->count == 1) {
		print(stderr, "%s is process %d\n", found->name, found->first);
		*ret = found->first;
		return 0;
	}
	if (!found->count) {
		err_set(err, -ESRCH, "no process is named '%s'", found->name);
		err_fix(err, LIST_FIX);
		if (found->alike)
			err_fix(err,
				"%s, process %d, has it in its name; limpet ps %s lists all that do",
				found->alike_name, found->alike, found->name);
		return err_exit(err, EXIT_NO_PROCESS);
	}
	err_usage(err, NULL, "%zu processes are named '%s'", found->count, found->name);
	/* Its lines are limpet's, the text in them is printable already. */
	snprintf(err->why, sizeof(err->why), "%s", found->list);
	return err_fix(err, "give the PID of one; limpet ps %s lists them", found->name);
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
	struct err ignored;

	if (status_read(pid, pid, &status, &ignored) || status.tgid == pid)
		return 0;
	err_usage(err, NULL, "%d (%s) is a thread, not a process", pid, status.name);
	err_why(err, "it is one of the threads of process %d", status.tgid);
	return err_fix(err, "give the number of the process: %d", status.tgid);
}

int operand_process(const struct command_line *line, const char *option, pid_t *ret,
		    struct err *err)
{
	const char *word = option ? option : line->operands[0];
	int most = option ? 0 : 1;

	if (line->count > most)
		return command_surplus(line->operands[most], err);
	if (!word)
		return err_usage(err, LIST_FIX, "no process given");
	if (!text_parse_pid(word, ret))
		return refuse_thread(*ret, err);
	if (word[strspn(word, "+-0123456789")])
		return find_by_name(word, ret, err);
	return err_usage(err, LIST_FIX, "'%s' is not a process ID", word);
}

int operand_processes(const struct command_line *line, const struct option_list *option,
		      pid_t ret[OPTION_LIST_MAX], size_t *ret_count, struct err *err)
{
	int r = 0;

	*ret_count = MAX(option->count, (size_t)1);
	for (size_t i = 0; !r && i < *ret_count; i++)
		r = operand_process(line, option->count ? option->items[i] : NULL, &ret[i], err);
	return r;
}
