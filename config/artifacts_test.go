package config

import (
	"fmt"
	"strings"
	"testing"

	"deployster/config/lockfile"
	"deployster/internal/base/diag"
)

const artifactBlocks = `
type "git" {
  image  = "concourse/git-resource"
  userns = "auto"
}
variable "key" {
  default   = "hunter2hunter2"
  sensitive = true
}
artifact "site" {
  type   = type.git
  source = { uri = "https://example.org/site.git", private_key = var.key }
  params = { depth = 1 }
  space  = "main"
  timeouts {
    check = "1m"
  }
}
artifact "out" {
  type    = "registry-image"
  version = { digest = "sha256:1" }
}
plug "site" {
  artifact = artifact.site
  path     = "dist/"
}
plug "build" { path = "build" }
`

func TestArtifacts_AreReadBeforeAnythingRuns(t *testing.T) {
	t.Parallel()
	m := load(t, artifactBlocks)
	all := m.Artifacts()
	if len(all) != 2 || all[0].Name != "out" || all[1].Name != "site" {
		t.Fatalf("%+v", all)
	}
	site := all[1]
	if got := fmt.Sprint(site.TypeRef, " ", site.Settings.UserNS, " ", site.Space, " ", site.Check, site.Source.Sensitive, all[0].Version); got !=
		"concourse/git-resource auto main 1m0s [/private_key] map[digest:sha256:1]" {
		t.Error(got)
	}
	if string(site.Params.Value) != `{"depth":1}` || string(all[0].Source.Value) != "{}" {
		t.Errorf("%s %s", site.Params.Value, all[0].Source.Value)
	}
	for _, p := range m.Plugs() {
		if p.Name == "site" && (p.Artifact != "site" || p.Path != "dist" || !p.ReadOnly) {
			t.Errorf("%+v", p)
		}
	}
	if secrets := m.Secrets(); len(secrets) == 0 || secrets[0] != "hunter2hunter2" {
		t.Errorf("%q", secrets)
	}
}

func TestArtifacts_AreConstantsOnceFound(t *testing.T) {
	t.Parallel()
	m := load(t, artifactBlocks+`
locals { rev = artifact.site.version.ref }
resource "one" {
  type   = "x"
  config = { rev = local.rev, by = artifact.site.metadata.author, of = artifact.site.name, at = artifact.site.type }
}
resource "each" {
  for_each = artifact.site.spaces
  type     = "x"
  config   = { rev = each.value.version.ref }
}
output "rev" { value = local.rev }
`)
	if p := m.Pending(); len(p) != 1 || p[0].Address != "each" || fmt.Sprint(p[0].Artifacts) != "[site]" {
		t.Fatalf("%+v", p)
	}
	one := config(t, m, "one", nil)
	if one.Unknown["/rev"] != "artifact.site.version.ref" || one.Unknown["/by"] != "artifact.site.metadata.author" {
		t.Errorf("%v", one.Unknown)
	}
	for _, r := range m.Resources() {
		if fmt.Sprint(r.Artifacts) != "[site]" || len(r.Edges) != 0 {
			t.Errorf("%s: %v %v", r.Address, r.Artifacts, r.Edges)
		}
	}
	reach, _ := m.OutputReach()
	if fmt.Sprint(reach["rev"].Artifacts) != "[site]" {
		t.Errorf("%+v", reach)
	}
	found, diags := m.WithArtifacts(map[string]ArtifactValue{"site": {Space: "main", Version: map[string]string{"ref": "c3d4"},
		Metadata: map[string]string{"author": "ann"}, Spaces: map[string]SpaceVersion{"main": {Version: map[string]string{"ref": "c3d4"}},
			"dev": {Version: map[string]string{"ref": "e5f6"}}}}})
	fatal(t, diags)
	if got := string(config(t, found, "one", nil).Value); got !=
		`{"at":"concourse/git-resource","by":"ann","of":"site","rev":"c3d4"}` {
		t.Error(got)
	}
	if got := string(config(t, found, `each["dev"]`, nil).Value); got != `{"rev":"e5f6"}` || len(found.Pending()) != 0 {
		t.Error(got)
	}
	again, diags := Load(found.Sources(), nil, Builtins{})
	fatal(t, diags)
	if got := string(config(t, again, `each["main"]`, nil).Value); got != `{"rev":"c3d4"}` {
		t.Errorf("from the sources of a plan: %s", got)
	}
}

