// Go that calls C, C that calls Go.
package main

/*
extern int back(int);
__attribute__((noinline)) static int spin(int n)
{
	volatile int sum = 0;

	for (int i = 0; i < 300000; i++)
		sum += i ^ n;
	return sum;
}
__attribute__((noinline)) static int calls_back(int n) { return back(n) + 1; }
*/
import "C"

var sink int

//go:noinline
func leaf(n int) int {
	for i := 0; i < 300000; i++ {
		n = n*31 + i
	}
	return n
}

//export back
func back(n C.int) C.int { return C.int(leaf(int(n))) }

//go:noinline
func turn(n int) { sink += int(C.spin(C.int(n))) + int(C.calls_back(C.int(n))) }

func main() {
	for i := 0; ; i++ {
		turn(i)
	}
}
