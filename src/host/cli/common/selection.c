/*
 * Applies selections, and refuses empty ones.
 */
#include "host/cli/common/selection.h"

#include "host/core/text/print.h"
#include "host/model/model.h"
#include "host/model/samples/languages.h"

#include <errno.h>

const char only_help[] = "use only frames of "
#define FRAME_INTERPRETED(name) name ", "
#define FRAME_OTHER(name)
#define FRAME_LANGUAGE(symbol, name, title, light, dark, of_256, of_8, sort) FRAME_##sort(name)
#include "host/model/samples/frame_languages.def"
#undef FRAME_LANGUAGE
			 "or native";

int range_apply(struct model *model, const char *path, const struct range_values *range,
		struct err *err)
{
	if (!range->from_ns && range->to_ns == UINT64_MAX)
		return 0;
	if (range->from_ns >= range->to_ns)
		return err_usage(err, NULL, "--from must be before --to");
	if (model_narrow(model, range->from_ns, range->to_ns))
		return err_set(err, -ENOMEM, "'%s': no memory", path);
	if (model->samples->count || model->calls)
		return 0;
	err_set(err, -ENODATA, "'%s' has nothing between --from and --to", path);
	return err_exit(err, EXIT_NOTHING_CAPTURED);
}

int view_find(const char *name, bool allows_calls, unsigned *ret_kinds, struct err *err)
{
	const char *fix = "--view on-cpu, off-cpu, runnable or wall";

	*ret_kinds = name ? profile_kinds_find(name) : 0;
	if (!name || (*ret_kinds && (allows_calls || !profile_kinds_are_calls(*ret_kinds))))
		return 0;
	if (allows_calls)
		fix = "--view on-cpu, off-cpu, runnable, wall, alloc, live, lock or io";
	else if (*ret_kinds)
		fix = "limpet export --view alloc, live, lock or io";
	return err_usage(err, fix, "unknown view '%s'", name);
}

int view_check(const struct samples *samples, const char *path, unsigned kinds, struct err *err)
{
	uint64_t count = 0;

	for (unsigned kind = 0; kind < MODEL_KINDS; kind++)
		if (!kinds || kinds & KIND_BIT(kind))
			count += samples->kinds[kind];
	if (count || !samples->count)
		return 0;
	err_set(err, -ENODATA, "'%s' has no samples of the view %s", path,
		profile_kinds_name(kinds));
	err_fix(err,
		kinds == KINDS_ON_CPU ? "--view wall" : "--view on-cpu, or record with --off-cpu");
	return err_exit(err, EXIT_NOTHING_CAPTURED);
}

int only_find(const struct shown_values *values, unsigned *ret, struct err *err)
{
	char all[256];

	*ret = LANGUAGE_ALL;
	if (!values->only || language_find(values->only, ret))
		return 0;
	languages_list(all, sizeof(all));
	err_usage(err, NULL, "unknown language '%s'", values->only);
	return err_fix(err, "--only with one of: %s", all);
}

int only_apply(struct model *model, const char *path, const struct shown_values *values,
	       struct err *err)
{
	unsigned language;
	int64_t left;
	int r = only_find(values, &language, err);

	if (values->full_paths)
		model_show_paths(model);
	if (r || language == LANGUAGE_ALL || !model->samples->count)
		return r;
	left = model_show_only(model, language);
	if (left < 0)
		return err_set(err, (int)left, "'%s': no memory", path);
	if (!left) {
		err_set(err, -ENODATA, "'%s' has no samples with %s frames", path, values->only);
		err_fix(err, "leave --only out");
		return err_exit(err, EXIT_NOTHING_CAPTURED);
	}
	if ((uint64_t)left < model->samples->count)
		print(stderr, "note: %lu samples without %s frames are left out\n",
		      model->samples->count - (uint64_t)left, values->only);
	return 0;
}
