/*
 * A process as JSON: the common part of limpet ps and of its page.
 */
#include "host/core/text/json.h"
#include "host/process/process.h"

void process_put_json(struct json *json, const struct process *process)
{
	const char state[] = { process->status.state, '\0' };

	json_text(json, "name", process->status.name);
	json_text(json, "command", process->command);
	json_text(json, "executable", process->executable);
	json_text(json, "user", process->user);
	json_number(json, "uid", process->status.euid);
	json_text(json, "state", state);
	json_number(json, "threads", process->status.threads);
	json_number(json, "cpu_ns", process->stat.cpu_ns);
	json_number(json, "cpu_permille", process_cpu_permille(process));
}
