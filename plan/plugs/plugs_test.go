package plugs

import (
	"context"
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

func TestGrant_RequiresPlugAndRequest(t *testing.T) {
	patterns := func(p ...string) (list []*regexp.Regexp) {
		for _, s := range p {
			list = append(list, regexp.MustCompile("^(?:"+s+")"))
		}
		return list
	}
	known := map[string]config.Plug{
		"rw":     {Name: "rw", Path: "/host/rw"},
		"ro":     {Name: "ro", Path: "/host/ro", ReadOnly: true},
		"byname": {Name: "byname", Path: "/host/n", ResourceNames: patterns("we"), ResourceTypes: patterns("other/")},
		"bytype": {Name: "bytype", Path: "/host/t", ResourceNames: patterns("other"), ResourceTypes: patterns("acme/")},
		"nobody": {Name: "nobody", Path: "/host/x", ResourceNames: patterns("eb"), ResourceTypes: patterns("cme/")},
	}
	at := func(path string, o ...bool) protocol.PlugRequest {
		r := protocol.PlugRequest{ContainerPath: path}
		for i, set := range o {
			*[]*bool{&r.Writable, &r.Optional, &r.AnyMode}[i] = set
		}
		return r
	}
	for _, c := range []struct {
		name   string
		want   map[string]protocol.PlugRequest
		mounts []runner.Mount
		errors string // words of the one problem
	}{
		{"read-only unless asked", map[string]protocol.PlugRequest{"rw": at("/p")}, []runner.Mount{{Source: "/host/rw", Target: "/p"}}, ""},
		{"writable when asked", map[string]protocol.PlugRequest{"rw": at("/p", true)}, []runner.Mount{{Source: "/host/rw", Target: "/p", Writable: true}}, ""},
		{"read-only plug, read", map[string]protocol.PlugRequest{"ro": at("/p")}, []runner.Mount{{Source: "/host/ro", Target: "/p"}}, ""},
		{"protocol 1 takes what there is", map[string]protocol.PlugRequest{"rw": at("/p", false, false, true), "ro": at("/q", false, false, true)},
			[]runner.Mount{{Source: "/host/ro", Target: "/q"}, {Source: "/host/rw", Target: "/p", Writable: true}}, ""},
		{"allowed by name", map[string]protocol.PlugRequest{"byname": at("/p")}, []runner.Mount{{Source: "/host/n", Target: "/p"}}, ""},
		{"allowed by type", map[string]protocol.PlugRequest{"bytype": at("/p")}, []runner.Mount{{Source: "/host/t", Target: "/p"}}, ""},
		{"absent", map[string]protocol.PlugRequest{"none": at("/p")}, nil, "error: Missing plug"},
		{"not allowed: patterns are anchored", map[string]protocol.PlugRequest{"nobody": at("/p")}, nil, "error: Plug not allowed"},
		{"read-only but wanted writable", map[string]protocol.PlugRequest{"ro": at("/p", true)}, nil, "error: Plug is read-only"},
		{"optional and absent", map[string]protocol.PlugRequest{"none": at("/p", false, true)}, nil, "warning: Missing plug"},
		{"optional and not allowed", map[string]protocol.PlugRequest{"nobody": at("/p", false, true)}, nil, "warning: Plug not allowed"},
		{"optional and read-only", map[string]protocol.PlugRequest{"ro": at("/p", true, true)}, nil, "warning: Plug is read-only"},
		{"two on one path", map[string]protocol.PlugRequest{"ro": at("/p"), "rw": at("/p")}, []runner.Mount{{Source: "/host/ro", Target: "/p"}}, "error: Two plugs on one path"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &config.Resource{Address: "web", TypeRef: "acme/file:1"}
			mounts, diags := (&Plugs{byName: known, paths: map[string]plugPath{}}).Grant(t.Context(), r, protocol.Type{Plugs: c.want})
			if !reflect.DeepEqual(mounts, c.mounts) {
				t.Errorf("mounts %+v, want %+v", mounts, c.mounts)
			}
			if got := summaries(diags); got != c.errors {
				t.Errorf("said %q, want %q", got, c.errors)
			}
		})
	}
}

