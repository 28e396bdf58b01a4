package cli

import (
	"context"
	"path/filepath"
	rt "runtime"
	"time"

	"github.com/urfave/cli/v2"

	"deployster/containerd"
	"deployster/internal/runner/worker"
)

// open connects to containerd, starting the embedded one if need be.
func (s *session) open(ctx context.Context, c *cli.Context) error {
	runtime, err := containerd.Open(ctx, s.runtimeOptions(c))
	if err != nil {
		return err
	}
	s.runtime = runtime
	s.pool = worker.New(worker.Options{Runner: runtime, Launcher: runtime, Max: rt.NumCPU(), Keep: true, Private: s.vault.private})
	return nil
}

func (s *session) runtimeOptions(c *cli.Context) containerd.Options {
	first := func(values ...string) string {
		for _, v := range values {
			if v != "" {
				return v
			}
		}
		return ""
	}
	certs := filepath.SplitList(s.env.get("DEPLOYSTER_CERTS_DIR"))
	if len(certs) == 0 {
		certs = []string{"/etc/containerd/certs.d", "/etc/docker/certs.d"}
	}
	idle, _ := time.ParseDuration(s.env.get("DEPLOYSTER_IDLE_EXIT")) // not a duration: the default
	return containerd.Options{
		Address:      first(c.String("containerd-address"), s.env.get("CONTAINERD_ADDRESS")),
		Namespace:    first(c.String("containerd-namespace"), s.env.get("CONTAINERD_NAMESPACE")),
		DataDir:      s.env.get("DEPLOYSTER_DATA_DIR"),
		Runc:         s.env.get("DEPLOYSTER_RUNC"),
		AllowOldRunc: s.env.get("DEPLOYSTER_ALLOW_OLD_RUNC") == "1",
		IdleExit:     idle,
		Keep:         s.keep,
		KeepScope:    s.dir,
		Private:      s.vault.private,
		Registries: containerd.RegistryOptions{CertDirs: certs, DockerConfig: s.dockerConfig(),
			MaxImage: s.maxImage, Progress: s.pulling},
		Warn: s.err.Diagnostic,
	}
}

// release gives up what runs images, while other things are still done: nothing
// is asked any more. close waits for its end.
func (s *session) release() {
	if s.released != nil {
		return
	}
	s.released = make(chan error, 1)
	go func() {
		var err error
		if s.pool != nil {
			s.pool.Close()
		}
		if s.runtime != nil {
			err = s.runtime.Close()
		}
		s.released <- err
	}()
}
