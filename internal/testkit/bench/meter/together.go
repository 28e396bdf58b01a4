package meter

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	// sampleEvery is how often it is looked how much memory processes have. To look
	// takes the kernel well below a millisecond for 200 MiB.
	sampleEvery = 25 * time.Millisecond
	// lookAgain is after how many samples it is looked which servers there are: the
	// command may have started one.
	lookAgain = 20
)

// together watches a process and the embedded containerds until it is told to
// stop. It gives the most memory that all of them have had at one moment, in MiB:
// a page that several have is shared out among them, so that the program's file,
// which a command and its containerd both have, is counted once. It is 0 when
// the process was gone before it was looked at.
func together(pid int) (stop func() int64) {
	end, most := make(chan struct{}), make(chan int64, 1)
	go func() {
		var highest int64
		var around []int
		tick := time.NewTicker(sampleEvery)
		defer tick.Stop()
		for i := 0; ; i++ {
			if i%lookAgain == 0 {
				around = Servers()
			}
			if mine := Memory(pid); mine > 0 {
				all := mine
				for _, server := range around {
					all += Memory(server)
				}
				highest = max(highest, all)
			}
			select {
			case <-tick.C:
			case <-end:
				most <- highest >> 10
				return
			}
		}
	}()
	return func() int64 {
		close(end)
		return <-most
	}
}

// Memory is the memory of a process in KiB, of each page as much as falls
// to one of those who have it; 0 = there is no such process.
func Memory(pid int) int64 { return share(pid, "Pss:") }

// Anonymous is Memory without the pages of files.
func Anonymous(pid int) int64 { return share(pid, "Pss_Anon:") }

func share(pid int, of string) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid)) // it may have ended
	for l := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(l, of); ok {
			kib, _ := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			return kib
		}
	}
	return 0
}
