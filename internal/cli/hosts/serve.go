package hosts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"deployster/config"
	"deployster/internal/app/workspace"
	"deployster/internal/artifact/store"
	"deployster/internal/far"
	"deployster/internal/far/machine"
	"deployster/internal/far/reach"
	"deployster/internal/runner"
	"deployster/internal/runner/worker"
	"deployster/plan/plugs"
)

// Runtime is what runs images on the host.
type Runtime interface {
	runner.Runner
	runner.Launcher
	machine.Runtime
	Artifacts() string // where their files are kept
	Close() error
}

// Serve serves one client on stdin and stdout. When the client is lost the process
// ends at once, with an exit code: what was begun goes on, and the next client
// adopts it. To tidy up would end it, or wait for it.
func Serve(ctx context.Context, at Runtime, o workspace.Options, version string, lost int) error {
	pool := worker.New(worker.Options{Runner: at, Launcher: at, Max: runtime.NumCPU()})
	files := store.New(store.Options{Dir: at.Artifacts(), Command: "deployster far"})
	here := machine.New(machine.Options{Runner: pool, Runtime: at, Build: version, Look: lead, Files: files,
		DataDir: cmp.Or(o.Env("DEPLOYSTER_DATA_DIR"), runner.DefaultHostDataDir)})
	if self, err := os.Executable(); err == nil {
		go reach.InUse(ctx, self, 24*time.Hour)
	}
	if _, err := fmt.Fprintln(o.Stdout, reach.Ready); err != nil {
		return err
	}
	// A signal ends this process as a lost client does.
	context.AfterFunc(ctx, func() { os.Exit(lost) })
	if err := far.Serve(context.WithoutCancel(ctx), stdio{o.Stdin, o.Stdout}, here, far.DefaultTiming()); err != nil {
		os.Exit(lost)
	}
	pool.Close()
	return errors.Join(files.Close(), at.Close())
}

// stdio is this process's standard input and output as one stream.
type stdio struct {
	io.Reader
	io.Writer
}

// Close lets who reads see the end; who waits for input is not woken by it.
func (s stdio) Close() error {
	if file, ok := s.Reader.(io.Closer); ok {
		return file.Close()
	}
	return nil
}

// lead says where a plug of another machine's manifest leads here.
func lead(plug far.Plug, all []far.Plug) (string, error) {
	declared := map[string]config.Plug{}
	for _, p := range all {
		declared[p.Name] = config.Plug{Name: p.Name, Path: p.Path, ReadOnly: p.ReadOnly}
	}
	return plugs.Lead(declared[plug.Name], declared)
}
