/*
 * The HSA runtime whose application queues are watched, and the visits of application threads to
 * what is made for it.
 */
#pragma once

#include "target/amd/sinks/sdk/counters/dispatch/sets.h"
#include "target/amd/sinks/sdk/counters/dispatch/visits.h"

/* True while limpet watches packets in application queues. Queue stubs then stay installed even if
 * no context needs them. */
bool dispatch_runtime_is_watched(void);
/* Begins a visit: queues and sets stay valid during this part of an application call. Pass the
 * result to visit_end(); 0: nothing is watched. */
unsigned dispatch_runtime_visit(void);
/* With the device turn held: waits up to two seconds for visits that began before; later visits see
 * what was stored before. False: a visit is still running. */
bool dispatch_runtime_await_visits(void);

const struct hsa_functions *dispatch_runtime_hsa(void);
/* HSA's functions for rings. */
struct ring_calls dispatch_runtime_calls(void);
/* Do queue calls still lead to limpet? */
bool dispatch_runtime_sees_queues(void);

/* Enters the gate if everything made is valid; leave by hsa_gate_leave(). False: not now. */
bool dispatch_runtime_enter(void);
/* Was it shut down since? */
bool dispatch_runtime_is_gone(void);

/* For engine.c: finds the runtime, and the agents of the first `count` devices; a status. Then
 * begins and ends watching, and releases its library. */
int dispatch_runtime_find(void);
int dispatch_runtime_find_devices(unsigned count);
void dispatch_runtime_watch(bool is_watched);
void dispatch_runtime_release(void);

/* In a forked child. */
void dispatch_runtime_adopt(void);
