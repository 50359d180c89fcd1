/*
 * The interpreter of seccomp filters.  It is private to the injector, so its source is part of this
 * test; the kernel that hands out filters is played here, and the kernel that runs them is asked.
 */
#include "unit.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ptrace played_ptrace
#include "injector/seccomp.c"
#undef ptrace

#define FILTERS_MAX 4
#define NR          offsetof(struct seccomp_data, nr)
#define ARCH        offsetof(struct seccomp_data, arch)
#define ARG(n)      (offsetof(struct seccomp_data, args) + 8 * (n)) /* its lower half */

#define LOAD(k)        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(k))
#define IF(k, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(k), yes, no)
#define RETURN(k)      BPF_STMT(BPF_RET | BPF_K, (k))

struct filter {
	struct sock_filter code[512];
	unsigned count;
};

/* What the stopped thread has. */
static struct {
	struct filter filters[FILTERS_MAX];
	unsigned count;
	int error; /* instead of an answer */
} played;

static struct job job;

long played_ptrace(enum __ptrace_request request, ...)
{
	va_list arguments;
	unsigned long index;
	pid_t tid;

	va_start(arguments, request);
	tid = va_arg(arguments, pid_t);
	index = va_arg(arguments, unsigned long);
	assert_int_equal(request, PTRACE_SECCOMP_GET_FILTER);
	assert_int_equal(tid, job.tid);
	errno = played.error ? played.error : ENOENT;
	if (!played.error && index < played.count)
		memcpy(va_arg(arguments, void *), played.filters[index].code,
		       played.filters[index].count * sizeof(struct sock_filter));
	va_end(arguments);
	return !played.error && index < played.count ? (long)played.filters[index].count : -1;
}

int job_fail(struct job *failed, enum job_status status, int error)
{
	failed->status = status;
	failed->error = error;
	return -1;
}

static void play(const struct sock_filter *code, size_t count)
{
	struct filter *filter = &played.filters[played.count++];

	memcpy(filter->code, code, count * sizeof(*code));
	filter->count = (unsigned)count;
}

#define PLAY(...)                                         \
	play((const struct sock_filter[]){ __VA_ARGS__ }, \
	     sizeof((const struct sock_filter[]){ __VA_ARGS__ }) / sizeof(struct sock_filter))

static void begin(void)
{
	memset(&played, 0, sizeof(played));
	memset(&job, 0, sizeof(job));
	job.tid = 4711;
	job.needs = NEED_ALWAYS;
	job.has_filters = 1;
	job.nr = -1;
}

static int check(void)
{
	static struct stopped stopped;

	stopped.job = &job;
	return seccomp_check(&stopped);
}

static void assert_refused(long nr)
{
	assert_int_equal(check(), -1);
	assert_int_equal(job.status, JOB_SECCOMP);
	assert_int_equal(job.nr, nr);
}

static void passes_without_filters(void **state)
{
	(void)state;
	begin();
	assert_int_equal(check(), 0);
}

