/*
 * Runs on threads of the application, of the runtime, and of limpet.
 */
#include "target/runtime/hsa_gate.h"

#include "target/runtime/patience.h"

#define GLANCE_NS 100000
#define LIMIT_NS  2000000000ull /* the application does not wait for ever */
#define OVER      1u

static uint32_t changing; /* threads that start the runtime or shut it down */
static uint32_t inside;   /* limpet's calls of the runtime */
static uint32_t state;    /* twice the number of its life, plus OVER */

/* Seq_cst throughout: each side stores its own state before it reads the other's. */
static uint32_t word_load(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

bool hsa_gate_enter(void)
{
	__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
	if (!word_load(&changing) && !hsa_life_is_over())
		return true;
	hsa_gate_leave();
	return false;
}

bool hsa_gate_enter_alone(void)
{
	__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
	if (word_load(&changing) == 1)
		return true;
	hsa_gate_leave();
	return false;
}

void hsa_gate_leave(void)
{
	__atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
}

uint32_t hsa_gate_shut(void)
{
	struct patience patience = { 0, 0 };

	__atomic_add_fetch(&changing, 1, __ATOMIC_SEQ_CST);
	while (word_load(&inside) && patience_pause(&patience, GLANCE_NS, LIMIT_NS))
		;
	return hsa_life();
}

/* hsa_gate_clear() may have run meanwhile. */
void hsa_gate_open(void)
{
	uint32_t now = word_load(&changing);

	while (now && !__atomic_compare_exchange_n(&changing, &now, now - 1, false,
						   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

void hsa_gate_clear(void)
{
	__atomic_store_n(&changing, 0, __ATOMIC_SEQ_CST);
}

void hsa_gate_forget(void)
{
	changing = inside = 0;
}

uint32_t hsa_life(void)
{
	return word_load(&state) / 2;
}

bool hsa_life_is_over(void)
{
	return word_load(&state) & OVER;
}

bool hsa_life_end(uint32_t life)
{
	uint32_t now = word_load(&state);

	return now / 2 == life &&
	       __atomic_compare_exchange_n(&state, &now, 2 * life + 2 + OVER, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

bool hsa_life_begin_again(void)
{
	uint32_t now = word_load(&state);

	return now & OVER && __atomic_compare_exchange_n(&state, &now, (now & ~OVER) + 2, false,
							 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void hsa_life_begin(void)
{
	uint32_t now = word_load(&state);

	while (!__atomic_compare_exchange_n(&state, &now, (now & ~OVER) + 2, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}
