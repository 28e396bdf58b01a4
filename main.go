// Command deployster plans and applies with container images as resource
// types. The same binary also serves as the embedded containerd and as its
// shim, by the name that it is called with.
package main

import (
	"os"
	"runtime/debug"

	"deployster/containerd"
	"deployster/containerd/shim"
	"deployster/internal/cli"
)

func main() {
	switch {
	case shim.Is(os.Args[0]):
		shim.Run()
	case containerd.IsServer(os.Args[0]):
		os.Exit(containerd.RunServer(os.Args[1:]))
	default:
		if os.Getenv("GOGC") == "" {
			debug.SetGCPercent(60) // a plan of 10,000 stays within 200 MiB: docs/performance.md
		}
		os.Exit(cli.Main(cli.Stdout()))
	}
}
