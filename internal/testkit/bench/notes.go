package main

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// The images of the shell type of the manual: as it is there, and without reuse_actions.
const (
	note       = "bench/note:1"
	queryNote  = "bench/note:queries"
	noteScript = "docs/examples/shell/type.sh"
)

// notes makes a bed with n independent resources of the shell type of the manual. Its variable "image" is the
// image, and its variable "workers" is 0 for containers of their own.
func (l *lab) notes(ctx context.Context, n int) (*bed, error) {
	b, err := l.newBed()
	if err != nil {
		return b, err
	}
	script, err := os.ReadFile(noteScript)
	if err != nil {
		return b, err
	}
	for image, drop := range map[string]string{note: "", queryNote: `"reuse_actions": true,`} {
		if err := b.write(map[string][]byte{"image/type.sh": []byte(strings.ReplaceAll(string(script), drop, ""))}); err != nil {
			return b, err
		}
		if err := b.do(ctx, "image", "pack", "-t", image, "-shell", "image/type.sh"); err != nil {
			return b, err
		}
	}
	manifest := `plug "notes" {
  path = "world"
}
variable "image" {
  default = "` + note + `"
}
variable "workers" {
  default = 2
}
type "note" {
  image   = var.image
  workers = var.workers
}
`
	for i := range n {
		name := string([]byte{'n', 'a' + byte(i/26/26%26), 'a' + byte(i/26%26), 'a' + byte(i%26)})
		manifest += fmt.Sprintf("resource %q {\n  type   = type.note\n  config = { name = %[1]q, text = \"text\" }\n}\n", name)
	}
	return b, b.write(map[string][]byte{"main.hcl": []byte(manifest)})
}
