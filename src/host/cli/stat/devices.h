/*
 * Counters of devices for limpet stat: an agent in the process reads them, as for limpet record.
 */
#pragma once

#include "host/cli/stat/writer.h"
#include "host/recorder/windows/counter_watch.h"

/* Attaches.  The choice must outlive it. */
int stat_devices_start(struct counter_watch **ret, struct counter_choice *choice, pid_t pid,
		       struct err *err) MUST_CHECK;
/* Was anything counted? */
bool stat_devices_have_counts(struct counter_watch *devices);
