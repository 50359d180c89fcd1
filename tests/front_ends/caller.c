/*
 * A program that attaches through a library which it finds with dlopen, as programs written for
 * AMD's do.  It obeys lines on its input and answers each with one line.  All the while it waits
 * for any child in a thread of its own, has a SIGCHLD handler, and makes children that end with a
 * number it knows: a child of somebody else's would be noticed.
 * usage: caller LIBRARY
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OWN_STATUS 42
#define LONGEST_MS 30000

static void *library;
static _Atomic int made, reaped, foreign, signals;
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER; /* whoever has it makes children */

static void child_handle(int number)
{
	(void)number;
	atomic_fetch_add(&signals, 1);
}

static void *reaper_run(void *argument)
{
	for (;;) {
		int status;
		pid_t pid = waitpid(-1, &status, 0);

		if (pid < 0)
			usleep(100);
		else if (WIFEXITED(status) && WEXITSTATUS(status) == OWN_STATUS)
			atomic_fetch_add(&reaped, 1);
		else
			atomic_fetch_add(&foreign, 1);
	}
	return argument;
}

static void *parent_run(void *argument)
{
	for (;;) {
		pid_t pid;

		pthread_mutex_lock(&making);
		pid = fork();
		if (pid == 0) {
			usleep(2000);
			_exit(OWN_STATUS);
		}
		atomic_fetch_add(&made, pid > 0);
		pthread_mutex_unlock(&making);
		usleep(5000);
	}
	return argument;
}

static void family_start(void)
{
	pthread_t thread;

	signal(SIGCHLD, child_handle);
	pthread_create(&thread, NULL, reaper_run, NULL);
	pthread_create(&thread, NULL, parent_run, NULL);
}

static int call(const char *name, int pid)
{
	int (*function)(int) = (int (*)(int))dlsym(library, name);

	return function ? function(pid) : -1;
}

struct request {
	const char *name;
	int pid, answer;
};

static void *request_run(void *argument)
{
	struct request *request = argument;

	request->answer = call(request->name, request->pid);
	return NULL;
}

/* The same call for two processes at the same time. */
static void call_both(const char *name, const int pids[2])
{
	struct request requests[2] = { { name, pids[0], -1 }, { name, pids[1], -1 } };
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, request_run, &requests[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d %d\n", requests[0].answer, requests[1].answer);
}

static void say_status(void)
{
	int (*function)(char *, size_t) =
		(int (*)(char *, size_t))dlsym(library, "limpet_attach_status");
	char message[1024] = "";
	int status = function ? function(message, sizeof(message)) : -1;

	for (char *at = message; *at; at++)
		if (*at == '\n')
			*at = '|';
	printf("%d %s\n", status, message);
}

/* A child of this program's ends the way a program does, with all destructors. */
static void fork_and_exit(void)
{
	if (fork() == 0)
		exit(OWN_STATUS);
	atomic_fetch_add(&made, 1);
	usleep(100000);
	puts("forked");
}

/* When all who were made have ended; a child that somebody else has waited for is missed. */
static void say_family(void)
{
	pthread_mutex_lock(&making);
	for (int ms = 0; ms < LONGEST_MS && reaped < made; ms++)
		usleep(1000);
	printf("made %d reaped %d foreign %d signals %d\n", made, reaped, foreign, signals);
	pthread_mutex_unlock(&making);
}

static void obey(const char *line)
{
	char name[64] = "";
	int pids[2] = { 0, 0 };
	int count = sscanf(line, "%63s %d %d", name, &pids[0], &pids[1]);

	if (!strcmp(name, "family"))
		say_family();
	else if (!strcmp(name, "status"))
		say_status();
	else if (!strcmp(name, "fork"))
		fork_and_exit();
	else if (!strcmp(name, "close"))
		printf("%d\n", dlclose(library));
	else if (count == 3)
		call_both(name, pids);
	else
		printf("%d\n", call(name, pids[0]));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	char line[256];

	if (argc != 2)
		return 2;
	library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	puts(library ? "ready" : dlerror());
	fflush(stdout);
	family_start();
	while (library && fgets(line, sizeof(line), stdin))
		obey(line);
	return library ? 0 : 1;
}
