/*
 * Gives up rights as well-known programs do, step by step, and says what each step answered.  Waits
 * for a byte before the first step, so that somebody can come in before, and answers each byte
 * after the last, so that somebody can look.  `identity SEQUENCE`.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define SOMEBODY      1234
#define STEPS_MAX     16
#define THREADS       4
#define TURNS         50
#define SOON_US       50000
#define NO_CAPABILITY 60
#define NEW_ROOT      "/sys" /* any directory that is there everywhere */
#define CAP(number)   (1u << (number))

/* Without libc: nobody who hooks functions sees it. */
static long raw_call(long nr, long a, long b, long c, long d, long e)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return result;
#else
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
			 : "memory");
	return x0;
#endif
}

extern int pivot_root(const char *new_root, const char *put_old);
extern int capset(cap_user_header_t header, const cap_user_data_t data);

static struct __user_cap_data_struct kept[2];
static struct __user_cap_header_struct version = { _LINUX_CAPABILITY_VERSION_3, 0 };

static cap_user_data_t keep(uint32_t capabilities)
{
	kept[0] = (struct __user_cap_data_struct){ capabilities, capabilities, 0 };
	return kept;
}

static int keep_capabilities(void)
{
	return prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
}

static int become_user(void)
{
	return setresuid(SOMEBODY, SOMEBODY, SOMEBODY);
}

static int become_group(void)
{
	return setresgid(SOMEBODY, SOMEBODY, SOMEBODY);
}

static int keep_ids_only(void)
{
	return capset(&version, keep(CAP(CAP_SETUID) | CAP(CAP_SETGID)));
}

static int keep_nothing(void)
{
	return capset(&version, keep(0));
}

/* Permitted, but not in use until it is needed. */
static int hold_ids_back(void)
{
	keep(CAP(CAP_SETUID) | CAP(CAP_SETGID));
	kept[0].effective = 0;
	return capset(&version, kept);
}

static int leave_groups(void)
{
	return setgroups(0, NULL);
}

static int join_groups(void)
{
	return initgroups("root", SOMEBODY);
}

static int plain_setgid(void)
{
	return setgid(SOMEBODY);
}

static int plain_setuid(void)
{
	return setuid(SOMEBODY);
}

static int step_down(void)
{
	return seteuid(SOMEBODY);
}

static int step_up(void)
{
	return seteuid(0);
}

static int group_down(void)
{
	return setegid(SOMEBODY);
}

static int exchange_ids(void)
{
	return setreuid(SOMEBODY, 0);
}

static int file_user(void)
{
	return setfsuid(SOMEBODY);
}

static int file_group(void)
{
	return setfsgid(SOMEBODY);
}

static int no_new_privileges(void)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static int keep_dumps(void)
{
	return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) | (prctl(PR_GET_DUMPABLE) != 1);
}

static int lock_bits(void)
{
	return prctl(PR_SET_SECUREBITS, SECBIT_KEEP_CAPS | SECBIT_NO_SETUID_FIXUP, 0, 0, 0);
}

static int bound(void)
{
	return prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0);
}

static int confine_files(void)
{
	return chroot("/") | chdir("/");
}

/* Where there is no /proc. */
static int hide_processes(void)
{
	return chroot("/sys") | chdir("/");
}

/* From now on what it takes for its root concerns no other thread. */
static int own_root(void)
{
	return unshare(CLONE_FS);
}

static int own_network(void)
{
	return unshare(CLONE_NEWNET);
}

static int own_mounts(void)
{
	return unshare(CLONE_NEWNS);
}

/* Before limpet comes: a namespace of mounts where another root is ready, as containers have it. */
static int prepare_root(void)
{
	return own_mounts() || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	       mount("/", NEW_ROOT, NULL, MS_BIND | MS_REC, NULL) || chdir(NEW_ROOT);
}

/* The old root lies over the new one then, until it is unmounted. */
static int change_root(void)
{
	return pivot_root(".", ".");
}

static int call_change_root(void)
{
	return (int)syscall(SYS_pivot_root, ".", ".");
}

static int drop_old_root(void)
{
	return umount2(".", MNT_DETACH) | chdir("/");
}

static int own_users(void)
{
	return unshare(CLONE_NEWUSER);
}

static int same_network(void)
{
	int fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int r = setns(fd, CLONE_NEWNET);

	close(fd);
	return r;
}

/* Harmless: a call that nobody makes is refused. */
static struct sock_filter refusing[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_reboot, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};
/* Deadly: what this program does not need is forbidden. */
static struct sock_filter killing[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 5, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 4, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 3, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 2, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_restart_syscall, 1, 0),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};
#define PROGRAM(code)                                                  \
	&(struct sock_fprog)                                           \
	{                                                              \
		(unsigned short)(sizeof(code) / sizeof(*(code))), code \
	}

static int filter(void)
{
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, PROGRAM(refusing), 0, 0);
}

static int filter_all_threads(void)
{
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
			    PROGRAM(refusing));
}

