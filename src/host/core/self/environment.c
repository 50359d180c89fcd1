/*
 * Replaces the environment by a short list.
 */
#include "host/core/self/environment.h"

#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "shared/base/macros.h"

/* PATH is for programs that the user starts, with no more than the user's rights. */
static const char *const harmless[] = {
	"PATH=",     "TERM=",        "LANG=",    "LANGUAGE=", "LC_ALL=",
	"LC_CTYPE=", "LC_MESSAGES=", "COLUMNS=", "LINES=",    "NO_COLOR=",
};

static char **given;
static char *trusted[ARRAY_SIZE(harmless) + 1];

void environment_distrust(void)
{
	size_t count = 0;

	if (!getauxval(AT_SECURE))
		return;
	given = environ;
	for (char **at = given; at && *at && count < ARRAY_SIZE(harmless); at++)
		for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
			if (strncmp(*at, harmless[i], strlen(harmless[i])) == 0)
				trusted[count++] = *at;
	environ = trusted;
}

char **environment_given(void)
{
	return given ? given : environ;
}