static void obeys_one_answer_to_all(void **state)
{
	static const struct {
		uint32_t answer;
		bool passes;
	} cases[] = {
		{ SECCOMP_RET_ALLOW, true },
		{ SECCOMP_RET_LOG, true },
		{ SECCOMP_RET_ERRNO | EPERM, false },
		{ SECCOMP_RET_TRAP, false },
		{ SECCOMP_RET_TRACE, false },
		{ SECCOMP_RET_USER_NOTIF, false },
		{ SECCOMP_RET_KILL_THREAD, false },
		{ SECCOMP_RET_KILL_PROCESS, false },
		{ 0x12340000, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		begin();
		PLAY(RETURN(cases[i].answer));
		if (cases[i].passes)
			assert_int_equal(check(), 0);
		else
			assert_refused(SYS_mmap);
	}
}

static void survives_errors_but_not_death(void **state)
{
	(void)state;
	begin();
	PLAY(LOAD(NR), IF(SYS_clone3, 0, 1), RETURN(SECCOMP_RET_ERRNO | ENOSYS),
	     RETURN(SECCOMP_RET_ALLOW));
	assert_int_equal(check(), 0);
	begin();
	PLAY(LOAD(NR), IF(SYS_clone3, 0, 1), RETURN(SECCOMP_RET_KILL_PROCESS),
	     RETURN(SECCOMP_RET_ALLOW));
	assert_refused(SYS_clone3);
	begin();
	PLAY(LOAD(NR), IF(SYS_socketpair, 0, 1), RETURN(SECCOMP_RET_ERRNO | EPERM),
	     RETURN(SECCOMP_RET_ALLOW));
	assert_refused(SYS_socketpair);
}

static void tells_this_machine_to_the_filter(void **state)
{
	(void)state;
	begin();
	PLAY(LOAD(ARCH), IF(ARCH_AUDIT, 1, 0), RETURN(SECCOMP_RET_KILL_PROCESS),
	     RETURN(SECCOMP_RET_ALLOW));
	assert_int_equal(check(), 0);
}

static void tells_the_arguments_to_the_filter(void **state)
{
	(void)state;
	/* No executable memory that is anonymous. */
	begin();
	PLAY(LOAD(NR), IF(SYS_mmap, 0, 6), LOAD(ARG(2)),
	     BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 4), LOAD(ARG(3)),
	     BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_ANONYMOUS, 0, 2), LOAD(ARG(0)),
	     RETURN(SECCOMP_RET_ERRNO | EPERM), RETURN(SECCOMP_RET_ALLOW));
	assert_refused(SYS_mmap);
	/* Sockets of this family only. */
	begin();
	PLAY(LOAD(NR), IF(SYS_socketpair, 0, 3), LOAD(ARG(0)), IF(1 /* AF_UNIX */, 1, 0),
	     RETURN(SECCOMP_RET_KILL_PROCESS), RETURN(SECCOMP_RET_ALLOW));
	assert_int_equal(check(), 0);
	/* The upper half of an argument: -1 as a descriptor has it set. */
	begin();
	PLAY(LOAD(NR), IF(SYS_mmap, 0, 3), LOAD(ARG(4) + 4), IF(UINT32_MAX, 0, 1),
	     RETURN(SECCOMP_RET_KILL_PROCESS), RETURN(SECCOMP_RET_ALLOW));
	assert_refused(SYS_mmap);
	/* Threads may have names, and nothing else: only the tracer asks for the counter. */
	begin();
	PLAY(LOAD(NR), IF(SYS_prctl, 0, 3), LOAD(ARG(0)), IF(PR_SET_NAME, 1, 0),
	     RETURN(SECCOMP_RET_KILL_PROCESS), RETURN(SECCOMP_RET_ALLOW));
	assert_int_equal(check(), 0);
	begin();
	job.needs |= NEED_FOR_TRACING;
	PLAY(LOAD(NR), IF(SYS_prctl, 0, 3), LOAD(ARG(0)), IF(PR_SET_NAME, 1, 0),
	     RETURN(SECCOMP_RET_KILL_PROCESS), RETURN(SECCOMP_RET_ALLOW));
	assert_refused(SYS_prctl);
}

static void asks_every_filter(void **state)
{
	(void)state;
	begin();
	PLAY(RETURN(SECCOMP_RET_ALLOW));
	PLAY(RETURN(SECCOMP_RET_ALLOW));
	PLAY(LOAD(NR), IF(SYS_munmap, 0, 1), RETURN(SECCOMP_RET_TRAP), RETURN(SECCOMP_RET_ALLOW));
	assert_refused(SYS_munmap);
}

static void says_when_filters_cannot_be_read(void **state)
{
	(void)state;
	begin();
	played.error = EACCES;
	assert_int_equal(check(), -1);
	assert_int_equal(job.status, JOB_SECCOMP_UNREADABLE);
	assert_int_equal(job.error, EACCES);
	begin();
	played.error = EACCES;
	job.facts.force = 1;
	assert_int_equal(check(), 0);
	begin();
	played.error = EACCES;
	job.has_filters = 0;
	assert_int_equal(check(), 0);
	begin();
	played.error = EINVAL; /* the kernel's word for "none" */
	assert_int_equal(check(), 0);
}

static bool forbids_restart(void)
{
	return seccomp_forbids_restart(&(const struct stopped){ .job = &job });
}

