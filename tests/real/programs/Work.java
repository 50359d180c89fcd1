/* Threads that compute, allocate and check their results: prints "done N failed N" as it goes on. */
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

public class Work {
	static final AtomicLong done = new AtomicLong(), failed = new AtomicLong();

	/* Young objects by the thousand, so that the collector runs all the time. */
	static boolean objects(int turn) {
		Map<String, List<Integer>> squares = new HashMap<>();
		for (int key = 0; key < 2000; key++)
			squares.computeIfAbsent("key " + key % 100, name -> new ArrayList<>()).add(key * key % 1000);
		int count = squares.values().stream().mapToInt(List::size).sum();
		return count == 2000 && squares.size() == 100;
	}

	/* Doubles in registers: 1 + 1/2 + 1/4 + ... */
	static boolean doubles(int turn) {
		double sum = 0, part = 1;
		for (int step = 0; step < 20000; step++) {
			sum += part;
			part = step % 50 == 49 ? 1 : part / 2;
		}
		return Math.abs(sum - 800.0) < 1e-6;
	}

	/* A null pointer is a signal inside the machine. */
	static boolean faults(int turn) {
		try {
			String nothing = turn < 0 ? "" : null;
			return nothing.length() < 0;
		} catch (NullPointerException expected) {
			return true;
		}
	}

	interface Job {
		boolean run(int turn);
	}

	static void repeat(Job job) {
		for (int turn = 0;; turn++) {
			if (!job.run(turn))
				failed.incrementAndGet();
			done.incrementAndGet();
		}
	}

	public static void main(String[] arguments) throws InterruptedException {
		for (Job job : new Job[] { Work::objects, Work::doubles, Work::faults, Work::objects }) {
			Thread thread = new Thread(() -> repeat(job));
			thread.setDaemon(true);
			thread.start();
		}
		while (true) {
			Thread.sleep(100);
			System.out.println("done " + done + " failed " + failed);
		}
	}
}
