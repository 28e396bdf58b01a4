package typeclient

import (
	"context"
	"strings"
	"testing"

	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// A program that watches gets what state gets, without what is of one moment, and
// can write nowhere.
func TestWatchSpec_HasReadOnlyMounts(t *testing.T) {
	t.Parallel()
	c, _ := client(says("{}"))
	target := target()
	target.Mounts = []runner.Mount{{Source: "plug", Target: "/in", Writable: true}}
	ty := protocol.Type{Protocol: 2, Reference: image, Digest: "sha256:1", Dependencies: true, Refresh: true,
		StateAction: protocol.Command{Args: []string{"state"}}, WatchAction: &protocol.Command{Args: []string{"watch"}}}
	in := protocol.StateInput{Config: []byte(`{"a":1}`), Refresh: true, Changed: []string{"/a"}, After: []string{"make"},
		Dependencies: map[string]protocol.Dependency{"d": {}}}
	s, err := c.WatchSpec(context.Background(), target, ty, in)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"name":"web","type":"acme/file:1","version":"0.1.0","verbose":false,"workspace":"/w","protocol":{"min":1,"max":2},"config":{"a":1},"intent":"present"}` + "\n"
	if string(s.Stdin) != want {
		t.Errorf("stdin: %s", s.Stdin)
	}
	if s.Mounts[0] != (runner.Mount{Source: "/w/plug", Target: "/in"}) || !target.Mounts[0].Writable {
		t.Errorf("mounts: %+v of %+v", s.Mounts, target.Mounts)
	}
	if s.Kind != runner.Query || s.Digest != "sha256:1" || strings.Join(s.Args, " ") != "watch" || s.Worker != nil {
		t.Errorf("%+v", s)
	}
	for name, w := range map[string]struct {
		watch  protocol.Command
		worker bool
	}{
		"by its arguments":      {protocol.Command{Args: []string{"watch"}}, true},
		"by its own entrypoint": {protocol.Command{Entrypoint: "/watch"}, false},
	} {
		ty.Worker, ty.WatchAction = &protocol.Command{Args: []string{"worker"}}, &w.watch
		if s, err := c.WatchSpec(context.Background(), target, ty, in); err != nil || (s.Worker != nil) != w.worker {
			t.Errorf("%s: %+v, %v", name, s.Worker, err)
		}
	}
}
