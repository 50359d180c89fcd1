/*
 * The programs and libraries for other processes that limpet carries; defined in blobs.S.
 */
#pragma once

extern const unsigned char blob_boot[], blob_boot_end[];     /* bootstrap code, for the target */
extern const unsigned char blob_agent[], blob_agent_end[];   /* agent library, for the target */
extern const unsigned char blob_tracer[], blob_tracer_end[]; /* limpet's tool, for the target */
extern const unsigned char blob_tracer_id[], blob_tracer_id_end[]; /* its build id, as a note */
extern const unsigned char blob_injector[], blob_injector_end[];   /* injector program */
extern const unsigned char blob_nvml[], blob_nvml_end[];           /* limpet-nvml, see helper.h */