// A config names plugs where its type reads them, and just those are mounted, read-only.
func TestNamed_MountsWhatTheConfigNames(t *testing.T) {
	t.Parallel()
	p := New([]config.Plug{{Name: "site", Path: "/etc"}, {Name: "other", Path: "/tmp"},
		{Name: "theirs", Path: "/etc", ResourceNames: []*regexp.Regexp{regexp.MustCompile("^x$")}}}, nil, nil)
	for value, want := range map[string]struct{ target, errors string }{
		`{"source":"/plugs/site","also":"/plugs/other"}`: {target: "/plugs/site"},
		`{"source":"/plugs/site/a/b"}`:                   {target: "/plugs/site"},
		`{"source":"/srv/plugs/site"}`:                   {},
		`{"source":null}`:                                {},
		`{}`:                                             {},
		`{"source":"/plugs/none"}`:                       {errors: "error: Missing plug"},
		`{"source":"/plugs/../etc"}`:                     {errors: "error: Missing plug"},
		`{"source":"/plugs/theirs"}`:                     {errors: "error: Plug not allowed"},
	} {
		r := &config.Resource{Address: "web", TypeRef: "acme/file:1"}
		mounts, diags := p.Named(t.Context(), r, protocol.Type{PlugsIn: []string{"/source"}}, json.RawMessage(value))
		if got := summaries(diags); got != want.errors {
			t.Errorf("%s: said %q, want %q", value, got, want.errors)
		}
		switch {
		case want.target == "" && len(mounts) > 0, want.target != "" && (len(mounts) != 1 || mounts[0].Target != want.target || mounts[0].Writable):
			t.Errorf("%s: %+v", value, mounts)
		}
		r.Settings.WholeMachine = true
		if _, diags := p.Named(t.Context(), r, protocol.Type{PlugsIn: []string{"/source"}}, json.RawMessage(value)); want.target != "" &&
			summaries(diags) != "error: A plug of what has the whole machine" {
			t.Errorf("%s with the whole machine: %s", value, summaries(diags))
		}
	}
}

// A path on a host is absolute, and leads where the host says.
func TestGrant_OnAHost(t *testing.T) {
	look := func(_ context.Context, _ runner.Host, list []config.Plug) (led []Resolved, err error) {
		for _, plug := range list {
			led = append(led, Resolved{Path: "/there" + plug.Path})
		}
		return led, nil
	}
	p := New([]config.Plug{{Name: "absolute", Path: "/etc"}, {Name: "relative", Path: "/home/me/etc", Base: "/home/me"},
		{Name: "home", Path: "/home/me/x", Home: "~/x"}}, nil, look)
	r := &config.Resource{Address: "web", TypeRef: "acme/file:1"}
	r.Settings.Host = &runner.Host{Name: "h", Address: "10.0.0.5"}
	for name, want := range map[string]struct{ source, errors string }{
		"absolute": {source: "/there/etc"},
		"home":     {source: "/there~/x"}, // whose home that is, the host says
		"relative": {errors: "error: A relative path on another machine"},
	} {
		mounts, diags := p.Grant(t.Context(), r, protocol.Type{Plugs: map[string]protocol.PlugRequest{name: {ContainerPath: "/p"}}})
		if got := summaries(diags); got != want.errors || want.source != "" && (len(mounts) != 1 || mounts[0].Source != want.source) {
			t.Errorf("%s: %+v, said %q", name, mounts, got)
		}
	}
}

// A path in a cluster names an object of the namespace, and nobody is queried for it.
func TestGrant_InACluster(t *testing.T) {
	p := New([]config.Plug{{Name: "sa", Path: "/secret/gcp-sa/key.json"}, {Name: "data", Path: "/pvc/data"},
		{Name: "ro", Path: "/pvc/data", ReadOnly: true}, {Name: "etc", Path: "/etc"}, {Name: "home", Path: "/home/me/secret/x", Home: "~/secret/x"}}, nil, nil)
	r := &config.Resource{Address: "web", TypeRef: "acme/file:1"}
	r.Settings.Host = &runner.Host{Name: "jobs", Address: "prod/deployster", Kubernetes: &runner.Cluster{Namespace: "deployster"}}
	for name, c := range map[string]struct {
		want   protocol.PlugRequest
		mount  runner.Mount
		errors string
	}{
		"sa":   {mount: runner.Mount{Source: "/secret/gcp-sa/key.json", Target: "/p"}},
		"data": {want: protocol.PlugRequest{Writable: true}, mount: runner.Mount{Source: "/pvc/data", Target: "/p", Writable: true}},
		"ro":   {want: protocol.PlugRequest{AnyMode: true}, mount: runner.Mount{Source: "/pvc/data", Target: "/p"}},
		"etc":  {errors: "error: Not a plug of a cluster"},
		"home": {errors: "error: Not a plug of a cluster"},
	} {
		c.want.ContainerPath = "/p"
		mounts, diags := p.Grant(t.Context(), r, protocol.Type{Plugs: map[string]protocol.PlugRequest{name: c.want}})
		if got := summaries(diags); got != c.errors || c.errors == "" && (len(mounts) != 1 || !reflect.DeepEqual(mounts[0], c.mount)) {
			t.Errorf("%s: %+v, reported %q", name, mounts, got)
		}
	}
	want := protocol.Type{Plugs: map[string]protocol.PlugRequest{"sa": {ContainerPath: "/p", Writable: true}}}
	if _, diags := p.Grant(t.Context(), r, want); summaries(diags) != "error: Plug is read-only" {
		t.Errorf("a secret is written to: %v", diags)
	}
}

