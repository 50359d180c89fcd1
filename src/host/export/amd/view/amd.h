/*
 * A model in AMD's terms: for each call the file of rocprofv3 that it is in, and its domain, kind
 * and operation there.  Data without files of AMD's get similar ones: OpenCL, and limpet's own
 * domains.
 */
#pragma once

#include "host/core/cleanup.h"
#include "host/export/amd/view/counted.h"
#include "host/export/amd/view/kernel_filter.h"
#include "host/export/amd/view/regions.h"
#include "host/model/model.h"

/* In the order of AMD's summary; then limpet's own. */
enum amd_domain {
	AMD_HSA,
	AMD_HIP,
	AMD_MARKER,
	AMD_KERNEL,
	AMD_COPY,
	AMD_SCRATCH,
	AMD_RCCL,
	AMD_MEMORY,
	AMD_ROCDECODE,
	AMD_ROCJPEG,
	AMD_OPENCL,
	AMD_COUNTER, /* kernels with counters */
	AMD_OWN,
	AMD_DOMAINS,
};

struct amd_domain_words {
	const char *column;     /* "HIP_API" */
	const char *trace_file; /* "hip_api_trace" */
	const char *stats_file;
	const char *list; /* of its records in JSON */
};

extern const struct amd_domain_words amd_domains[AMD_DOMAINS];

/* clang-format off */
/* As large as one more than the highest kind. */
union amd_highest {
#define DOMAIN(number, name, key, title, form, list, kind, ...) char name[(kind) + 1];
#include "shared/wire/domains.def"
};
#define AMD_KINDS_MAX sizeof(union amd_highest)

/* Kinds of records by AMD's numbers; larger ones are limpet's own. */
enum amd_kind {
	KIND_MARKER_CONTROL = 8,
	KIND_MARKER_NAME = 9,
	KIND_OTHER = 105, /* of an unknown domain */
#define DOMAIN(number, name, key, title, form, list, kind, ...) KIND_##name = (kind),
#include "shared/wire/domains.def"
};
/* clang-format on */

/* One more than the highest that has a name. */
unsigned amd_kind_count(void);

/* "HIP_RUNTIME_API_EXT"; never NULL. */
const char *amd_kind_name(enum amd_kind kind);

/* "hip_api": the category of a domain's events in AMD's trace. */
const char *amd_category(unsigned domain);

/* Of its plain calls. */
enum amd_kind amd_kind_of(const struct trace_function *function);

/* How kernels are called. */
enum kernel_form {
	KERNEL_READABLE,
	KERNEL_MANGLED,   /* -M */
	KERNEL_TRUNCATED, /* -T: only the function's own name */
};

#define KERNEL_NAME_MAX 512u

/* The part of the model that is shown. */
struct amd_view_options {
	const struct model_process *process; /* NULL: all of them */
	enum kernel_form form;
	bool is_renamed; /* --kernel-rename: a kernel is called by the range that launched it */
	struct kernel_filter_options filter;
	struct region_options regions;
};

/* AMD's readers index lists by the numbers of kernels: these have no gaps, from 1, in the order of
 * the recording's own numbers, which are spread over a wide range. */
struct kernel_list {
	uint64_t *ids; /* the recording's, ascending */
	size_t count;
};

struct amd_view {
	struct model *model;
	const struct model_process *process;
	enum kernel_form form;
	bool is_renamed;
	struct kernel_filter filter, counter_filter;
	struct counted counted;      /* which kernels have counts */
	struct kernel_list *kernels; /* of each process */
	struct table causes;         /* (process, the model's correlation): that of the files */
	bool has_causes;
	struct region_options region_options;
	/* During a pass over the events: */
	uint64_t correlation_count;
	struct range_history history; /* with is_renamed */
	struct regions regions;
};

/* -EINVAL when a filter makes no sense. */
int amd_view_init(struct amd_view *ret, struct model *model, const struct amd_view_options *options,
		  struct err *err) MUST_CHECK;
void amd_view_done(struct amd_view *view);

DEFINE_STRUCT_CLEANUP(amd_view, amd_view_done)

/* One row of a table.  Valid until its visitor returns. */
struct amd_event {
	const struct call *call;
	enum amd_domain domain;
	enum amd_kind kind;
	const char *name;      /* a function, a kernel, a marker's text, a direction */
	const char *operation; /* by AMD's names: of a marker, its kind */
	const char *region;    /* of a renamed kernel: the range's text; else "" */
	uint64_t correlation;  /* 0: not known */
	uint64_t kernel;       /* its number, see kernel_list */
	int64_t tid;           /* the thread that caused it */
};

/* Not 0: no more, please. */
typedef int amd_visitor(const struct amd_event *event, void *context);

/* All that the view lets through, in the order of their beginnings. */
int amd_each_event(struct amd_view *view, amd_visitor *visit, void *context) MUST_CHECK;

/* 0 when it has none of this kind. */
uint64_t event_value(const struct amd_event *event, enum value_kind kind);

/* Whether the agent of the memory is known: for freed memory, often not. */
bool amd_memory_has_agent(const struct amd_event *event);

/* A kernel's name in the view's form; `room` is for truncated ones. */
const char *amd_kernel_name(const struct amd_view *view, const struct model_process *process,
			    uint64_t id, char room[KERNEL_NAME_MAX]);
