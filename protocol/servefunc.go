package protocol

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// ServeFunc answers this one invocation of the program with answer, or serves as a
// worker until stdin ends, and then ends the process. It is for programs that speak
// the messages of this package themselves; other programs use Serve. answer returns
// the exit code; a worker calls it from many goroutines. ServeFunc calls end once
// everything is answered.
func ServeFunc(answer func(context.Context, Process) int, end func()) {
	serveProgram(answer, func(ctx context.Context, all []Process, begin func(int)) []int {
		return oneByOne(ctx, all, begin, answer)
	}, end)
}

// serveProgram is ServeFunc with a function for batches.
func serveProgram(answer func(context.Context, Process) int, together func(context.Context, []Process, func(int)) []int, end func()) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	p := Process{Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	os.Stdout = os.Stderr
	code := 0
	if len(p.Args) == 1 && p.Args[0] == workerArg {
		code = serveWorker(ctx, p, answer, together)
	} else {
		code = answer(ctx, p)
	}
	end()
	os.Exit(code)
}
