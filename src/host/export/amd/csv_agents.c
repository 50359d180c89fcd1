/*
 * PREFIX_agent_info.csv.
 */
#include "host/export/amd/csv_parts.h"

#include <inttypes.h>

#include "host/export/exporter.h"

/* Of an agent, in their order.  What limpet does not know is 0. */
static const char *const agent_columns[] = {
	"Node_Id",
	"Logical_Node_Id",
	"Agent_Type",
	"Cpu_Cores_Count",
	"Simd_Count",
	"Cpu_Core_Id_Base",
	"Simd_Id_Base",
	"Max_Waves_Per_Simd",
	"Lds_Size_In_Kb",
	"Gds_Size_In_Kb",
	"Num_Gws",
	"Wave_Front_Size",
	"Num_Xcc",
	"Cu_Count",
	"Array_Count",
	"Num_Shader_Banks",
	"Simd_Arrays_Per_Engine",
	"Cu_Per_Simd_Array",
	"Simd_Per_Cu",
	"Max_Slots_Scratch_Cu",
	"Gfx_Target_Version",
	"Vendor_Id",
	"Device_Id",
	"Location_Id",
	"Domain",
	"Drm_Render_Minor",
	"Num_Sdma_Engines",
	"Num_Sdma_Xgmi_Engines",
	"Num_Sdma_Queues_Per_Engine",
	"Num_Cp_Queues",
	"Max_Engine_Clk_Ccompute",
	"Max_Engine_Clk_Fcompute",
	"Sdma_Fw_Version",
	"Fw_Version",
	"Capability",
	"Cu_Per_Engine",
	"Max_Waves_Per_Cu",
	"Family_Id",
	"Workgroup_Max_Size",
	"Grid_Max_Size",
	"Local_Mem_Size",
	"Hive_Id",
	"Gpu_Id",
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

#define KNOWN_IN_FRONT 3u
#define KNOWN_BEHIND   4u

static void put_agent_row(FILE *out, const struct agent *agent)
{
	size_t unknown = ARRAY_SIZE(agent_columns) - KNOWN_IN_FRONT - KNOWN_BEHIND;

	fprintf(out, "%" PRIu64 ",%" PRIu64 ",", agent->number, agent->number);
	export_quoted(out, agent_type(agent));
	for (size_t i = 0; i < unknown; i++)
		fputs(",0", out);
	fputc(',', out);
	export_quoted(out, agent->name);
	fputc(',', out);
	export_quoted(out, agent->vendor);
	fputc(',', out);
	export_quoted(out, agent->product);
	fputs(",\"\"\n", out);
}

static int open_agent_info(struct csv_set *set)
{
	int r = csv_open(set, &set->agent_info, "agent_info", "");

	if (r)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(agent_columns); i++) {
		fputs(i ? "," : "", set->agent_info.out);
		export_quoted(set->agent_info.out, agent_columns[i]);
	}
	fputc('\n', set->agent_info.out);
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
