// Command deployster plans and applies with container images as resource
// types. The same binary also serves as the embedded containerd and as its
// shim, by the name that it is called with.
package main

import (
	"os"
	"slices"

	"deployster/containerd"
	"deployster/containerd/shim"
	"deployster/internal/cli"
	"deployster/internal/heap"
)

func main() {
	switch {
	case shim.Is(os.Args[0]):
		heap.Usual()
		shim.Run()
	case containerd.IsServer(os.Args[0]):
		heap.Usual()
		os.Exit(containerd.RunServer(os.Args[1:]))
	default:
		heap.Postpone(spare(os.Args[1:]))
		os.Exit(cli.Main(cli.Stdout()))
	}
}

// spare is how much memory a command may take beyond what it needs, in bytes.
func spare(args []string) uint64 {
	if slices.Contains(args, "apply") || slices.Contains(args, "destroy") {
		return heap.Spare()
	}
	return 0
}
