package server

import (
	"os"
	"path/filepath"
	"testing"

	"deployster/containerd/layout"
	"deployster/containerd/shim"
)

// A light shim is used when it says that it fits, and else left alone.
func TestLightShim_IsUsedOnlyIfItsLayoutMatches(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, ShimProgram)
	if got := lightShim(path); got != "" {
		t.Errorf("where there is none: %q", got)
	}
	for script, want := range map[string]string{
		"echo " + shim.Layout:          path,
		"echo " + shim.Layout + "0":    "",
		"echo " + shim.Layout + "; no": "",
	} {
		if err := os.WriteFile(path+".new", []byte("#!/bin/sh\n[ \"$1\" = "+shim.LayoutFlag+" ] && "+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
		if got := lightShim(path); got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
	bin := t.TempDir()
	if err := layout.InstallProgram(filepath.Join(bin, shim.Name), path); err != nil {
		t.Fatal(err)
	}
	have, err1 := os.Stat(filepath.Join(bin, shim.Name))
	want, err2 := os.Stat(path)
	if err1 != nil || err2 != nil || !os.SameFile(have, want) && have.Size() != want.Size() {
		t.Errorf("installed was %v, not %v (%v, %v)", have, want, err1, err2)
	}
}
