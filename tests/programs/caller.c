/*
 * Makes system calls in known numbers, as it is told: "COMMAND NUMBER" a line, "ok" is the answer,
 * with what it found.  No call but those, and those that read the command and write the answer.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char *own_path;
static int child_pipe[2], thread_pipe[2];
static pid_t child;
static pthread_t waiting_thread;

static void call_sessions(long count)
{
	for (long i = 0; i < count; i++)
		syscall(SYS_getsid, 0);
}

static long open_nothing(long count)
{
	long failed = 0;

	for (long i = 0; i < count; i++)
		failed += syscall(SYS_openat, AT_FDCWD, "/no/such/file", O_RDONLY) < 0;
	return failed;
}

static long read_zeros(long count)
{
	int file = (int)syscall(SYS_openat, AT_FDCWD, "/dev/zero", O_RDONLY);
	char bytes[64];
	long sum = 0;

	for (long i = 0; i < count; i++)
		sum += syscall(SYS_read, file, bytes, sizeof(bytes));
	syscall(SYS_close, file);
	return sum;
}

static long write_socket(long count)
{
	int pair[2];
	long sum = 0;

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair))
		return -1;
	for (long i = 0; i < count; i++) {
		char byte;

		sum += syscall(SYS_write, pair[0], "x", 1);
		syscall(SYS_read, pair[1], &byte, 1);
	}
	close(pair[0]);
	close(pair[1]);
	return sum;
}

static long sleep_ms(long count)
{
	struct timespec time = { count / 1000, count % 1000 * 1000000 };

	return syscall(SYS_nanosleep, &time, NULL);
}

static long call_many(long count)
{
	call_sessions(count);
	return count;
}

static void *thread_call(void *argument)
{
	prctl(PR_SET_NAME, "born-later");
	call_sessions((long)argument);
	return NULL;
}

static long call_in_thread(long count)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, thread_call, (void *)count))
		return -1;
	pthread_join(thread, NULL);
	return count;
}

/* Waits in a call until it is told how much to do. */
static void *thread_wait(void *argument)
{
	long count = 0;

	(void)argument;
	prctl(PR_SET_NAME, "there-before");
	while (read(thread_pipe[0], &count, sizeof(count)) == sizeof(count) && count)
		call_sessions(count);
	return NULL;
}

static long begin_thread(long count)
{
	(void)count;
	return pipe(thread_pipe) || pthread_create(&waiting_thread, NULL, thread_wait, NULL);
}

static long end_thread(long count)
{
	long end = 0;

	if (write(thread_pipe[1], &count, sizeof(count)) < 0 ||
	    write(thread_pipe[1], &end, sizeof(end)) < 0)
		return -1;
	pthread_join(waiting_thread, NULL);
	return count;
}

static long begin_child(long count)
{
	(void)count;
	if (pipe(child_pipe))
		return -1;
	child = fork();
	if (!child) {
		long wanted = 0;

		if (read(child_pipe[0], &wanted, sizeof(wanted)) == sizeof(wanted))
			call_sessions(wanted);
		_exit(0);
	}
	return child;
}

static long end_child(long count)
{
	if (write(child_pipe[1], &count, sizeof(count)) < 0)
		return -1;
	waitpid(child, NULL, 0);
	return child;
}

static long call_in_child(long count)
{
	pid_t pid = fork();

	if (!pid) {
		call_sessions(count);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return pid;
}

static long execute_in_child(long count)
{
	char text[32];
	pid_t pid;

	snprintf(text, sizeof(text), "%ld", count);
	pid = fork();
	if (!pid) {
		execl(own_path, own_path, text, NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
	return pid;
}

/* From a thread that is not the first one: its number is another one afterwards. */
static void *thread_execute(void *argument)
{
	execl(own_path, own_path, argument, NULL);
	return NULL;
}

static long execute_in_thread(long count)
{
	char text[32];
	pthread_t thread;

	snprintf(text, sizeof(text), "%ld", count);
	pthread_create(&thread, NULL, thread_execute, text);
	pthread_join(thread, NULL);
	return -1;
}

/* A filter refuses them: they are never entered. */
static long call_refused(long count)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpriority, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };
	long failed = 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return -1;
	for (long i = 0; i < count; i++)
		failed += syscall(SYS_getpriority, 0, 0) < 0;
	return failed;
}

static long call_unknown(long count)
{
	long failed = 0;

	for (long i = 0; i < count; i++)
		failed += syscall(1000) < 0;
	return failed;
}

/* getpid by the numbers of 32-bit programs; -1 where the kernel has none. */
static long call_32_bit(long count)
{
#if defined(__x86_64__)
	pid_t pid = fork();
	int status;

	if (!pid) {
		for (long i = 0; i < count; i++) {
			long result = 20;

			__asm__ volatile("int $0x80"
					 : "+a"(result)
					 :
					 : "memory", "r8", "r9", "r10", "r11");
			if (result != getpid())
				_exit(1);
		}
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) && !WEXITSTATUS(status) ? pid : -1;
#else
	(void)count;
	return -1;
#endif
}

static const struct {
	const char *name;
	long (*run)(long count);
} commands[] = {
	{ "enoent", open_nothing },
	{ "read", read_zeros },
	{ "socket", write_socket },
	{ "sleep", sleep_ms },
	{ "call", call_many },
	{ "thread", call_in_thread },
	{ "begin-thread", begin_thread },
	{ "end-thread", end_thread },
	{ "begin-child", begin_child },
	{ "end-child", end_child },
	{ "fork", call_in_child },
	{ "exec", execute_in_child },
	{ "exec-thread", execute_in_thread },
	{ "refused", call_refused },
	{ "unknown", call_unknown },
	{ "32-bit", call_32_bit },
};

static void obey(const char *name, long count)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(commands[i].name, name)) {
			printf("ok %ld\n", commands[i].run(count));
			return;
		}
	printf("what is %s?\n", name);
}

int main(int argc, char **argv)
{
	char name[32];
	long count;

	own_path = argv[0];
	if (argc > 1) {
		call_sessions(atol(argv[1]));
		return 0;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("ready %d\n", getpid());
	while (scanf("%31s %ld", name, &count) == 2)
		obey(name, count);
	return 0;
}
