package main

import (
	"os"

	"deployster/containerd"
	"deployster/containerd/shim"
	"deployster/internal/base/collector"
)

// serve is the embedded containerd or its shim, if this process was started as one of them; then it does not return.
func serve(args []string) {
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
