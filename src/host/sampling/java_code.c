/*
 * Follows the Java of one process.
 */
#include "host/sampling/java_code.h"

#include "host/core/clock.h"
#include "host/java/options.h"

#include <errno.h>
#include <stdio.h>

#define NO_RULES    "stacks end in compiled Java (start it with -XX:+PreserveFramePointer): %s"
#define PATIENCE_NS 1000000000ull /* a Java that is just starting cannot be read yet */

/* No loss with frame pointers: they lead through Java's code as well. */
static void java_code_explain(struct java_code *code, pid_t pid, const char *why)
{
	if (!java_keeps_frame_pointers(pid))
		snprintf(code->why, sizeof(code->why), NO_RULES, why);
}

static void give_up(struct java_code *code, pid_t pid, const char *why)
{
	uint64_t now = now_ns();

	if (!code->failing_since_ns)
		code->failing_since_ns = now;
	if (now - code->failing_since_ns >= PATIENCE_NS)
		java_code_explain(code, pid, why);
}

static void java_code_seek(struct java_code *code, const struct space *space)
{
	struct err err = { 0 };
	int r = java_open(&code->java, space, space->pid, &err);

	code->was_sought = r != -EFAULT;
	if (r == -EFAULT)
		give_up(code, space->pid, err.what);
	else if (r && r != -ENOENT)
		java_code_explain(code, space->pid, err.what);
}

/* Rules that may belong to freed code are worse than none. */
static void note_failure(struct java_code *code, struct space *space, int r)
{
	if (space->made_count)
		space_set_made(space, NULL, 0);
	give_up(code, space->pid,
		r == -EFBIG ? "its code cache is too large" : "its code cache is not consistent");
}

/* What cannot be read now is read the next time. */
bool java_code_look(struct java_code *code, struct space *space)
{
	int r;

	if (!code->java && !code->was_sought)
		java_code_seek(code, space);
	if (!code->java) {
		engine_code_look(&code->others, space);
		return true;
	}
	r = java_refresh(code->java, space);
	if (r == -EBADMSG || r == -EFBIG)
		note_failure(code, space, r);
	else if (!r)
		code->failing_since_ns = 0;
	return r != -EAGAIN;
}

void java_code_seek_again(struct java_code *code)
{
	code->was_sought = false;
}

void java_code_done(struct java_code *code)
{
	java_close(code->java);
	*code = (struct java_code){ 0 };
}
