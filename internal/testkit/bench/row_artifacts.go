package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

// The images of artifacts, of both protocols, by the number of the protocol; and a type that
// asks for the plug "files".
const lineImage = "bench/line:"

const reader = `#!/bin/sh
cat >/dev/null
case "$1" in
"") echo '{"protocol":2,"plugs":{"files":{"container_path":"/files","writable":false},"world":{"container_path":"/world"}},
  "state_action":{"args":["state"]}}' ;;
state)
  [ -e /world/made ] && echo '{"status":"VALID","state":{}}' ||
    echo '{"status":"STALE","actions":[{"name":"make","args":["make"]}]}' ;;
make) : >/world/made ;;
esac
`

// artifactsRow is what artifacts cost, beside bare runs of the same programs, and beside the
// same manifest without artifacts.
func artifactsRow(ctx context.Context, l *lab) (lines []line, err error) {
	for _, measure := range []func(context.Context) ([]line, error){l.manyChecks, l.believed, l.plugged, l.fetched, l.manyVersions} {
		got, err := measure(ctx)
		if lines = append(lines, got...); err != nil {
			return lines, err
		}
	}
	return lines, nil
}

// lineBed makes a bed with the images and a manifest.
func (l *lab) lineBed(ctx context.Context, manifest string) (*bed, error) {
	b, err := l.newBed()
	if err != nil {
		return b, err
	}
	busybox, err := os.ReadFile("/bin/busybox")
	if err == nil {
		err = b.write(map[string][]byte{"main.hcl": []byte(manifest), "reader/type": []byte(reader), "reader/bin/busybox": busybox,
			"1/opt/resource/.keep": nil, "2/.keep": nil})
	}
	for _, applet := range []string{"sh", "cat"} {
		err = errors.Join(err, os.Symlink("busybox", filepath.Join(b.work, "reader/bin", applet)))
	}
	for _, step := range []string{"check", "in"} {
		err = errors.Join(err, os.Symlink("/line", filepath.Join(b.work, "1/opt/resource", step)))
	}
	if err != nil {
		return b, err
	}
	for _, protocol := range []string{"1", "2"} {
		if err := static(ctx, "deployster/internal/testkit/bench/line", filepath.Join(b.work, protocol, "line")); err != nil {
			return b, err
		}
		if err := b.do(ctx, "image", "pack", "-t", lineImage+protocol, "-entrypoint", "/line", protocol); err != nil {
			return b, err
		}
	}
	return b, b.do(ctx, "image", "pack", "-t", "bench/reader:1", "-entrypoint", "/type", "reader")
}

// twin is a working directory with another manifest, on the same containerd.
func (b *bed) twin(manifest string) (*bed, error) {
	work, err := os.MkdirTemp("", "bench-work")
	t := *b
	t.work = work
	return &t, errors.Join(err, t.write(map[string][]byte{"main.hcl": []byte(manifest), "path/file": nil, "world/.keep": nil}))
}

// lineArtifacts writes n artifacts, each with a source of its own, and an output of all.
func lineArtifacts(n int, protocol string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "artifact \"a%d\" {\n  type   = \"%s%s\"\n  source = { n = %d }\n}\n", i, lineImage, protocol, i)
		fmt.Fprintf(&b, "output \"o%d\" {\n  value = artifact.a%d.version.ref\n}\n", i, i)
	}
	return b.String()
}

