/*
 * Takes the high numbers that somebody else's descriptors have in it for sockets of its own, and
 * says whether it gets what it sends itself through them: "kept" or "lost".
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define FIRST 400
#define LAST  408

static const char word[] = "precious";

static void wait_ms(long ms)
{
	struct timespec delay = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&delay, NULL);
}

static int is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* With a word in it; 0 when that cannot be done. */
static int replace(int fd)
{
	int pair[2];

	return !socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) && dup2(pair[0], fd) == fd &&
	       write(pair[1], word, sizeof(word)) == sizeof(word);
}

static int has_word(int fd)
{
	char text[sizeof(word)];

	return recv(fd, text, sizeof(text), MSG_DONTWAIT) == sizeof(text);
}

int main(void)
{
	int is_ours[LAST - FIRST + 1] = { 0 }, lost = 0;

	puts("ready");
	fflush(stdout);
	while (getchar() != '\n')
		;
	for (int fd = FIRST; fd <= LAST; fd++)
		is_ours[fd - FIRST] = is_open(fd) && replace(fd);
	wait_ms(3000); /* whoever waits there looks every second */
	for (int fd = FIRST; fd <= LAST; fd++)
		lost += is_ours[fd - FIRST] && !has_word(fd);
	puts(lost ? "lost" : "kept");
	fflush(stdout);
	for (;;)
		pause();
}
