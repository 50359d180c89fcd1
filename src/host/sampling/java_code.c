/*
 * Follows the Java of one process.  Host only.
 */
#include "host/sampling/java_code.h"

#include <errno.h>
#include <stdio.h>

#define NOT_UNDERSTOOD                                                                           \
	"stacks end in compiled Java (start it with -XX:+PreserveFramePointer): its code cache " \
	"makes no sense"

static void seek(struct java_code *code, const struct space *space)
{
	struct err err = { 0 };
	int r;

	code->was_sought = true;
	r = java_open(&code->java, space, space->pid, &err);
	if (r && r != -ENOENT)
		snprintf(code->why, sizeof(code->why), "%s", err.what);
}

/* What cannot be read now is read the next time. */
bool java_code_look(struct java_code *code, struct space *space)
{
	int r;

	if (!code->java && !code->was_sought)
		seek(code, space);
	r = code->java ? java_refresh(code->java, space) : 0;
	if (r == -EBADMSG)
		snprintf(code->why, sizeof(code->why), "%s", NOT_UNDERSTOOD);
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
