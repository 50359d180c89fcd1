/*
 * Who may call a HSA runtime for us, and when: not while the program starts it or shuts it down,
 * nor when it is over.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* On any thread, around calls of the runtime that the program has not asked for.  False: not now.
 */
bool hsa_gate_enter(void);
void hsa_gate_leave(void);

/* The program is about to start it or to shut it down: waits, for a while, until nobody of ours is
 * in it.  Gives the number of its life at present, which is another after each of its ends. */
uint32_t hsa_gate_shut(void);
void hsa_gate_open(void);

/* A session begins: a thread that left the program's call by longjmp, or was cancelled in it, opens
 * nothing any more. */
void hsa_gate_clear(void);

/* On a thread that has shut it, to be left like the other: nobody else starts the runtime or shuts
 * it down meanwhile.  False: somebody does just now. */
bool hsa_gate_enter_alone(void);

/* In a forked child: whoever was in it was a thread of our parent's. */
void hsa_gate_forget(void);

uint32_t hsa_life(void);
bool hsa_life_is_over(void);
/* Also of one whose beginning nobody has seen.  False: somebody else has noticed, and another life
 * may have begun. */
bool hsa_life_end(uint32_t life);
void hsa_life_begin(void);
/* False: the last one is not over, or somebody else has noticed. */
bool hsa_life_begin_again(void);
