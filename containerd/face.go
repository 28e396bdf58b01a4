package containerd

import (
	"context"

	"deployster/containerd/daemon"
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

// Versions returns the version of the embedded containerd, and the version and the path of
// the runc that it would use, "" if there is none. named is the runc that the user has
// chosen, "" = none.
func Versions(ctx context.Context, dataDir, named string) (containerd, runc, path string) {
	return daemon.Versions(ctx, dataDir, named)
}
