package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"deployster/containerd"
	"deployster/internal/testkit/bench/meter"
)

// thing is the type of the container runs: its config is a file. It is small,
// so that the cost of running it shows, and not its own.
const thing = `#!/bin/sh
in=$(cat)
name=${in#*\"name\":\"}
file=/world/${name%%\"*}
case "$1" in
"") echo '{"protocol":2,"plugs":{"world":{"container_path":"/world","writable":true}},"state_action":{"args":["state"]}REUSE}' ;;
state) [ -e "$file" ] && echo '{"status":"VALID","state":{}}' || echo '{"status":"STALE","actions":[{"name":"make","args":["make"]}]}' ;;
make) : >"$file" ;;
esac
`

// The images of it: the second one says that its containers may be used again.
const (
	coldThing  = "bench/thing:1"
	reuseThing = "bench/thing:reuse"
)

// things makes a bed with n independent resources of the type thing. Both images
// are there.
func (l *lab) things(ctx context.Context, n int) (*bed, error) {
	b, err := l.newBed()
	if err != nil {
		return b, err
	}
	busybox, err := os.ReadFile("/bin/busybox")
	if err != nil {
		return b, err
	}
	for image, more := range map[string]string{coldThing: "", reuseThing: `,"reuse":true`} {
		if err := b.write(map[string][]byte{"image/type": []byte(strings.ReplaceAll(thing, "REUSE", more)),
			"image/bin/busybox": busybox}); err != nil {
			return b, err
		}
		for _, applet := range []string{"sh", "cat"} {
			if err := os.Symlink("busybox", filepath.Join(b.work, "image/bin", applet)); err != nil && !errors.Is(err, os.ErrExist) {
				return b, err
			}
		}
		if err := b.do(ctx, "image", "pack", "-t", image, "-entrypoint", "/type", "image"); err != nil {
			return b, err
		}
	}
	var manifest strings.Builder
	manifest.WriteString(worldPlug + "variable \"image\" {\n  default = \"" + coldThing + "\"\n}\ntype \"thing\" {\n  image = var.image\n}\n")
	for i := range n {
		fmt.Fprintf(&manifest, "resource \"%s\" {\n  type   = type.thing\n  config = {}\n}\n", thingName(i))
	}
	return b, b.write(map[string][]byte{"main.hcl": []byte(manifest.String())})
}

func thingName(i int) string { return fmt.Sprintf("r%03d", i) }

// besideBare measures a command over n resources, beside a bare client that
// makes the same runs with the same input on the same containerd.
func (l *lab) besideBare(ctx context.Context, out line, n, parallel int, steps []string, args ...string) (_ line, err error) {
	b, err := l.things(ctx, n)
	defer func() { err = errors.Join(err, b.close()) }()
	if err != nil {
		return out, err
	}
	bare, err := newBare(ctx, b, coldThing)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, bare.close()) }()
	out.Beside = fmt.Sprintf("bare client loop, %d runs, a shim each", n*len(steps))
	ours := b.ours(ctx, b.reset, append(args, "-parallelism", fmt.Sprint(parallel))...)
	out.Ours, out.Theirs, err = l.inTurns(true, ours, side{b.reset, func() (meter.Usage, error) {
		return b.meter.Client(func() error { return bare.loop(ctx, n, parallel, steps) })
	}})
	return out, err
}

// coldRow is 200 container runs, 8 at a time.
func coldRow(ctx context.Context, l *lab) ([]line, error) {
	n := l.sized(200)
	out := line{What: fmt.Sprintf("cold runs, 8 at a time: `plan` of %d resources", n), Goal: goal{Faster: 1}}
	out, err := l.besideBare(ctx, out, n, 8, []string{"state"}, "plan")
	return []line{out}, err
}

// commandsRow is whole commands beside the loop of their runs.
func commandsRow(ctx context.Context, l *lab) (lines []line, err error) {
	n := l.sized(30)
	for _, parallel := range []int{1, 8} {
		for _, c := range []struct {
			what        string
			steps, args []string
		}{
			{"`plan`", []string{"state"}, []string{"plan"}},
			{"`apply`", []string{"state", "state", "make", "state"}, []string{"apply", "-auto-approve"}},
		} {
			out := line{What: fmt.Sprintf("%s of %d cold resources, %d at a time", c.what, n, parallel), Goal: goal{Faster: 0.91}}
			if out, err = l.besideBare(ctx, out, n, parallel, c.steps, c.args...); err != nil {
				return lines, err
			}
			lines = append(lines, out)
		}
	}
	return lines, nil
}

// singleRow is one cold run: two whole commands, on one containerd.
func singleRow(ctx context.Context, l *lab) (lines []line, err error) {
	ctr, err := exec.LookPath("ctr")
	if err != nil {
		return nil, err
	}
	b, err := l.things(ctx, 1)
	defer func() { err = errors.Join(err, b.close()) }()
	if err != nil {
		return nil, err
	}
	socket, err := containerd.Socket(b.data)
	if err != nil {
		return nil, err
	}
	count := 0
	theirs := func(more ...string) side {
		return side{run: func() (meter.Usage, error) {
			count++
			id := fmt.Sprintf("bench-ctr-%d-%d", os.Getpid(), count)
			args := append([]string{ctr, "--address", socket, "--namespace", "deployster",
				"run", "--rm", "--net-host", "--runc-binary", b.ownRunc(),
				"--mount", "type=bind,src=" + filepath.Join(b.work, "world") + ",dst=/world,options=rbind:rw"}, more...)
			// Its stdin is not the container's: ctr does not end that when it ends.
			return b.meter.Run(ctx, meter.Command{Dir: b.work, Args: append(args, "docker.io/"+coldThing, id, "/bin/sh", "-c",
				"exec /type state </dev/null")})
		}}
	}
	for _, c := range []struct {
		beside string
		flags  []string
		goal   goal
	}{
		{"`ctr run --rm` of the same", nil, goal{Faster: 1}},
		{"`ctr run --rm --seccomp`, which has a filter for system calls too", []string{"--seccomp"}, goal{}},
	} {
		out := line{What: "one cold run: `plan` of 1 resource", Beside: c.beside, Goal: c.goal}
		if out.Ours, out.Theirs, err = l.inTurns(true, b.ours(ctx, nil, "plan"), theirs(c.flags...)); err != nil {
			return lines, err
		}
		lines = append(lines, out)
	}
	return lines, nil
}

// reuseRow is the same runs of an image whose containers may be used again.
func reuseRow(ctx context.Context, l *lab) (lines []line, err error) {
	n := l.sized(100)
	b, err := l.things(ctx, n)
	defer func() { err = errors.Join(err, b.close()) }()
	if err != nil {
		return nil, err
	}
	out := line{What: fmt.Sprintf("`reuse`, 8 at a time: `plan` of %d resources", n), Beside: "the same, cold", Goal: goal{Faster: 4}}
	args := []string{"plan", "-parallelism", "8", "-var"}
	out.Ours, out.Theirs, err = l.inTurns(true, b.ours(ctx, nil, append(args, "image="+reuseThing)...),
		b.ours(ctx, nil, append(args, "image="+coldThing)...))
	return []line{out}, err
}
