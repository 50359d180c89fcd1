/*
 * The interface of shared/arch/NAME/api_call.S with its C code (target/amd).  Included by assembly
 * too: numbers only.
 */
#pragma once

#define CALL_SLOTS 2048 /* each has a stub of its own, made when the library is built */

/* struct call_slot */
#define SLOT_SIZE     64
#define SLOT_ORIGINAL 0
#define SLOT_IS_ON    8
#define SLOT_VECTORS  12 /* a byte: arguments are in vector registers */

/* struct call_frame */
#define CALL_VECTORS        64
#define CALL_SLOT           192
#define CALL_INDIRECT       200
#define CALL_RESULTS        208
#define CALL_VECTOR_RESULTS 224
#define CALL_CALLER         256 /* where the caller's stack arguments are */
#define CALL_STACK          264 /* bytes of them to copy; a multiple of 16 */
#define CALL_FRAME          832 /* with the part of sinks/sdk */
#if defined(__x86_64__)
#define CALL_STUB_SIZE 16
#else
#define CALL_STUB_SIZE 20
#endif
