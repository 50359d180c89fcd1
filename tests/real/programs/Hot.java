/** Methods with known names, for ever. */
public class Hot {
	static long innerLoop(int rounds) {
		long sum = 0;
		for (int i = 0; i < rounds; i++)
			sum = (sum * 31 + i) % 1000003;
		return sum;
	}

	static long middleStep(int rounds) {
		return innerLoop(rounds) + innerLoop(rounds / 2);
	}

	public static void main(String[] arguments) {
		long sum = 0;
		for (int i = 0;; i++) {
			sum += middleStep(100000 + i % 3);
			if (sum == 42)
				System.out.println(sum);
		}
	}
}
