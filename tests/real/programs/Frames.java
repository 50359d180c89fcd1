/* Prints the methods of each thread of a process, with the address where each stands: what jhsdb jstack does, which leaves
 * the addresses out. */
import sun.jvm.hotspot.tools.StackTrace;

public class Frames extends StackTrace {
	Frames() {
		super(/* with addresses */ true, /* locks */ false);
	}

	public static void main(String[] arguments) {
		new Frames().execute(arguments);
	}
}