static void knows_whether_a_wait_can_be_resumed(void **state)
{
	static const uint32_t answers[] = { SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD,
					    SECCOMP_RET_TRAP,         SECCOMP_RET_ERRNO | EPERM,
					    SECCOMP_RET_TRACE,        SECCOMP_RET_USER_NOTIF };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		begin();
		job.filters = 2;
		PLAY(RETURN(SECCOMP_RET_ALLOW));
		PLAY(LOAD(NR), IF(SYS_restart_syscall, 0, 1), RETURN(answers[i]),
		     RETURN(SECCOMP_RET_ALLOW));
		assert_true(forbids_restart());
		assert_int_equal(job.facts.filters_known, 0);
		assert_refused(SYS_restart_syscall);
	}
	begin();
	job.filters = 1;
	PLAY(LOAD(NR), IF(SYS_restart_syscall, 0, 1), RETURN(SECCOMP_RET_LOG),
	     RETURN(SECCOMP_RET_KILL_PROCESS));
	assert_false(forbids_restart());
	assert_int_equal(job.facts.filters_known, 1);
}

static void learns_nothing_without_filters(void **state)
{
	(void)state;
	begin();
	played.error = EINVAL; /* the kernel's word for "none" */
	job.filters = 1;
	assert_false(forbids_restart());
	assert_int_equal(job.facts.filters_known, 0);
	played.error = EACCES;
	assert_false(forbids_restart());
	assert_int_equal(job.facts.filters_known, 0);
}

static void asks_only_about_what_will_be_done(void **state)
{
	(void)state;
	begin();
	PLAY(LOAD(NR), IF(SYS_process_vm_readv, 1, 0), IF(SYS_fchdir, 0, 1),
	     RETURN(SECCOMP_RET_KILL_PROCESS), RETURN(SECCOMP_RET_ALLOW));
	assert_int_equal(check(), 0);
	job.needs |= NEED_FOR_VARIABLES;
	assert_refused(SYS_process_vm_readv);
	job.needs = NEED_ALWAYS | NEED_WITHOUT_PROC;
	assert_refused(SYS_fchdir);
}

static void add(struct filter *filter, struct sock_filter one)
{
	filter->code[filter->count++] = one;
}

/* As container runtimes write them: this machine only, a list of calls, clone without new
 * namespaces, clone3 not there. */
