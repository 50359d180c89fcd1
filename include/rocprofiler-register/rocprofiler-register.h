/*
 * Between GPU runtimes and profilers: a runtime hands its tables of functions to this library,
 * which passes them on to a profiler, at once or when one is loaded later.  The binary interface,
 * with its spelling, is that of AMD's librocprofiler-register.so.0; the comments are limpet's.
 * docs/register.md lists where limpet's library does better than required.
 */
#ifndef ROCPROFILER_REGISTER_ROCPROFILER_REGISTER_H
#define ROCPROFILER_REGISTER_ROCPROFILER_REGISTER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ROCPROFILER_REGISTER_PUBLIC_API __attribute__((visibility("default")))

/* A version in one number: 10000 * major + 100 * minor + patch.  A fourth part does not count. */
#define ROCPROFILER_REGISTER_COMPUTE_VERSION_1(major)        (10000 * (major))
#define ROCPROFILER_REGISTER_COMPUTE_VERSION_2(major, minor) (10000 * (major) + 100 * (minor))
#define ROCPROFILER_REGISTER_COMPUTE_VERSION_3(major, minor, patch) \
	(10000 * (major) + 100 * (minor) + (patch))
#define ROCPROFILER_REGISTER_COMPUTE_VERSION_4(major, minor, patch, tweak) \
	ROCPROFILER_REGISTER_COMPUTE_VERSION_3(major, minor, patch)

/* The function by which a runtime proves where it lives; see ROCPROFILER_REGISTER_SECURE. */
typedef uint32_t (*rocprofiler_register_import_func_t)(void);
#define ROCPROFILER_REGISTER_IMPORT_FUNC(name) rocprofiler_register_import_##name
#define ROCPROFILER_REGISTER_DEFINE_IMPORT(name, version)                                      \
	ROCPROFILER_REGISTER_PUBLIC_API uint32_t ROCPROFILER_REGISTER_IMPORT_FUNC(name)(void); \
	ROCPROFILER_REGISTER_PUBLIC_API uint32_t ROCPROFILER_REGISTER_IMPORT_FUNC(name)(void)  \
	{                                                                                      \
		return version;                                                                \
	}

typedef enum {
	ROCP_REG_SUCCESS = 0,
	ROCP_REG_NO_TOOLS = 1, /* no profiler yet: the tables are kept for a later one */
	ROCP_REG_DEADLOCK = 2, /* called from inside another call, on the same thread */
	ROCP_REG_BAD_API_TABLE_LENGTH = 3,
	ROCP_REG_UNSUPPORTED_API = 4,      /* a name that is not known */
	ROCP_REG_INVALID_API_ADDRESS = 5,  /* the import function is not in the right library */
	ROCP_REG_ROCPROFILER_ERROR = 6,    /* the profiler refused */
	ROCP_REG_EXCESS_API_INSTANCES = 7, /* more than eight of one name */
	ROCP_REG_INVALID_ARGUMENT = 8,
	ROCP_REG_ATTACHMENT_NOT_AVAILABLE = 9, /* attaching was switched off */
	ROCP_REG_ERROR_CODE_END = 10,
} rocprofiler_register_error_code_t;

/* 8 * (index of the name in the list) + (number of the instance, from 0). */
typedef struct {
	uint64_t handle;
} rocprofiler_register_library_indentifier_t; /* the spelling is part of the interface */

/*
 * Called by a runtime that has filled its tables: "hsa", "hip", "roctx", "hip_compiler", "rccl",
 * "rocdecode", "rocjpeg", "rocattach", "hipFile", "rocshmem".  The tables themselves must live for
 * ever and stay the ones that the runtime calls through; the array of pointers and the name are
 * copied.  SUCCESS: a profiler has them; NO_TOOLS: they are remembered.
 */
ROCPROFILER_REGISTER_PUBLIC_API rocprofiler_register_error_code_t
rocprofiler_register_library_api_table(const char *lib_name,
				       rocprofiler_register_import_func_t import_func,
				       uint32_t lib_version, void **api_tables,
				       uint64_t api_table_length,
				       rocprofiler_register_library_indentifier_t *register_id);

/* The words for a code; never NULL. */
ROCPROFILER_REGISTER_PUBLIC_API const char *
rocprofiler_register_error_string(rocprofiler_register_error_code_t code);

typedef struct {
	size_t size; /* of this struct, for readers of a longer one some day */
	const char *common_name;
	uint32_t lib_version;
	uint64_t api_table_length;
} rocprofiler_register_registration_info_t;

/* Anything but 0 ends the iteration. */
typedef int (*rocprofiler_register_registration_info_cb_t)(
	rocprofiler_register_registration_info_t *info, void *data);

/* Visits every registration, in order.  The struct is valid during the callback. */
ROCPROFILER_REGISTER_PUBLIC_API rocprofiler_register_error_code_t
rocprofiler_register_iterate_registration_info(rocprofiler_register_registration_info_cb_t callback,
					       void *data);

/* Hands all kept tables to the profiler, or those that it has not got yet. */
ROCPROFILER_REGISTER_PUBLIC_API rocprofiler_register_error_code_t
rocprofiler_register_invoke_all_registrations(void);
ROCPROFILER_REGISTER_PUBLIC_API rocprofiler_register_error_code_t
rocprofiler_register_invoke_nonpropagated_registrations(void);

/*
 * Attaches tools to this very process: loads the libraries of the list (colon, comma or blank
 * between them), runs their first attach or attaches them again, and hands over the tables.  The
 * buffer is a uint32_t count and then that many pairs "name\0value\0"; NULL: none.  The tools may
 * differ from the last time.
 */
ROCPROFILER_REGISTER_PUBLIC_API rocprofiler_register_error_code_t
rocprofiler_register_attach(const char *environment_buffer, const char *tool_lib_path);
ROCPROFILER_REGISTER_PUBLIC_API rocprofiler_register_error_code_t rocprofiler_register_detach(void);

typedef enum {
	ROCP_REG_TOOL_ACTIVATION_NONE = 0,
	ROCP_REG_TOOL_ACTIVATION_STARTUP = 1, /* a tool was there when a runtime registered */
	ROCP_REG_TOOL_ACTIVATION_ATTACH = 2,  /* a tool was attached later */
} rocprofiler_register_tool_activation_mode_t;

typedef void (*rocprofiler_register_tool_activation_cb_t)(
	rocprofiler_register_tool_activation_mode_t mode, void *data);

/* Requests one call when the first tool becomes active; at once if one is.  The same callback with
 * the same data counts once. */
ROCPROFILER_REGISTER_PUBLIC_API rocprofiler_register_error_code_t
rocprofiler_register_runtime_tool_activation_callback(
	const char *runtime_name, rocprofiler_register_tool_activation_cb_t callback, void *data);

/* Names of earlier releases.  invoke_reattach attaches again what rocprofiler_register_attach had
 * attached; the other two do the same, and the opposite, without a result. */
ROCPROFILER_REGISTER_PUBLIC_API rocprofiler_register_error_code_t
rocprofiler_register_invoke_reattach(void);
ROCPROFILER_REGISTER_PUBLIC_API void rocprofiler_call_client_reattach(void);
ROCPROFILER_REGISTER_PUBLIC_API void rocprofiler_call_client_detach(void);
/* There is nothing that it could do: SUCCESS. */
ROCPROFILER_REGISTER_PUBLIC_API rocprofiler_register_error_code_t
rocprofiler_register_invoke_prestore_loads(void);

#ifdef __cplusplus
}
#endif

#endif
