package sysctl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deployster/machine/internal/access"
	"deployster/machine/internal/kindtest"
	"deployster/machine/internal/sysctl"
)

type config = kindtest.Config

// kernel returns a machine whose kernel has these parameters.
func kernel(t *testing.T, parameters map[string]string) *access.Machine {
	t.Helper()
	m := &access.Machine{Root: t.TempDir()}
	for key, value := range parameters {
		path := m.Path("/proc/sys/" + key)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(value+"\n"), 0o644))
	}
	return m
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func text(t *testing.T, m *access.Machine, path string) string {
	t.Helper()
	b, err := os.ReadFile(m.Path(path))
	must(t, err)
	return string(b)
}

const forward = "/etc/sysctl.d/99-zz-deployster-net.ipv4.ip_forward.conf"

func TestSysctl_FileAndLiveValueAreTwoFacts(t *testing.T) {
	t.Parallel()
	m := kernel(t, map[string]string{"net/ipv4/ip_forward": "0"})
	s := kindtest.New(t, sysctl.New(m))
	c := config{"key": "net.ipv4.ip_forward", "value": "1"}
	if a := s.Apply(c); a.Actions[0].Name != "create" {
		t.Errorf("%+v", a)
	}
	if live, boot := text(t, m, "/proc/sys/net/ipv4/ip_forward"), text(t, m, forward); live != "1\n" ||
		boot != "# Managed by deployster\nnet/ipv4/ip_forward = 1\n" {
		t.Errorf("%q %q", live, boot)
	}
	must(t, os.WriteFile(m.Path("/proc/sys/net/ipv4/ip_forward"), []byte("0\n"), 0o644))
	if a := s.Apply(c); len(a.Reasons) != 1 || a.Reasons[0].Path != "/value" || string(a.Reasons[0].Have) != `"0"` {
		t.Errorf("%+v", a.Reasons)
	}
	must(t, os.WriteFile(m.Path(forward), []byte("net.ipv4.ip_forward=0\n"), 0o644))
	if a := s.Apply(c); len(a.Reasons) != 1 || a.Reasons[0].Message != "at boot it gets another value" {
		t.Errorf("%+v", a.Reasons)
	}
	must(t, os.Remove(m.Path(forward)))
	if a := s.Apply(c); len(a.Reasons) != 1 || !strings.Contains(a.Reasons[0].Message, "at boot it is not set") {
		t.Errorf("%+v", a.Reasons)
	}
	c["value"] = "0"
	s.Apply(c)
	s.Destroy(c)
	s.Destroy(c)
	if entries, err := os.ReadDir(m.Path("/etc/sysctl.d")); err != nil || len(entries) != 0 {
		t.Errorf("%v %v", entries, err)
	}
}

func TestSysctl_BlanksAreComparedAsTheKernelDoes(t *testing.T) {
	t.Parallel()
	m := kernel(t, map[string]string{"net/ipv4/tcp_rmem": "4096\t131072\t6291456"})
	s := kindtest.New(t, sysctl.New(m))
	c := config{"key": "net.ipv4.tcp_rmem", "value": "4096 131072  6291456"}
	s.Apply(c)
	if got := text(t, m, "/proc/sys/net/ipv4/tcp_rmem"); got != "4096\t131072\t6291456\n" {
		t.Errorf("%q: it was written though it means the same", got)
	}
	c["value"] = "1 2 3"
	s.Apply(c)
}

func TestSysctl_MissingKeyIsNamed(t *testing.T) {
	t.Parallel()
	m := kernel(t, map[string]string{"kernel/panic": "0"})
	s := kindtest.New(t, sysctl.New(m))
	s.Fails(config{"key": "net.bridge.x", "value": "1"}, "config", "/key", "has no parameter net.bridge.x: is its module loaded?")
	for _, key := range []string{"kernel..panic", "kernel/../kernel/panic", "kernel.*"} {
		s.Fails(config{"key": key, "value": "1"}, "config", "/key", "not the name of one parameter")
	}
	s.Fails(config{"key": "kernel.panic", "value": ""}, "config", "/value")
	s.Fails(config{"key": "kernel.panic", "value": "1\n2"}, "config", "/value")
	s.Destroy(config{"key": "net.bridge.x", "value": "1"})
}

func TestSysctl_NamesMayHoldDots(t *testing.T) {
	t.Parallel()
	m := kernel(t, map[string]string{"net/ipv4/conf/eth0.1/forwarding": "0"})
	s := kindtest.New(t, sysctl.New(m))
	for _, key := range []string{"net/ipv4/conf/eth0.1/forwarding", "net.ipv4.conf.eth0/1.forwarding"} {
		s.Apply(config{"key": key, "value": "1"})
	}
	found := s.Discover(config{"prefix": "net"})
	if len(found) != 1 || found[0]["key"] != "net/ipv4/conf/eth0.1/forwarding" || found[0]["value"] != "1" {
		t.Errorf("%v", found)
	}
	if found := s.Discover(config{"prefix": "kernel"}); len(found) != 0 {
		t.Errorf("%v", found)
	}
	if entries, err := os.ReadDir(m.Path("/etc/sysctl.d")); err != nil || len(entries) != 1 {
		t.Errorf("%v %v", entries, err)
	}
}

func TestSysctl_IsWatched(t *testing.T) {
	t.Parallel()
	m := kernel(t, map[string]string{"net/ipv4/ip_forward": "1"})
	s := kindtest.New(t, sysctl.New(m))
	c := config{"key": "net.ipv4.ip_forward", "value": "1"}
	s.Apply(c)
	events := s.Watch(c)
	must(t, os.Remove(m.Path(forward)))
	<-events
}

// The kernel of the machine of the tests refuses what is no number.
func TestSysctl_RefusedValueIsNotInTheFile(t *testing.T) {
	t.Parallel()
	m := kernel(t, nil)
	must(t, os.MkdirAll(m.Path("/proc/sys"), 0o755))
	must(t, os.Symlink("/proc/sys/net", m.Path("/proc/sys/net")))
	s := kindtest.New(t, sysctl.New(m))
	s.Fails(config{"key": "net.ipv4.ip_forward", "value": "no number"}, `the kernel does not take "no number" for net.ipv4.ip_forward`)
	if _, err := os.Stat(m.Path(forward)); err == nil {
		t.Error("it is in the file")
	}
}
