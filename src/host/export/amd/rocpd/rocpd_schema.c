/*
 * The schema that AMD's readers expect: names and columns are AMD's, the queries limpet's.  Several
 * files can be read as one, so rows are joined by id and by guid.
 */
#include "host/export/amd/rocpd/rocpd_file.h"

#include <stddef.h>

/* The columns of most tables: the node and the process. */
#define OF_PROCESS "nid INTEGER NOT NULL @info_node, pid INTEGER NOT NULL @info_process, "
#define OF_THREAD  OF_PROCESS "tid INTEGER @info_thread, "
#define DURING     "start BIGINT NOT NULL, \"end\" BIGINT NOT NULL, "
#define EXTDATA    "extdata JSONB DEFAULT '{}' NOT NULL"
#define OF_EVENT   "event_id INTEGER @event, " EXTDATA

/* clang-format off */
const struct rocpd_table rocpd_tables[] = {
	{ "string",
	  "string TEXT NOT NULL UNIQUE ON CONFLICT ABORT" },
	{ "info_node",
	  "hash BIGINT NOT NULL UNIQUE, machine_id TEXT NOT NULL UNIQUE, "
	  "system_name TEXT, hostname TEXT, release TEXT, version TEXT, "
	  "hardware_name TEXT, domain_name TEXT" },
	{ "info_process",
	  "nid INTEGER NOT NULL @info_node, ppid INTEGER, pid INTEGER NOT NULL, "
	  "init BIGINT, fini BIGINT, start BIGINT, \"end\" BIGINT, command TEXT, "
	  "environment JSONB DEFAULT '{}' NOT NULL, " EXTDATA },
	{ "info_thread",
	  "nid INTEGER NOT NULL @info_node, ppid INTEGER, "
	  "pid INTEGER NOT NULL @info_process, tid INTEGER NOT NULL, name TEXT, "
	  "start BIGINT, \"end\" BIGINT, " EXTDATA },
	{ "info_agent",
	  OF_PROCESS "type TEXT CHECK (type IN ('CPU', 'GPU', 'NIC')), "
	  "absolute_index INTEGER, logical_index INTEGER, "
	  "type_index INTEGER, uuid INTEGER, name TEXT, model_name TEXT, "
	  "vendor_name TEXT, product_name TEXT, user_name TEXT, " EXTDATA },
	{ "info_queue",
	  OF_PROCESS "name TEXT, " EXTDATA },
	{ "info_stream",
	  OF_PROCESS "name TEXT, " EXTDATA },
	{ "info_pmc",
	  OF_PROCESS
	  "agent_id INTEGER @info_agent, target_arch TEXT CHECK (target_arch IN ('CPU', 'GPU', 'NIC')), "
	  "event_code INT, instance_id INTEGER, name TEXT NOT NULL, symbol TEXT NOT NULL, "
	  "description TEXT, long_description TEXT DEFAULT '', component TEXT, "
	  "units TEXT DEFAULT '', "
	  "value_type TEXT CHECK (value_type IN ('ABS', 'ACCUM', 'RELATIVE')), block TEXT, "
	  "expression TEXT, is_constant INTEGER, is_derived INTEGER, " EXTDATA },
	{ "info_code_object",
	  OF_PROCESS
	  "agent_id INTEGER @info_agent, uri TEXT, load_base BIGINT, load_size BIGINT, "
	  "load_delta BIGINT, storage_type TEXT CHECK (storage_type IN ('FILE', 'MEMORY')), "
	  EXTDATA },
	{ "info_kernel_symbol",
	  OF_PROCESS "code_object_id INTEGER NOT NULL @info_code_object, kernel_name TEXT, "
	  "display_name TEXT, kernel_object INTEGER, kernarg_segment_size INTEGER, "
	  "kernarg_segment_alignment INTEGER, group_segment_size INTEGER, "
	  "private_segment_size INTEGER, sgpr_count INTEGER, arch_vgpr_count INTEGER, "
	  "accum_vgpr_count INTEGER, " EXTDATA },
	{ "track",
	  "nid INTEGER NOT NULL @info_node, pid INTEGER @info_process, "
	  "tid INTEGER @info_thread, name_id INTEGER @string, " EXTDATA },
	{ "event",
	  "category_id INTEGER @string, stack_id INTEGER, parent_stack_id INTEGER, "
	  "correlation_id INTEGER, call_stack JSONB DEFAULT '{}' NOT NULL, "
	  "line_info JSONB DEFAULT '{}' NOT NULL, " EXTDATA },
	{ "arg",
	  "event_id INTEGER NOT NULL @event, position INTEGER NOT NULL, "
	  "type TEXT NOT NULL, name TEXT NOT NULL, value TEXT, " EXTDATA },
	{ "pmc_event",
	  "event_id INTEGER @event, pmc_id INTEGER NOT NULL @info_pmc, "
	  "value REAL DEFAULT 0.0, extdata JSONB DEFAULT '{}'" },
	{ "region",
	  OF_PROCESS "tid INTEGER NOT NULL @info_thread, " DURING
	  "name_id INTEGER NOT NULL @string, " OF_EVENT },
	{ "sample",
	  "track_id INTEGER NOT NULL @track, timestamp BIGINT NOT NULL, " OF_EVENT },
	{ "kernel_dispatch",
	  OF_THREAD "agent_id INTEGER NOT NULL @info_agent, "
	  "kernel_id INTEGER NOT NULL @info_kernel_symbol, dispatch_id INTEGER NOT NULL, "
	  "queue_id INTEGER NOT NULL @info_queue, stream_id INTEGER NOT NULL @info_stream, "
	  DURING "private_segment_size INTEGER, group_segment_size INTEGER, "
	  "workgroup_size_x INTEGER NOT NULL, workgroup_size_y INTEGER NOT NULL, "
	  "workgroup_size_z INTEGER NOT NULL, grid_size_x INTEGER NOT NULL, "
	  "grid_size_y INTEGER NOT NULL, grid_size_z INTEGER NOT NULL, "
	  "region_name_id INTEGER @string, " OF_EVENT },
	{ "memory_copy",
	  OF_THREAD DURING "name_id INTEGER NOT NULL @string, dst_agent_id INTEGER @info_agent, "
	  "dst_address INTEGER, src_agent_id INTEGER @info_agent, src_address INTEGER, "
	  "size INTEGER NOT NULL, queue_id INTEGER @info_queue, "
	  "stream_id INTEGER @info_stream, region_name_id INTEGER @string, " OF_EVENT },
	{ "memory_allocate",
	  OF_THREAD "agent_id INTEGER @info_agent, "
	  "type TEXT CHECK (type IN ('ALLOC', 'FREE', 'REALLOC', 'RECLAIM')), "
	  "level TEXT CHECK (level IN ('REAL', 'VIRTUAL', 'SCRATCH')), " DURING
	  "address INTEGER, size INTEGER NOT NULL, queue_id INTEGER @info_queue, "
	  "stream_id INTEGER @info_stream, " OF_EVENT },
	{ NULL },
};
/* clang-format on */

