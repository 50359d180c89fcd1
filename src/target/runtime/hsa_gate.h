/*
 * Decides when limpet may call an HSA runtime: not during its start or shutdown, nor after.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* On any thread, around limpet's own calls of the runtime. False: not now. */
bool hsa_gate_enter(void);
void hsa_gate_leave(void);

/* Before the application starts the runtime or shuts it down: waits, up to a limit, until no thread
 * of limpet's is inside. Returns the number of the runtime's life, which changes after each end. */
uint32_t hsa_gate_shut(void);
void hsa_gate_open(void);

/* For a session that begins: a thread that left the application's call by longjmp, or was cancelled
 * in it, will never open the gate. */
void hsa_gate_clear(void);

/* On a thread that has shut the gate, paired with hsa_gate_leave(): no other thread starts the
 * runtime or shuts it down. False: another thread does so just now. */
bool hsa_gate_enter_alone(void);

/* In a forked child: threads inside were the parent's. */
void hsa_gate_forget(void);

uint32_t hsa_life(void);
bool hsa_life_is_over(void);
/* Ends that life, even of unseen begin. False: another thread has, and a new one may have begun. */
bool hsa_life_end(uint32_t life);
void hsa_life_begin(void);
/* False: the last life has not ended, or another thread has begun the next. */
bool hsa_life_begin_again(void);
