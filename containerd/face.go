package containerd

import (
	"cmp"
	"context"
	"path/filepath"

	"deployster/containerd/daemon"
	"deployster/containerd/layout"
	"deployster/containerd/registry"
	"deployster/containerd/server"
)

// RegistryOptions declare how registries are accessed.
type RegistryOptions = registry.Options

// IsServer reports whether this process was started, by its argv[0], as the embedded containerd.
func IsServer(argv0 string) bool { return server.Is(argv0) }

// RunServer is the main function of the embedded containerd, with its arguments, and returns the exit code.
func RunServer(args []string) int { return server.Run(args) }

// Socket returns where the embedded containerd of a data directory listens; "" = of the default directory.
func Socket(dataDir string) (string, error) {
	o, err := Options{DataDir: dataDir}.withDefaults()
	return o.server().Socket(), err
}

// Artifacts returns the directory for the store of artifacts of a data directory; "" = of the default directory.
func Artifacts(dataDir string) string {
	dir, err := filepath.Abs(cmp.Or(dataDir, DefaultDataDir))
	if err != nil {
		dir = dataDir // Open reports it
	}
	return layout.Config{DataDir: dir}.Artifacts()
}

// Versions returns the version of the embedded containerd, and the version and path of the runc that it would
// use, "" if there is none. named is the runc that the user has chosen, "" = none.
func Versions(ctx context.Context, dataDir, named string) (containerd, runc, path string) {
	return daemon.Versions(ctx, dataDir, named)
}
