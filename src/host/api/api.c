/*
 * Structs whose size callers may know differently, and errors in the API's form.
 */
#include "host/api/api.h"

#include <string.h>

#include "host/core/text/foreign.h"

void api_copy_out(void *to, const void *from, size_t size)
{
	size_t known;

	if (!to)
		return;
	memcpy(&known, to, sizeof(known));
	if (known < sizeof(known))
		return;
	known = MIN(known, size);
	memcpy((char *)to + sizeof(known), (const char *)from + sizeof(known),
	       known - sizeof(known));
}

int api_report(const struct err *err, struct limpet_error *ret)
{
	struct limpet_error error = { .code = err->code,
				      .exit_code = err->code ? (int)err->exit : EXIT_DONE };

	memcpy(error.what, err->what, sizeof(error.what));
	memcpy(error.why, err->why, sizeof(error.why));
	memcpy(error.fix, err->fix, sizeof(error.fix));
	/* Reasons from several tools are raw text here. */
	foreign_clean(error.why, "\n");
	api_copy_out(ret, &error, sizeof(error));
	return err->code;
}
