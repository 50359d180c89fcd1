/*
 * Which configs a tool has chosen for kernels of a device, and which one it is expected to choose
 * next. Tools use one config for all kernels, or rotate through some, each for as many kernels as
 * before.
 */
#pragma once

#include <stdint.h>

#define CHOICES_KEPT 8u

struct config_choices {
	uint32_t is_taken; /* held briefly by a thread */
	uint32_t run;      /* how often in a row */
	uint64_t last;     /* handle of a config; 0: none yet */
	uint32_t oldest;   /* which run is overwritten next */
	struct config_run {
		uint64_t config, next; /* next: the config chosen after it; 0: none yet */
		uint32_t length;
	} runs[CHOICES_KEPT];
};

/* The tool has chosen this config: returns the one expected next. Callable from any thread. */
uint64_t config_choices_note(struct config_choices *self, uint64_t config);
