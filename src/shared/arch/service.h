/*
 * The interface of shared/arch/NAME/service.S with its C code (target/amd).  Included by assembly
 * too: numbers only.
 */
#pragma once

#define SERVICE_SLOTS 800 /* each has a stub of its own, made when the library is built */

/* struct sdk_slot */
#define SLOT_SIZE     64
#define SLOT_ORIGINAL 0
#define SLOT_IS_ON    8
#define SLOT_STACK    12 /* bytes of the caller's stack that are arguments; a multiple of 16 */
#define SLOT_VECTORS  55 /* a byte: arguments are in vector registers */

/* struct sdk_frame */
#define SERVICE_VECTORS        64
#define SERVICE_SLOT           192
#define SERVICE_INDIRECT       200
#define SERVICE_RESULTS        208
#define SERVICE_VECTOR_RESULTS 224
#define SERVICE_CALLER         256 /* where the caller's stack arguments are */
#define SERVICE_FRAME          832
#if defined(__x86_64__)
#define SERVICE_STUB_SIZE 16
#else
#define SERVICE_STUB_SIZE 20
#endif
