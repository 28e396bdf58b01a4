// Command deployster plans and applies with container images as resource
// types. The same binary also serves as the embedded containerd and as its
// shim, by the name that it is called with.
package main

import (
	"os"

	"deployster/containerd"
	"deployster/containerd/shim"
	"deployster/internal/base/collector"
	"deployster/internal/cli"
	"deployster/internal/cli/process"
)

func main() {
	switch {
	case shim.Is(os.Args[0]):
		collector.Usual()
		shim.Run()
	case containerd.IsServer(os.Args[0]):
		collector.Usual()
		os.Exit(containerd.RunServer(os.Args[1:]))
	default:
		os.Exit(cli.Main(process.Stdout()))
	}
}
