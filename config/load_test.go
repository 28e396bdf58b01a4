package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
)

// load loads one manifest that must be right.
func load(t *testing.T, text string, vars ...VarFlag) *Manifest {
	t.Helper()
	dir := t.TempDir()
	inputs, diags := FindVariables(dir, "", nil, vars)
	fatal(t, diags)
	m, diags := Load(sources(dir, text), inputs, Builtins{Version: "1.2.3", Home: "/home/me"})
	fatal(t, diags)
	return m
}

func sources(dir, text string) Sources {
	return Sources{Workspace: dir, Dir: dir, Manifests: []File{{Path: "main.hcl", Bytes: []byte(text)}}}
}

func fatal(t *testing.T, diags diag.Diagnostics) {
	t.Helper()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
}

func config(t *testing.T, m *Manifest, addr string, s States) Resolved {
	t.Helper()
	r, diags := m.Config(addr, s)
	fatal(t, diags)
	return r
}

func TestResourceAttributes_AreRead(t *testing.T) {
	t.Parallel()
	m := load(t, `
deployster {
  required_version = "~> 1.2"
  state            = "my.state.json"
}
variable "tag" { default = "1.2" }
variable "fast" { default = true }
locals { minutes = 5 }
type "disk" {
  image            = "acme/disk:${var.tag}"
  network          = "none"
  env              = { A = "b", N = 1 }
  memory           = "256MiB"
  pids             = 64
  cpu              = 0.5
  disk             = "1GiB"
  answer_size      = "1MiB"
  log_size         = "64KiB"
  capabilities {
    add  = ["CAP_SYS_TIME", "net_admin"]
    drop = ["ALL"]
  }
  user             = "1000:2000"
  userns           = "auto"
  mount_workspace  = true
  read_only_rootfs = true
  timeouts {
    init   = "10s"
    state  = "1m"
    action = "2h"
  }
  watch {
    poll    = "30s"
    actions = ["update", "create", "update"]
  }
}
semaphore "one" { slots = var.fast ? 3 : 1 }
resource "b" {
  type         = var.fast ? type.disk : "acme/slow"
  dependencies = { first = resource.a }
  read_only    = true
  lifecycle {
    prevent_destroy = var.fast
    on_remove       = "forget"
  }
  timeouts {
    state  = "${local.minutes}m"
    action = "1h"
  }
  semaphores = [semaphore.one, semaphore.one]
  retry {
    attempts = local.minutes - 1
    delay    = "2s"
  }
  watch {
    poll   = "0s"
    repair = !var.fast
  }
}
resource "a" {
  type = "acme/file"
}
plug "sa" {
  path           = "~/sa.json"
  read_only      = true
  resource_names = ["www_.*"]
}
plug "rel" { path = "./x/../y" }
`)
	if path, at := m.Settings().StatePath, m.Settings().StateAt; path != "my.state.json" || at == nil || at.Filename != "main.hcl" {
		t.Error(path, at)
	}
	list := m.Resources()
	if len(list) != 2 || list[0].Address != "a" || list[0].OnRemove != OnRemoveDestroy || !reflect.DeepEqual(list[0].Settings, runner.Settings{}) {
		t.Fatalf("%+v", list)
	}
	b := *list[1]
	want := Resource{Address: "b", TypeRef: "acme/disk:1.2", ReadOnly: true, PreventDestroy: true, OnRemove: OnRemoveForget,
		Retry: Retry{Attempts: 4, Delay: 2 * time.Second}, Watch: Watch{Poll: new(time.Duration), TellOnly: true, Actions: []string{"create", "update"}, At: b.Watch.At}, Semaphores: []string{"one"},
		Timeouts: Timeouts{State: 5 * time.Minute, Action: time.Hour}, Aliases: map[string]string{"first": "a"}, Edges: []Edge{{To: "a", Origin: FromDependency}}, Range: b.Range,
		Settings: runner.Settings{Network: runner.NoNetwork, Env: map[string]string{"A": "b", "N": "1"}, Memory: 256 << 20, PIDs: 64, Workdir: m.Sources().Workspace, ReadOnlyRootFS: true,
			CPU: 500, Disk: 1 << 30, MaxAnswer: 1 << 20, KeepLog: 64 << 10, UserNS: runner.AutoUserNS, Capabilities: runner.Capabilities{Add: []string{"NET_ADMIN", "SYS_TIME"}, Drop: []string{"ALL"}}, User: "1000:2000", InitTimeout: 10 * time.Second}}
	if !reflect.DeepEqual(b, want) {
		t.Errorf("\n got %+v\nwant %+v", b, want)
	}
	if b.Range.String() != "main.hcl:38" || b.Watch.At.String() != "main.hcl:34" {
		t.Error(b.Range, b.Watch.At)
	}
	if got := m.Semaphores(); !slices.Equal(got, []Semaphore{{Name: "one", Slots: 3}}) || m.Resource("b").Retry != want.Retry || m.Resource("c") != nil {
		t.Errorf("%+v", got)
	}
	// What the type says of times holds where the resource says nothing.
	late := load(t, `
type "slow" {
  image = "acme/slow"
  timeouts {
    state  = "1m"
    action = "2h"
  }
}
resource "x" {
  type = type.slow
  timeouts { action = "3h" }
}
`).Resources()[0]
	if want := (Timeouts{State: time.Minute, Action: 3 * time.Hour}); late.Timeouts != want {
		t.Errorf("got %+v, want %+v", late.Timeouts, want)
	}
	plugs := m.Plugs()
	if len(plugs) != 2 || plugs[0].Path != filepath.Join(m.Sources().Workspace, "y") || plugs[1].Path != "/home/me/sa.json" || plugs[1].Home != "~/sa.json" || plugs[0].Home != "" || !plugs[1].ReadOnly {
		t.Errorf("%+v", plugs)
	}
	if re := plugs[1].ResourceNames[0]; !re.MatchString("www_a") || re.MatchString("x_www_a") {
		t.Errorf("%s is not anchored at the start only", re)
	}
}

