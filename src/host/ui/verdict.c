/*
 * The verdict of `limpet attach`, as members of an object.
 */
#include "host/ui/verdict.h"

#include "host/attach/listener.h"

void verdict_write(struct json *json, const struct process *process)
{
	struct err err = { 0 };
	int r = listener_judge(process, &err);

	json_bool(json, "attachable", r == 0);
	json_text(json, "error", err.what);
	json_text(json, "why", err.why);
	json_text(json, "fix", err.fix);
}
