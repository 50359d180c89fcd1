/*
 * Facts about a target, tried on ourselves: modules with their build-ids, threads by their numbers.
 */
#include "unit.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/collect/facts.h"
#include "host/model/model.h"

static struct err err;
static char path[64];

static int setup(void **state)
{
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/test_facts.XXXXXX");
	fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
	(void)state;
	return unlink(path);
}

static struct model *record_ourselves(void)
{
	struct network network = { 0 };
	struct recording *recording;
	struct model *model;
	uint32_t number;

	assert_int_equal(recording_create(path, &recording, &err), 0);
	assert_int_equal(facts_session(recording, "1.0", "io", &err), 0);
	assert_int_equal(facts_process(recording, getpid(), &number, &err), 0);
	assert_int_equal(number, 0);
	assert_int_equal(facts_modules(recording, getpid(), number, &err), 0);
	assert_int_equal(facts_files(recording, getpid(), number, &network, &err), 0);
	network_done(&network);
	recording_abandon(recording);
	assert_int_equal(model_open(path, &model, &err), 0);
	assert_int_equal(model->damaged, 0);
	return model;
}

static const struct recorded_module *module_at(const struct model_process *process,
					       uint64_t address)
{
	for (uint32_t i = 0; i < process->module_count; i++)
		if (address - process->modules[i].base < process->modules[i].size)
			return &process->modules[i];
	return NULL;
}

static void session_and_process_are_told(void **state)
{
	struct model *model = record_ourselves();

	(void)state;
	assert_non_null(strstr(model->command, "test_facts"));
	assert_string_equal(model->options, "io");
	assert_true(model->kernel[0] && model->machine[0]);
	assert_int_equal(model->processes[0]->pid, getpid());
	assert_string_equal(model->processes[0]->name, "test_facts");
	assert_non_null(strstr(model->processes[0]->executable, "test_facts"));
	assert_true(model->processes[0]->start_ns > 0);
	model_free(model);
}

/* Our first variable, and one that nobody has. */
static void variables_that_are_asked_for_are_kept(void **state)
{
	char first[256];
	const char *names[] = { first, "NOBODY_HAS_THIS_ONE", NULL };
	struct recording *recording;
	struct model *model;
	uint32_t number;
	char *value;

	(void)state;
	snprintf(first, sizeof(first), "%s", environ[0]);
	value = strchr(first, '=');
	assert_non_null(value);
	*value++ = '\0';
	assert_int_equal(recording_create(path, &recording, &err), 0);
	assert_int_equal(facts_process(recording, getpid(), &number, &err), 0);
	assert_int_equal(facts_variables(recording, getpid(), number, names, &err), 0);
	recording_abandon(recording);
	assert_int_equal(model_open(path, &model, &err), 0);
	assert_int_equal(model->damaged, 0);
	assert_non_null(process_variable(model->processes[0], first));
	assert_int_equal(
		strncmp(process_variable(model->processes[0], first), value, strlen(value)), 0);
	assert_null(process_variable(model->processes[0], names[1]));
	model_free(model);
}

static void the_family_is_told(void **state)
{
	struct model *model = record_ourselves();
	char folder[4096];

	(void)state;
	assert_int_equal(model->processes[0]->parent, getppid());
	assert_int_equal(model->processes[0]->group, getpgrp());
	assert_int_equal(model->processes[0]->session, getsid(0));
	assert_string_equal(model->processes[0]->folder, getcwd(folder, sizeof(folder)));
	model_free(model);
}

static void compare_module(const struct recorded_module *module, uint64_t base)
{
	if (!module) {
		fail_msg("an object of the loader is no module");
		return;
	}
	assert_int_equal(module->base, base);
	if (!strstr(module->path, "[vdso]"))
		assert_int_equal(module->build_id_size, 20);
}

/* The loader's word on where objects are. */
static int compare(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X)
			compare_module(module_at(context, info->dlpi_addr + segment->p_vaddr),
				       info->dlpi_addr);
	}
	return 0;
}

static void every_loaded_object_is_a_module(void **state)
{
	struct model *model = record_ourselves();
	char text[128];

	(void)state;
	assert_true(model->processes[0]->module_count >= 3);
	dl_iterate_phdr(compare, model->processes[0]);
	frame_text(model->processes[0], (uint64_t)(uintptr_t)&gnu_get_libc_version, text,
		   sizeof(text));
	assert_non_null(strstr(text, "libc.so.6+0x"));
	model_free(model);
}

static char zeroed[1 << 20];

static void data_without_a_file_is_its_modules(void **state)
{
	struct model *model = record_ourselves();
	char text[128];

	(void)state;
	frame_text(model->processes[0], (uint64_t)(uintptr_t)&zeroed[sizeof(zeroed) / 2], text,
		   sizeof(text));
	assert_non_null(strstr(text, "test_facts+0x"));
	model_free(model);
}

static const char *name_of(const struct model *model, int descriptor)
{
	for (uint32_t i = 0; i < model->processes[0]->file_count; i++)
		if (model->processes[0]->files[i].descriptor == descriptor)
			return model->processes[0]->files[i].name;
	return "";
}

static int listen_on_loopback(struct sockaddr_in *ret)
{
	socklen_t size = sizeof(*ret);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	*ret = (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	assert_int_equal(bind(fd, (struct sockaddr *)ret, sizeof(*ret)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)ret, &size), 0);
	return fd;
}

static void open_files_have_names(void **state)
{
	struct sockaddr_in address;
	int file = open("/etc/passwd", O_RDONLY), listening = listen_on_loopback(&address);
	int client = socket(AF_INET, SOCK_STREAM, 0);
	struct model *model;
	char expected[64];

	(void)state;
	assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof(address)), 0);
	model = record_ourselves();
	assert_string_equal(name_of(model, file), "/etc/passwd");
	snprintf(expected, sizeof(expected), "127.0.0.1:%u", ntohs(address.sin_port));
	assert_string_equal(name_of(model, client), expected);
	snprintf(expected, sizeof(expected), "listens on 127.0.0.1:%u", ntohs(address.sin_port));
	assert_string_equal(name_of(model, listening), expected);
	model_free(model);
	close(client);
	close(listening);
	close(file);
}

static pid_t other_tid;
static pthread_barrier_t barrier;

static void *other_thread(void *argument)
{
	(void)argument;
	prctl(PR_SET_NAME, "other one");
	other_tid = (pid_t)syscall(SYS_gettid);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void threads_live_and_end(void **state)
{
	struct target_threads threads = { .pid = getpid() };
	pthread_t thread;
	char name[16];

	(void)state;
	pthread_barrier_init(&barrier, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, other_thread, NULL), 0);
	pthread_barrier_wait(&barrier);
	assert_true(target_thread_is_alive(&threads, getpid()));
	assert_true(target_thread_is_alive(&threads, other_tid));
	assert_true(target_thread_name(&threads, other_tid, name));
	assert_string_equal(name, "other one");
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	/* The kernel may need a moment. */
	for (unsigned i = 0; i < PATIENCE_MS && target_thread_is_alive(&threads, other_tid); i++)
		usleep(1000);
	assert_false(target_thread_is_alive(&threads, other_tid));
	assert_false(target_thread_name(&threads, other_tid, name));
	target_threads_done(&threads);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(session_and_process_are_told),
		TEST(variables_that_are_asked_for_are_kept),
		TEST(the_family_is_told),
		TEST(every_loaded_object_is_a_module),
		TEST(data_without_a_file_is_its_modules),
		TEST(open_files_have_names),
		TEST(threads_live_and_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
