// Command deployster-host is deployster on a host: see deployster/internal/onhost. Its client installs it there and starts
// it. By the name that it is called with it is also the embedded containerd, and its shim.
package main

import (
	"os"

	"deployster/containerd"
	"deployster/containerd/shim"
	"deployster/internal/base/collector"
	"deployster/internal/onhost"
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
		os.Exit(onhost.Main(os.Args[1:]))
	}
}
