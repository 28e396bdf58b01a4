package containerd

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	digest "github.com/opencontainers/go-digest"

	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// What one command has found out about an image the next one takes from a file;
// and no such file, and none that is wrong, does harm.
func TestImage_WhatIsKnownIsKept(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r := open(t, o)
	image := pack(t, r, imagestore.PackOptions{Entrypoint: []string{"/bin/sh", "-c", "pwd; ls /plug"}}, map[string]string{"link/.keep": "", "tmp/.keep": "", "there": "x"})
	place := t.TempDir()
	if err := os.WriteFile(place+"/mounted", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	asks := func(want string) {
		t.Helper()
		r := open(t, o) // as the next command does
		res, err := r.Run(context.Background(), runner.Spec{Name: "a", Digest: image, MaxStdout: 1000,
			Mounts: []runner.Mount{{Source: place, Target: "/plug"}}})
		if err != nil || string(res.Stdout) != want {
			t.Errorf("got %q, %v, want %q", res.Stdout, err, want)
		}
	}
	path := filepath.Join(o.DataDir, "images", digest.Digest(image).Encoded()+".json")
	content := func() []byte {
		t.Helper()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	asks("/\nmounted\n")
	good := content()
	if !bytes.Contains(good, []byte(`"/plug":"/plug"`)) {
		t.Errorf("the place of the mount is not kept: %s", good)
	}
	for what, bad := range map[string]string{
		"nothing":            "",
		"torn":               string(good[:len(good)/2]),
		"of another format":  strings.Replace(string(good), `"format":1`, `"format":0`, 1),
		"of another image":   strings.Replace(string(good), `"digest":"sha256:`, `"digest":"sha256:0`, 1),
		"of files that went": strings.Replace(string(good), `"chain":"sha256:`, `"chain":"sha256:0`, 1),
	} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		asks("/\nmounted\n")
		if !bytes.Equal(content(), good) {
			t.Errorf("what was %s is now %s", what, content())
		}
	}
	// It is believed, which is what it is for.
	if err := os.WriteFile(path, bytes.Replace(good, []byte(`"cwd":"/"`), []byte(`"cwd":"/tmp"`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	asks("/tmp\nmounted\n")
	r.Images.Forget(digest.Digest(image))
	asks("/\nmounted\n")
}
