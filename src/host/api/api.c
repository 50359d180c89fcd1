/*
 * Structs whose size callers may know differently, and errors in the API's form.
 */
#include "host/api/api.h"

#include <string.h>

#include "host/core/text/foreign.h"

/* The common part behind the size, which the caller's struct begins with. */
static void common_copy(void *to, const void *from, const void *callers, size_t size)
{
	size_t known;

	memcpy(&known, callers, sizeof(known));
	known = MIN(known, size);
	if (known > sizeof(known))
		memcpy((char *)to + sizeof(known), (const char *)from + sizeof(known),
		       known - sizeof(known));
}

void api_copy_in(void *to, const void *from, size_t size)
{
	if (from)
		common_copy(to, from, from, size);
}

void api_copy_out(void *to, const void *from, size_t size)
{
	if (to)
		common_copy(to, from, to, size);
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
