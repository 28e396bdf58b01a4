package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	runcoptions "github.com/containerd/containerd/api/types/runc/options"
	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/contrib/seccomp"
	"github.com/containerd/containerd/v2/pkg/cio"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/containerd/v2/pkg/oci"
	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sync/errgroup"

	"deployster/containerd"
)

// bare is what somebody would write who only wants to run an image through
// containerd's client, with plain files for stdin, stdout and stderr.
type bare struct {
	client *client.Client
	image  client.Image
	bed    *bed
	dir    string
	runc   string
	count  atomic.Int64
}

func newBare(ctx context.Context, b *bed, image string) (*bare, error) {
	socket, err := containerd.Socket(b.data)
	if err != nil {
		return nil, err
	}
	c, err := client.New(socket, client.WithDefaultNamespace("deployster"))
	if err != nil {
		return nil, err
	}
	found, err := c.GetImage(namespaces.WithNamespace(ctx, "deployster"), "docker.io/"+image)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	dir, err := os.MkdirTemp("/run", "bench")
	return &bare{client: c, image: found, bed: b, dir: dir, runc: b.ownRunc()}, err
}

func (p *bare) close() error {
	_ = os.RemoveAll(p.dir) // a directory of temporary files
	return p.client.Close()
}

// loop makes the runs: the steps of each of n resources, so many resources at a
// time. What the image is has been asked before, as it has by the tool.
func (p *bare) loop(ctx context.Context, n, parallel int, steps []string) error {
	ctx = namespaces.WithNamespace(ctx, "deployster")
	var group errgroup.Group
	group.SetLimit(parallel)
	for i := range n {
		group.Go(func() error {
			for _, step := range steps {
				if err := p.run(ctx, []string{step}, stdin(thingName(i), step)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// stdin is what the tool would send.
func stdin(name, step string) []byte {
	action := ""
	if step == "make" {
		action = `,"action":"make","staleState":{}`
	}
	return fmt.Appendf(nil, `{"name":%q,"type":%q,"version":"0.1.0","verbose":false,"config":{},"intent":"present"%s}`+"\n", name,
		coldThing,
		action)
}

// plainFiles is the cio.IO of three files.
type plainFiles struct{ config cio.Config }

func (p plainFiles) Config() cio.Config { return p.config }
func (p plainFiles) Cancel()            {}
func (p plainFiles) Wait()              {}
func (p plainFiles) Close() error       { return nil }

// run makes one run, and reads its answer.
func (p *bare) run(ctx context.Context, args []string, stdin []byte) error {
	id := fmt.Sprintf("bench-%d-%d", os.Getpid(), p.count.Add(1))
	files := cio.Config{Stdin: filepath.Join(p.dir, id+".in"), Stdout: filepath.Join(p.dir, id+".out"),
		Stderr: filepath.Join(p.dir, id+".err")}
	for name, content := range map[string][]byte{files.Stdin: stdin, files.Stdout: nil, files.Stderr: nil} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			return err
		}
		defer func() { _ = os.Remove(name) }() // its directory goes in the end
	}
	world := specs.Mount{Source: filepath.Join(p.bed.work, "world"), Destination: "/world", Type: "bind", Options: []string{"rbind", "rw"}}
	c, err := p.client.NewContainer(ctx, id,
		client.WithNewSnapshot(id, p.image),
		client.WithNewSpec(oci.WithImageConfigArgs(p.image, args), oci.WithHostNamespace(specs.NetworkNamespace), oci.WithHostHostsFile,
			oci.WithHostResolvconf, oci.WithMounts([]specs.Mount{world}), seccomp.WithDefaultProfile()),
		client.WithRuntime("io.containerd.runc.v2", &runcoptions.Options{BinaryName: p.runc}))
	if err != nil {
		return err
	}
	task, err := c.NewTask(ctx, func(string) (cio.IO, error) { return plainFiles{files}, nil })
	if err != nil {
		return err
	}
	exit, err := task.Wait(ctx)
	if err != nil {
		return err
	}
	if err := task.Start(ctx); err != nil {
		return err
	}
	if s := <-exit; s.Error() != nil || s.ExitCode() != 0 {
		return fmt.Errorf("%v: exit %d, %w", args, s.ExitCode(), s.Error())
	}
	if _, err := task.Delete(ctx); err != nil {
		return err
	}
	if err := c.Delete(ctx, client.WithSnapshotCleanup); err != nil {
		return err
	}
	_, err = os.ReadFile(files.Stdout)
	return err
}
