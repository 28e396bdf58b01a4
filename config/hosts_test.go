package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

const hostBlocks = `
variable "web" { default = { a = "10.0.0.5", b = "10.0.0.6" } }
host "web" {
  for_each      = var.web
  address       = each.value
  user          = "deploy"
  port          = 2222
  identity_file = "keys/deploy"
  jump          = "me@bastion.example:2200"
  host_key      = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPCbKRUEPDZpA2y0EyMSbtHP1Uv6dfSWLVWgv4hBvUn9 root@web\n"
  ssh_options   = ["-F", "ssh_config"]
  sudo          = true
  data_dir      = "/srv/deployster"
}
host "db" {
  address       = "db.example"
  identity_file = "~/.ssh/db"
}
host "n" {
  count   = 2
  address = "n${count.index}"
}
`

var debian = protocol.HostFacts{Hostname: "web1", OS: "debian", OSVersion: "12", Arch: "amd64", Kernel: "6.1.0", CPUs: 4, Memory: 8 << 30, Machine: "6f1e"}

func TestHosts_AreReadBeforeAnythingRuns(t *testing.T) {
	t.Parallel()
	m := load(t, hostBlocks)
	var names []string
	for _, h := range m.Hosts() {
		names = append(names, fmt.Sprint(h.Name, " ", h.Address))
	}
	if got := strings.Join(names, ", "); got != `db db.example, n[0] n0, n[1] n1, web["a"] 10.0.0.5, web["b"] 10.0.0.6` {
		t.Error(got)
	}
	want := runner.Host{Name: `web["a"]`, Address: "10.0.0.5", User: "deploy", Port: 2222, IdentityFile: m.Sources().Workspace + "/keys/deploy",
		Jump: "me@bastion.example:2200", SSHOptions: []string{"-F", "ssh_config"}, Sudo: true, DataDir: "/srv/deployster",
		HostKey: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPCbKRUEPDZpA2y0EyMSbtHP1Uv6dfSWLVWgv4hBvUn9 root@web\n"}
	if got := m.Hosts()[3].Host; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got := m.Hosts()[0].IdentityFile; got != "~/.ssh/db" {
		t.Errorf("%s: what begins with ~ is the same for everybody", got)
	}
}

func TestHosts_AreWhereResourcesRun(t *testing.T) {
	t.Parallel()
	m := load(t, hostBlocks+`
type "file" {
  image = "file"
  host  = host.db
}
locals { by_name = { for key, h in host.web : "x${key}" => h } }
resource "here" { type = "x" }
resource "each" {
  for_each = host.web
  type     = "x"
  host     = each.value
}
resource "typed" { type = type.file }
resource "both" {
  type = type.file
  host = host.web["a"]
}
resource "none" {
  type = type.file
  host = null
}
resource "counted" {
  count = 2
  type  = "x"
  host  = host.n[count.index]
}
resource "chosen" {
  for_each = local.by_name
  type     = "x"
  host     = local.by_name[each.key]
}
`)
	for address, want := range map[string]string{"here": "", `each["a"]`: `web["a"]`, `each["b"]`: `web["b"]`, "typed": "db", "both": `web["a"]`,
		"none": "db", "counted[0]": "n[0]", "counted[1]": "n[1]", `chosen["xa"]`: `web["a"]`, `chosen["xb"]`: `web["b"]`} {
		got := ""
		if h := m.Resource(address).Settings.Host; h != nil {
			got = h.Name
		}
		if got != want {
			t.Errorf("%s is on %q, want %q", address, got, want)
		}
	}
}

func TestHosts_HaveFactsOnceFound(t *testing.T) {
	t.Parallel()
	m := load(t, hostBlocks+`
resource "motd" {
  for_each = host.web
  type     = "x"
  host     = each.value
  config   = { os = each.value.facts.os, at = each.value.address, name = each.value.name }
}
resource "all" {
  type   = "x"
  config = { cpus = sum(values(host.web)[*].facts.cpus), names = host.n[*].name, whole = host.db }
}
resource "debian" {
  for_each = { for key, h in host.web : key => h if h.facts.os == "debian" }
  type     = "x"
  config   = { memory = host.web[each.key].facts.memory }
}
output "kernel" { value = host.db.facts.kernel }
`)
	if p := m.Pending(); len(p) != 1 || p[0].Address != "debian" || fmt.Sprint(p[0].Facts) != `[web["a"] web["b"]]` {
		t.Fatalf("%+v", p)
	}
	motd := config(t, m, `motd["a"]`, nil)
	if motd.Unknown["/os"] != `host.web["a"].facts.os` || len(motd.Unknown) != 1 {
		t.Errorf("%v", motd.Unknown)
	}
	all := config(t, m, "all", nil)
	if got := fmt.Sprint(all.Unknown); got != "map[/cpus:host.web /whole/facts:host.db.facts]" {
		t.Error(got)
	}
	if got := m.Resource("all").Edges; len(got) > 0 {
		t.Error(got)
	}
	rocky := debian
	rocky.OS, rocky.CPUs = "rocky", 2
	found, diags := m.WithHosts(map[string]protocol.HostFacts{`web["a"]`: debian, `web["b"]`: rocky}, nil)
	fatal(t, diags)
	if got := string(config(t, found, `motd["b"]`, nil).Value); got != `{"at":"10.0.0.6","name":"web[\"b\"]","os":"rocky"}` {
		t.Error(got)
	}
	if got := config(t, found, "all", nil); got.Unknown["/cpus"] != "" || got.Unknown["/whole/facts"] != "host.db.facts" ||
		!strings.Contains(string(got.Value), `"cpus":6,"names":["n[0]","n[1]"]`) {
		t.Errorf("%s %v", got.Value, got.Unknown)
	}
	if found.Resource(`debian["a"]`) == nil || found.Resource(`debian["b"]`) != nil || len(found.Pending()) != 0 {
		t.Errorf("%v", found.Pending())
	}
	again, diags := Load(found.Sources(), nil, Builtins{})
	fatal(t, diags)
	if got := string(config(t, again, `debian["a"]`, nil).Value); got != `{"memory":8589934592}` {
		t.Errorf("from the sources of a plan: %s", got)
	}
}

func TestHosts_AreHandedToModules(t *testing.T) {
	t.Parallel()
	const app = `
variable "target" {}
variable "others" {}
type "file" {
  image = "file"
  host  = var.target
}
resource "own" {
  type   = "x"
  host   = var.target
  config = { os = var.target.facts.os }
}
resource "typed" { type = type.file }
resource "other" {
  for_each = var.others
  type     = "x"
  host     = each.value
}
`
	m := loadFiles(t, map[string]string{"app": app, "main.hcl": hostBlocks + `
module "app" {
  source   = "./app"
  for_each = host.web
  target   = each.value
  others   = { db = host.db }
}
`})
	for address, want := range map[string]string{`module.app["a"].own`: `web["a"]`, `module.app["b"].typed`: `web["b"]`, `module.app["b"].other["db"]`: "db"} {
		if h := m.Resource(address).Settings.Host; h == nil || h.Name != want {
			t.Errorf("%s: %+v", address, h)
		}
	}
	if got := config(t, m, `module.app["a"].own`, nil).Unknown["/os"]; got != `host.web["a"].facts.os` {
		t.Error(got)
	}
	m, diags := m.WithHosts(map[string]protocol.HostFacts{`web["a"]`: debian}, nil)
	fatal(t, diags)
	if got := string(config(t, m, `module.app["a"].own`, nil).Value); got != `{"os":"debian"}` {
		t.Error(got)
	}
}

func TestParseHost_AcceptsHostAddressesOnly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"host.web": "web", ` host.web["a"]`: `web["a"]`, "host.n[1]": "n[1]", `host.web["a\"b"]`: `web["a\"b"]`,
		"web": "", "host": "", "host.web.a": "", `host.web["a"].x`: "", "host.": "", "resource.web": ""} {
		if got, ok := ParseHost(text); got != want || ok != (want != "") {
			t.Errorf("%q: %q %v, want %q", text, got, ok, want)
		}
	}
}

