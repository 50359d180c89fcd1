// A thread that C made calls Go, again and again.
package main

/*
#include <pthread.h>
extern int back(int);
static int from_thread(int n) { return back(n) + 1; }
static void *c_thread(void *unused) { for (int n = 0;; n++) from_thread(n); return 0; }
static void c_start(void) { pthread_t t; pthread_create(&t, 0, c_thread, 0); }
*/
import "C"

//go:noinline
func leaf(n int) int {
	for i := 0; i < 300000; i++ {
		n = n*31 + i
	}
	return n
}

//export back
func back(n C.int) C.int { return C.int(leaf(int(n))) }

func main() {
	C.c_start()
	select {}
}