func TestPublishes_AreResources(t *testing.T) {
	t.Parallel()
	m := load(t, artifactBlocks+`
resource "build" { type = "x" }
publish "release" {
  artifact   = artifact.out
  params     = { image = "i.tar", sum = resource.build.state.sum }
  inputs     = { build = plug.build, site = artifact.site, part = plug.site }
  triggers   = [resource.build.state.sum]
  idempotent = true
  fetch = true
  timeouts { put = "1h" }
}
resource "after" {
  type       = "x"
  depends_on = [publish.release]
}
output "released" { value = publish.release.version.digest }
`)
	var addresses []string
	for _, r := range m.Resources() {
		addresses = append(addresses, fmt.Sprint(r.Address, r.Edges, r.Artifacts))
	}
	if got := strings.Join(addresses, " "); got !=
		"after[{publish.release depends_on}] [] build[] [] publish.release[{build reference}] [site]" {
		t.Error(got)
	}
	r := m.Resources()[2]
	if got := fmt.Sprintf("%+v %s %s", *r.Publish, r.TypeRef, r.Timeouts.Action); got !=
		"{Artifact:out Idempotent:true Fetch:true Inputs:[{Name:build Artifact: Plug:build} {Name:part Artifact: Plug:site} {Name:site Artifact:site Plug:}]}"+
			" registry-image 1h0m0s" {
		t.Error(got)
	}
	m, diags := m.WithArtifacts(map[string]ArtifactValue{"site": {Space: "main", Version: map[string]string{"ref": "c3d4"}}})
	fatal(t, diags)
	states := States{"build": {Known: []byte(`{"sum":"abc"}`), Complete: true},
		"publish.release": {Known: []byte(`{"space":"","version":{"digest":"sha256:2"},"metadata":{},"created":[],"deleted":[]}`), Complete: true}}
	site := `{"params":{"depth":1},"space":"main","type":"concourse/git-resource","version":{"ref":"c3d4"}}`
	if got := string(config(t, m, "publish.release", states).Value); got != `{"inputs":{"build":"plug.build","part":{"params":{"depth":1},`+
		`"plug":"site",`+site[len(`{"params":{"depth":1},`):]+`,"site":`+site+`},"params":{"image":"i.tar","sum":"abc"},"source":{},`+
		`"triggers":["abc"]}` {
		t.Error(got)
	}
	out, diags := m.Outputs(states)
	fatal(t, diags)
	if string(out[0].Value) != `"sha256:2"` {
		t.Errorf("%s", out[0].Value)
	}
	if out, _ = m.Outputs(nil); out[0].Unknown[""] != "publish.release.version.digest" {
		t.Errorf("%v", out[0].Unknown)
	}
	for text, want := range map[string]string{"publish.release": "publish.release", "resource.build": "build"} {
		if got, err := ParseAddress(text); got != want || err != nil || Reference(got) != text {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
}

func TestLock_KeepsPinsOfArtifacts(t *testing.T) {
	t.Parallel()
	l, diags := parseLock(`artifact "site" {
  space   = "main"
  version = { ref = "c3d4" }
}
artifact "v1" {
  version = { "a b" = "1" }
}
`)
	fatal(t, diags)
	again, diags := parseLock(string(l.Bytes()))
	fatal(t, diags)
	if got := fmt.Sprint(again.Artifacts); got != "map[site:{main map[ref:c3d4]} v1:{ map[a b:1]}]" {
		t.Errorf("%s\n%s", got, l.Bytes())
	}
	for text, want := range map[string]string{
		`artifact "a" {}`:                      "version",
		`artifact "a" { version = { n = 1 } }`: "Not a version",
		`artifact "a" { version = "x" }`:       "Not a version",
		"artifact \"a\" {\n version = {a = \"1\"}\n}\nartifact \"a\" {\n version = {a = \"1\"}\n}": "Pinned twice",
	} {
		if _, diags := parseLock(text); !diags.HasErrors() || !strings.Contains(diags.Error(), want) {
			t.Errorf("%s: %v", text, diags)
		}
	}
}

func parseLock(text string) (*Lock, diag.Diagnostics) { return lockfile.Parse([]byte(text)) }