func TestInstances_AllHaveWhatTheTypeNeedsOfImages(t *testing.T) {
	t.Parallel()
	m := load(t, `
type "disk" {
  image = "acme/disk:1"
  pull  = "never"
}
resource "disk" {
  count = 2
  type  = type.disk
}
`)
	for _, r := range m.Resources() {
		if r.Pull != runner.PullNever {
			t.Errorf("%s: %q", r.Address, r.Pull)
		}
	}
}

const lateHosts = `
variable "users" { default = { a = "root", b = "deploy" } }
resource "vm" {
  for_each = var.users
  type     = "acme/vm:1"
}
resource "zone" { type = "acme/zone:1" }
host "web" {
  for_each = var.users
  address  = resource.vm[each.key].state.ip
  user     = each.value
  host_key = resource.vm[each.key].state.key
}
resource "motd" {
  for_each = host.web
  host     = each.value
  type     = "acme/file:1"
  config   = { to = each.value.address, os = each.value.facts.os }
}
output "addresses" { value = [for h in host.web : h.address] }
`

const hostKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE2BVYYNHF5kY0hH0Q0D3y0M7vZ9c8g5Y3P1fJ0kQm1V"

// vms are the states in which one machine is there, and the other one is not yet.
func vms() States {
	return States{`vm["a"]`: {Known: json.RawMessage(`{"ip":"10.0.0.5","key":"` + hostKey + `"}`), Complete: true}, `vm["b"]`: {}}
}

