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
	"deployster/internal/cli/process"
)

func main() {
	switch {
	case shim.Is(os.Args[0]):
		shim.Run()
	case containerd.IsServer(os.Args[0]):
		os.Exit(containerd.RunServer(os.Args[1:]))
	default:
		if os.Getenv("GOGC") == "" {
			debug.SetGCPercent(400) // most commands end before collecting pays; package workspace spares memory in large ones
		}
		os.Exit(cli.Main(process.Stdout()))
	}
}
