/*
 * A report does not name its launch: the launches of one stream are reported in order, and by one
 * queue. Runs on threads of the application and of HIP, under a short spin lock; a thread that
 * cannot get it skips the launch.
 */
#include "target/amd/hip/questions.h"

#include "shared/arch/syscall.h"

#include <sys/mman.h>

#define QUESTIONS_MAX 8192u
#define QUEUES_MAX    256u
#define SPINS_MAX     10000000u

enum question_state { QUESTION_OVER, QUESTION_OPEN, QUESTION_REPORTED };

/* A reported launch counts until its records are written: the id is retired after all of them. */
struct question {
	enum question_state state;
	struct launch launch;
};

/* A ring in the order of launches; a new one may overwrite the oldest. */
static struct question *questions; /* QUESTIONS_MAX; mapped on demand, and kept */
static uint64_t first_question, next_question;
static struct {
	uint64_t queue, stream;
} queues[QUEUES_MAX];
static uint32_t is_locked;

bool questions_open(void)
{
	long r;

	if (questions)
		return true;
	r = raw6(SYS_mmap, 0, QUESTIONS_MAX * sizeof(*questions), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (r < 0 && r > -4096)
		return false;
	questions = (struct question *)r;
	return true;
}

void questions_adopt(void)
{
	is_locked = 0;
}

static bool questions_lock(void)
{
	for (unsigned i = 0; i < SPINS_MAX; i++)
		if (!__atomic_exchange_n(&is_locked, 1, __ATOMIC_ACQUIRE))
			return true;
	return false;
}

static void questions_unlock(void)
{
	__atomic_store_n(&is_locked, 0, __ATOMIC_RELEASE);
}

void question_note(const struct launch *launch)
{
	struct question *question;

	if (!questions_lock())
		return;
	question = &questions[next_question++ % QUESTIONS_MAX];
	*question = (struct question){ QUESTION_OPEN, *launch };
	if (next_question - first_question > QUESTIONS_MAX)
		first_question = next_question - QUESTIONS_MAX;
	questions_unlock();
}

/* The queue that reports a stream; 0: not known yet. */
static uint64_t queue_of_stream(uint64_t stream)
{
	for (unsigned i = 0; i < QUEUES_MAX && queues[i].queue; i++)
		if (queues[i].stream == stream)
			return queues[i].queue;
	return 0;
}

uint64_t questions_queue(uint64_t stream)
{
	uint64_t queue = 0;

	if (!questions_lock())
		return 0;
	queue = queue_of_stream(stream);
	questions_unlock();
	return queue;
}

/* Replaces the oldest entry if the table is full. */
static void learn_queue(uint64_t queue, uint64_t stream)
{
	static unsigned oldest;
	unsigned at = 0;

	while (at < QUEUES_MAX && queues[at].queue && queues[at].stream != stream)
		at++;
	if (at == QUEUES_MAX)
		at = oldest++ % QUEUES_MAX;
	queues[at].queue = queue;
	queues[at].stream = stream;
}

enum fit { FITS_QUEUE, FITS_UNKNOWN, FITS_ANY };

static bool question_fits(const struct question *question, enum fit fit, uint64_t queue)
{
	uint64_t its = queue_of_stream(question->launch.stream);

	return fit == FITS_ANY || its == (fit == FITS_QUEUE ? queue : 0);
}

static struct question *oldest_question(uint32_t command, uint64_t queue, enum fit fit,
					bool has_returned)
{
	for (uint64_t i = first_question; i < next_question; i++) {
		struct question *question = &questions[i % QUESTIONS_MAX];

		if (question->state == QUESTION_OPEN && question->launch.command == command &&
		    question->launch.has_returned >= has_returned &&
		    question_fits(question, fit, queue))
			return question;
	}
	return NULL;
}

/* The oldest launch of a stream that this queue reports, else of a stream without a known queue,
 * else of any, as streams may be new. Prefers those whose call has returned: others may fail. */
static struct question *find_question(uint32_t command, uint64_t queue)
{
	struct question *question = oldest_question(command, queue, FITS_QUEUE, false);

	for (enum fit fit = FITS_UNKNOWN; !question && fit <= FITS_ANY; fit++) {
		question = oldest_question(command, queue, fit, true);
		if (!question)
			question = oldest_question(command, queue, fit, false);
	}
	return question;
}

static bool has_question(uint64_t internal)
{
	for (uint64_t i = first_question; i < next_question; i++)
		if (questions[i % QUESTIONS_MAX].state &&
		    questions[i % QUESTIONS_MAX].launch.internal == internal)
			return true;
	return false;
}

bool questions_end_call(uint64_t internal, bool has_failed)
{
	bool is_pending;

	if (!questions_lock())
		return false;
	for (uint64_t i = first_question; i < next_question; i++) {
		struct question *question = &questions[i % QUESTIONS_MAX];

		if (question->launch.internal != internal)
			continue;
		if (has_failed && question->state == QUESTION_OPEN)
			question->state = QUESTION_OVER;
		question->launch.has_returned = true;
	}
	is_pending = has_question(internal);
	questions_unlock();
	return is_pending;
}

static void drop_old(void)
{
	while (first_question < next_question && !questions[first_question % QUESTIONS_MAX].state)
		first_question++;
}

uint32_t question_take(uint32_t command, uint64_t queue, struct launch *ret)
{
	struct question *question;

	if (!questions_lock())
		return 0;
	question = find_question(command, queue);
	if (question) {
		*ret = question->launch;
		question->state = QUESTION_REPORTED;
		if (queue_of_stream(ret->stream) != queue)
			learn_queue(queue, ret->stream);
	}
	questions_unlock();
	return question ? (uint32_t)(question - questions) + 1 : 0;
}

/* If the ring has wrapped meanwhile, the entry holds another launch. */
bool question_end(uint32_t token, uint64_t internal)
{
	struct question *question = &questions[token - 1];
	bool is_last;

	if (!questions_lock())
		return false;
	is_last = question->state == QUESTION_REPORTED && question->launch.internal == internal;
	if (is_last) {
		question->state = QUESTION_OVER;
		is_last = question->launch.has_returned && !has_question(internal);
		drop_old();
	}
	questions_unlock();
	return is_last;
}
