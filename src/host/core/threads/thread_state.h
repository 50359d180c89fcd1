/*
 * States of threads, by the letters of /proc.
 */
#pragma once

/* "sleeping" for S, and so on. */
const char *thread_state_name(char state);
