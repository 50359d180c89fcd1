/*
 * Coroutines on stacks of their own, whose functions call a known chain: those of glibc, which
 * switch all the time (and do nothing else: switches), or those that code in the manner of
 * Boost.Context makes.  Runs until it is killed.
 *
 *   coroutines contexts|switches|fcontexts
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define APART      __attribute__((noinline, noipa))
#define COROUTINES 4
#define THREADS    2
#define STACK      (64 << 10)
#define STEPS      20000

struct scheduler {
	ucontext_t contexts[COROUTINES], own;
	unsigned current;
};

static __thread struct scheduler *scheduler; /* of the calling thread */
static volatile unsigned turns;
static int has_work = 1;

/* Makes the stack of a coroutine ready: the function, and above it what that returns to, which are
 * the last instructions of make_fcontext. */
void *make_fcontext(void *top, size_t size, void (*function)(void));
void enter_fcontext(void *context) __attribute__((noreturn));

#if defined(__x86_64__)
__asm__(".text\n"
	".globl make_fcontext\n.type make_fcontext, @function\n"
	"make_fcontext:\n"
	"	andq $-16, %rdi\n"
	"	leaq -16(%rdi), %rax\n"
	"	leaq 1f(%rip), %rcx\n"
	"	movq %rdx, (%rax)\n"
	"	movq %rcx, 8(%rax)\n"
	"	ret\n"
	"1:	xorq %rdi, %rdi\n"
	"	call _exit@PLT\n"
	"	hlt\n"
	".size make_fcontext, .-make_fcontext\n"
	".globl enter_fcontext\n.type enter_fcontext, @function\n"
	"enter_fcontext:\n"
	"	movq %rdi, %rsp\n"
	"	popq %rax\n"
	"	jmp *%rax\n"
	".size enter_fcontext, .-enter_fcontext\n");
#else
__asm__(".text\n"
	".globl make_fcontext\n.type make_fcontext, %function\n"
	"make_fcontext:\n"
	"	and x0, x0, #~0xf\n"
	"	sub x0, x0, #16\n"
	"	adr x1, 1f\n"
	"	stp x2, x1, [x0]\n"
	"	ret\n"
	"1:	mov x0, #0\n"
	"	bl _exit\n"
	".size make_fcontext, .-make_fcontext\n"
	".globl enter_fcontext\n.type enter_fcontext, %function\n"
	"enter_fcontext:\n"
	"	ldp x1, x30, [x0], #16\n"
	"	mov sp, x0\n"
	"	br x1\n"
	".size enter_fcontext, .-enter_fcontext\n");
#endif

APART void switch_over(void)
{
	struct scheduler *self = scheduler;
	unsigned from = self->current;

	self->current = (from + 1) % COROUTINES;
	swapcontext(&self->contexts[from], &self->contexts[self->current]);
	turns++;
}

APART void leaf_work(void)
{
	for (unsigned i = 0; i < STEPS; i++)
		turns++;
}

#define LINK(name, next)      \
	APART void name(void) \
	{                     \
		next();       \
		turns++;      \
	}

LINK(link_4, leaf_work)
LINK(link_3, link_4)
LINK(link_2, link_3)
LINK(link_1, link_2)

APART void coroutine_main(void)
{
	for (;;) {
		if (has_work)
			link_1();
		if (scheduler)
			switch_over();
	}
}

static void *run_contexts(void *unused)
{
	struct scheduler *self = calloc(1, sizeof(*self));

	(void)unused;
	scheduler = self;
	for (int i = 0; self && i < COROUTINES; i++) {
		getcontext(&self->contexts[i]);
		self->contexts[i].uc_stack.ss_sp = malloc(STACK);
		self->contexts[i].uc_stack.ss_size = STACK;
		self->contexts[i].uc_link = &self->own;
		makecontext(&self->contexts[i], coroutine_main, 0);
	}
	if (self)
		swapcontext(&self->own, &self->contexts[0]);
	return NULL;
}

static void *run_fcontext(void *unused)
{
	char *stack = malloc(STACK);

	if (stack)
		enter_fcontext(make_fcontext(stack + STACK, STACK, coroutine_main));
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	if (argc < 2)
		return 2;
	has_work = strcmp(argv[1], "switches") != 0;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL,
			       strcmp(argv[1], "fcontexts") ? run_contexts : run_fcontext, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
