/*
 * STAND-IN of OpenCL drivers: two platforms whose tables are as PoCL's are not.  The first is of
 * version 1.1 and its table lies in read-only data, followed by words that are none of the table's;
 * the second is newer than 3.0 and has slots that nobody has a name for.  Nothing here computes.
 */
#include "standin_cl.h"

#include <string.h>

static struct standin_counts counts;

static int old_answer(void)
{
	counts.old++;
	return -7;
}

static int beyond_answer(void)
{
	counts.beyond++;
	return 0;
}

static int new_answer(void)
{
	counts.current++;
	return 0;
}

static int newer_answer(void)
{
	counts.newer++;
	return -9;
}

static int extension(void *queue, void *to, const void *pattern, size_t pattern_size, size_t size,
		     unsigned count, const void *list, void **event)
{
	(void)queue;
	(void)to;
	(void)pattern;
	(void)pattern_size;
	(void)size;
	(void)count;
	(void)list;
	(void)event;
	counts.extension++;
	return -5;
}

static int old_info(void *platform, unsigned name, size_t size, void *value, size_t *ret);
static int new_info(void *platform, unsigned name, size_t size, void *value, size_t *ret);

static void *address(const char *name);
static void *address_for(void *platform, const char *name)
{
	(void)platform;
	return address(name);
}

/* Relocated, and read-only since. */
static void *const old_table[STANDIN_SLOTS] = {
	[0 ... STANDIN_OLD_SLOTS - 1] = (void *)old_answer,
	[1] = (void *)old_info,
	[STANDIN_OLD_SLOTS... STANDIN_SLOTS - 1] = (void *)beyond_answer,
};
static void *new_table[STANDIN_SLOTS + 3] = {
	[0 ... STANDIN_SLOTS - 1] = (void *)new_answer,
	[1] = (void *)new_info,
	[STANDIN_BY_NAME] = (void *)address,
	[STANDIN_BY_NAME_FOR] = (void *)address_for,
	[STANDIN_SLOTS] = (void *)newer_answer,
	[STANDIN_SLOTS + 1] = (void *)newer_answer,
};

static const struct standin_platform old_platform = { old_table }, new_platform = { new_table };

static int tell(const char *text, size_t size, void *value)
{
	if (size < strlen(text) + 1)
		return -30;
	memcpy(value, text, strlen(text) + 1);
	return 0;
}

static int old_info(void *platform, unsigned name, size_t size, void *value, size_t *ret)
{
	(void)platform;
	(void)name;
	(void)ret;
	return tell("OpenCL 1.1 stand-in", size, value);
}

static int new_info(void *platform, unsigned name, size_t size, void *value, size_t *ret)
{
	(void)platform;
	(void)name;
	(void)ret;
	return tell("OpenCL 3.1 stand-in", size, value);
}

static int get_platforms(unsigned room, const void **ret, unsigned *ret_count)
{
	if (ret && room > 1) {
		ret[0] = &old_platform;
		ret[1] = &new_platform;
	}
	if (ret_count)
		*ret_count = 2;
	return 0;
}

static void *address(const char *name)
{
	if (!strcmp(name, "clIcdGetPlatformIDsKHR"))
		return (void *)get_platforms;
	return strcmp(name, "clEnqueueMemFillINTEL") ? NULL : (void *)extension;
}

/* The one function that every driver exports. */
void *clGetExtensionFunctionAddress(const char *name)
{
	return address(name);
}

struct standin_counts *standin_counts(void)
{
	return &counts;
}