static int filter_deadly(void)
{
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, PROGRAM(killing), 0, 0);
}

static int filter_all_deadly(void)
{
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
			    PROGRAM(killing));
}

static int is_strict;

static int be_strict(void)
{
	is_strict = 1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
}

static int raw_result(long r)
{
	errno = r < 0 ? (int)-r : 0;
	return r < 0 ? -1 : (int)r;
}

static int raw_user(void)
{
	return raw_result(raw_call(SYS_setresuid, SOMEBODY, SOMEBODY, SOMEBODY, 0, 0));
}

static int raw_group(void)
{
	return raw_result(raw_call(SYS_setresgid, SOMEBODY, SOMEBODY, SOMEBODY, 0, 0));
}

static int raw_capset(void)
{
	return raw_result(raw_call(SYS_capset, (long)&version, (long)keep(0), 0, 0, 0));
}

static int raw_no_new_privileges(void)
{
	return raw_result(raw_call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
}

static int raw_filter(void)
{
	return raw_result(
		raw_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)PROGRAM(refusing), 0, 0));
}

static int raw_filter_all(void)
{
	return raw_result(raw_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
				   (long)PROGRAM(refusing), 0, 0));
}

static int raw_root(void)
{
	return raw_result(raw_call(SYS_unshare, CLONE_FS, 0, 0, 0, 0)) |
	       raw_result(raw_call(SYS_chroot, (long)"/sys", 0, 0, 0, 0));
}

static int raw_network(void)
{
	return raw_result(raw_call(SYS_unshare, CLONE_NEWNET, 0, 0, 0, 0));
}

static int raw_mounts(void)
{
	return raw_result(raw_call(SYS_unshare, CLONE_NEWNS, 0, 0, 0, 0));
}

static int raw_change_root(void)
{
	return raw_result(raw_call(SYS_pivot_root, (long)".", (long)".", 0, 0, 0));
}

static int call_root(void)
{
	return (int)syscall(SYS_chroot, "/sys");
}

static int answer_of_child(pid_t child)
{
	int status = 0;

	if (child < 0 || waitpid(child, &status, 0) < 0)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* As shells and daemons start programs: the child has our memory. */
static int child_of_vfork(void)
{
	pid_t child = vfork();

	if (!child)
		_exit(setresgid(SOMEBODY, SOMEBODY, SOMEBODY) || setresuid(SOMEBODY, SOMEBODY, -1));
	return answer_of_child(child);
}

static int child_of_fork(void)
{
	pid_t child = fork();

	if (!child)
		_exit(keep_capabilities() || become_user() || keep_ids_only() || become_group());
	return answer_of_child(child);
}

static volatile int handled;

static void give_up(int number)
{
	(void)number;
	handled = 1 + !!(setegid(SOMEBODY) || seteuid(SOMEBODY));
}

static int in_a_handler(void)
{
	signal(SIGUSR1, give_up);
	raise(SIGUSR1);
	return handled - 1;
}

/* A signal comes while the call waits for limpet to leave, and the handler does not come back. */
static sigjmp_buf before_call;

static void jump(int number)
{
	(void)number;
	siglongjmp(before_call, 1);
}

static int step_down_interrupted(void (*handler)(int))
{
	struct itimerval soon = { { 0, 0 }, { 0, SOON_US } }, never = { { 0, 0 }, { 0, 0 } };
	int r;

	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &soon, NULL);
	r = step_down();
	setitimer(ITIMER_REAL, &never, NULL);
	return r;
}

static int jump_out(void)
{
	return sigsetjmp(before_call, 1) ? 0 : step_down_interrupted(jump);
}

static volatile pid_t child_of_handler;

static void fork_here(int number)
{
	(void)number;
	child_of_handler = fork();
}

/* The handler's child is in the same call. */
static int fork_inside(void)
{
	pid_t here = getpid();
	int r = step_down_interrupted(fork_here);

	if (getpid() != here)
		_exit(r);
	return r ? r : child_of_handler ? answer_of_child(child_of_handler) : 0;
}

static int same_ids(void)
{
	return setresuid(getuid(), geteuid(), -1) | setresgid(-1, getegid(), getgid()) |
	       setuid(getuid()) | setgid(getgid()) | seteuid(geteuid()) | setegid(getegid()) |
	       setreuid(-1, geteuid()) | setregid(getgid(), -1) |
	       (getgroups(0, NULL) ? 0 : setgroups(0, NULL));
}

static int same_files(void)
{
	return setfsuid(-1) | setfsgid(getegid()) | prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) |
	       unshare(CLONE_SYSVSEM);
}

/* What libraries ask to know what the kernel can do. */
static int ask_kernel(void)
{
	uint32_t action = SECCOMP_RET_ERRNO;

	return (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) != -1) |
	       (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, NULL) !=
		-1) |
	       (int)syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) |
	       prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_CHOWN, 0, 0) |
	       prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) |
	       (prctl(PR_CAPBSET_DROP, NO_CAPABILITY, 0, 0, 0) != -1);
}

