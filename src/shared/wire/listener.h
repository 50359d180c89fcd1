/*
 * The listener: a process that enabled it, with limpet's register library in it, listens on an
 * abstract socket, so that a host attaches without stopping a thread.  The abstract socket is only
 * a bell, to which any process may connect.  A peer gets the number of a descriptor in the target,
 * one end of a socket pair, and has to take it with pidfd_getfd(): the kernel gives it only to
 * processes that may trace the target (PTRACE_MODE_ATTACH_REALCREDS).  After hello and welcome that
 * end is the agent's control socket (wire/control.h).
 *
 *   host                                    target
 *   connect, hello ---- abstract socket -->
 *                  <--- abstract socket --- offer: number and inode of one end of a new pair
 *   pidfd_getfd    <--- the pair ---------- the same hello, as the proof that it is the right one
 *   hello ------------- the pair --------->
 *                  <--- the pair ---------- welcome
 */
#pragma once

#include "shared/wire/boot.h"
#include "shared/wire/control.h"

/* The process's number in its own namespace, and a number: another process may use the first
 * name. */
#define LISTENER_NAME    "limpet-attach-%d-%u"
#define LISTENER_NAMES   8u
#define LISTENER_MAGIC   0x6c696d70646f6f72ull /* "limpdoor" */
#define LISTENER_VERSION 2u
#define LISTENER_WAIT_MS 5000 /* how long the target waits for a hello */

struct listener_hello {
	uint64_t magic;
	uint32_t version;
	uint32_t reserved;
	uint64_t nonce[2]; /* of the host's choice */
};

/* Why the target makes no offer. */
enum listener_refusal {
	LISTENER_OFFERED,
	LISTENER_OTHER_USER,      /* neither root nor its user */
	LISTENER_OTHER_NAMESPACE, /* of users, processes or files */
	LISTENER_UNKNOWN_PEER,    /* /proc does not identify the peer */
	LISTENER_OTHER_RIGHTS,    /* the listening thread has other rights than the program */
	LISTENER_NO_RESOURCES,    /* no descriptor, no socket */
	LISTENER_REFUSALS,
};

struct listener_offer {
	uint64_t magic;
	uint32_t version;
	uint32_t refusal; /* enum listener_refusal */
	uint64_t inode;   /* of the socket */
	int32_t fd;       /* its number in the target */
	uint32_t reserved;
};

struct listener_welcome {
	uint64_t magic;
	uint32_t version;
	int32_t code;           /* 0: the agent listens now; or -errno */
	int32_t tid;            /* the control thread, as the target counts */
	uint32_t was_loaded;    /* the agent library was in the process already */
	uint32_t agent_version; /* AGENT_VERSION of that library */
	uint32_t reserved;
	uint64_t context; /* address of the boot_context */
	/* The target's "/": if the host has the same, paths mean the same. */
	uint64_t root_device, root_inode, mounts_inode;
	char text[BOOT_TEXT_MAX]; /* why not */
};
