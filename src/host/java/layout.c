/*
 * Reads libjvm.so's description of itself.  All of it is foreign: offsets, counts and strings are
 * bounded.
 */
#include "host/java/layout.h"

#include <errno.h>
#include <string.h>

#include "shared/base/macros.h"

#define STRIDE_MAX  256u
#define ENTRIES_MAX 16384u
#define NAME_MAX    64u
#define WINDOW      4096u
#define MAJOR_LAST  21
#define OFFSET_MAX  4096u /* no relevant object is larger */

const char *const java_symbol_names[JAVA_SYMBOLS] = {
	[JAVA_STRUCTS] = "gHotSpotVMStructs",
	[JAVA_STRUCT_STRIDE] = "gHotSpotVMStructEntryArrayStride",
	[JAVA_STRUCT_TYPE] = "gHotSpotVMStructEntryTypeNameOffset",
	[JAVA_STRUCT_FIELD] = "gHotSpotVMStructEntryFieldNameOffset",
	[JAVA_STRUCT_TYPE_OF_FIELD] = "gHotSpotVMStructEntryTypeStringOffset",
	[JAVA_STRUCT_OFFSET] = "gHotSpotVMStructEntryOffsetOffset",
	[JAVA_STRUCT_ADDRESS] = "gHotSpotVMStructEntryAddressOffset",
	[JAVA_TYPES] = "gHotSpotVMTypes",
	[JAVA_TYPE_STRIDE] = "gHotSpotVMTypeEntryArrayStride",
	[JAVA_TYPE_NAME] = "gHotSpotVMTypeEntryTypeNameOffset",
	[JAVA_TYPE_SIZE] = "gHotSpotVMTypeEntrySizeOffset",
};

/* Some have had other names.  Numbers must be of the size that they are read with. */
static const struct wanted {
	const char *type, *field;
	enum java_field which;
	bool is_static, is_int;
} wanted[] = {
	{ "CodeCache", "_heaps", CODE_CACHE_HEAPS, true, false },
	{ "CodeCache", "_heap", CODE_CACHE_HEAP, true, false },
	{ "AbstractInterpreter", "_code", INTERPRETER_CODE, true, false },
	{ "Abstract_VM_Version", "_vm_major_version", MAJOR_VERSION, true, true },
	{ "GrowableArrayBase", "_len", ARRAY_LENGTH, false, true },
	{ "GenericGrowableArray", "_len", ARRAY_LENGTH, false, true },
	{ "GrowableArray<int>", "_data", ARRAY_DATA, false, false },
	{ "CodeHeap", "_memory", HEAP_MEMORY, false, false },
	{ "CodeHeap", "_segmap", HEAP_SEGMENTS, false, false },
	{ "CodeHeap", "_log2_segment_size", HEAP_SEGMENT_SIZE, false, true },
	{ "VirtualSpace", "_low", SPACE_LOW, false, false },
	{ "VirtualSpace", "_high", SPACE_HIGH, false, false },
	{ "HeapBlock::Header", "_length", BLOCK_LENGTH, false, false },
	{ "HeapBlock::Header", "_used", BLOCK_USED, false, false },
	{ "CodeBlob", "_name", BLOB_NAME, false, false },
	{ "CodeBlob", "_frame_size", BLOB_FRAME_SIZE, false, true },
	{ "CodeBlob", "_frame_complete_offset", BLOB_FRAME_COMPLETE, false, true },
	{ "CodeBlob", "_code_begin", BLOB_CODE_BEGIN, false, false },
	{ "CodeBlob", "_code_end", BLOB_CODE_END, false, false },
	{ "CodeBlob", "_code_offset", BLOB_CODE_OFFSET, false, true },
	{ "CodeBlob", "_data_offset", BLOB_DATA_OFFSET, false, true },
	{ "StubQueue", "_stub_buffer", QUEUE_BUFFER, false, false },
	{ "StubQueue", "_queue_begin", QUEUE_BEGIN, false, true },
	{ "StubQueue", "_queue_end", QUEUE_END, false, true },
	{ "InterpreterCodelet", "_size", PART_SIZE, false, true },
	{ "InterpreterCodelet", "_description", PART_DESCRIPTION, false, false },
};

struct reading {
	const struct memory_reader *memory;
	uint64_t symbols[JAVA_SYMBOLS]; /* values, but for the two tables' variables */
	/* The page that strings were read from last. */
	uint64_t page;
	char bytes[WINDOW];
};

