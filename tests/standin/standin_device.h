/*
 * STAND-IN, for tests only.  Devices that are threads: each queue has one, and does its commands in
 * their order.  A tracer is asked and told as AMD's runtime does it: asked when a command is made,
 * on the thread that makes it; told when it is done, on the queue's thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STANDIN_DEVICES 2

enum device_copy_kind { COPY_TO_DEVICE = 1, COPY_TO_HOST, COPY_ON_DEVICE };

typedef int device_tracer(uint32_t domain, uint32_t command, void *data);
void device_report_to(device_tracer *tracer);

/* A call of the API begins: the tracer is asked, and must not want it. */
void device_call(uint32_t call);

/* The calling thread's device. */
bool device_select(int device);
int device_now(void);

/* Queues; NULL stands for the default one of the calling thread's device. */
void *device_queue_new(void);
void device_queue_free(void *queue);
void device_wait(void *queue);
void device_wait_all(void);

/* Commands.  A launch without a name is made, and fails. */
bool device_launch(void *queue, const char *name);
/* One question for all of its kernels. */
void device_graph(void *queue, const char *name, unsigned count);
void device_copy(void *queue, void *to, const void *from, size_t size, enum device_copy_kind kind);

/* Kernels that are called "endless" end when this was called. */
void device_release(void);

void device_kernel_register(const void *function, const char *name);
const char *device_kernel_name(const void *function);
