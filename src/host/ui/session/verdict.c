/*
 * The verdict of `limpet attach`, as members of an object.
 */
#include "host/ui/session/verdict.h"

#include "host/attach/listener.h"
#include "host/core/cleanup.h"
#include "host/process/inspect/attachable.h"
#include "host/process/rights/rights.h"

/* On the page one begins again with limpet ui. */
static void fix_with_root(const struct process *process, struct err *err)
{
	if (process->rights.uid && err->exit == EXIT_NOT_PERMITTED)
		err_fix(err, "sudo limpet ui %d\n" RIGHTS_SETUP, (int)process->pid);
}

void verdict_write(struct json *json, const struct process *process)
{
	struct err err = { 0 };
	int r = listener_judge(process, &err);

	if (r)
		fix_with_root(process, &err);
	json_bool(json, "attachable", r == 0);
	json_text(json, "error", err.what);
	json_text(json, "why", err.why);
	json_text(json, "fix", err.fix);
}

int verdict_rights(pid_t pid, bool of_others_only, struct err *err)
{
	CLEANUP(process_done) struct process process = { 0 };
	struct err refusal = { 0 };
	int r = process_read(pid, &process, err);

	if (r)
		return r;
	if ((of_others_only && process.status.euid == process.rights.uid) ||
	    !process_judge(&process, &refusal) || refusal.exit != EXIT_NOT_PERMITTED)
		return 0;
	*err = refusal;
	fix_with_root(&process, err);
	return err->code;
}
