/*
 * A process that looks like a Java virtual machine, and is asked for names.
 */
#include "unit.h"

#include "host/process/jvm/jvm.h"
#include "host/process/stat.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

struct machine {
	pid_t pid;
	uint64_t start_tick;
	char folder[32], library[64], socket_path[64];
	volatile unsigned *questions; /* that it has heard, or signals */
};

static volatile unsigned *heard;

static void on_quit(int number)
{
	(void)number;
	++*heard;
}

static void answer(int listener, const char *reply)
{
	char question[64];
	int visitor = accept(listener, NULL, NULL);

	++*heard;
	(void)!read(visitor, question, sizeof(question));
	(void)!write(visitor, reply, strlen(reply));
	close(visitor);
}

static void be_machine(const struct machine *self, int ready, const char *reply)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int library = open(self->library, O_RDONLY | O_CLOEXEC),
	    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	heard = self->questions;
	signal(SIGQUIT, on_quit);
	snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/.java_pid%d", (int)getpid());
	unlink(address.sun_path);
	if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, library, 0) == MAP_FAILED ||
	    bind(listener, (const struct sockaddr *)&address, sizeof(address)) ||
	    listen(listener, 4) || write(ready, "", 1) != 1)
		_exit(1);
	for (;;)
		answer(listener, reply);
}

/* Its library has the name in it by which HotSpot is known, or not. */
static void begin_as(struct machine *self, const char *reply, const char *name)
{
	struct process_stat stat;
	struct err err = { 0 };
	int ready[2], library;
	char byte;

	*self = (struct machine){ .folder = "/tmp/test_jvm.XXXXXX" };
	assert_non_null(mkdtemp(self->folder));
	snprintf(self->library, sizeof(self->library), "%s/libjvm.so", self->folder);
	library = open(self->library, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(library, 3u << 20), 0);
	assert_int_equal(pwrite(library, name, strlen(name) + 1, (1 << 20) - 5),
			 (ssize_t)strlen(name) + 1);
	close(library);
	self->questions =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	self->pid = fork();
	if (!self->pid)
		be_machine(self, ready[1], reply);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	assert_int_equal(stat_read(self->pid, 0, &stat, &err), 0);
	self->start_tick = stat.start_tick;
	snprintf(self->socket_path, sizeof(self->socket_path), "/tmp/.java_pid%d", (int)self->pid);
}

static void begin(struct machine *self, const char *reply)
{
	begin_as(self, reply, "gHotSpotVMStructs");
}

static void end(struct machine *self)
{
	kill(self->pid, SIGKILL);
	assert_int_equal(waitpid(self->pid, NULL, 0), self->pid);
	unlink(self->socket_path);
	unlink(self->library);
	rmdir(self->folder);
	munmap((void *)(uintptr_t)self->questions, 4096);
}

static void one_that_answers(void **state)
{
	struct machine machine;
	struct jvm_trace trace = { 0 };
	struct err err = { 0 };

	(void)state;
	begin(&machine, "0\ndone\n");
	assert_int_equal(jvm_write_names(machine.pid, machine.start_tick, &trace, &err), 0);
	assert_int_equal(jvm_write_names(machine.pid, 0, &trace, &err), 0);
	assert_int_equal(*machine.questions, 2);
	jvm_trace_end(&trace);
	end(&machine);
}

static void one_that_refuses(void **state)
{
	struct machine machine;
	struct jvm_trace trace = { 0 };
	struct err err = { 0 };

	(void)state;
	begin(&machine, "1\nno such \x1b[31mcommand\n");
	assert_int_equal(jvm_write_names(machine.pid, machine.start_tick, &trace, &err), -EIO);
	assert_non_null(strstr(err.why, "it answered: no such"));
	assert_null(strchr(err.why, '\x1b'));
	jvm_trace_end(&trace);
	end(&machine);
}

/* Numbers are used again: it must not even notice. */
static void another_one_with_its_number(void **state)
{
	struct machine machine;
	struct jvm_trace trace = { 0 };
	struct err err = { 0 };

	(void)state;
	begin(&machine, "0\n");
	assert_int_equal(jvm_write_names(machine.pid, machine.start_tick + 1, &trace, &err),
			 -ESRCH);
	assert_int_equal(*machine.questions, 0);
	jvm_trace_end(&trace);
	end(&machine);
}

/* OpenJ9 has a libjvm.so and catches the signal; it would print all its stacks. */
static void a_machine_of_another_kind(void **state)
{
	struct machine machine;
	struct jvm_trace trace = { 0 };
	struct err err = { 0 };

	(void)state;
	begin_as(&machine, "0\n", "gHotSpotVMStruct");
	unlink(machine.socket_path);
	assert_int_equal(jvm_write_names(machine.pid, machine.start_tick, &trace, &err), -ENOTSUP);
	assert_non_null(strstr(err.why, "not HotSpot"));
	assert_int_equal(*machine.questions, 0);
	jvm_trace_end(&trace);
	end(&machine);
}

static void no_machine(void **state)
{
	struct jvm_trace trace = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(jvm_write_names(getpid(), 0, &trace, &err), -ENOPKG);
}

/* As the machine does, in its own time. */
static void write_map(const struct machine *machine, char path[64])
{
	FILE *file;

	snprintf(path, 64, "/tmp/perf-%d.map", (int)machine->pid);
	file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
}

static void its_file_is_taken_away(void **state)
{
	struct machine machine;
	struct jvm_trace trace = { 0 };
	struct err err = { 0 };
	char path[64];

	(void)state;
	begin(&machine, "0\n");
	assert_int_equal(jvm_write_names(machine.pid, machine.start_tick, &trace, &err), 0);
	write_map(&machine, path);
	assert_int_equal(jvm_write_names(machine.pid, machine.start_tick, &trace, &err), 0);
	assert_int_equal(access(path, F_OK), 0);
	jvm_trace_end(&trace);
	assert_int_equal(access(path, F_OK), -1);
	end(&machine);
}

static void its_file_is_taken_away_when_we_are_killed(void **state)
{
	struct machine machine;
	char path[64];
	pid_t child;

	(void)state;
	begin(&machine, "0\n");
	child = fork();
	if (!child) {
		struct jvm_trace trace = { 0 };
		struct err err = { 0 };

		if (!jvm_write_names(machine.pid, machine.start_tick, &trace, &err))
			write_map(&machine, path);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)machine.pid);
	for (int i = 0; i < 1000 && !access(path, F_OK); i++)
		usleep(10000);
	assert_int_equal(*machine.questions, 1);
	assert_int_equal(access(path, F_OK), -1);
	end(&machine);
}

static void a_file_that_was_there_stays(void **state)
{
	struct machine machine;
	struct jvm_trace trace = { 0 };
	struct err err = { 0 };
	char path[64];

	(void)state;
	begin(&machine, "0\n");
	write_map(&machine, path);
	assert_int_equal(jvm_write_names(machine.pid, machine.start_tick, &trace, &err), 0);
	jvm_trace_end(&trace);
	assert_int_equal(access(path, F_OK), 0);
	unlink(path);
	end(&machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_answers),
		cmocka_unit_test(one_that_refuses),
		cmocka_unit_test(its_file_is_taken_away),
		cmocka_unit_test(its_file_is_taken_away_when_we_are_killed),
		cmocka_unit_test(a_file_that_was_there_stays),
		cmocka_unit_test(another_one_with_its_number),
		cmocka_unit_test(a_machine_of_another_kind),
		cmocka_unit_test(no_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
