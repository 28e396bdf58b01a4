package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"deployster/containerd"
	"deployster/internal/testkit/bench/meter"
)

// openBare opens a bare client that runs an image.
func (s *script) openBare(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: bare IMAGE")
	}
	p, err := newBare(s.ctx, s.bed, args[0])
	if err != nil {
		return err
	}
	socket, err := containerd.Socket(s.bed.data)
	s.bare = p
	for name, value := range map[string]string{"socket": socket, "runc": s.lab.ownRunc(), "world": filepath.Join(s.bed.work, "world")} {
		s.ts.Setenv(name, value)
	}
	s.close = append(s.close, p.close)
	return err
}

// bareRuns are runs by a bare client: "loop N PARALLEL STEP..." of things, "checks N" of
// artifacts, eight at a time, or "fetch SOURCE", a check and a get into the world.
func (s *script) bareRuns(args []string) (out side, err error) {
	p := s.bare
	if p == nil || len(args) < 2 {
		return out, errors.New("usage: bare: loop|checks|fetch ..., after a bare client was opened")
	}
	runs := func() error {
		source := `{"source":` + args[1]
		err := p.run(s.ctx, []string{"check"}, []byte(source+"}\n"))
		if err == nil {
			err = p.run(s.ctx, []string{"in", "/world/out"}, []byte(source+`,"version":{"ref":"1"}}`+"\n"))
		}
		return errors.Join(err, syncFiles(filepath.Join(p.bed.work, "world/out")))
	}
	if args[0] != "fetch" {
		n, err := number(args, 1, 1)
		parallel, err2 := number(args, 2, 1)
		if err := errors.Join(err, err2); err != nil {
			return out, err
		}
		runs = func() error { return p.checks(s.ctx, n) }
		if args[0] == "loop" {
			runs = func() error { return p.loop(s.ctx, n, parallel, args[3:]) }
		}
	}
	return side{run: func() (meter.Usage, error) { return p.bed.meter.Client(runs) }}, nil
}

// checks checks so many sources of artifacts, eight at a time.
func (p *bare) checks(ctx context.Context, n int) error {
	var group errgroup.Group
	group.SetLimit(8)
	for i := range n {
		group.Go(func() error { return p.run(ctx, []string{"check"}, fmt.Appendf(nil, "{\"source\":{\"n\":%d}}\n", i)) })
	}
	return group.Wait()
}

// syncFiles brings the file system of a directory to the disk.
func syncFiles(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Syncfs(int(f.Fd()))
}

// containersOf counts the containers of one turn.
func (b *bed) containersOf(ctx context.Context, s side) (int64, error) {
	socket, err := containerd.Socket(b.data)
	if err != nil {
		return 0, err
	}
	c, err := client.New(socket, client.WithDefaultNamespace("deployster"))
	if err != nil {
		return 0, err
	}
	defer func() { _ = c.Close() }()
	if s.prepare != nil {
		if err := s.prepare(); err != nil {
			return 0, err
		}
	}
	watched, stop := context.WithCancel(namespaces.WithNamespace(ctx, "deployster"))
	defer stop()
	var count atomic.Int64
	events, _ := c.Subscribe(watched, `topic=="/tasks/start"`) // an error there is a closed channel
	go func() {
		for range events {
			count.Add(1)
		}
	}()
	time.Sleep(200 * time.Millisecond) // the subscription is there
	if _, err := s.run(); err != nil {
		return 0, err
	}
	time.Sleep(200 * time.Millisecond) // the last event too
	return count.Load(), nil
}

// install has the program on the first of the hosts, as if another command had installed
// it. The files are the same for all: those that are installed on the first.
func (s *script) install(args []string) error {
	hosts, err := number(args, 0, 0)
	if err != nil || hosts <= 0 {
		return err
	}
	if err := s.bed.do(s.ctx, "host", "check", `web["0"]`); err != nil {
		return err
	}
	all := filepath.Join(s.bed.data, "hosts")
	files, err := filepath.Glob(filepath.Join(all, "0", "far", "*", "*"))
	if err == nil && len(files) == 0 {
		err = errors.New("nothing was installed on the first host")
	}
	for _, file := range files {
		inside := strings.TrimPrefix(file, filepath.Join(all, "0"))
		for i := 1; i < hosts; i++ {
			to := filepath.Join(all, strconv.Itoa(i), inside)
			err = errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o700), os.Link(file, to))
		}
	}
	return err
}