#define JOIN(table, alias, id, of) \
	" JOIN " table " " alias " ON " alias ".id = " of "." id " AND " alias ".guid = " of ".guid"
#define MAY_JOIN(table, alias, id, of) " LEFT" JOIN(table, alias, id, of)
#define CATEGORY                                                                                \
	"(SELECT c.string FROM rocpd_string c WHERE c.id = e.category_id AND c.guid = e.guid) " \
	"AS category"
#define NODE                                                                                  \
	"n.id AS nid, n.machine_id, n.system_name, n.hostname, n.release AS system_release, " \
	"n.version AS system_version"
#define AGENT(alias, prefix)                                                                \
	alias ".absolute_index AS " prefix "_abs_index, " alias ".logical_index AS " prefix \
	      "_log_index, " alias ".type_index AS " prefix "_type_index, " alias           \
	      ".type AS " prefix "_type"
#define EVENT "e.stack_id, e.parent_stack_id, e.correlation_id AS corr_id"
#define NOTES "e.extdata, e.call_stack, e.line_info"
#define SPAN(alias) \
	alias ".start, " alias ".\"end\", " alias ".\"end\" - " alias ".start AS duration"
#define OF_SAMPLE                                                        \
	" FROM rocpd_sample s" JOIN("rocpd_track", "k", "track_id", "s") \
		JOIN("rocpd_event", "e", "event_id", "s")                \
			JOIN("rocpd_info_process", "p", "pid", "k")      \
				JOIN("rocpd_info_thread", "t", "tid", "k")
