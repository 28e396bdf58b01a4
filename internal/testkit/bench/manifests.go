package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"deployster/internal/testkit/bench/meter"
)

// The same resource for both: nine of ten refer to the one before.
const (
	diskBlock = "resource \"r$i\" {\n  type = \"bench/disk:1\"\n  config = {\n    name = \"disk-$i\"\n    zone = var.zone$after\n  }\n}\n"
	diskAfter = "after = resource.r$before.state.name"
	dataBlock = "resource \"terraform_data\" \"r$i\" {\n  input = {\n    name = \"disk-$i\"\n    zone = var.zone$after\n  }\n}\n"
	dataAfter = "after = terraform_data.r$before.output.name"
)

const worldPlug = "plug \"world\" {\n  path = \"world\"\n}\n"

// chains writes n resources in chains of ten, a hundred resources in a file or as
// many as fit into a hundred files. In a block $i is its number, and $after the reference to
// the one before, whose number is $before there.
func chains(dir, ext, block, after string, n int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	each := max(100, n/100)
	for first := 0; first < n; first += each {
		var b strings.Builder
		for i := first; i < min(n, first+each); i++ {
			link := ""
			if i%10 != 0 {
				link = "\n    " + strings.ReplaceAll(after, "$before", strconv.Itoa(i-1))
			}
			b.WriteString(strings.NewReplacer("$i", strconv.Itoa(i), "$after", link).Replace(block))
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d%s", first/each, ext)), []byte(b.String()), 0o600); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "variables"+ext), []byte("variable \"zone\" {\n  default = \"eu\"\n}\n"), 0o600)
}

// workers makes a bed with n resources of the worker type disk.
func (l *lab) workers(ctx context.Context, n int) (*bed, error) {
	b, err := l.newBed()
	if err != nil {
		return b, err
	}
	if err := chains(b.work, ".hcl", diskBlock, diskAfter, n); err != nil {
		return b, err
	}
	if err := b.write(map[string][]byte{"world.hcl": []byte(worldPlug)}); err != nil {
		return b, err
	}
	return b, b.packDisk(ctx, "disk")
}

// packDisk packs the type disk, by the name of one of its kinds.
func (b *bed) packDisk(ctx context.Context, name string) error {
	dir := filepath.Join(b.work, "image-"+name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := static(ctx, "deployster/internal/testkit/bench/disk", filepath.Join(dir, name)); err != nil {
		return err
	}
	return b.do(ctx, "image", "pack", "-t", "bench/"+name+":1", "-entrypoint", "/"+name, dir)
}

// terraformBed is a working directory of terraform with n terraform_data. On a
// machine without terraform it is nil: it does nothing then, and its side is none.
type terraformBed struct {
	*lab
	dir string
	env []string
}

func (l *lab) terraformBed(ctx context.Context, n int) (*terraformBed, error) {
	return l.terraformOf(ctx, dataBlock, dataAfter, n)
}

// terraformOf is a terraformBed with chains of another resource, and settings of the
// environment.
func (l *lab) terraformOf(ctx context.Context, block, after string, n int, env ...string) (*terraformBed, error) {
	if l.terraform == "" {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "bench-terraform")
	t := &terraformBed{lab: l, dir: dir, env: append(env, "TMPDIR="+dir)}
	if err != nil {
		return t, err
	}
	if err := chains(dir, ".tf", block, after, n); err != nil {
		return t, err
	}
	return t, t.do(ctx, "init")
}

func (t *terraformBed) close() error {
	if t == nil {
		return nil
	}
	return os.RemoveAll(t.dir)
}

// command is one of terraform's. It is not to ask the network for its news.
func (t *terraformBed) command(args ...string) meter.Command {
	return meter.Command{Dir: t.dir, Env: append([]string{"CHECKPOINT_DISABLE=1"}, t.env...), Args: append([]string{t.terraform}, args...)}
}

func (t *terraformBed) do(ctx context.Context, args ...string) error {
	if t == nil {
		return nil
	}
	_, err := t.meter.Run(ctx, t.command(args...))
	return err
}

func (t *terraformBed) side(ctx context.Context, prepare func() error, args ...string) side {
	if t == nil {
		return side{}
	}
	return side{prepare, func() (meter.Usage, error) { return t.meter.Run(ctx, t.command(args...)) }}
}

// reset forgets the state.
func (t *terraformBed) reset() error {
	names, err := filepath.Glob(filepath.Join(t.dir, "terraform.tfstate*"))
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	return nil
}
