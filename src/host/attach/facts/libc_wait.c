/*
 * Polls the word that libc sets when it starts, in a running process.
 */
#include "host/attach/facts/libc_wait.h"

#include "host/attach/facts/facts.h"
#include "host/core/clock.h"
#include "host/core/self/interrupt.h"
#include "host/process/memory.h"

#include <errno.h>
#include <time.h>

#define PAUSE_NS 1000000

/* The same check as the injector's (gate.c). */
static bool is_ready(const struct target *target, const struct facts *facts)
{
	uint64_t word;

	return memory_read(target->memory, facts->init_word, &word, sizeof(word)) &&
	       word > facts->libc_end - facts->libc_start &&
	       (word < facts->libc_start || word >= facts->libc_end);
}

static int libc_wait_look(struct target *target, bool *ret_is_ready, struct err *err)
{
	struct modules modules;
	struct facts facts;
	int r = modules_read_fresh(target, &modules, err);

	if (r)
		return r;
	r = facts_read_init(target, &modules, &facts, err);
	*ret_is_ready = !r && is_ready(target, &facts);
	modules_done(&modules);
	return r;
}

static int libc_wait_refuse(struct err *err)
{
	err_set(err, -EAGAIN, "it is still being started");
	err_why(err, "its C library is not initialised yet");
	err_fix(err, "try again in a moment");
	return err_exit(err, EXIT_NOT_ATTACHABLE);
}

int libc_wait(struct target *target, uint64_t limit_ns, struct err *err)
{
	uint64_t deadline_ns = now_ns() + limit_ns;
	bool is_ready = false;
	int r = libc_wait_look(target, &is_ready, err);

	while (!r && !is_ready) {
		if (!target_lives(target) || now_ns() > deadline_ns || interrupt_is_waiting())
			return libc_wait_refuse(err);
		nanosleep(&(struct timespec){ 0, PAUSE_NS }, NULL);
		r = libc_wait_look(target, &is_ready, err);
	}
	return r;
}
