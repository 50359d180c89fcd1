/** A thread that is DEPTH calls deep, nearly always. */
public class Hot {
	static final int DEPTH = 20;
	static volatile long sink;

	static long leaf(long seed) {
		for (int i = 0; i < 100000; i++)
			seed = (seed * 31 + i) % 1000003;
		return seed;
	}

	static long down(int left, long seed) {
		if (left > 0)
			return down(left - 1, seed + 1) + 1;
		for (int i = 0; i < 20; i++)
			seed += leaf(seed);
		return seed;
	}

	public static void main(String[] arguments) {
		for (;;)
			sink = down(DEPTH, sink);
	}
}
