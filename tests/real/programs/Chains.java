import java.util.concurrent.atomic.AtomicLong;

/** Threads whose chains of calls are known, for ever.  What ends in Apart is never inlined, what ends in
 *  Slow never compiled: see tests/real/java_stacks.py. */
public class Chains {
	static final int DEPTH = 40;
	static final Object lock = new Object();
	static final AtomicLong sink = new AtomicLong();

	/* Compiled, called by compiled, called by compiled. */
	static long innerApart(long seed, int rounds) {
		for (int i = 0; i < rounds; i++)
			seed = (seed * 31 + i) % 1000003;
		return seed;
	}

	static long middleApart(long seed) {
		return innerApart(seed, 300) + innerApart(seed + 1, 200);
	}

	static long outerApart(long seed) {
		return middleApart(seed) + middleApart(seed + 7);
	}

	/* Many arguments: some of them lie on the stack. */
	static long manyApart(long a, long b, long c, long d, long e, long f, long g, long h, long i) {
		for (int n = 0; n < 50; n++)
			a = a * 31 + b + c + d + e + f + g + h + i;
		return a;
	}

	/* Compiled, called by interpreted, called by compiled. */
	static long leafApart(long seed, long a, long b, long c, long d, long e, long f, long g) {
		return innerApart(seed + a + b + c + d + e + f + g, 400);
	}

	static long betweenSlow(long seed, long a, long b, long c, long d, long e, long f, long g) {
		long more = seed;
		for (int i = 0; i < 3; i++)
			more += leafApart(more, a, b, c, d, e, f, g);
		return more;
	}

	static long rootApart(long seed) {
		return betweenSlow(seed, 1, 2, 3, 4, 5, 6, 7) + manyApart(seed, 1, 2, 3, 4, 5, 6, 7, 8);
	}

	/* The same method DEPTH times. */
	static long downApart(int left, long seed) {
		if (left == 0)
			return innerApart(seed, 500);
		return downApart(left - 1, seed + 1) + 1;
	}

	interface Shape {
		long areaApart(long by);
	}

	static class Square implements Shape {
		public long areaApart(long by) {
			return innerApart(by, 60);
		}
	}

	static class Circle implements Shape {
		public long areaApart(long by) {
			return innerApart(by, 70);
		}
	}

	static class Line implements Shape {
		public long areaApart(long by) {
			return innerApart(by, 80);
		}
	}

	static final Shape[] shapes = { new Square(), new Circle(), new Line() };

	static long virtualApart(int i) {
		return shapes[i % 3].areaApart(i);
	}

	static long lockedApart(long seed) {
		synchronized (lock) {
			return innerApart(seed, 100);
		}
	}

	static int throwApart(int i) {
		if (i % 2 == 0)
			throw new IllegalStateException("even");
		return i;
	}

	static int catchApart(int i) {
		try {
			return throwApart(i);
		} catch (IllegalStateException e) {
			return -1;
		}
	}

	static int allocateApart(int i) {
		byte[][] all = new byte[16][];
		for (int k = 0; k < all.length; k++)
			all[k] = new byte[100 + (i + k) % 1000];
		return all[i % 16].length + String.valueOf(i).hashCode();
	}

	static int interpretSlow(int rounds) {
		int sum = 0;
		for (int i = 0; i < rounds; i++)
			sum = sum * 31 + i % 7;
		return sum;
	}

	interface Work {
		long run(int i) throws Exception;
	}

	static void start(String name, Work work) {
		Thread thread = new Thread(() -> {
			try {
				for (int i = 0;; i = i + 1 & 0xffffff)
					sink.addAndGet(work.run(i));
			} catch (Exception e) {
				e.printStackTrace();
			}
		}, name);
		thread.start();
	}

	public static void main(String[] arguments) {
		start("chain", i -> outerApart(i));
		start("mixed", i -> rootApart(i));
		start("deep", i -> downApart(DEPTH, i));
		start("virtual", i -> virtualApart(i));
		start("locked 1", i -> lockedApart(i));
		start("locked 2", i -> lockedApart(i));
		start("thrown", i -> catchApart(i));
		start("allocating", i -> allocateApart(i));
		start("slow", i -> interpretSlow(1000));
		start("asleep", i -> { Thread.sleep(1); return 1; });
	}
}
