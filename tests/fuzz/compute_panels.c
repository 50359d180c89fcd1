/*
 * Fuzzes panels of metrics, as rocprof-compute's yaml files have them: what is read of one has
 * counters that can be packed, or says why not.
 */
#include "compute_file.h"

#include "selection.h"

static void tell(void *context, const char *text)
{
	(void)context;
	must(text[0]);
}

static void must_be_walked(struct panel *panel)
{
	for (size_t i = 0; i < panel->table_count; i++) {
		const struct yaml_node *key = yaml_keys(panel->tables[i].metrics);

		for (; key; key = key->next->next)
			must(yaml_name(key) != NULL);
		must(panel_table(panel, panel->tables[i].id) != NULL);
	}
}

static void must_be_packed(const struct panels *panels)
{
	static struct counter_passes passes;
	struct counter_selection selection = { .tell = tell };
	struct err err = { 0 };
	int r = selection_add(&selection, panels, NULL, 0, &err);

	if (!r)
		r = passes_pack(&passes, &selection, "gfx942", &err);
	must(!r || err.what[0]);
	must(r || passes.count <= PASSES_MAX);
	selection_done(&selection);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct panels panels = { 0 };
	struct err err = { 0 };
	int r;

	compute_file("0300_fuzz.yaml", bytes, size);
	r = panels_read(&panels, compute_folder(), &err);
	must(!r || err.what[0]);
	if (r)
		return 0;
	must(panels.count <= PANELS_MAX);
	for (size_t i = 0; i < panels.count; i++)
		must_be_walked(panels.items[i]);
	must_be_packed(&panels);
	panels_done(&panels);
	return 0;
}
