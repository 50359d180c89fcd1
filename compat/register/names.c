/*
 * The runtimes that may register.  Runs inside the target; computes only.
 */
#include "compat/register/names.h"

#include "shared/base/macros.h"

#include <errno.h>
#include <string.h>

/* In the order of the interface.  The file is "library" + one digit from first to 9 + the end or
 * a dot. */
static const struct {
	const char *name, *library;
	char first_digit;
} names[NAMES_COUNT] = {
	{ "hsa", "libhsa-runtime64.so.", '2' },
	{ "hip", "libamdhip64.so.", '6' },
	{ "roctx", "libroctx64.so.", '4' },
	{ "hip_compiler", "libamdhip64.so.", '6' },
	{ "rccl", "librccl.so.", '6' },
	{ "rocdecode", "librocdecode.so.", '0' },
	{ "rocjpeg", "librocjpeg.so.", '0' },
	{ "rocattach", "librocprofiler-sdk-attach.so.", '0' },
	{ "hipFile", "libhipfile.so.", '0' },
	{ "rocshmem", "librocshmem.so.", '0' },
};

int names_find(const char *name)
{
	for (int i = 0; i < NAMES_COUNT; i++)
		if (!strcmp(names[i].name, name))
			return i;
	return -ENOENT;
}

const char *names_text(int runtime)
{
	return names[runtime].name;
}

bool names_match_file(int runtime, const char *path)
{
	const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
	size_t length = strlen(names[runtime].library);

	if (strncmp(file, names[runtime].library, length))
		return false;
	return file[length] >= names[runtime].first_digit && file[length] <= '9' &&
	       (!file[length + 1] || file[length + 1] == '.');
}
