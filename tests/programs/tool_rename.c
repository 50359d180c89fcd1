/*
 * A tool library for tests that gives the thread that loads it another name.
 */
#include <sys/prctl.h>

__attribute__((constructor)) static void rename_begin(void)
{
	prctl(PR_SET_NAME, "renamed");
}
