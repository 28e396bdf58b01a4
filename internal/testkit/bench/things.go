package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
	manifest.WriteString(worldPlug + "variable \"image\" {\n  default = \"" + coldThing +
		"\"\n}\ntype \"thing\" {\n  image = var.image\n}\n")
	for i := range n {
		fmt.Fprintf(&manifest, "resource \"%s\" {\n  type   = type.thing\n  config = {}\n}\n", thingName(i))
	}
	return b, b.write(map[string][]byte{"main.hcl": []byte(manifest.String())})
}

func thingName(i int) string { return fmt.Sprintf("r%03d", i) }

// fill makes what n resources of the type thing are made of.
func (s *script) fill(args []string) error {
	n, err := number(args, 0, 1)
	for i := range n {
		err = errors.Join(err, os.WriteFile(filepath.Join(s.bed.work, "world", thingName(i)), nil, 0o600))
	}
	return err
}
