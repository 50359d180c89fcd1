// A Go program with cgo: goroutines on small stacks that compute, allocate and call C.  Speaks the
// protocol of workload.h: "ready" on standard output, counters in the statistics file.
package main

/*
#include <stdlib.h>
#include <string.h>
static int c_turn(int n) { char *p = malloc(1000); memset(p, n, 1000); n = p[999]; free(p); return n; }
*/
import "C"

import (
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	magic       = 0x31306574706d696c
	wordPid     = 1
	wordReady   = 2
	wordTurns   = 3
	wordCorrupt = 5
	words       = 32
)

func descend(depth int) int {
	var room [128]int
	room[depth%128] = depth
	if depth == 0 {
		return room[0]
	}
	return descend(depth-1) + room[depth%128] - depth
}

func worker(stats *[words]uint64) {
	for turn := 0; ; turn++ {
		if C.c_turn(C.int(turn%100)) != C.int(turn%100) || descend(turn%200) != 0 {
			atomic.AddUint64(&stats[wordCorrupt], 1)
		}
		_ = make([]byte, turn%5000)
		if turn%64 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
}

func main() {
	file, err := os.OpenFile(os.Args[2], os.O_RDWR|os.O_CREATE, 0666)
	if err != nil || file.Truncate(words*8) != nil {
		os.Exit(77)
	}
	page, err := syscall.Mmap(int(file.Fd()), 0, words*8, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		os.Exit(77)
	}
	stats := (*[words]uint64)(unsafe.Pointer(&page[0]))
	for i := 0; i < 32; i++ {
		go worker(stats)
	}
	stats[0], stats[wordPid], stats[wordReady] = magic, uint64(os.Getpid()), 1
	fmt.Println("ready")
	for {
		time.Sleep(time.Millisecond)
		atomic.AddUint64(&stats[wordTurns], 1)
	}
}
