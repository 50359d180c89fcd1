/*
 * Warnings about two recordings and their comparison.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/core/text/plural.h"
#include "host/model/diff/comparison.h"

/* Fewer samples than this are unreliable. */
#define FEW_SAMPLES 200u
/* Percent of complete stacks. */
#define COMPLETE_POINTS 5.0

const char *side_name(enum side side)
{
	return side == SIDE_A ? "A" : "B";
}

void comparison_title(const struct comparison *comparison, enum side side, char *ret, size_t room)
{
	const struct compared_side *self = &comparison->sides[side];
	const struct model *model = self->model;
	char process[128] = "";

	if (model->process_count)
		snprintf(process, sizeof(process), ": %s (%d)", model->processes[0]->name,
			 model->processes[0]->pid);
	snprintf(ret, room, "%s: %s%s", side_name(side), self->path, process);
}

void comparison_describe(const struct comparison *comparison, enum side side, char *ret,
			 size_t room)
{
	const struct samples *samples = comparison->sides[side].model->samples;

	snprintf(ret, room,
		 "%" PRIu64 " sample%s in %.3f s at %u Hz by %s; %" PRIu64
		 " lost; %.2f %% complete",
		 samples->count, plural(samples->count),
		 (double)(samples->last_ns - samples->first_ns) / 1e9, samples->hz,
		 samples->sampler, samples->lost, (double)samples_complete(samples) / 100);
}

/* Each writes its sentence, or nothing. */
typedef void warner(const struct comparison *comparison, const struct samples *a,
		    const struct samples *b, char *ret);

static void warn_kinds(const struct comparison *comparison, const struct samples *a,
		       const struct samples *b, char *ret)
{
	bool has_waits = (a->flags & SAMPLING_OFF_CPU) != 0;

	if (((a->flags ^ b->flags) & SAMPLING_OFF_CPU) && comparison->kinds != KINDS_ON_CPU)
		snprintf(
			ret, COMPARISON_WARNING_SIZE,
			"different events: only %s was recorded with --off-cpu, so only %s has waits",
			side_name(has_waits ? SIDE_A : SIDE_B),
			side_name(has_waits ? SIDE_A : SIDE_B));
}

static void warn_kernel(const struct comparison *comparison, const struct samples *a,
			const struct samples *b, char *ret)
{
	(void)comparison;
	if ((a->flags ^ b->flags) & SAMPLING_KERNEL)
		snprintf(
			ret, COMPARISON_WARNING_SIZE,
			"different events: only %s has the kernel's frames; in %s its time is that of its callers",
			side_name(a->flags & SAMPLING_KERNEL ? SIDE_A : SIDE_B),
			side_name(a->flags & SAMPLING_KERNEL ? SIDE_B : SIDE_A));
}

static void warn_rate(const struct comparison *comparison, const struct samples *a,
		      const struct samples *b, char *ret)
{
	(void)comparison;
	if (a->hz != b->hz)
		snprintf(
			ret, COMPARISON_WARNING_SIZE,
			"different rates: %u Hz in A, %u Hz in B; shares can be compared, counts cannot",
			a->hz, b->hz);
}

static void warn_sampler(const struct comparison *comparison, const struct samples *a,
			 const struct samples *b, char *ret)
{
	(void)comparison;
	if (strcmp(a->sampler, b->sampler))
		snprintf(ret, COMPARISON_WARNING_SIZE,
			 "different samplers: %.64s in A, %.64s in B; they do not see the same",
			 a->sampler, b->sampler);
}

static void warn_complete(const struct comparison *comparison, const struct samples *a,
			  const struct samples *b, char *ret)
{
	double percent[SIDES] = { (double)samples_complete(a) / 100,
				  (double)samples_complete(b) / 100 };

	(void)comparison;
	if (fabs(percent[SIDE_A] - percent[SIDE_B]) > COMPLETE_POINTS)
		snprintf(
			ret, COMPARISON_WARNING_SIZE,
			"%.2f %% of the stacks are complete in A, %.2f %% in B: totals of outer functions differ for that alone",
			percent[SIDE_A], percent[SIDE_B]);
}

static void warn_lost(const struct comparison *comparison, const struct samples *a,
		      const struct samples *b, char *ret)
{
	(void)comparison;
	if (a->lost || b->lost)
		snprintf(ret, COMPARISON_WARNING_SIZE,
			 "samples were lost: %" PRIu64 " in A, %" PRIu64 " in B", a->lost, b->lost);
}

static void warn_few(const struct comparison *comparison, const struct samples *a,
		     const struct samples *b, char *ret)
{
	const uint64_t counts[SIDES] = { comparison->sides[SIDE_A].profile.sample_count,
					 comparison->sides[SIDE_B].profile.sample_count };

	(void)a;
	(void)b;
	if (counts[SIDE_A] < FEW_SAMPLES || counts[SIDE_B] < FEW_SAMPLES)
		snprintf(ret, COMPARISON_WARNING_SIZE,
			 "few samples (%" PRIu64 " in A, %" PRIu64
			 " in B): only large differences are more than chance",
			 counts[SIDE_A], counts[SIDE_B]);
}

static warner *const warners[] = { warn_kinds,    warn_kernel, warn_rate, warn_sampler,
				   warn_complete, warn_lost,   warn_few };

size_t comparison_warnings(const struct comparison *comparison,
			   char ret[COMPARISON_WARNINGS_MAX][COMPARISON_WARNING_SIZE])
{
	size_t count = 0;

	_Static_assert(ARRAY_SIZE(warners) <= COMPARISON_WARNINGS_MAX, "room for all");
	for (size_t i = 0; i < ARRAY_SIZE(warners); i++) {
		ret[count][0] = '\0';
		warners[i](comparison, comparison->sides[SIDE_A].model->samples,
			   comparison->sides[SIDE_B].model->samples, ret[count]);
		count += ret[count][0] != '\0';
	}
	return count;
}
