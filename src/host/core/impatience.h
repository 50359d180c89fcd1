/*
 * Who asks twice does not want to wait: a second SIGINT or SIGTERM ends limpet within a second, in
 * whatever it is stuck.  What it has in a target leaves by itself then.
 */
#pragma once

#include "shared/base/macros.h"

/* Once, in the thread that takes these signals from a signalfd, and that has blocked them.  It gets
 * each of them as before.  before_end, which may be NULL, runs on another thread before the end. */
int impatience_start(void (*before_end)(void)) MUST_CHECK;

struct signalfd_siginfo;

/* To be called with each that was taken. */
void impatience_note(const struct signalfd_siginfo *taken);
