/*
 * Functions with others inlined into them, declared in namespaces, classes, a union and a function.
 * Compiled by test_inlined.py; it is never run.
 */
#define INLINE inline __attribute__((always_inline))
#define APART __attribute__((noinline))

static volatile int sink;

namespace outer {
INLINE void innermost(int value)
{
	sink += value * 3;
}

namespace inner {
INLINE void middle(int value)
{
	innermost(value);
	sink ^= value;
}
} // namespace inner

APART void in_a_namespace(int value)
{
	inner::middle(value);
	sink -= 2;
}

struct machine {
	int state;

	INLINE void turn(int value)
	{
		innermost(value + state);
		state++;
	}

	APART void run(int value)
	{
		for (int i = 0; i < value; i++)
			turn(i);
	}

	struct part {
		APART static void rest(int value)
		{
			inner::middle(value + 5);
		}
	};
};

template <typename number> struct box {
	number kept;

	INLINE number add(number value)
	{
		inner::middle(static_cast<int>(value));
		return kept += value;
	}

	APART number add_twice(number value)
	{
		return add(value) + add(value + 1);
	}
};
} // namespace outer

union both {
	int number;

	APART void show(int value)
	{
		number = value;
		outer::innermost(number);
	}
};

static APART void in_a_function(int value)
{
	struct local {
		APART static void work(int value)
		{
			outer::inner::middle(value);
		}
	};

	local::work(value);
}

int main(int argc, char **argv)
{
	outer::machine machine = { argc };
	outer::box<long> box = { argc };
	both one;

	(void)argv;
	outer::in_a_namespace(argc);
	machine.run(argc);
	outer::machine::part::rest(argc);
	one.show(argc);
	in_a_function(argc);
	return sink + static_cast<int>(box.add_twice(argc));
}
