/*
 * STAND-IN, for tests only, of AMD's librocdecode.so (DECODE) or librocjpeg.so: one table,
 * registered when the library is loaded, and functions that go through it as those of the real ones
 * do.
 */
#include "standin_media.h"
#include "standin.h"

#ifdef DECODE
#define NAME  "rocdecode"
#define SLOTS 16
#else
#define NAME  "rocjpeg"
#define SLOTS 9
#endif

static struct {
	uint64_t size;
	void *slots[SLOTS];
} table;

static struct standin_registration registration = {
	.name = NAME, .version = 100, .part_count = 1, .slots = { SLOTS }
};

static uint32_t import_media(void)
{
	return 100;
}

__attribute__((constructor)) static void begin(void)
{
	table.size = sizeof(table);
	for (unsigned i = 0; i < SLOTS; i++)
		table.slots[i] = (void *)standin_nothing;
	registration.parts[0] = &table;
	registration.import = import_media;
#ifdef DECODE
	table.slots[0] = (void *)standin_create_parser;
	table.slots[9] = (void *)standin_video_frame;
#else
	table.slots[1] = (void *)standin_parse;
#endif
	standin_register(&registration);
}

#ifdef DECODE
int standin_create_parser(void **parser, void *parameters)
{
	*parser = parameters;
	return 0;
}

int standin_video_frame(void *decoder, int picture, void **memory, uint32_t *pitch, void *more)
{
	*memory = decoder;
	*pitch = 1024;
	return more ? 0 : picture;
}

int rocDecCreateVideoParser(void **parser, void *parameters)
{
	return ((parser_function *)table.slots[0])(parser, parameters);
}

int rocDecGetVideoFrame(void *decoder, int picture, void **memory, uint32_t *pitch, void *more)
{
	return ((frame_function *)table.slots[9])(decoder, picture, memory, pitch, more);
}
#else
int standin_parse(const unsigned char *data, size_t length, void *stream)
{
	return data && stream ? 0 : -(int)length;
}

int rocJpegStreamParse(const unsigned char *data, size_t length, void *stream)
{
	return ((parse_function *)table.slots[1])(data, length, stream);
}
#endif
