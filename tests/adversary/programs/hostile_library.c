/*
 * What an ordinary user might load into processes that she may attach to.  Says in the file that
 * HOSTILE_REPORT names whether it found itself with more rights than hers.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void look(void)
{
	static const char words[] = "RIGHTS GAINED\n";
	const char *path = getenv("HOSTILE_REPORT");
	int fd;

	if (geteuid() && getuid())
		return;
	fd = open(path ? path : "/tmp/hostile-report", O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd >= 0 && write(fd, words, strlen(words)) >= 0)
		close(fd);
}
