package daemon

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deployster/internal/base/diag"
)

func TestRuncVersions_AreSafeFromTheFixedReleasesOn(t *testing.T) {
	for version, want := range map[string]bool{
		"1.0.3": false, "1.1.5+ds1": false, "1.2.9": false, "1.3.5": false, "1.3.6": true, "1.3.7-rc.1": true, "1.3.6-rc.1": false,
		"1.4.2": false, "1.4.3": true, "1.4.3-rc.2": false, "1.5.0-rc.1": false, "1.5.0": true, "1.12.0": true, "2.0.0": true,
	} {
		got, safe, err := parseRunc("runc version " + version + "\ncommit: x\n")
		if err != nil || safe != want || !strings.HasPrefix(version, got) {
			t.Errorf("%s: got %s, %v, %v", version, got, safe, err)
		}
	}
	if _, _, err := parseRunc("crun version 1.8.1\n"); err == nil {
		t.Error("crun was taken for runc")
	}
}

// fakeRunc makes a program that says to be a runc.
func fakeRunc(t *testing.T, version string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "runc")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho runc version "+version+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFindRunc_PrefersASafeVersion(t *testing.T) {
	ctx := context.Background()
	old, safe := fakeRunc(t, "1.1.5"), fakeRunc(t, "1.4.3")
	t.Setenv("PATH", filepath.Dir(safe))
	if got, err := findRunc(ctx, Options{Runc: old}); err != nil || got != safe {
		t.Errorf("an old one asked for, a safe one on PATH: got %s, %v", got, err)
	}
	t.Setenv("PATH", filepath.Dir(old))
	if got, err := findRunc(ctx, Options{Runc: safe}); err != nil || got != safe {
		t.Errorf("a safe one asked for: got %s, %v", got, err)
	}
	_, err := findRunc(ctx, Options{})
	wantDiagnostic(t, err, "too old", old, "1.1.5", runcMinimum, "DEPLOYSTER_ALLOW_OLD_RUNC")
	var warned []*diag.Diagnostic
	got, err := findRunc(ctx, Options{AllowOldRunc: true, Warn: func(d *diag.Diagnostic) { warned = append(warned, d) }})
	if err != nil || got != old || len(warned) != 1 || warned[0].Severity != diag.Warning {
		t.Errorf("an old one allowed: got %s, %v, %v", got, err, warned)
	}
	t.Chdir(filepath.Dir(safe))
	if got, err := findRunc(ctx, Options{Runc: "./runc"}); err != nil || got != safe {
		t.Errorf("a relative path: got %s, %v", got, err)
	}
	// One that is named and not there is never passed over, also with a safe
	// one on PATH.
	for _, named := range []string{"/nowhere/runc", t.TempDir()} {
		_, err = findRunc(ctx, Options{Runc: named})
		wantDiagnostic(t, err, "The chosen runc does not exist", named, "DEPLOYSTER_RUNC")
	}
	t.Setenv("PATH", t.TempDir())
	_, err = findRunc(ctx, Options{})
	wantDiagnostic(t, err, "There is no runc", "DEPLOYSTER_RUNC")
}