// Of a host that is not known yet the path is kept as it is to be asked for.
func TestGrant_OnALateHost(t *testing.T) {
	p := New([]config.Plug{{Name: "absolute", Path: "/etc"}, {Name: "home", Path: "/home/me/x", Home: "~/x"}}, nil, nil)
	r := &config.Resource{Address: "web", TypeRef: "acme/file:1"}
	r.Settings.Host = &runner.Host{Name: "h"}
	for name, want := range map[string]string{"absolute": "/etc", "home": "~/x"} {
		mounts, diags := p.Grant(t.Context(), r, protocol.Type{Plugs: map[string]protocol.PlugRequest{name: {ContainerPath: "/p"}}})
		if len(diags) > 0 || len(mounts) != 1 || mounts[0].Source != want {
			t.Errorf("%s: %+v, %v", name, mounts, diags)
		}
	}
}

func TestRequiredResources_OfProtocol1(t *testing.T) {
	ty := protocol.Type{RequiredResources: map[string]string{"net": "acme/net:2"}}
	types := map[string]string{"a": "acme/net:1", "b": "acme/vm:1"}
	for aliases, want := range map[string]string{"net=a": "", "net=b": "error: Dependency of the wrong type", "other=a": "error: Missing dependency"} {
		alias, addr, _ := strings.Cut(aliases, "=")
		r := &config.Resource{Address: "web", Aliases: map[string]string{alias: addr}}
		if got := summaries(RequireAliases(r, ty, func(addr string) string { return types[addr] })); got != want {
			t.Errorf("%s: said %q, want %q", aliases, got, want)
		}
	}
}

// Between protocols 1 and 2 dependencies could be optional, and no others were
// allowed.
func TestDependencies_OfAnOlderImageAreChecked(t *testing.T) {
	ty := protocol.Type{RequiredResources: map[string]string{"net": "acme/net"}, OptionalResources: map[string]string{"dns": "acme/dns"}, OnlyThese: true}
	types := map[string]string{"a": "acme/net:1", "b": "acme/dns:1"}
	for _, c := range []struct {
		aliases map[string]string
		want    string
	}{
		{map[string]string{"net": "a"}, ""},
		{map[string]string{"net": "a", "dns": "b"}, ""},
		{map[string]string{"net": "a", "dns": "a"}, "error: Dependency of the wrong type"},
		{map[string]string{"dns": "b"}, "error: Missing dependency"},
		{map[string]string{"net": "a", "other": "b"}, "error: Unknown dependency"},
	} {
		r := &config.Resource{Address: "web", Aliases: c.aliases}
		if got := summaries(RequireAliases(r, ty, func(addr string) string { return types[addr] })); got != c.want {
			t.Errorf("%v: said %q, want %q", c.aliases, got, c.want)
		}
	}
}

func TestUntagged_DropsTagAndDigest(t *testing.T) {
	for ref, want := range map[string]string{"a/b": "a/b", "a/b:1": "a/b", "host:5000/b": "host:5000/b", "host:5000/b:1@sha256:x": "host:5000/b",
		"a/b:1#kind": "a/b#kind", "a/b@sha256:x#kind": "a/b#kind"} {
		if got := Untagged(ref); got != want {
			t.Errorf("%s: %s, want %s", ref, got, want)
		}
	}
}

func summaries(list diag.Diagnostics) string {
	var w []string
	for _, d := range list {
		w = append(w, d.Severity.String()+": "+d.Summary)
	}
	return strings.Join(w, "; ")
}
