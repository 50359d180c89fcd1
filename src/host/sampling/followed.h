/*
 * The processes that a sampler follows, each with its address space.
 */
#pragma once

#include "host/interpreter/interpreter.h"
#include "host/python/python.h"
#include "host/sampling/java_code.h"
#include "host/unwind/space.h"

#define FOLLOWED_JAVA_NS 100000000ull /* what a Java has compiled is looked at so often */

struct followed {
	pid_t pid;
	int pidfd;            /* -1: it has ended, or there was no descriptor to be had */
	bool has_ended;       /* as far as it was asked */
	struct space *space;  /* never NULL; empty where nothing could be read */
	bool is_unread;       /* the space is a copy of its parent's still, or empty */
	uint64_t looked_ns;   /* when its mappings were read last */
	uint64_t patience_ns; /* for so long they are not read again for what is unknown */
	uint64_t renewed_ns;  /* when it was given new events after an exec; sampler "copy" */
	struct java_code java;
	bool is_owed_java;       /* it was asked for too early */
	uint64_t java_looked_ns; /* when its code was looked at last */
	/* Of the sampler "bpf". */
	bool is_muted;          /* its programs are not to ask, until patience_ns is over */
	bool was_seen;          /* has had samples since looked_ns */
	uint64_t program_stack; /* start_stack of the program that it ran; 0: not told */
	bool was_python_sought; /* in the mappings as they are; so were other interpreters */
	struct python *python;  /* NULL: there is none that is known */
	struct interpreter *interpreter; /* of another language; the same */
};

struct followed_set {
	struct followed **items; /* ascending pids */
	size_t count, room;
};

/* NULL: not followed. */
struct followed *followed_find(const struct followed_set *set, pid_t pid);
/* Takes the space over, also when it fails.  -ENOMEM. */
int followed_add(struct followed_set *set, struct space *space, struct followed **ret) MUST_CHECK;
/* Its space is its parent's until it can be read, an empty one where the parent is not followed.
 * Who is followed already stays as it is.  -ENOMEM. */
int followed_add_child(struct followed_set *set, pid_t pid, pid_t parent,
		       struct followed **ret) MUST_CHECK;
void followed_remove(struct followed_set *set, pid_t pid);
void followed_done(struct followed_set *set);

/* Reads the space of a child for the first time; nothing for others. */
void followed_freshen(struct followed *process);
/* Reads the mappings again for a stack that did not fit; false: nothing new was there.  Rarer and
 * rarer where that does not help. */
bool followed_retry(struct followed *process);
/* Its mappings were read in vain: the next time is further away. */
void followed_lose_patience(struct followed *process);
/* Rules for what its Java has compiled by now; java.why tells why there are none. */
void followed_look_for_java(struct followed *process);
/* The same where it was found before, ten times a second. */
void followed_look_at_java(struct followed *process, uint64_t now);
/* Seeks its Python, once in the mappings as they are.  0: process->python is it, or NULL where
 * there is none; errors as those of python_open(). */
int followed_look_for_python(struct followed *process, struct err *err) MUST_CHECK;
/* It executed anew: all that was mapped is gone. */
void followed_forget(struct followed *process);

bool followed_has_ended(struct followed *process);
bool followed_all_have_ended(const struct followed_set *set);
