package containerd

import (
	"deployster/containerd/images"
	"deployster/containerd/server"
)

// RegistryOptions say how registries are spoken to.
type RegistryOptions = images.RegistryOptions

// IsServer reports whether this process was started, by its argv[0], as the
// embedded containerd.
func IsServer(argv0 string) bool { return server.Is(argv0) }

// RunServer is the main function of the embedded containerd; args are the
// process's without argv[0]. It gives the exit code.
func RunServer(args []string) int { return server.Run(args) }
