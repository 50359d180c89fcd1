/*
 * States of threads, by the letters of /proc.
 */
#pragma once

/* Of a process whose control group is frozen: /proc says that it sleeps. */
#define STATE_FROZEN 'F'

/* "sleeping" for S, and so on. */
const char *thread_state_name(char state);