// manyChecks is a check of each of a hundred sources.
func (l *lab) manyChecks(ctx context.Context) (_ []line, err error) {
	n := l.sized(100)
	b, err := l.lineBed(ctx, lineArtifacts(n, "1"))
	defer func() { err = errors.Join(err, b.close()) }()
	if err != nil {
		return nil, err
	}
	bare, err := newBare(ctx, b, lineImage+"1")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, bare.close()) }()
	out := line{What: fmt.Sprintf("`plan` of %d artifacts of as many sources, 8 at a time", n),
		Goal:   goal{Faster: 0.91, Wall: 10 * time.Second},
		Beside: fmt.Sprintf("bare client loop, %d runs, a shim each", n)}
	out.Ours, out.Theirs, err = l.inTurns(true, b.ours(ctx, nil, "plan", "-parallelism", "8"), side{run: func() (meter.Usage, error) {
		return b.meter.Client(func() error {
			var group errgroup.Group
			group.SetLimit(8)
			for i := range n {
				group.Go(func() error {
					return bare.run(ctx, []string{"check"}, fmt.Appendf(nil, "{\"source\":{\"n\":%d}}\n", i))
				})
			}
			return group.Wait()
		})
	}})
	return []line{out}, err
}

// believed is a plan that checks nothing, beside the same without artifacts.
func (l *lab) believed(ctx context.Context) (_ []line, err error) {
	n := l.sized(100)
	b, err := l.lineBed(ctx, lineArtifacts(n, "1"))
	defer func() { err = errors.Join(err, b.close()) }()
	if err != nil {
		return nil, err
	}
	var without strings.Builder
	for i := range n {
		fmt.Fprintf(&without, "output \"o%d\" {\n  value = \"1\"\n}\n", i)
	}
	other, err := b.twin(without.String())
	defer func() { err = errors.Join(err, os.RemoveAll(other.work)) }()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(b.do(ctx, "apply", "-auto-approve"), other.do(ctx, "apply", "-auto-approve")); err != nil {
		return nil, err
	}
	out := line{What: fmt.Sprintf("`plan -refresh=false` of %d recorded artifacts", n), Beside: "the same outputs without artifacts",
		Goal: goal{More: 100 * time.Millisecond}}
	ours := b.ours(ctx, nil, "plan", "-refresh=false")
	count, err := b.containersOf(ctx, ours)
	if err != nil {
		return nil, err
	}
	out.Note = fmt.Sprintf("%d containers", count)
	often := *l
	often.pairs *= 3
	out.Ours, out.Theirs, err = often.inTurns(true, ours, other.ours(ctx, nil, "plan", "-refresh=false"))
	return []line{out}, err
}

// plugged is what a resource costs whose files come from an artifact, that is recorded and
// whose files are kept, beside one whose files are a directory.
func (l *lab) plugged(ctx context.Context) (lines []line, err error) {
	const resource = "resource \"r\" {\n  type   = \"bench/reader:1\"\n  config = {}\n}\n"
	for _, protocol := range []string{"1", "2"} {
		got, err := l.pluggedOf(ctx, protocol, resource)
		if lines = append(lines, got...); err != nil {
			return lines, err
		}
	}
	return lines, nil
}

