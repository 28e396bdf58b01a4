package artifactlines

import (
	"testing"

	"deployster/internal/runtime/artifact"
	"deployster/plan/artifacts"
)

func TestTable_ShowsTheChangeOfVersion(t *testing.T) {
	t.Parallel()
	pin := func(change func(*artifacts.Pin), space, now, was string) artifacts.Pin {
		p := artifacts.Pin{}
		p.Recipe.Space, p.Recipe.Version = space, artifact.Version{"ref": now}
		if was != "" {
			p.Was = artifact.Version{"ref": was}
		}
		if change != nil {
			change(&p)
		}
		return p
	}
	const commit = "c3d4e5f60718293a4b5c6d7e8f9012345678abcd"
	got := Table(map[string]artifacts.Pin{
		"site": pin(func(p *artifacts.Pin) {
			p.Newer, p.Tree, p.Files, p.Bytes = 3, "sha256:1", 42, 1258291
			p.Metadata = artifact.Metadata{{Name: "message", Value: "Fix the header\n\n\x1b[31mred"}, {Name: "author", Value: "ann"}}
		}, "main", commit, "a1b2"),
		"base": pin(func(p *artifacts.Pin) { p.Unlisted = true }, "", "1.0.0", "1.1.0"),
		"lib":  pin(func(p *artifacts.Pin) { p.Pinned, p.Newer = artifacts.InLock, 2 }, "", "9f8e", "9f8e"),
		"new":  pin(nil, "", "1", ""),
		"old":  pin(func(p *artifacts.Pin) { p.Unrefreshed = true }, "", "1", "1"),
	})
	want := `Artifacts:
  base  1.1.0 -> 1.0.0   ! 1.1.0 is no longer listed
  lib   9f8e             pinned (lock file); 2 newer
  new   -> 1
  old   1                as recorded, not checked
  site  a1b2 -> c3d4e5f  space main, 3 newer; message "Fix the header \x1b[31mred", author ann; 42 files, 1.2 MiB

`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
