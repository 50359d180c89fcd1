/*
 * The processes that a sampler follows, each with its address space.
 */
#pragma once

#include "host/python/python.h"
#include "host/sampling/java_code.h"
#include "host/unwind/space.h"

/* A child has the mappings of its parent until it executes, or changes them and is looked at. */
struct shared_space {
	struct space *space;
	unsigned users;
};

struct followed {
	pid_t pid;
	struct shared_space *shared; /* NULL: it was gone before it could be looked at */
	struct space nowhere;        /* stands for it then */
	uint64_t looked_ns;          /* when its mappings were read last */
	uint64_t patience_ns;        /* for so long they are not read again */
	bool is_deaf;                /* its programs are not to ask, until patience_ns is over */
	bool was_seen;               /* has had samples since looked_ns */
	bool was_python_sought;      /* in the mappings as they are */
	struct python *python;       /* NULL: there is none that is known */
	struct java_code java;
	bool is_owed_java;       /* it was asked for too early */
	uint64_t java_looked_ns; /* when its code was looked at last */
};

struct followed_set {
	struct followed **items; /* ascending pids */
	size_t count, room;
};

struct followed *followed_find(const struct followed_set *set, pid_t pid);
int followed_add(struct followed_set *set, pid_t pid, struct followed **ret) MUST_CHECK;
void followed_remove(struct followed_set *set, pid_t pid);
void followed_done(struct followed_set *set);

/* What a sample of it is handed on with; never NULL. */
struct space *followed_space(struct followed *process);
/* Takes the space over, also when it fails; NULL: it has none any more. */
int followed_set_space(struct followed *process, struct space *space) MUST_CHECK;
void followed_share_space(struct followed *process, const struct followed *parent);
bool followed_has_own_space(const struct followed *process);
