/*
 * States of threads, by the letters of /proc.
 */
#pragma once

/* Of a process with a frozen control group, which /proc shows as sleeping. */
#define STATE_FROZEN 'F'

/* "sleeping" for S, and so on. */
const char *thread_state_name(char state);
