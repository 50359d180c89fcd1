/*
 * Threads that never do anything but call functions which limpet notices, with arguments that
 * change nothing, while a timer's signal interrupts them anywhere.  Ends with 0 when its input
 * does.  `passers sandboxed`: one of them may not even wait, and asks all the time to be confined.
 * `passers handler`: says "inside" when the signal has interrupted code that came later than all
 * libraries; its handler computes from then on, and returns there when the input ends.
 */
#define _GNU_SOURCE

#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#define THREADS    3
#define PERIOD_US  700
#define NAME_BYTES 16
#define RANGES_MAX 64

#define KILL_FOR(number)                                     \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static uint32_t is_over, is_inside;
static struct {
	uint64_t start, size;
} known[RANGES_MAX];
static unsigned known_count;

static void *pass(void *unused)
{
	char name[NAME_BYTES];

	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		prctl(PR_GET_NAME, name);
		if (syscall(SYS_gettid) <= 0 || syscall(SYS_getppid) <= 0)
			return NULL;
	}
	return unused;
}

static void *pass_sandboxed(void *unused)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		KILL_FOR(SYS_futex),
		KILL_FOR(SYS_getpid),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &filter))
		return NULL;
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED))
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
			return NULL;
	return unused;
}

static void on_timer(int number)
{
	char name[NAME_BYTES];

	(void)number;
	prctl(PR_GET_NAME, name);
}

/* The kernel takes a process's first thread for its signals where it can. */
static void leave_timer_to_others(void)
{
	sigset_t timer;

	sigemptyset(&timer);
	sigaddset(&timer, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &timer, NULL);
}

static int know(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	for (unsigned i = 0; i < info->dlpi_phnum && known_count < RANGES_MAX; i++) {
		const ElfW(Phdr) *head = &info->dlpi_phdr[i];

		if (head->p_type != PT_LOAD || !(head->p_flags & PF_X))
			continue;
		known[known_count].start = info->dlpi_addr + head->p_vaddr;
		known[known_count++].size = head->p_memsz;
	}
	return 0;
}

static uint64_t address_of(const ucontext_t *context)
{
#if defined(__x86_64__)
	return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
#else
	return context->uc_mcontext.pc;
#endif
}

/* Makes no system call. */
static void on_timer_inside(int number, siginfo_t *unused, void *context)
{
	uint64_t address = address_of(context);

	(void)number;
	(void)unused;
	for (unsigned i = 0; i < known_count; i++)
		if (address - known[i].start < known[i].size)
			return;
	if (__atomic_exchange_n(&is_inside, 1, __ATOMIC_RELAXED))
		return;
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED))
		;
}

/* Says so once, and then has nothing to do. */
static void *report_inside(void *unused)
{
	leave_timer_to_others();
	while (!__atomic_load_n(&is_inside, __ATOMIC_RELAXED))
		usleep(PERIOD_US);
	puts("inside");
	fflush(stdout);
	return unused;
}

static void choose_handler(const char *mode)
{
	struct sigaction action = { .sa_handler = on_timer, .sa_flags = SA_RESTART };

	if (!strcmp(mode, "handler")) {
		dl_iterate_phdr(know, NULL);
		action.sa_sigaction = on_timer_inside;
		action.sa_flags |= SA_SIGINFO;
	}
	sigaction(SIGALRM, &action, NULL);
}

static void *(*body_of(const char *mode, unsigned number))(void *)
{
	if (!number && !strcmp(mode, "sandboxed"))
		return pass_sandboxed;
	return number == 1 && !strcmp(mode, "handler") ? report_inside : pass;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	struct itimerval period = { { 0, PERIOD_US }, { 0, PERIOD_US } };
	pthread_t threads[THREADS];
	void *result;
	int bad = 0;
	char byte;

	choose_handler(mode);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, body_of(mode, i), &is_over);
	leave_timer_to_others();
	setitimer(ITIMER_REAL, &period, NULL);
	puts("ready");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &result);
		bad += !result;
	}
	return bad;
}