static int read_memory(const struct reading *it, uint64_t address, void *into, size_t size)
{
	return it->memory->read(it->memory->context, address, into, size);
}

static bool enter_page(struct reading *it, uint64_t address)
{
	uint64_t page = ALIGN_DOWN(address, (uint64_t)WINDOW);

	if (page == it->page)
		return true;
	it->page = read_memory(it, page, it->bytes, WINDOW) ? 0 : page;
	return it->page;
}

/* A name longer than the wanted ones is none of them. */
static bool read_name(struct reading *it, uint64_t address, char ret[NAME_MAX])
{
	for (unsigned i = 0; i < NAME_MAX; i++) {
		if (!address || !enter_page(it, address + i))
			return false;
		ret[i] = it->bytes[(address + i) % WINDOW];
		if (!ret[i])
			return true;
	}
	ret[0] = 0;
	return true;
}

/* Each variable is a word. */
static int read_symbols(struct reading *it, const uint64_t symbols[JAVA_SYMBOLS], struct err *err)
{
	for (unsigned i = 0; i < JAVA_SYMBOLS; i++) {
		int r = symbols[i] ? read_memory(it, symbols[i], &it->symbols[i],
						 sizeof(it->symbols[i]))
				   : -ENOENT;

		if (r == -ENOENT)
			return err_set(err, -EOPNOTSUPP, "libjvm.so has no %s",
				       java_symbol_names[i]);
		if (r)
			return err_set(err, r, "its memory cannot be read: %s", strerror(-r));
	}
	return 0;
}

static uint64_t word_at(const unsigned char *entry, uint64_t offset)
{
	uint64_t word;

	memcpy(&word, entry + offset, sizeof(word));
	return word;
}

/* The offset of a part of an entry is one of its words. */
static bool is_in_entry(const struct reading *it, enum java_symbol part, enum java_symbol stride)
{
	return it->symbols[stride] <= STRIDE_MAX && it->symbols[stride] >= sizeof(uint64_t) &&
	       it->symbols[part] <= it->symbols[stride] - sizeof(uint64_t);
}

static bool are_tables_sound(const struct reading *it)
{
	static const enum java_symbol of_structs[] = { JAVA_STRUCT_TYPE, JAVA_STRUCT_FIELD,
						       JAVA_STRUCT_TYPE_OF_FIELD,
						       JAVA_STRUCT_OFFSET, JAVA_STRUCT_ADDRESS };

	for (unsigned i = 0; i < ARRAY_SIZE(of_structs); i++)
		if (!is_in_entry(it, of_structs[i], JAVA_STRUCT_STRIDE))
			return false;
	return is_in_entry(it, JAVA_TYPE_NAME, JAVA_TYPE_STRIDE) &&
	       is_in_entry(it, JAVA_TYPE_SIZE, JAVA_TYPE_STRIDE);
}

static const struct wanted *find_wanted(const char *type, const char *field)
{
	for (unsigned i = 0; i < ARRAY_SIZE(wanted); i++)
		if (!strcmp(type, wanted[i].type) && !strcmp(field, wanted[i].field))
			return &wanted[i];
	return NULL;
}

static void add_struct(struct reading *it, const unsigned char *entry, const char *type,
		       struct java_layout *ret)
{
	char field[NAME_MAX], of[NAME_MAX];
	const struct wanted *found;
	uint64_t value, stub;

	if (!read_name(it, word_at(entry, it->symbols[JAVA_STRUCT_FIELD]), field))
		return;
	stub = word_at(entry, it->symbols[JAVA_STRUCT_ADDRESS]);
	if (!strcmp(type, "StubRoutines") && stub && ret->stub_count < JAVA_STUBS_MAX)
		ret->stubs[ret->stub_count++] = stub;
	found = find_wanted(type, field);
	if (!found || !read_name(it, word_at(entry, it->symbols[JAVA_STRUCT_TYPE_OF_FIELD]), of) ||
	    (found->is_int && strcmp(of, "int") != 0))
		return;
	value = word_at(entry,
			it->symbols[found->is_static ? JAVA_STRUCT_ADDRESS : JAVA_STRUCT_OFFSET]);
	if (!found->is_static && value > OFFSET_MAX)
		return;
	ret->fields[found->which] = value;
	ret->is_known[found->which] = true;
}

static void add_type(struct reading *it, const unsigned char *entry, const char *type,
		     struct java_layout *ret)
{
	uint64_t size = word_at(entry, it->symbols[JAVA_TYPE_SIZE]);

