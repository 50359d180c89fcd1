// A program of Go that works by itself: hashes, sorts, formats, allocates, starts goroutines that grow their stacks.
package main

import (
	"crypto/sha256"
	"fmt"
	"sort"
	"strings"
	"sync/atomic"
	"time"
)

var done, failed int64

func hashes() bool {
	block := make([]byte, 16384)
	sum := sha256.Sum256(block)
	return sum == sha256.Sum256(block)
}

func texts() bool {
	counts := map[string]int{}
	for i := 0; i < 300; i++ {
		counts[strings.ToUpper(fmt.Sprintf("key%d", i*7919%1009))]++
	}
	keys := make([]string, 0, len(counts))
	for key := range counts {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return sort.StringsAreSorted(keys)
}

func deep(n int) int {
	var room [256]byte
	if n == 0 {
		return 0
	}
	room[n%256] = 1
	return deep(n-1) + int(room[n%256])
}

func grows() bool {
	depth := make(chan int)
	go func() { depth <- deep(100) }()
	return <-depth == 100
}

func work() {
	for {
		for _, job := range []func() bool{hashes, texts, grows, called} {
			if !job() {
				atomic.AddInt64(&failed, 1)
			}
			atomic.AddInt64(&done, 1)
		}
	}
}

func main() {
	for i := 0; i < 4; i++ {
		go work()
	}
	for {
		time.Sleep(200 * time.Millisecond)
		fmt.Printf("done %d failed %d\n", atomic.LoadInt64(&done), atomic.LoadInt64(&failed))
	}
}
