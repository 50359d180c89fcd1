/*
 * fake_machine LIBRARY MODE: maps LIBRARY, whose name makes it a Java virtual machine for whoever
 * believes names, catches SIGQUIT as one does, and says "woken" for each.  Then, by MODE:
 *
 *   silent   it never makes its socket
 *   mute     it makes it, takes the question, and says nothing
 *   endless  it answers without an end
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static volatile sig_atomic_t woken;

static void on_quit(int number)
{
	(void)number;
	woken++;
}

static int map(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED;
}

static int listen_there(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	unlink(address->sun_path);
	if (bind(fd, (const struct sockaddr *)address, sizeof(*address)) || listen(fd, 8))
		perror("socket");
	return fd;
}

static void answer(int fd, int is_endless)
{
	static const char words[4096] = "\033[31m endless \n";

	while (is_endless && send(fd, words, sizeof(words), MSG_NOSIGNAL) > 0)
		;
}

int main(int argc, char **argv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct sigaction quit = { .sa_handler = on_quit };
	int server = -1, seen = 0;

	sigaction(SIGQUIT, &quit, NULL);
	if (argc < 3 || map(argv[1]))
		return 1;
	snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/.java_pid%d", (int)getpid());
	puts("ready");
	fflush(stdout);
	for (;;) {
		if (server < 0)
			usleep(10000);
		else
			answer(accept(server, NULL, NULL), !strcmp(argv[2], "endless"));
		if (seen == woken)
			continue;
		seen = woken;
		puts("woken");
		fflush(stdout);
		if (strcmp(argv[2], "silent") && server < 0)
			server = listen_there(&address);
	}
}
