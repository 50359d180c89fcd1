// Go that calls C, C that calls Go, which calls C that calls Go.
package main

/*
extern int back(int);
extern int again(int);
__attribute__((noinline)) static int spin(int n)
{
	volatile int sum = 0;

	for (int i = 0; i < 300000; i++)
		sum += i ^ n;
	return sum;
}
__attribute__((noinline)) static int calls_back(int n) { return back(n) + 1; }
__attribute__((noinline)) static int calls_again(int n) { return again(n) + 1; }
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

//export again
func again(n C.int) C.int { return C.calls_back(n) + 1 }

//go:noinline
func turn(n int) {
	sink += int(C.spin(C.int(n))) + int(C.calls_back(C.int(n))) + int(C.calls_again(C.int(n)))
}

func main() {
	for i := 0; ; i++ {
		turn(i)
	}
}