func TestLateHosts_AreMadeOfStates(t *testing.T) {
	t.Parallel()
	m := load(t, lateHosts)
	var edges []string
	for _, r := range m.Resources() {
		for _, e := range r.Edges {
			edges = append(edges, r.Address+" after "+e.To)
		}
	}
	if want := []string{`motd["a"] after vm["a"]`, `motd["b"] after vm["b"]`}; !slices.Equal(edges, want) {
		t.Errorf("%v, want %v", edges, want)
	}
	host, open, late, diags := LateHost(m, `web["a"]`, vms())
	fatal(t, diags)
	if !late || len(open) > 0 || host.Address != "10.0.0.5" || host.User != "root" || host.HostKey != hostKey {
		t.Errorf("%+v %v %v", host, open, late)
	}
	host, open, late, diags = LateHost(m, `web["b"]`, vms())
	fatal(t, diags)
	if want := []string{`resource.vm["b"].state.ip`, `resource.vm["b"].state.key`}; !late || !slices.Equal(open, want) || host.Address != "" {
		t.Errorf("%+v %v", host, open)
	}
	if _, _, late, _ := LateHost(m, "nobody", nil); late {
		t.Error("a host that is not declared")
	}
}

func TestLateHosts_InExpressions(t *testing.T) {
	t.Parallel()
	m := load(t, lateHosts)
	states := vms()
	unknown := func(addr string) string {
		return fmt.Sprint(slices.Sorted(maps.Values(config(t, m, addr, states).Unknown)))
	}
	if got := unknown(`motd["a"]`); got != `[host.web["a"].facts.os]` {
		t.Error(got)
	}
	if got := unknown(`motd["b"]`); got != `[host.web["b"].address host.web["b"].facts.os]` {
		t.Error(got)
	}
	states.KnowHost(`web["a"]`, debian)
	if got := string(config(t, m, `motd["a"]`, states).Value); got != `{"os":"debian","to":"10.0.0.5"}` {
		t.Error(got)
	}
}

func TestLateHosts_WhatIsKnownOfThem(t *testing.T) {
	t.Parallel()
	m := load(t, lateHosts)
	for _, h := range m.Hosts() {
		if h.Address != "" || len(h.Late) != 2 {
			t.Errorf("%+v", h)
		}
	}
	m, diags := m.WithHosts(map[string]protocol.HostFacts{`web["a"]`: debian}, map[string]runner.Host{`web["a"]`: {Name: `web["a"]`, Address: "10.0.0.5"}})
	fatal(t, diags)
	if host := m.Resource(`motd["a"]`).Settings.Host; host.Address != "10.0.0.5" {
		t.Errorf("%+v", host)
	}
	if host := m.Resource(`motd["b"]`).Settings.Host; host.Address != "" {
		t.Errorf("%+v", host)
	}
}