static void make_container_profile(struct filter *filter, long left_out)
{
	add(filter, (struct sock_filter)LOAD(ARCH));
	add(filter, (struct sock_filter)IF(ARCH_AUDIT, 1, 0));
	add(filter, (struct sock_filter)RETURN(SECCOMP_RET_KILL_PROCESS));
	add(filter, (struct sock_filter)LOAD(NR));
	for (size_t i = 0; i < needs_count; i++) {
		if (needs[i].nr == SYS_clone || needs[i].nr == SYS_clone3 ||
		    needs[i].nr == left_out)
			continue;
		add(filter, (struct sock_filter)IF(needs[i].nr, 0, 1));
		add(filter, (struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
	}
	add(filter, (struct sock_filter)IF(SYS_clone3, 0, 1));
	add(filter, (struct sock_filter)RETURN(SECCOMP_RET_ERRNO | ENOSYS));
	add(filter, (struct sock_filter)IF(SYS_clone, 0, 4));
	add(filter, (struct sock_filter)LOAD(ARG(0)));
	add(filter, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x7e020000));
	add(filter, (struct sock_filter)IF(0, 0, 1));
	add(filter, (struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
	add(filter, (struct sock_filter)RETURN(SECCOMP_RET_ERRNO | EPERM));
}

static void understands_the_profile_of_a_container(void **state)
{
	struct filter profile = { .count = 0 };

	(void)state;
	begin();
	make_container_profile(&profile, -1);
	play(profile.code, profile.count);
	assert_int_equal(check(), 0);

	begin();
	profile.count = 0;
	make_container_profile(&profile, SYS_mprotect);
	play(profile.code, profile.count);
	assert_refused(SYS_mprotect);
}

/* The kernel accepts none of these; whatever happened, they are not permission. */
static void takes_nonsense_for_a_refusal(void **state)
{
	static const struct sock_filter programs[][2] = {
		{ LOAD(NR), LOAD(NR) },
		{ BPF_STMT(BPF_JMP | BPF_JA, 7), RETURN(SECCOMP_RET_ALLOW) },
		{ BPF_STMT(BPF_JMP | BPF_JA, UINT32_MAX), RETURN(SECCOMP_RET_ALLOW) },
		{ BPF_STMT(BPF_JMP | BPF_JA, UINT32_MAX - 1), RETURN(SECCOMP_RET_ALLOW) },
		{ BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0, 255, 255), RETURN(SECCOMP_RET_ALLOW) },
		{ LOAD(sizeof(struct seccomp_data) - 3), BPF_STMT(BPF_RET | BPF_A, 0) },
		{ LOAD(UINT32_MAX), BPF_STMT(BPF_RET | BPF_A, 0) },
		{ BPF_STMT(BPF_LD | BPF_MEM, BPF_MEMWORDS), BPF_STMT(BPF_RET | BPF_A, 0) },
		{ BPF_STMT(BPF_LD | BPF_MEM, UINT32_MAX), BPF_STMT(BPF_RET | BPF_A, 0) },
		{ BPF_STMT(BPF_ST, BPF_MEMWORDS), BPF_STMT(BPF_RET | BPF_A, 0) },
		{ BPF_STMT(BPF_STX, UINT32_MAX), BPF_STMT(BPF_RET | BPF_A, 0) },
		{ BPF_STMT(BPF_ALU | BPF_DIV | BPF_X, 0), BPF_STMT(BPF_RET | BPF_A, 0) },
		{ BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 200), BPF_STMT(BPF_RET | BPF_A, 0) },
		{ BPF_STMT(0xffff, 1), BPF_STMT(BPF_RET | BPF_A, 0) },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		begin();
		play(programs[i], 2);
		assert_refused(SYS_mmap);
	}
	begin();
	play(programs[0], 0);
	assert_refused(SYS_mmap);
}

static void ends_whatever_the_jumps(void **state)
{
	(void)state;
	for (uint32_t distance = 0; distance < 600; distance++) {
		begin();
		for (unsigned i = 0; i < ARRAY_SIZE(played.filters[0].code); i++)
			add(&played.filters[0],
			    (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, distance - i));
		played.count = 1;
		assert_refused(SYS_mmap);
	}
}

/*
 * The same program, by the kernel and by us.  It answers one call with an error number that it
 * computes from the arguments, all others are allowed.
 */
#define ASKED_CALL SYS_mq_unlink

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static const uint16_t instruction_codes[] = {
	BPF_LD | BPF_W | BPF_ABS,
	BPF_LD | BPF_W | BPF_LEN,
	BPF_LD | BPF_IMM,
	BPF_LD | BPF_MEM,
	BPF_LDX | BPF_W | BPF_LEN,
	BPF_LDX | BPF_IMM,
	BPF_LDX | BPF_MEM,
	BPF_ST,
	BPF_STX,
	BPF_ALU | BPF_ADD | BPF_K,
	BPF_ALU | BPF_ADD | BPF_X,
	BPF_ALU | BPF_SUB | BPF_K,
	BPF_ALU | BPF_SUB | BPF_X,
	BPF_ALU | BPF_MUL | BPF_K,
	BPF_ALU | BPF_MUL | BPF_X,
	BPF_ALU | BPF_DIV | BPF_K,
	BPF_ALU | BPF_AND | BPF_K,
	BPF_ALU | BPF_AND | BPF_X,
	BPF_ALU | BPF_OR | BPF_K,
	BPF_ALU | BPF_OR | BPF_X,
	BPF_ALU | BPF_XOR | BPF_K,
	BPF_ALU | BPF_XOR | BPF_X,
	BPF_ALU | BPF_LSH | BPF_K,
	BPF_ALU | BPF_RSH | BPF_K,
	BPF_ALU | BPF_NEG,
	BPF_MISC | BPF_TAX,
	BPF_MISC | BPF_TXA,
	BPF_JMP | BPF_JEQ | BPF_K,
	BPF_JMP | BPF_JEQ | BPF_X,
	BPF_JMP | BPF_JGT | BPF_K,
	BPF_JMP | BPF_JGT | BPF_X,
	BPF_JMP | BPF_JGE | BPF_K,
	BPF_JMP | BPF_JGE | BPF_X,
	BPF_JMP | BPF_JSET | BPF_K,
	BPF_JMP | BPF_JSET | BPF_X,
	BPF_JMP | BPF_JA,
};

static struct sock_filter random_instruction(uint32_t *seed)
{
	struct sock_filter one = {
		.code = instruction_codes[next_random(seed) % ARRAY_SIZE(instruction_codes)]
	};
	uint16_t class = BPF_CLASS(one.code);
	bool is_shift =
		class == BPF_ALU && (BPF_OP(one.code) == BPF_LSH || BPF_OP(one.code) == BPF_RSH);

	one.k = next_random(seed) | 1;
	if (one.code == (BPF_LD | BPF_W | BPF_ABS))
		one.k = (uint32_t)ARG(0) + 4 * (next_random(seed) % 12);
	else if (class == BPF_ST || class == BPF_STX || BPF_MODE(one.code) == BPF_MEM)
		one.k = next_random(seed) % 4;
	else if (is_shift)
		one.k = next_random(seed) % 32;
	else if (one.code == (BPF_JMP | BPF_JA))
		one.k = next_random(seed) % 3;
	if (class == BPF_JMP && one.code != (BPF_JMP | BPF_JA)) {
		one.jt = (uint8_t)(next_random(seed) % 3);
		one.jf = (uint8_t)(next_random(seed) % 3);
	}
	return one;
}

static void make_random(struct filter *filter, uint32_t seed)
{
	filter->count = 0;
	add(filter, (struct sock_filter)LOAD(NR));
	add(filter, (struct sock_filter)IF(ASKED_CALL, 1, 0));
	add(filter, (struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
	for (uint32_t i = 0; i < 4; i++)
		add(filter, (struct sock_filter)BPF_STMT(BPF_ST, i));
	for (unsigned i = 0; i < 60; i++)
		add(filter, random_instruction(&seed));
	for (unsigned i = 0; i < 3; i++) /* where jumps may land */
		add(filter, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 1));
	add(filter, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xfff));
	add(filter, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ERRNO));
	add(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_A, 0));
}