static void *go_up_and_down(void *ret)
{
	for (unsigned i = 0; i < TURNS; i++)
		*(int *)ret |= setegid(i % 2 ? 0 : SOMEBODY);
	return NULL;
}

static int all_threads_at_once(void)
{
	pthread_t threads[THREADS];
	int results[THREADS] = { 0 }, all = 0;

	for (unsigned i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, go_up_and_down, &results[i]);
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		all |= results[i];
	}
	return all;
}

struct sequence {
	const char *name;
	int (*steps[STEPS_MAX])(void);
	int (*before)(void); /* in a program of its own, before anybody comes in */
};

static const struct sequence sequences[] = {
	{ "keepcaps", { keep_capabilities, become_user, keep_ids_only, become_group } },
	{ "setpriv",
	  { bound, leave_groups, become_group, keep_capabilities, become_user, keep_nothing } },
	{ "sudo",
	  { step_down, step_up, join_groups, group_down, become_group, exchange_ids,
	    become_user } },
	{ "nginx", { plain_setgid, join_groups, plain_setuid, keep_dumps } },
	{ "sshd",
	  { confine_files, leave_groups, become_group, become_user, no_new_privileges,
	    filter_deadly } },
	{ "postgres", { join_groups, plain_setgid, plain_setuid, step_down } },
	{ "systemd",
	  { lock_bits, bound, become_group, leave_groups, keep_capabilities, become_user,
	    keep_ids_only, no_new_privileges, filter, filter } },
	{ "raise", { keep_capabilities, become_user, hold_ids_back, keep_ids_only, become_group } },
	{ "capset", { keep_ids_only, become_group, keep_nothing } },
	{ "no_new_privs", { no_new_privileges } },
	{ "fsuid", { file_group, file_user } },
	{ "filter", { filter, filter } },
	{ "tsync", { filter, filter_all_threads } },
	{ "tsync_deadly", { no_new_privileges, filter_all_deadly } },
	{ "filter_deadly", { no_new_privileges, filter_deadly } },
	{ "strict", { be_strict } },
	{ "network", { own_network, same_network } },
	{ "mounts", { own_mounts } },
	{ "users", { own_users } },
	{ "chroot", { confine_files, plain_setgid, plain_setuid } },
	{ "jail", { hide_processes, plain_setgid, plain_setuid } },
	{ "own_root", { own_root, hide_processes } },
	{ "call_root", { own_root, call_root } },
	{ "pivot", { change_root, drop_old_root, plain_setgid, plain_setuid }, prepare_root },
	{ "call_pivot", { call_change_root, drop_old_root }, prepare_root },
	{ "dumpable", { plain_setuid, keep_dumps } },
	{ "vfork", { child_of_vfork } },
	{ "fork", { child_of_fork } },
	{ "handler", { in_a_handler } },
	{ "threads", { all_threads_at_once } },
	{ "setns", { same_network } },
	{ "jump", { jump_out } },
	{ "fork_inside", { fork_inside } },
	{ "nothing", { same_ids, same_files, ask_kernel } },
	{ "raw", { raw_group, raw_user } },
	{ "raw_root", { raw_root } },
	{ "raw_network", { raw_network } },
	{ "raw_mounts", { raw_mounts } },
	{ "raw_pivot", { raw_change_root, drop_old_root }, prepare_root },
	{ "raw_capset", { raw_capset } },
	{ "raw_no_new_privs", { raw_no_new_privileges } },
	{ "raw_filter", { raw_filter } },
	{ "raw_tsync", { raw_filter, raw_filter_all } },
};

/* No stdio: a filter may allow little, and a fork must not say things twice. */
static void say(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		_exit(3);
}

static void say_result(int result)
{
	char text[48];

	snprintf(text, sizeof(text), "%d %d\n", result, result < 0 ? errno : 0);
	say(text);
}

/* No handlers: a deadly filter allows no more, and strict confinement not even the end of all
 * threads. */
static void end(void)
{
	if (is_strict)
		raw_call(SYS_exit, 0, 0, 0, 0, 0);
	_exit(0);
}

static void wait_for_word(void)
{
	char byte;

	if (read(STDIN_FILENO, &byte, 1) != 1)
		end();
}

/* Executes itself: a register library that saw the preparation has left the program. */
static int prepare(const struct sequence *sequence, char **argv)
{
	if (sequence->before() || setenv("IS_PREPARED", "1", 1))
		return 2;
	execv("/proc/self/exe", argv);
	return 2;
}

int main(int argc, char **argv)
{
	const struct sequence *sequence = sequences;

	while (argc > 1 && strcmp(sequence->name, argv[1]))
		sequence++;
	if (sequence->before && !getenv("IS_PREPARED"))
		return prepare(sequence, argv);
	say("ready\n");
	wait_for_word();
	for (unsigned i = 0; i < STEPS_MAX && sequence->steps[i]; i++)
		say_result(sequence->steps[i]());
	say("done\n");
	for (;;) {
		wait_for_word();
		say("again\n");
	}
}
