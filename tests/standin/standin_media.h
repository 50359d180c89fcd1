/*
 * STAND-IN, for tests only: what is used of AMD's rocDecode and rocJPEG.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define MEDIA_EXPORT __attribute__((visibility("default")))

typedef int parser_function(void **parser, void *parameters);
typedef int frame_function(void *decoder, int picture, void **memory, uint32_t *pitch, void *more);
typedef int parse_function(const unsigned char *data, size_t length, void *stream);

MEDIA_EXPORT parser_function rocDecCreateVideoParser;
MEDIA_EXPORT frame_function rocDecGetVideoFrame;
MEDIA_EXPORT parse_function rocJpegStreamParse;

/* Behind them. */
parser_function standin_create_parser;
frame_function standin_video_frame;
parse_function standin_parse;