static const uint64_t asked_arguments[6] = { 0x1122334455667788, 3,          0xffffffff00000001,
					     0x8000000000000000, 0xfedcba98, 7 };

/* What the kernel answers: the error number, 0x10000 when the filter was not taken. */
static int ask_kernel(struct filter *filter)
{
	struct sock_fprog program = { (unsigned short)filter->count, filter->code };
	const uint64_t *a = asked_arguments;
	int *answer = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child = fork();
	int ret, status;

	if (child == 0) {
		*answer = 0x10000;
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
			_exit(1);
		errno = 0;
		syscall(ASKED_CALL, a[0], a[1], a[2], a[3], a[4], a[5]);
		*answer = errno;
		_exit(0);
	}
	waitpid(child, &status, 0);
	ret = *answer;
	munmap(answer, 4096);
	return WIFEXITED(status) ? ret : 0x20000;
}

static void computes_what_the_kernel_computes(void **state)
{
	struct seccomp_data data = { .nr = ASKED_CALL, .arch = ARCH_AUDIT };
	struct filter filter;
	unsigned different = 0;
	int last = -1;

	(void)state;
	memcpy(data.args, asked_arguments, sizeof(data.args));
	for (uint32_t seed = 1; seed <= 60; seed++) {
		int answer;

		make_random(&filter, seed * 2654435761u);
		answer = ask_kernel(&filter);
		if (answer == 0x10000)
			skip(); /* no filters here */
		assert_int_equal(filter_run(filter.code, filter.count, &data),
				 SECCOMP_RET_ERRNO | (uint32_t)answer);
		different += answer != last;
		last = answer;
	}
	assert_true(different > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passes_without_filters),
		cmocka_unit_test(obeys_one_answer_to_all),
		cmocka_unit_test(survives_errors_but_not_death),
		cmocka_unit_test(tells_this_machine_to_the_filter),
		cmocka_unit_test(tells_the_arguments_to_the_filter),
		cmocka_unit_test(asks_every_filter),
		cmocka_unit_test(says_when_filters_cannot_be_read),
		cmocka_unit_test(knows_whether_a_wait_can_be_resumed),
		cmocka_unit_test(learns_nothing_without_filters),
		cmocka_unit_test(asks_only_about_what_will_be_done),
		cmocka_unit_test(understands_the_profile_of_a_container),
		cmocka_unit_test(takes_nonsense_for_a_refusal),
		cmocka_unit_test(ends_whatever_the_jumps),
		cmocka_unit_test(computes_what_the_kernel_computes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
