/*
 * Takes the driver's lock on the counters of node 1 as the agent does in a target, says what came
 * of it, waits for a line, and gives it back.  With "closed" it closes the driver's file meanwhile,
 * and opens another in its place; with "own" waves of its own queues are enough.
 */
#include "target/amd/sinks/sdk/counters/driver_lock.h"
#include "target/runtime/identity.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The stand-in of the driver answers by a filter. */
bool identity_thread_is_unfiltered(void)
{
	return true;
}

int main(int argc, char **argv)
{
	struct driver_lock lock = { .is_held = false };
	char line[16];
	int fd;

	printf("%d\n", driver_lock_acquire(&lock, 1, argc < 2 || strcmp(argv[1], "own")));
	fflush(stdout);
	fd = lock.is_held ? lock.file.fd : -1;
	if (argc > 1 && !strcmp(argv[1], "closed") && fd >= 0) {
		close(fd);
		dup2(STDERR_FILENO, fd);
	}
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	driver_lock_release(&lock);
	driver_lock_release(&lock);
	printf("%d %d\n", lock.is_held, fd >= 0 && fcntl(fd, F_GETFD) >= 0);
	return 0;
}
