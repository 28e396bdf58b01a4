package onhost

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"deployster/internal/base/links"
	"deployster/internal/base/version"
	"deployster/internal/runtime/artifact/store"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/remote/agent"
	"deployster/internal/runtime/remote/ssh"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/worker"
)

// Runtime runs images on the host.
type Runtime interface {
	runner.Runner
	runner.Launcher
	agent.Runtime
	Artifacts() string // the directory of the artifacts' files
	RuncVersion(context.Context) string
	Close() error
}

// Serve serves one client on stdin and stdout. When the connection is lost, the process
// exits at once, with the code lost: actions in progress continue, and the next client
// adopts them. A cleanup would end them, or wait for them.
func Serve(ctx context.Context, at Runtime, from io.Reader, to io.Writer) error {
	pool := worker.New(worker.Options{Runner: at, Launcher: at, Max: runtime.NumCPU()})
	files := store.New(store.Options{Dir: at.Artifacts(), Command: "deployster-host far"})
	local := agent.New(agent.Options{Runner: pool, Launcher: at, Runtime: at, Build: version.Version, Look: lead(home()), Files: files,
		Runc: at.RuncVersion(ctx), DataDir: dataDir(), Guards: guards()})
	stayInstalled(ctx)
	if _, err := fmt.Fprintln(to, remote.Ready); err != nil {
		return err
	}
	// A signal ends this process like a lost connection.
	context.AfterFunc(ctx, func() { os.Exit(lost) })
	if err := remote.Serve(context.WithoutCancel(ctx), stdio{from, to}, local, remote.DefaultTiming()); err != nil {
		os.Exit(lost)
	}
	pool.Close()
	return errors.Join(files.Close(), at.Close())
}

// dataDir returns the data directory of this machine.
func dataDir() string {
	return cmp.Or(os.Getenv("DEPLOYSTER_DATA_DIR"), runner.DefaultHostDataDir)
}

// stayInstalled keeps this program on the host while it runs.
func stayInstalled(ctx context.Context) {
	if self, err := os.Executable(); err == nil {
		go ssh.InUse(ctx, self, 24*time.Hour)
	}
}

// stdio is the standard input and output of this process as one stream.
type stdio struct {
	io.Reader
	io.Writer
}

// Close makes later reads end; it does not wake a read that waits for input.
func (s stdio) Close() error {
	if file, ok := s.Reader.(io.Closer); ok {
		return file.Close()
	}
	return nil
}

// home returns the home directory of this process's user, whatever HOME is after sudo; ""
// = there is none.
func home() string {
	me, err := user.Current()
	if err != nil {
		return ""
	}
	return me.HomeDir
}

// lead returns a function that finds the path on this host of a plug of another machine's manifest; ~ is home.
func lead(home string) func(plug remote.Plug, all []remote.Plug) (string, error) {
	return func(plug remote.Plug, all []remote.Plug) (string, error) {
		paths, writable := map[string]string{}, map[string]string{}
		for _, p := range all {
			path, below := p.Path, p.Path == "~" || strings.HasPrefix(p.Path, "~/")
			if below && home == "" {
				continue // there is no home directory to resolve it
			}
			if below {
				path = filepath.Join(home, path[1:])
			}
			if paths[p.Name] = path; !p.ReadOnly {
				writable[p.Name] = path
			}
		}
		found, known := paths[plug.Name]
		if !known {
			return "", fmt.Errorf("%s begins with ~, and the user there has no home directory", plug.Path)
		}
		return links.Follow(found, writable)
	}
}
