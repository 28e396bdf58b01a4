package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/urfave/cli/v2"

	"deployster/config"
	"deployster/containerd"
	"deployster/internal/far"
	"deployster/internal/far/machine"
	"deployster/internal/far/reach"
	"deployster/internal/runner/worker"
	"deployster/plan/plugs"
)

// farCommand is what ssh starts on a host: people have no use for it.
func farCommand(e Env) *cli.Command {
	return &cli.Command{Name: "far", Hidden: true, Usage: "serve one client on stdin and stdout", Action: e.action(runFar)}
}

func runFar(c *cli.Context, s *session) error {
	s.keep = 0 // nothing of a client stays here
	opened, err := s.open(c.Context, c)
	if err != nil {
		return err
	}
	pool := worker.New(worker.Options{Runner: opened, Launcher: opened, Max: runtime.NumCPU()})
	at := machine.New(machine.Options{Runner: pool, Runtime: s.containerd, Build: Version, Look: lookAtPlug,
		DataDir: cmp.Or(s.Env("DEPLOYSTER_DATA_DIR"), containerd.DefaultDataDir)})
	if _, err := fmt.Fprintln(s.env.Stdout, reach.Ready); err != nil {
		return err
	}
	// A signal ends this process as a lost client does.
	context.AfterFunc(c.Context, func() { os.Exit(exitInterrupted) })
	if err := far.Serve(context.WithoutCancel(c.Context), stdio{s.env.Stdin, s.env.Stdout}, at, far.DefaultTiming()); err != nil {
		// The client is gone. What it began goes on, and the next client adopts it: to
		// tidy up here would end it, or wait for it.
		os.Exit(exitError)
	}
	pool.Close()
	return opened.Close()
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

// lookAtPlug says where a plug of another machine's manifest leads here.
func lookAtPlug(plug far.Plug, all []far.Plug) (string, error) {
	declared := map[string]config.Plug{}
	for _, p := range all {
		declared[p.Name] = config.Plug{Name: p.Name, Path: p.Path, ReadOnly: p.ReadOnly}
	}
	return plugs.Lead(declared[plug.Name], declared)
}
