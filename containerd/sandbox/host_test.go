package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/containerd/containerd/v2/contrib/apparmor"

	"deployster/internal/runtime/runner"
)

// fakeRoot makes files below a directory that stands for the host's root.
func fakeRoot(t *testing.T, files ...string) string {
	t.Helper()
	root := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(root, files[i])
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(files[i+1]), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestAppArmor_IsUsedWhereTheKernelHasIt(t *testing.T) {
	t.Parallel()
	enabled := "sys/module/apparmor/parameters/enabled"
	for _, c := range []struct {
		name  string
		files []string
		want  string
	}{
		{"a kernel with it", []string{enabled, "Y\n", "sys/kernel/security/apparmor/profiles", "", "sbin/apparmor_parser", ""}, profileName},
		{"a kernel without", nil, ""},
		{"switched off", []string{enabled, "N\n", "sys/kernel/security/apparmor/profiles", "", "sbin/apparmor_parser", ""}, ""},
		{"no tools", []string{enabled, "Y\n", "sys/kernel/security/apparmor/profiles", ""}, ""},
		{"in a container", []string{enabled, "Y\n", "sbin/apparmor_parser", ""}, ""},
	} {
		loaded := ""
		got, err := loadProfile(fakeRoot(t, c.files...), func(name string) error { loaded = name; return nil })
		if err != nil || got != c.want || loaded != c.want {
			t.Errorf("%s: got %q, loaded %q, %v", c.name, got, loaded, err)
		}
	}
	full := fakeRoot(t, enabled, "Y\n", "sys/kernel/security/apparmor/profiles", "", "sbin/apparmor_parser", "")
	if _, err := loadProfile(full, func(string) error { return errors.New("denied") }); !isDiagnostic(err) || !strings.Contains(err.Error(), "denied") {
		t.Errorf("got %v", err)
	}
}

// TestAppArmor_ProfileDeniesTheKernelInterfaces looks at the profile that would be loaded.
func TestAppArmor_ProfileDeniesTheKernelInterfaces(t *testing.T) {
	t.Parallel()
	text, err := apparmor.DumpDefaultProfile(profileName)
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range []string{"profile " + profileName, "deny mount", "deny /sys/firmware/** rwklx", "deny @{PROC}/sysrq-trigger rwklx", "deny @{PROC}/kcore rwklx"} {
		if !strings.Contains(text, rule) {
			t.Errorf("it has no %q", rule)
		}
	}
}

func TestThermalPaths_CoverEachProcessor(t *testing.T) {
	t.Parallel()
	root := fakeRoot(t, "cpu0/online", "1", "cpu11/online", "0", "cpufreq/policy", "", "present", "0-11")
	want := filepath.Join(root, "cpu0/thermal_throttle") + " " + filepath.Join(root, "cpu11/thermal_throttle")
	if got := strings.Join(thermalPaths(root), " "); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSettings_ThatThisMachineCannotGive(t *testing.T) {
	t.Parallel()
	h := host{processors: 2, lacks: []string{"SYS_TIME"}}
	for _, cpu := range []int64{0, 10, 2000} {
		if err := h.check(runner.Settings{CPU: cpu}); err != nil {
			t.Errorf("%d: %v", cpu, err)
		}
	}
	if err := h.check(runner.Settings{CPU: 2001}); !isDiagnostic(err) || !strings.Contains(err.Error(), "cpu = 2.001, and this machine has 2") {
		t.Errorf("got %v", err)
	}
	for _, c := range []struct {
		add    string
		userns runner.UserNS
		ok     bool
	}{{"SYS_TIME", "", false}, {"SYS_TIME", runner.AutoUserNS, true}, {"ALL", "", true}, {"NET_ADMIN", "", true}} {
		err := h.check(runner.Settings{UserNS: c.userns, Capabilities: runner.Capabilities{Add: []string{c.add}}})
		if (err == nil) != c.ok || err != nil && (!isDiagnostic(err) || !strings.Contains(err.Error(), "adds SYS_TIME")) {
			t.Errorf("%s: %v", c.add, err)
		}
	}
}
