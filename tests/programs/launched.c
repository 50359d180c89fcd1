/*
 * A program that is started by somebody, and says what it did or how it finds itself.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EARLY_SIZE  333
#define EARLY_COUNT 7
#define MAIN_SIZE   4242

void _start(void);

static volatile sig_atomic_t came;

static void allocate(size_t size, int count)
{
	for (int i = 0; i < count; i++) {
		void *volatile block = malloc(size);

		free(block);
	}
}

/* Before main, but of the program itself. */
__attribute__((constructor)) static void early(void)
{
	allocate(EARLY_SIZE, EARLY_COUNT);
}

static int do_count(char **words)
{
	allocate(MAIN_SIZE, atoi(words[0]));
	return 3;
}

static void print_lines(const char *path, const char *const *wanted)
{
	FILE *file = fopen(path, "r");
	char line[512];

	while (file && fgets(line, sizeof(line), file))
		for (const char *const *word = wanted; *word; word++)
			if (!strncmp(line, *word, strlen(*word)))
				fputs(line, stdout);
	if (file)
		fclose(file);
}

/* Memory that can be executed and is of no file. */
static int count_nameless_code(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	char line[512];
	int count = 0;

	while (file && fgets(line, sizeof(line), file))
		count += strstr(line, " r-xp 00000000 00:00 0 \n") != NULL;
	if (file)
		fclose(file);
	return count;
}

static void print_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	const struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		int fd = atoi(entry->d_name);

		/* Those of limpet's agent are high, and closed by exec. */
		if (entry->d_name[0] != '.' && fd != dirfd(folder) && fd < 400)
			printf("fd %d\n", fd);
	}
	if (folder)
		closedir(folder);
}

/* glibc's first heap grows from the end of the program. */
static int is_on_main_heap(void)
{
	char *block = malloc(MAIN_SIZE);
	int is_near = block && block < (char *)sbrk(0) && block + (1 << 20) > (char *)sbrk(0);

	free(block);
	return is_near;
}

static int count_objects(struct dl_phdr_info *info, size_t size, void *count)
{
	(void)info, (void)size;
	++*(int *)count;
	return 0;
}

static int is_self;

/* Called by the function that the dynamic linker hands to the program's first instruction. */
__attribute__((destructor)) static void late(void)
{
	if (is_self)
		puts("ended in order");
}

/* Everything that could be told from outside; "code" may differ by what is loaded. */
static int do_self(char **words)
{
	static const char *const wanted[] = { "SigBlk:",     "SigIgn:",  "TracerPid:",
					      "NoNewPrivs:", "Seccomp:", NULL };
	int objects = 0;

	(void)words;
	is_self = 1;
	printf("entry %d\n", getauxval(AT_ENTRY) == (unsigned long)_start);
	print_lines("/proc/self/status", wanted);
	print_descriptors();
	for (char **variable = environ; *variable; variable++)
		printf("variable %s\n", *variable);
	printf("group %d\n", getpgrp() == getpgid(getppid()));
	dl_iterate_phdr(count_objects, &objects);
	printf("heap %d\n", is_on_main_heap());
	printf("code %d objects %d\n", count_nameless_code(), objects);
	return 0;
}

static void on_signal(int signal)
{
	came = signal;
}

/* Waits for a signal, says which, and goes on to its end. */
static int do_wait(char **words)
{
	sigset_t all, before;

	(void)words;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	printf("ready %d\n", getpid());
	fflush(stdout);
	while (!came)
		sigsuspend(&before);
	allocate(MAIN_SIZE, 5);
	printf("signal %d\n", came);
	return 9;
}

static int do_crash(char **words)
{
	(void)words;
	allocate(MAIN_SIZE, 5);
	abort();
}

static int do_read(char **words)
{
	char line[64] = "";

	(void)words;
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	allocate(MAIN_SIZE, 5);
	printf("read %s", line);
	return 0;
}

/* A child executes the rest of the words; the parent waits for it. */
static int do_spawn(char **words)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		execvp(words[0], words);
		_exit(127);
	}
	allocate(MAIN_SIZE, 5);
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

static int do_execute(char **words)
{
	allocate(MAIN_SIZE, 5);
	execvp(words[0], words);
	return 127;
}

/* Leaves a mark when it has begun and another at its end. */
static int do_mark(char **words)
{
	int file = open(words[0], O_WRONLY | O_CREAT | O_APPEND, 0600);

	if (file < 0 || write(file, "begun\n", 6) != 6)
		return 1;
	usleep((useconds_t)atoi(words[1]) * 1000);
	return write(file, "ended\n", 6) == 6 ? 0 : 1;
}

/* As daemons do it. */
static int do_close(char **words)
{
	allocate(MAIN_SIZE, 5);
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	usleep((useconds_t)atoi(words[0]) * 1000);
	return 6;
}

/* Not the process ends, but the only thread that it knows of. */
static int do_leave(char **words)
{
	allocate(MAIN_SIZE, 5);
	syscall(SYS_exit, words[0] ? atoi(words[0]) : 0);
	return 1;
}

/* How often the thread with that name has waited; 0: there is none. */
static long count_waits(const char *name)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	long waits = 0;

	while (tasks && (entry = readdir(tasks))) {
		char path[300], line[128], found[64] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/status", entry->d_name);
		file = fopen(path, "r");
		while (file && fgets(line, sizeof(line), file)) {
			sscanf(line, "Name: %63s", found);
			if (!strcmp(found, name))
				sscanf(line, "voluntary_ctxt_switches: %ld", &waits);
		}
		if (file)
			fclose(file);
	}
	if (tasks)
		closedir(tasks);
	return waits;
}

/* Until limpet's thread, if there is one, has looked around some times. */
static void *outlive(void *first)
{
	long waits;

	pthread_join(*(pthread_t *)first, NULL);
	waits = count_waits("limpet");
	while (waits && count_waits("limpet") < waits + 3)
		usleep(10000);
	return NULL;
}

static int do_orphan(char **words)
{
	static pthread_t first;
	pthread_t other;

	allocate(MAIN_SIZE, 5);
	first = pthread_self();
	if (pthread_create(&other, NULL, outlive, &first))
		return 1;
	syscall(SYS_exit, atoi(words[0]));
	return 1;
}

static int do_sleep(char **words)
{
	usleep((useconds_t)atoi(words[0]) * 1000);
	allocate(MAIN_SIZE, 5);
	return 4;
}

static const struct {
	const char *name;
	int (*run)(char **words);
} deeds[] = {
	{ "count", do_count }, { "self", do_self },       { "wait", do_wait },
	{ "crash", do_crash }, { "read", do_read },       { "spawn", do_spawn },
	{ "mark", do_mark },   { "execute", do_execute }, { "sleep", do_sleep },
	{ "close", do_close }, { "leave", do_leave },     { "orphan", do_orphan },
};

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; argc > 1 && i < sizeof(deeds) / sizeof(deeds[0]); i++)
		if (!strcmp(argv[1], deeds[i].name))
			return deeds[i].run(argv + 2);
	return 2;
}
