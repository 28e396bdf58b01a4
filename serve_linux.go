package main

import (
	"fmt"
	"os"

	"deployster/containerd"
	"deployster/containerd/shim"
	"deployster/internal/base/collector"
	"deployster/internal/base/rootless"
)

// serve is the embedded containerd, its shim, or what holds the namespace of a user, if this process was started as one of
// them; then it does not return.
func serve(args []string) {
	if rootless.IsHolder(args[0]) {
		os.Exit(rootless.Hold(args[1:]))
	}
	if err := rootless.Arrive(); err != nil {
		fmt.Fprintf(os.Stderr, "Error: The working directory is gone\n  %s. Go to a directory that exists.\n", err)
		os.Exit(1)
	}
	switch {
	case shim.Is(args[0]):
		collector.Usual()
		shim.Run()
		os.Exit(0)
	case containerd.IsServer(args[0]):
		collector.Usual()
		os.Exit(containerd.RunServer(args[1:]))
	}
}