#define SAMPLE_NAME \
	"(SELECT c.string FROM rocpd_string c WHERE c.id = k.name_id AND c.guid = k.guid) AS name"

/* Everything with a duration: kernels, copies, calls. */
#define ALL_WORK                                              \
	"SELECT name, duration FROM kernels UNION ALL "       \
	"SELECT name, duration FROM memory_copies UNION ALL " \
	"SELECT name, duration FROM regions"
#define DEVICE_WORK                                                                   \
	"SELECT agent_id, guid, start, \"end\" FROM rocpd_kernel_dispatch UNION ALL " \
	"SELECT dst_agent_id, guid, start, \"end\" FROM rocpd_memory_copy"

/* clang-format off */
const struct rocpd_view rocpd_views[] = {
	{ "code_objects",
	  "SELECT o.id, o.guid, o.nid, p.pid, a.absolute_index AS agent_abs_index, o.uri, "
	  "o.load_base, o.load_size, o.load_delta, o.storage_type AS storage_type_str, "
	  "json_extract(o.extdata, '$.size') AS code_object_size, "
	  "json_extract(o.extdata, '$.storage_type') AS storage_type, "
	  "json_extract(o.extdata, '$.memory_base') AS memory_base, "
	  "json_extract(o.extdata, '$.memory_size') AS memory_size "
	  "FROM rocpd_info_code_object o" JOIN("rocpd_info_agent", "a", "agent_id", "o")
	  JOIN("rocpd_info_process", "p", "pid", "o") },
	{ "kernel_symbols",
	  "SELECT s.id, s.guid, s.nid, p.pid, s.code_object_id, s.kernel_name, s.display_name, "
	  "s.kernel_object, s.kernarg_segment_size, s.kernarg_segment_alignment, "
	  "s.group_segment_size, s.private_segment_size, s.sgpr_count, s.arch_vgpr_count, "
	  "s.accum_vgpr_count, json_extract(s.extdata, '$.size') AS kernel_symbol_size, "
	  "json_extract(s.extdata, '$.kernel_id') AS kernel_id, "
	  "json_extract(s.extdata, '$.kernel_code_entry_byte_offset') "
	  "AS kernel_code_entry_byte_offset, "
	  "json_extract(s.extdata, '$.formatted_kernel_name') AS formatted_kernel_name, "
	  "json_extract(s.extdata, '$.demangled_kernel_name') AS demangled_kernel_name, "
	  "json_extract(s.extdata, '$.truncated_kernel_name') AS truncated_kernel_name, "
	  "json_extract(s.extdata, '$.kernel_address.handle') AS kernel_address "
	  "FROM rocpd_info_kernel_symbol s" JOIN("rocpd_info_process", "p", "pid", "s") },
	{ "processes",
	  "SELECT " NODE ", p.guid, p.ppid, p.pid, p.init, p.start, p.\"end\", p.fini, "
	  "p.command FROM rocpd_info_process p" JOIN("rocpd_info_node", "n", "nid", "p") },
	{ "threads",
	  "SELECT " NODE ", p.guid, p.ppid, p.pid, t.tid, t.start, t.\"end\", t.name "
	  "FROM rocpd_info_thread t" JOIN("rocpd_info_process", "p", "pid", "t")
	  JOIN("rocpd_info_node", "n", "nid", "t") },
	{ "regions",
	  "SELECT r.id, r.guid, " CATEGORY ", s.string AS name, r.nid, p.pid, t.tid, " SPAN("r")
	  ", r.event_id, " EVENT ", " NOTES " FROM rocpd_region r"
	  JOIN("rocpd_event", "e", "event_id", "r") JOIN("rocpd_string", "s", "name_id", "r")
	  JOIN("rocpd_info_process", "p", "pid", "r") JOIN("rocpd_info_thread", "t", "tid", "r") },
	{ "region_args",
	  "SELECT r.id, r.guid, r.nid, p.pid, a.type, a.name, a.value "
	  "FROM rocpd_region r JOIN rocpd_arg a ON a.event_id = r.event_id AND a.guid = r.guid"
	  JOIN("rocpd_info_process", "p", "pid", "r") },
	{ "samples",
	  "SELECT s.id, s.guid, " CATEGORY ", " SAMPLE_NAME ", k.nid, p.pid, t.tid, "
	  "s.timestamp, s.event_id, " EVENT ", " NOTES OF_SAMPLE },
	{ "sample_regions",
	  "SELECT s.id, s.guid, " CATEGORY ", " SAMPLE_NAME ", k.nid, p.pid, t.tid, "
	  "s.timestamp AS start, s.timestamp AS \"END\", 0 AS duration, s.event_id, " EVENT ", "
	  NOTES OF_SAMPLE },
	{ "regions_and_samples",
	  "SELECT * FROM regions UNION ALL SELECT * FROM sample_regions" },
	{ "kernels",
	  "SELECT d.id, d.guid, t.tid, " CATEGORY ", r.string AS region, s.display_name AS name, "
	  "d.nid, p.pid, " AGENT("a", "agent")
	  ", s.code_object_id, d.kernel_id, d.dispatch_id, d.stream_id, d.queue_id, "
	  "q.name AS queue, m.name AS stream, " SPAN("d")
	  ", d.grid_size_x AS grid_x, d.grid_size_y AS grid_y, d.grid_size_z AS grid_z, "
	  "d.workgroup_size_x AS workgroup_x, d.workgroup_size_y AS workgroup_y, "
	  "d.workgroup_size_z AS workgroup_z, d.group_segment_size AS lds_size, "
	  "d.private_segment_size AS scratch_size, s.arch_vgpr_count AS vgpr_count, "
	  "s.accum_vgpr_count, s.sgpr_count, s.group_segment_size AS static_lds_size, "
	  "s.private_segment_size AS static_scratch_size, " EVENT " FROM rocpd_kernel_dispatch d"
	  JOIN("rocpd_info_agent", "a", "agent_id", "d") JOIN("rocpd_event", "e", "event_id", "d")
	  JOIN("rocpd_string", "r", "region_name_id", "d")
	  JOIN("rocpd_info_kernel_symbol", "s", "kernel_id", "d")
	  MAY_JOIN("rocpd_info_stream", "m", "stream_id", "d")
	  MAY_JOIN("rocpd_info_queue", "q", "queue_id", "d")
	  JOIN("rocpd_info_process", "p", "pid", "d") JOIN("rocpd_info_thread", "t", "tid", "d") },
	{ "pmc_info",
	  
	  "SELECT i.id, i.guid, i.nid, p.pid, a.absolute_index AS agent_abs_index, i.is_constant, "
	  "i.is_derived, i.name, i.description, i.block, i.expression " "FROM rocpd_info_pmc i"
	  JOIN("rocpd_info_agent", "a", "agent_id", "i")
	  JOIN("rocpd_info_process", "p", "pid", "i") },
	{ "pmc_events",
	  "SELECT v.id, v.guid, v.pmc_id, e.id AS event_id, " CATEGORY
	  ", (SELECT s.display_name FROM rocpd_info_kernel_symbol s WHERE s.id = d.kernel_id "
	  "AND s.guid = d.guid) AS name, d.nid, p.pid, d.dispatch_id, " SPAN("d")
	  ", i.name AS counter_name, v.value AS counter_value " "FROM rocpd_pmc_event v"
	  JOIN("rocpd_info_pmc", "i", "pmc_id", "v") JOIN("rocpd_event", "e", "event_id", "v")
	  " JOIN rocpd_kernel_dispatch d ON d.event_id = v.event_id AND d.guid = v.guid"
	  JOIN("rocpd_info_process", "p", "pid", "d") },
	{ "events_args",
	  "SELECT e.id AS event_id, " CATEGORY ", e.stack_id, e.parent_stack_id, "
	  "e.correlation_id, a.position AS arg_position, a.type AS arg_type, a.name AS arg_name, "
	  "a.value AS arg_value, e.call_stack, e.line_info, a.extdata "
	  "FROM rocpd_event e JOIN rocpd_arg a ON a.event_id = e.id AND a.guid = e.guid" },
	{ "stream_args",
	  "SELECT a.id AS argument_id, a.event_id, a.position AS arg_position, "
	  "a.type AS arg_type, a.value AS arg_value, "
	  "json_extract(a.extdata, '$.stream_id') AS stream_id, m.nid, p.pid, "
	  "m.name AS stream_name, m.extdata AS extdata "
	  "FROM rocpd_arg a JOIN rocpd_info_stream m "
	  "ON m.id = json_extract(a.extdata, '$.stream_id') AND m.guid = a.guid"
	  JOIN("rocpd_info_process", "p", "pid", "m") " WHERE a.name = 'stream'" },
	{ "memory_copies",
	  "SELECT c.id, c.guid, " CATEGORY ", c.nid, p.pid, t.tid, " SPAN("c")
	  ", s.string AS name, r.string AS region_name, c.stream_id, c.queue_id, "
	  "m.name AS stream_name, q.name AS queue_name, c.size, i.name AS dst_device, "
	  AGENT("i", "dst_agent") ", c.dst_address, o.name AS src_device, "
	  AGENT("o", "src_agent") ", c.src_address, " EVENT " FROM rocpd_memory_copy c"
	  JOIN("rocpd_string", "s", "name_id", "c")
	  MAY_JOIN("rocpd_string", "r", "region_name_id", "c")
	  JOIN("rocpd_info_agent", "i", "dst_agent_id", "c")
	  JOIN("rocpd_info_agent", "o", "src_agent_id", "c")
	  MAY_JOIN("rocpd_info_queue", "q", "queue_id", "c")
	  MAY_JOIN("rocpd_info_stream", "m", "stream_id", "c")
	  JOIN("rocpd_event", "e", "event_id", "c") JOIN("rocpd_info_process", "p", "pid", "c")
	  JOIN("rocpd_info_thread", "t", "tid", "c") },
	{ "memory_allocations",
	  "SELECT c.id, c.guid, " CATEGORY ", c.nid, p.pid, t.tid, " SPAN("c")
	  ", c.type, c.level, a.name AS agent_name, " AGENT("a", "agent")
	  ", c.address, c.size, c.queue_id, q.name AS queue_name, c.stream_id, "
	  "m.name AS stream_name, " EVENT " FROM rocpd_memory_allocate c"
	  MAY_JOIN("rocpd_info_agent", "a", "agent_id", "c")
	  MAY_JOIN("rocpd_info_queue", "q", "queue_id", "c")
	  MAY_JOIN("rocpd_info_stream", "m", "stream_id", "c")
	  JOIN("rocpd_event", "e", "event_id", "c") JOIN("rocpd_info_process", "p", "pid", "c")
	  JOIN("rocpd_info_thread", "t", "tid", "c") },
	{ "scratch_memory",
	  "SELECT c.id, c.guid, c.nid, p.pid, c.type AS operation, a.name AS agent_name, "
	  AGENT("a", "agent") ", c.queue_id, t.tid, "
	  "json_extract(c.extdata, '$.flags') AS alloc_flags, " SPAN("c")
	  ", c.size, c.address, e.correlation_id, " EVENT ", " CATEGORY
	  ", e.extdata AS event_extdata " "FROM rocpd_memory_allocate c"
	  MAY_JOIN("rocpd_info_agent", "a", "agent_id", "c")
	  JOIN("rocpd_event", "e", "event_id", "c") JOIN("rocpd_info_process", "p", "pid", "c")
	  JOIN("rocpd_info_thread", "t", "tid", "c") " WHERE c.level = 'SCRATCH' ORDER BY c.start" },
	{ "counters_collection",
	  "SELECT min(v.id) AS id, v.guid, d.dispatch_id, d.kernel_id, e.id AS event_id, "
	  "e.correlation_id, e.stack_id, e.parent_stack_id, p.pid, t.tid, d.agent_id, "
	  AGENT("a", "agent") ", d.queue_id, d.grid_size_x, d.grid_size_y, d.grid_size_z, "
	  "d.grid_size_x * d.grid_size_y * d.grid_size_z AS grid_size, "
	  "s.display_name AS kernel_name, (SELECT c.string FROM rocpd_string c "
	  "WHERE c.id = d.region_name_id AND c.guid = d.guid) AS kernel_region, "
	  "d.workgroup_size_x, d.workgroup_size_y, d.workgroup_size_z, "
	  "d.workgroup_size_x * d.workgroup_size_y * d.workgroup_size_z AS workgroup_size, "
	  "d.group_segment_size AS lds_block_size, d.private_segment_size AS scratch_size, "
	  "s.arch_vgpr_count AS vgpr_count, s.accum_vgpr_count, s.sgpr_count, "
	  "i.name AS counter_name, i.symbol AS counter_symbol, i.component, i.description, "
	  "i.block, i.expression, i.value_type, i.id AS counter_id, sum(v.value) AS value, "
	  "d.start, d.\"end\", i.is_constant, i.is_derived, d.\"end\" - d.start AS duration, "
	  CATEGORY ", d.nid, e.extdata, s.code_object_id " "FROM rocpd_pmc_event v"
	  JOIN("rocpd_info_pmc", "i", "pmc_id", "v") JOIN("rocpd_event", "e", "event_id", "v")
	  " JOIN rocpd_kernel_dispatch d ON d.event_id = v.event_id AND d.guid = v.guid"
	  JOIN("rocpd_info_agent", "a", "agent_id", "d")
	  JOIN("rocpd_info_kernel_symbol", "s", "kernel_id", "d")
	  JOIN("rocpd_info_process", "p", "pid", "d") JOIN("rocpd_info_thread", "t", "tid", "d")
	  " GROUP BY v.guid, d.dispatch_id, i.name, d.agent_id" },
	{ "top_kernels",
	  "SELECT name, count(*) AS total_calls, sum(duration) / 1000.0 AS total_duration, "
	  "sum(duration) / count(*) / 1000.0 AS average, "
	  "sum(duration) * 100.0 / (SELECT sum(duration) FROM kernels) AS percentage "
	  "FROM kernels GROUP BY name ORDER BY total_duration DESC" },
	{ "busy",
	  
	  "SELECT w.agent_id, a.type, w.GpuTime, x.WallTime, w.GpuTime * 1.0 / x.WallTime AS Busy "
	  "FROM (SELECT agent_id, guid, sum(\"end\" - start) AS GpuTime FROM (" DEVICE_WORK
	  ") GROUP BY agent_id, guid) w "
	  "JOIN (SELECT max(\"end\") - min(start) AS WallTime FROM (" DEVICE_WORK ")) x"
	  JOIN("rocpd_info_agent", "a", "agent_id", "w") },
	{ "top",
	  "SELECT name, count(*) AS total_calls, sum(duration) / 1000.0 AS total_duration, "
	  "sum(duration) / count(*) / 1000.0 AS average, "
	  "sum(duration) * 100.0 / (SELECT sum(duration) FROM (" ALL_WORK ")) AS percentage "
	  "FROM (" ALL_WORK ") GROUP BY name ORDER BY total_duration DESC" },
	{ NULL },
};
/* clang-format on */
