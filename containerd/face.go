package containerd

import (
	"deployster/containerd/registry"
	"deployster/containerd/server"
)

// RegistryOptions say how registries are accessed.
type RegistryOptions = registry.Options

// IsServer reports whether this process was started, by its argv[0], as the
// embedded containerd.
func IsServer(argv0 string) bool { return server.Is(argv0) }

// RunServer is the main function of the embedded containerd; args are the process's
// arguments without argv[0]. It returns the exit code.
func RunServer(args []string) int { return server.Run(args) }

// Socket returns the path at which the embedded containerd of a data directory listens
// while it runs, for ctr and similar tools. An empty directory means the default one.
func Socket(dataDir string) (string, error) {
	o, err := Options{DataDir: dataDir}.withDefaults()
	return o.server().Socket(), err
}
