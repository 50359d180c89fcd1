/*
 * Functions of the SDK that exist only so that every tool loads; they serve nothing and read no
 * argument. docs/sdk.md says why.
 */
#include "target/amd/sinks/sdk/base/abi.h"
#include "target/amd/sinks/sdk/base/status.h"

#define UNSERVED(name, status)                   \
	SDK_EXPORT int rocprofiler_##name(void); \
	int rocprofiler_##name(void)             \
	{                                        \
		return SDK_##status;             \
	}

/* PC samples and thread traces need packets that only AMD's library writes. */
UNSERVED(configure_pc_sampling_service, NOT_AVAILABLE)
UNSERVED(query_pc_sampling_agent_configurations, NOT_AVAILABLE)
UNSERVED(configure_device_thread_trace_service, NOT_AVAILABLE)
UNSERVED(configure_dispatch_thread_trace_service, NOT_AVAILABLE)
UNSERVED(thread_trace_decoder_create, NOT_AVAILABLE)
UNSERVED(thread_trace_decoder_codeobj_load, NOT_AVAILABLE)
UNSERVED(thread_trace_decoder_codeobj_unload, NOT_AVAILABLE)
UNSERVED(trace_decode, NOT_AVAILABLE)

SDK_EXPORT void rocprofiler_thread_trace_decoder_destroy(struct sdk_handle decoder);
SDK_EXPORT const char *rocprofiler_thread_trace_decoder_info_string(struct sdk_handle decoder,
								    int info);
SDK_EXPORT const char *rocprofiler_get_pc_sampling_instruction_type_name(int type);
SDK_EXPORT const char *rocprofiler_get_pc_sampling_instruction_not_issued_reason_name(int reason);
SDK_EXPORT int rocprofiler_ompt_is_initialized(int *ret);
SDK_EXPORT int rocprofiler_ompt_is_finalized(int *ret);
SDK_EXPORT void *rocprofiler_ompt_start_tool(unsigned version, const char *runtime);

void rocprofiler_thread_trace_decoder_destroy(struct sdk_handle decoder)
{
	(void)decoder;
}

const char *rocprofiler_thread_trace_decoder_info_string(struct sdk_handle decoder, int info)
{
	(void)decoder, (void)info;
	return NULL;
}

#define TYPE(name) "ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_" name
static const char *const instruction_types[] = {
	TYPE("NONE"),         TYPE("VALU"),    TYPE("MATRIX"),     TYPE("SCALAR"),
	TYPE("TEX"),          TYPE("LDS"),     TYPE("LDS_DIRECT"), TYPE("FLAT"),
	TYPE("EXPORT"),       TYPE("MESSAGE"), TYPE("BARRIER"),    TYPE("BRANCH_NOT_TAKEN"),
	TYPE("BRANCH_TAKEN"), TYPE("JUMP"),    TYPE("OTHER"),      TYPE("NO_INST"),
	TYPE("DUAL_VALU"),
};

#define REASON(name) "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_" name
static const char *const not_issued_reasons[] = {
	REASON("NONE"),
	REASON("NO_INSTRUCTION_AVAILABLE"),
	REASON("ALU_DEPENDENCY"),
	REASON("WAITCNT"),
	REASON("INTERNAL_INSTRUCTION"),
	REASON("BARRIER_WAIT"),
	REASON("ARBITER_NOT_WIN"),
	REASON("ARBITER_WIN_EX_STALL"),
	REASON("OTHER_WAIT"),
	REASON("SLEEP_WAIT"),
};

const char *rocprofiler_get_pc_sampling_instruction_type_name(int type)
{
	return type >= 0 && (size_t)type < ARRAY_SIZE(instruction_types) ? instruction_types[type]
									 : NULL;
}

const char *rocprofiler_get_pc_sampling_instruction_not_issued_reason_name(int reason)
{
	return reason >= 0 && (size_t)reason < ARRAY_SIZE(not_issued_reasons)
		       ? not_issued_reasons[reason]
		       : NULL;
}

/* Called by an OpenMP runtime at its start: NULL means that no tool is there. */
void *rocprofiler_ompt_start_tool(unsigned version, const char *runtime)
{
	(void)version, (void)runtime;
	return NULL;
}

int rocprofiler_ompt_is_initialized(int *ret)
{
	if (!ret)
		return SDK_INVALID_ARGUMENT;
	*ret = 0;
	return SDK_SUCCESS;
}

int rocprofiler_ompt_is_finalized(int *ret)
{
	if (!ret)
		return SDK_INVALID_ARGUMENT;
	*ret = 0;
	return SDK_SUCCESS;
}
