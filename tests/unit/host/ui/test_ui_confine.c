/*
 * The HTTP process of limpet ui: what it must not be able to do ends it.
 */
#include "unit.h"

#include "host/ui/http/confine.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534u

typedef void deed(void);

static void stat_path(void)
{
	struct stat facts;

	(void)!fstatat(AT_FDCWD, "/etc/passwd", &facts, 0);
}

static void open_path(void)
{
	(void)!open("/etc/passwd", O_RDONLY | O_CLOEXEC);
}

static void connect_out(void)
{
	(void)!socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static void run_program(void)
{
	execl("/bin/true", "true", (char *)NULL);
}

static void make_process(void)
{
	(void)!fork();
}

static void send_signal(void)
{
	kill(getppid(), 0);
}

static void map_code(void)
{
	(void)!mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void make_code(void)
{
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)!mprotect(page, 4096, PROT_READ | PROT_EXEC);
}

static void read_memory(void)
{
	(void)!syscall(SYS_process_vm_readv, 1, NULL, 0, NULL, 0, 0);
}

/* What it needs: an answer's descriptor is asked for its size, and mapped. */
static void map_answer(void)
{
	struct stat facts;

	(void)!syscall(SYS_fstat, 0, &facts);
	(void)!mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* How a confined process ends that does this. */
static int end_of(deed *does)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0) {
		if (confine(NOBODY, NOBODY))
			_exit(1);
		does();
		_exit(42);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void ends_by_what_it_may_not(void **state)
{
	static deed *const deeds[] = { stat_path,   open_path,    connect_out,
				       run_program, make_process, send_signal,
				       map_code,    make_code,    read_memory };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(deeds); i++) {
		int status = end_of(deeds[i]);

		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
	}
}

static void does_what_it_must(void **state)
{
	int status;

	(void)state;
#ifdef __SANITIZE_ADDRESS__
	skip(); /* its own calls are not allowed */
#endif
	status = end_of(map_answer);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 42);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_by_what_it_may_not),
		cmocka_unit_test(does_what_it_must),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
