// Goroutines that compute, allocate and grow their stacks: all callers of leaf are known.  It imports nothing: what it imports
// is compiled again where it is position independent.
package main

var sink int

//go:noinline
func leaf(n int) int {
	for i := 0; i < 200000; i++ {
		n = n*31 + i
	}
	return n
}

//go:noinline
func middle(n int) int { return leaf(n) + 1 }

//go:noinline
func outer(n int) int { return middle(n) + 1 }

//go:noinline
func deep(n int) int {
	var room [128]byte
	if n == 0 {
		return 1
	}
	room[n%128] = 1
	return deep(n-1) + int(room[n%128])
}

//go:noinline
func text(n int) string {
	made := []byte{}
	for _, one := range make([]int, 100) {
		made = append(made, byte('0'+(n+one)%10))
	}
	return string(made)
}

func work() {
	for i := 0; ; i++ {
		sink += outer(i)
		sink += len(text(i))
		done := make(chan int)
		go func() { done <- deep(200) }()
		sink += <-done
	}
}

func main() {
	go work()
	work()
}
