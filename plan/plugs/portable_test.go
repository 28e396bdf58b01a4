package plugs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"deployster/config"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

func TestPortable_KeepsRelativePlugsRelative(t *testing.T) {
	t.Parallel()
	root := runner.RealDir(t.TempDir())
	base, link := filepath.Join(root, "project"), filepath.Join(root, "link")
	for _, dir := range []string{"project/world", "shared"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(base, link); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		plug         config.Plug
		source, want string
	}{
		"below":                      {config.Plug{Base: base, Path: base + "/world"}, base + "/world", "world"},
		"the directory itself":       {config.Plug{Base: base, Path: base}, base, "."},
		"beside":                     {config.Plug{Base: base, Path: root + "/shared"}, root + "/shared", "../shared"},
		"reached through a link":     {config.Plug{Base: link, Path: link + "/world"}, base + "/world", "world"},
		"a link leads away":          {config.Plug{Base: base, Path: base + "/world"}, "/srv/world", "/srv/world"},
		"written absolute":           {config.Plug{Path: base + "/world"}, base + "/world", base + "/world"},
		"a name that begins with ..": {config.Plug{Base: base, Path: base + "/..world"}, base + "/..world", "..world"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := portable(c.plug, c.source); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestPlugs_Today(t *testing.T) {
	t.Parallel()
	base := runner.RealDir(t.TempDir())
	p := New([]config.Plug{{Name: "world", Base: base, Path: base + "/new"}, {Name: "other", Path: "/srv/other"}}, nil, nil)
	asks := protocol.Type{Plugs: map[string]protocol.PlugRequest{"world": {ContainerPath: "/world", Writable: true},
		"other": {ContainerPath: "/other", Writable: true}, "gone": {ContainerPath: "/gone", Writable: true}}}
	for name, c := range map[string]struct{ recorded, want []runner.Mount }{
		"as today": {[]runner.Mount{{Source: "new", Target: "/world", Writable: true}, {Source: "/srv/other", Target: "/other", Writable: true}}, nil},
		"elsewhere": {[]runner.Mount{{Source: "old", Target: "/world", Writable: true}},
			[]runner.Mount{{Source: "new", Target: "/world", Writable: true}}},
		"read only":             {[]runner.Mount{{Source: "old", Target: "/world"}}, nil},
		"not declared any more": {[]runner.Mount{{Source: "old", Target: "/gone", Writable: true}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := p.Today(t.Context(), nil, c.recorded, asks); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// Where a plug of a thing on a host leads today is asked there, and not seen here.
func TestPlugs_TodayOnAHost(t *testing.T) {
	t.Parallel()
	there := map[string]Resolved{"/srv": {Path: "/data/srv"}, "~/x": {Path: "/home/far/x"}, "/gone": {Path: "/gone", Err: errors.New("not there")}}
	look := func(_ context.Context, h runner.Host, list []config.Plug) (led []Resolved, err error) {
		if h.Name == "down" {
			return nil, errors.New("no route")
		}
		for _, plug := range list {
			led = append(led, there[plug.Path])
		}
		return led, nil
	}
	p := New([]config.Plug{{Name: "a", Path: "/srv"}, {Name: "b", Path: "/home/me/x", Home: "~/x"}, {Name: "c", Path: "/gone"}}, nil, look)
	asks := protocol.Type{Plugs: map[string]protocol.PlugRequest{"a": {ContainerPath: "/a"}, "b": {ContainerPath: "/b"}, "c": {ContainerPath: "/c"}}}
	at := func(a, b, c string) []runner.Mount {
		return []runner.Mount{{Source: a, Target: "/a", Writable: true}, {Source: b, Target: "/b", Writable: true}, {Source: c, Target: "/c", Writable: true}}
	}
	for name, c := range map[string]struct {
		host     string
		recorded []runner.Mount
		want     []runner.Mount
	}{
		"as today":               {"web", at("/data/srv", "/home/far/x", "/gone"), nil},
		"elsewhere":              {"web", at("/srv", "/home/me/x", "/was"), at("/data/srv", "/home/far/x", "/gone")},
		"that cannot be reached": {"down", at("/srv", "/home/me/x", "/was"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := p.Today(t.Context(), &runner.Host{Name: c.host}, c.recorded, asks); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
