/*
 * PREFIX_agent_info.csv.
 */
#include "host/export/amd/csv/csv_parts.h"

#include <inttypes.h>

#include "host/export/exporter.h"
#include "host/export/values.h"

/* Before and after the driver's properties. */
static const char *const columns_before[] = { "Node_Id", "Logical_Node_Id", "Agent_Type" };
static const char *const columns_behind[] = {
	"Workgroup_Max_Dim_X",
	"Workgroup_Max_Dim_Y",
	"Workgroup_Max_Dim_Z",
	"Grid_Max_Dim_X",
	"Grid_Max_Dim_Y",
	"Grid_Max_Dim_Z",
	"Name",
	"Vendor_Name",
	"Product_Name",
	"Model_Name",
};
static const enum agent_property listed[] = {
#define PROPERTY(name, text) AGENT_##name,
#define PROPERTY_UNLISTED(name, text)
#include "host/export/amd/view/agent_properties.def"
};

static void put_dimensions(FILE *out, struct agent_dimensions dimensions)
{
	fprintf(out, ",%" PRIu32 ",%" PRIu32 ",%" PRIu32, dimensions.x, dimensions.y, dimensions.z);
}

static void put_agent_row(FILE *out, const struct agent *agent)
{
	const char *const texts[] = { agent->name, agent->vendor, agent->product, agent->model };

	fprintf(out, "%" PRIu64 ",%" PRIu64 ",", agent->number, agent->number);
	export_quoted(out, agent_type(agent));
	for (size_t i = 0; i < ARRAY_SIZE(listed); i++)
		fprintf(out, ",%" PRIu64, agent->properties[listed[i]]);
	put_dimensions(out, agent->workgroup);
	put_dimensions(out, agent->grid);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		fputc(',', out);
		export_quoted(out, texts[i]);
	}
	fputc('\n', out);
}

/* "cpu_cores_count" is "Cpu_Cores_Count" here. */
static void put_property_name(FILE *out, enum agent_property property)
{
	char name[64];

	snprintf(name, sizeof(name), "%s", agent_property_name(property));
	for (size_t i = 0; name[i]; i++)
		if (!i || name[i - 1] == '_')
			name[i] = (char)(name[i] - 'a' + 'A');
	fputc(',', out);
	export_quoted(out, name);
}

static void put_names(FILE *out, const char *const *names, size_t count, bool is_first)
{
	for (size_t i = 0; i < count; i++) {
		if (i || !is_first)
			fputc(',', out);
		export_quoted(out, names[i]);
	}
}

static int open_agent_info(struct csv_set *set)
{
	int r = csv_open(set, &set->agent_info, "agent_info", "");
	FILE *out = set->agent_info.out;

	if (r)
		return r;
	put_names(out, columns_before, ARRAY_SIZE(columns_before), /* is_first */ true);
	for (size_t i = 0; i < ARRAY_SIZE(listed); i++)
		put_property_name(out, listed[i]);
	put_names(out, columns_behind, ARRAY_SIZE(columns_behind), /* is_first */ false);
	fputc('\n', out);
	return 0;
}

static int put_agent(struct csv_set *set, const struct agent *agent)
{
	int r = set->agent_info.out ? 0 : open_agent_info(set);

	if (!r)
		put_agent_row(set->agent_info.out, agent);
	return r;
}

int csv_agents(struct csv_set *set)
{
	int r = 0;

	for (uint32_t i = 0; !r && i < set->view->model->process_count; i++)
		for (size_t j = 0; !r && j < set->agents[i].count; j++)
			r = put_agent(set, &set->agents[i].items[j]);
	return r;
}