func (l *lab) pluggedOf(ctx context.Context, protocol, resource string) (lines []line, err error) {
	b, err := l.lineBed(ctx, worldPlug+lineArtifacts(1, protocol)+"plug \"files\" {\n  artifact = artifact.a0\n}\n"+resource)
	defer func() { err = errors.Join(err, b.close()) }()
	if err != nil {
		return nil, err
	}
	other, err := b.twin(worldPlug + "plug \"files\" {\n  path      = \"path\"\n  read_only = true\n}\n" + resource)
	defer func() { err = errors.Join(err, os.RemoveAll(other.work)) }()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(b.do(ctx, "apply", "-auto-approve"), other.do(ctx, "apply", "-auto-approve")); err != nil {
		return nil, err
	}
	for _, c := range []struct {
		what    string
		prepare func(*bed) func() error
		args    []string
	}{
		{"`plan` without changes", func(*bed) func() error { return nil }, []string{"plan"}},
		{"`apply` of a saved plan", func(b *bed) func() error {
			return func() error {
				return errors.Join(os.Remove(filepath.Join(b.work, "world/made")), b.do(ctx, "plan", "-out", "plan.bin"))
			}
		}, []string{"apply", "plan.bin"}},
	} {
		out := line{What: fmt.Sprintf("%s, a resource with the files of an artifact of protocol %s, kept", c.what, protocol),
			Beside: "the same with a directory"}
		ours, theirs := b.ours(ctx, c.prepare(b), c.args...), other.ours(ctx, c.prepare(other), c.args...)
		var count [2]int64
		for i, s := range []struct {
			*bed
			side
		}{{b, ours}, {other, theirs}} {
			if count[i], err = s.containersOf(ctx, s.side); err != nil {
				return lines, err
			}
		}
		out.Note = fmt.Sprintf("%d containers, beside it %d", count[0], count[1])
		if out.Ours, out.Theirs, err = l.inTurns(false, ours, theirs); err != nil {
			return lines, err
		}
		lines = append(lines, out)
	}
	return lines, nil
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

// fetched is a get of many files, beside the same program that writes into a directory.
func (l *lab) fetched(ctx context.Context) (_ []line, err error) {
	n := l.sized(10_000)
	const size = (1 << 30) / 10_000
	source := fmt.Sprintf("{ \"files\": %d, \"size\": %d }", n, size)
	const manifest = "artifact \"a\" {\n  type   = \"%s1\"\n  source = %s\n}\noutput \"m\" {\n  value = artifact.a.metadata\n}\n"
	b, err := l.lineBed(ctx, fmt.Sprintf(manifest, lineImage, strings.ReplaceAll(source, ":", " =")))
	defer func() { err = errors.Join(err, b.close()) }()
	if err != nil {
		return nil, err
	}
	bare, err := newBare(ctx, b, lineImage+"1")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, bare.close()) }()
	if err := unmount(filepath.Join(b.work, "world")); err != nil { // both write to the disk
		return nil, err
	}
	to := filepath.Join(b.work, "world/out")
	out := line{What: fmt.Sprintf("`plan` that fetches %d files, %d MiB", n, n*size>>20), Goal: goal{Faster: 1 / 1.3},
		Beside: "bare runs of the same programs into a directory, and one syncfs"}
	prune := func() error { return b.do(ctx, "artifact", "prune", "-all") }
	out.Ours, out.Theirs, err = l.inTurns(true, b.ours(ctx, prune, "plan"), side{
		func() error { return errors.Join(prune(), os.RemoveAll(to), os.Mkdir(to, 0o755)) },
		func() (meter.Usage, error) {
			return b.meter.Client(func() error {
				err := bare.run(ctx, []string{"check"}, []byte(`{"source":`+source+"}\n"))
				if err == nil {
					err = bare.run(ctx, []string{"in", "/world/out"}, []byte(`{"source":`+source+`,"version":{"ref":"1"}}`+"\n"))
				}
				return errors.Join(err, syncFiles(to))
			})
		}})
	return []line{out}, err
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

// manyVersions is a check that lists a million, beside one that lists one.
func (l *lab) manyVersions(ctx context.Context) (_ []line, err error) {
	n := l.sized(1_000_000)
	b, err := l.lineBed(ctx, "variable \"n\" {}\n"+
		"artifact \"a\" {\n  type   = \""+lineImage+"2\"\n  source = { versions = tonumber(var.n) }\n}\n"+
		"output \"ref\" {\n  value = artifact.a.version.ref\n}\n")
	defer func() { err = errors.Join(err, b.close()) }()
	if err != nil {
		return nil, err
	}
	out := line{What: fmt.Sprintf("`plan` of an artifact of which %d versions are listed", n), Beside: "the same of one version",
		Goal: goal{Work: 5 * time.Second, MoreMemory: 64}}
	out.Ours, out.Theirs, err = l.inTurns(true, b.ours(ctx, nil, "plan", "-var", fmt.Sprintf("n=%d", n)),
		b.ours(ctx, nil, "plan", "-var", "n=1"))
	return []line{out}, err
}
