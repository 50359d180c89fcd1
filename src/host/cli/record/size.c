/*
 * Powers of 1024; no other unit.
 */
#include "host/cli/record/size.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char suffixes[] = "KMG";

int size_parse(const char *option, const char *text, uint64_t *ret, struct err *err)
{
	unsigned long long number;
	const char *suffix;
	unsigned shift = 0;
	char *end;

	if (!text)
		return 0;
	errno = 0;
	number = strtoull(text, &end, 10);
	suffix = *end ? strchr(suffixes, *end & ~0x20) : NULL;
	if (suffix)
		shift = 10 * (unsigned)(suffix - suffixes + 1), end++;
	if (text[0] < '0' || text[0] > '9' || errno || *end || !number ||
	    number > UINT64_MAX >> shift) {
		err_set(err, -EINVAL, "'%s' is not a size for %s", text, option);
		err_fix(err, "a number of bytes, or with K, M or G: %s 512K", option);
		return err_exit(err, EXIT_USAGE);
	}
	*ret = (uint64_t)number << shift;
	return 0;
}
