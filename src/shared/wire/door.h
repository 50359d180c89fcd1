/*
 * The cooperative door: a process with limpet's register library in it listens on an abstract
 * socket, so that a host of the same user gets in without ptrace.  After hello and welcome the
 * connection is the agent's control socket (wire/control.h).
 */
#pragma once

#include "shared/wire/boot.h"
#include "shared/wire/control.h"

/* The process as it counts itself, and a number: another process may have taken the first name. */
#define DOOR_NAME    "limpet-attach-%d-%u"
#define DOOR_NAMES   8u
#define DOOR_MAGIC   0x6c696d70646f6f72ull /* "limpdoor" */
#define DOOR_VERSION 1u
#define DOOR_WAIT_MS 5000 /* how long the target waits for a hello */

struct door_hello {
	uint64_t magic;
	uint32_t version;
	uint32_t reserved;
};

struct door_welcome {
	uint64_t magic;
	uint32_t version;
	int32_t code;           /* 0: the agent listens now; or -errno */
	int32_t tid;            /* the control thread, as the target counts */
	uint32_t was_loaded;    /* the agent library was in the process already */
	uint32_t agent_version; /* AGENT_VERSION of that library */
	uint32_t reserved;
	uint64_t context; /* address of the boot_context */
	/* What the target sees as "/": where the host sees the same, paths mean the same. */
	uint64_t root_device, root_inode, mounts_inode;
	char text[BOOT_TEXT_MAX]; /* why not */
};