func TestJSONSyntax_IsLoadedLikeHCL(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := `{
  "type": {"disk": {"image": "acme/disk:1"}},
  "variable": {"size": {"type": "number", "default": 3}},
  "locals": {"cfg": {"ip": "${resource.a.state.ip}", "n": "${var.size}"}},
  "resource": {
    "a": {"type": "${type.disk}", "config": {"size": "${var.size}", "plain": "x"}},
    "b": {"type": "acme/vm", "dependencies": {"one": "resource.a", "two": "${resource.a}"}, "depends_on": ["resource.a"],
          "config": {"c": "${local.cfg}", "d": ["${dep.one.state.deep.x}", 12345678901234567890123]}}
  },
  "output": {"ip": {"value": "${resource.a.state.ip}"}}
}`
	m, diags := Load(Sources{Workspace: dir, Dir: dir, Manifests: []File{{Path: "main.hcl.json", Bytes: []byte(text)}}}, nil, Builtins{})
	fatal(t, diags)
	b := config(t, m, "b", nil)
	want := `{"c":{"ip":{"$unknown":"resource.a.state.ip"},"n":3},"d":[{"$unknown":"resource.a.state.deep.x"},12345678901234567890123]}`
	if string(b.Value) != want {
		t.Errorf("\n got %s\nwant %s", b.Value, want)
	}
	if r := m.Resources()[0]; r.TypeRef != "acme/disk:1" {
		t.Error(r.TypeRef)
	}
	if r := m.Resources()[1]; !maps.Equal(r.Aliases, map[string]string{"one": "a", "two": "a"}) {
		t.Error(r.Aliases)
	}
	if r := m.Locate("b", "/c/ip", false); r == nil || r.Start.Line != 4 {
		t.Errorf("%+v", r)
	}
}

func TestVariables_ArePinnedExactly(t *testing.T) {
	t.Parallel()
	text := `
variable "any" {}
variable "null" { default = null }
variable "number" { type = number }
variable "secret" {
  type      = object({ a = optional(string, "x"), b = set(number) })
  sensitive = true
}
variable "map" { type = map(list(string)) }
resource "a" {
  type   = "x"
  config = { any = var.any, null = var.null, number = var.number, secret = var.secret, map = var.map }
}
`
	m := load(t, text, VarFlag{Value: "any=text"}, VarFlag{Value: "number=123456789012345678901234567890.125"}, VarFlag{Value: "secret={b = [2, 1]}"}, VarFlag{Value: `map={k = ["v"]}`})
	pins := m.Variables().Values()
	raw, err := json.Marshal(pins)
	if err != nil {
		t.Fatal(err)
	}
	var read map[string]json.RawMessage
	if err := json.Unmarshal(raw, &read); err != nil {
		t.Fatal(err)
	}
	inputs, diags := Pinned(read)
	fatal(t, diags)
	again, diags := Load(m.Sources(), inputs, Builtins{})
	fatal(t, diags)
	first, second := config(t, m, "a", nil), config(t, again, "a", nil)
	want := `{"any":"text","map":{"k":["v"]},"null":null,"number":123456789012345678901234567890.125,"secret":{"a":"x","b":[1,2]}}`
	if string(first.Value) != want || !reflect.DeepEqual(first, second) {
		t.Errorf("\nfirst  %s %v\nsecond %s %v\nwant   %s", first.Value, first.Sensitive, second.Value, second.Sensitive, want)
	}
	if !slices.Equal(first.Sensitive, []string{"/secret"}) {
		t.Error(first.Sensitive)
	}
	if _, diags := Pinned(map[string]json.RawMessage{"x": []byte(`{`)}); !diags.HasErrors() {
		t.Error("a damaged pin was read")
	}
}

func TestReplay_ReadsNothingButWhatWasRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, data := range map[string]string{"a.txt": "alpha", "t.tpl": "%{ for x in list ~}\n<${upper(x)}>\n%{ endfor ~}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := `
resource "b" { type = "x" }
resource "a" {
  type   = "x"
  config = {
    a   = file("a.txt")
    abs = file("${path.module}/a.txt")
    sum = filesha256("a.txt")
    yes = fileexists("a.txt")
    no  = fileexists("b.txt")
    t   = templatefile("t.tpl", { list = ["x", "y"] })
    try = try(file("b.txt"), "none")
    dyn = file(resource.b.state.name)
  }
}`
	m, diags := Load(sources(dir, text), nil, Builtins{})
	fatal(t, diags)
	src := m.Sources()
	if got := slices.Sorted(maps.Keys(src.Reads)); !slices.Equal(got, []string{"a.txt", "t.tpl"}) {
		t.Errorf("reads: %v", got)
	}
	live := config(t, m, "a", nil)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	src.Replay = true
	m, diags = Load(src, nil, Builtins{})
	fatal(t, diags)
	if got := config(t, m, "a", nil); !reflect.DeepEqual(got, live) || !strings.Contains(string(got.Value), `"t":"<X>\n<Y>\n"`) {
		t.Errorf("\nlive   %s\nreplay %s", live.Value, got.Value)
	}
	known := func(name string) States {
		return States{"b": {Known: []byte(fmt.Sprintf(`{"name":%q}`, name)), Complete: true}}
	}
	if got := config(t, m, "a", known("a.txt")); !strings.Contains(string(got.Value), `"dyn":"alpha"`) {
		t.Errorf("%s", got.Value)
	}
	if _, diags := m.Config("a", known("other.txt")); len(diags) != 1 || !strings.Contains(diags[0].Detail, "not in the plan") {
		t.Error(diags)
	}
}

func TestFiles_StayBelowTheManifest(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir := filepath.Join(top, "m")
	for _, d := range []string{dir, filepath.Join(dir, "sub")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{filepath.Join(top, "secret"), filepath.Join(dir, "sub", "ok")} {
		if err := os.WriteFile(f, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	links := map[string]string{"out": "../secret", "updir": "..", "abs": filepath.Join(top, "secret"), "in": "sub/ok"}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for path, ok := range map[string]bool{"in": true, "sub/ok": true, "./sub/../sub/ok": true, "out": false, "abs": false, "updir/secret": false,
		"../secret": false, "sub/../../secret": false, "sub": false, "/dev/null": false, dir + "/sub/ok": true, dir + "/../secret": false} {
		_, diags := Load(sources(dir, fmt.Sprintf("locals {\n  x = file(%q)\n}\n", path)), nil, Builtins{})
		if diags.HasErrors() == ok {
			t.Errorf("file(%q): %v", path, diags)
		}
	}
}

// A manifest is asked from many goroutines at once, as plan does.
func TestManifest_IsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	m := conf(t, `x = { p = resource.a.state.ip, w = var.pw }`, `[local.x, fileexists("nothing"), dep.d.config]`)
	done := make(chan string)
	for range 8 {
		go func() {
			r, _ := m.Config("b", States{"a": {Known: []byte(`{"ip":1}`)}})
			_, _ = m.Outputs(nil)
			_, _ = m.Secrets(), m.Sources()
			done <- string(r.Value)
		}()
	}
	first := <-done
	for range 7 {
		if got := <-done; got != first || got == "" {
			t.Errorf("%s and %s", first, got)
		}
	}
}
