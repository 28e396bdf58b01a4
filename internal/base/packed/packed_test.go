package packed

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// contents of several chunks, of one and of none.
func contents() map[string][]byte {
	random := make([]byte, 2*chunk+5)
	_, _ = rand.NewChaCha8([32]byte{}).Read(random[:1000]) // it never fails
	for i := 1000; i < len(random); i++ {
		random[i] = random[i%997]
	}
	return map[string][]byte{"large": random, "chunk": random[:chunk], "small": []byte("it"), "none": {}}
}

func TestUnpack_RestoresWhatWasPacked(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	for name, content := range contents() {
		path := filepath.Join(from, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		packed, err := Pack(path)
		again, err2 := Pack(path)
		if err != nil || err2 != nil || !bytes.Equal(packed, again) {
			t.Fatalf("%s: %v, %v, or not the same twice", name, err, err2)
		}
		if err := os.WriteFile(filepath.Join(to, name+Ending), packed, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := Unpack(to); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(to)
	if err != nil || len(left) != len(contents()) {
		t.Errorf("%v, %v", left, err)
	}
	for name, want := range contents() {
		got, err := os.ReadFile(filepath.Join(to, name))
		if info, serr := os.Stat(filepath.Join(to, name)); err != nil || serr != nil || !bytes.Equal(got, want) || info.Mode() != 0o755 {
			t.Errorf("%s: %d bytes, want %d: %v, %v", name, len(got), len(want), err, serr)
		}
	}
}

// What is not whole, or is not what was packed, is an error, and so is a directory with nothing to restore.
func TestUnpack_RefusesWhatIsDamaged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "it")
	if err := os.WriteFile(path, contents()["large"], 0o600); err != nil {
		t.Fatal(err)
	}
	packed, err := Pack(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Clone(packed)
	changed[len(changed)/2] ^= 1
	for name, content := range map[string][]byte{"nothing": nil, "cut": packed[:len(packed)-1], "changed": changed} {
		dir := t.TempDir()
		if content != nil {
			if err := os.WriteFile(filepath.Join(dir, "it"+Ending), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := Unpack(dir); err == nil {
			t.Errorf("%s: it is taken as whole", name)
		}
	}
}
