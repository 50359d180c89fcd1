/*
 * What a tool has chosen for the kernels of a device, and what it is expected to choose next: tools
 * take one config for all kernels, or go round among some, each for as many kernels as the last
 * time.
 */
#pragma once

#include <stdint.h>

#define CHOICES_KEPT 8u

struct config_choices {
	uint32_t is_taken; /* by a thread, for moments */
	uint32_t run;      /* so often in a row */
	uint64_t last;     /* a config's handle; 0: none yet */
	uint32_t oldest;   /* which is overwritten next */
	struct config_run {
		uint64_t config, next; /* and what came after it the last time; 0: nothing yet */
		uint32_t length;
	} runs[CHOICES_KEPT];
};

/* It has chosen this one: which is expected next.  Any thread. */
uint64_t config_choices_note(struct config_choices *self, uint64_t config);