	if (!strcmp(type, "HeapBlock") && size <= OFFSET_MAX)
		ret->block_size = (uint32_t)size;
	if (!strcmp(type, "InterpreterCodelet") && size <= OFFSET_MAX)
		ret->part_size = (uint32_t)size;
}

struct java_table {
	enum java_symbol begin, stride, name;
	void (*add)(struct reading *it, const unsigned char *entry, const char *type,
		    struct java_layout *ret);
};

/* The last entry has no name. */
static int read_table(struct reading *it, const struct java_table *table, struct java_layout *ret)
{
	uint64_t address = it->symbols[table->begin];
	unsigned char entry[STRIDE_MAX];
	char type[NAME_MAX];

	for (unsigned i = 0; i < ENTRIES_MAX; i++, address += it->symbols[table->stride]) {
		int r = read_memory(it, address, entry, it->symbols[table->stride]);

		if (r)
			return r;
		if (!word_at(entry, it->symbols[table->name]))
			return 0;
		if (read_name(it, word_at(entry, it->symbols[table->name]), type))
			table->add(it, entry, type, ret);
	}
	return -EBADMSG;
}

/* Fields that exist in one of two forms. */
static bool layout_has(const struct java_layout *layout, enum java_field which)
{
	static const struct {
		enum java_field field, other;
	} pairs[] = { { CODE_CACHE_HEAPS, CODE_CACHE_HEAP }, { CODE_CACHE_HEAP, CODE_CACHE_HEAPS },
		      { BLOB_CODE_BEGIN, BLOB_CODE_OFFSET }, { BLOB_CODE_OFFSET, BLOB_CODE_BEGIN },
		      { BLOB_CODE_END, BLOB_DATA_OFFSET },   { BLOB_DATA_OFFSET, BLOB_CODE_END },
		      { ARRAY_LENGTH, CODE_CACHE_HEAP },     { ARRAY_DATA, CODE_CACHE_HEAP } };

	if (layout->is_known[which] || which == MAJOR_VERSION)
		return true;
	for (unsigned i = 0; i < ARRAY_SIZE(pairs); i++)
		if (pairs[i].field == which && layout->is_known[pairs[i].other])
			return true;
	return false;
}

/* Equal tables could have another meaning in a future version. */
static int check_version(const struct reading *it, const struct java_layout *layout,
			 struct err *err)
{
	int32_t major = 0;

	if (layout->is_known[MAJOR_VERSION] &&
	    read_memory(it, layout->fields[MAJOR_VERSION], &major, sizeof(major)))
		return err_set(err, -EOPNOTSUPP, "the version of libjvm.so cannot be read");
	if (major > MAJOR_LAST)
		return err_set(err, -EOPNOTSUPP, "frames of JDK %d are not supported", (int)major);
	return 0;
}

static int layout_check(const struct java_layout *layout, struct err *err)
{
	for (unsigned i = 0; i < ARRAY_SIZE(wanted); i++)
		if (!layout_has(layout, wanted[i].which))
			return err_set(err, -EOPNOTSUPP, "libjvm.so does not tell of %s::%s",
				       wanted[i].type, wanted[i].field);
	if (!layout->block_size || !layout->part_size)
		return err_set(err, -EOPNOTSUPP, "libjvm.so does not tell the size of %s",
			       layout->block_size ? "InterpreterCodelet" : "HeapBlock");
	return 0;
}

int java_layout_read(struct java_layout *ret, const struct memory_reader *memory,
		     const uint64_t symbols[JAVA_SYMBOLS], struct err *err)
{
	static const struct java_table structs = { JAVA_STRUCTS, JAVA_STRUCT_STRIDE,
						   JAVA_STRUCT_TYPE, add_struct },
				       types = { JAVA_TYPES, JAVA_TYPE_STRIDE, JAVA_TYPE_NAME,
						 add_type };
	struct reading it = { .memory = memory };
	int r = read_symbols(&it, symbols, err);

	*ret = (struct java_layout){ 0 };
	if (r)
		return r;
	if (!are_tables_sound(&it))
		return err_set(err, -EOPNOTSUPP, "the tables of libjvm.so are not understood");
	r = read_table(&it, &structs, ret);
	if (!r)
		r = read_table(&it, &types, ret);
	if (r)
		return err_set(err, r == -EBADMSG ? -EOPNOTSUPP : r,
			       "the tables of libjvm.so cannot be read: %s", strerror(-r));
	r = layout_check(ret, err);
	return r ? r : check_version(&it, ret, err);
}
