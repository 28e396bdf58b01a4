package packed

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
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

// archived returns the archive of a restorer and compressed programs, and its checksum. The same programs are packed to the
// same bytes.
func archived(t *testing.T, restorer []byte, programs map[string][]byte) (archive []byte, sum string) {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	add := func(name string, content []byte) {
		err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755, Size: int64(len(content))})
		if _, werr := w.Write(content); err != nil || werr != nil {
			t.Fatal(err, werr)
		}
	}
	add(Restorer, restorer)
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		path := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(path, programs[name], 0o600); err != nil {
			t.Fatal(err)
		}
		packed, err := Pack(path, name == "chunk")
		again, err2 := Pack(path, name == "chunk")
		if err != nil || err2 != nil || !bytes.Equal(packed, again) {
			t.Fatalf("%s: %v, %v, or not the same twice", name, err, err2)
		}
		add(name+Ending, packed)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b.Write(make([]byte, 1<<20)) // some programs write more after the last file than a reader takes
	hash := sha256.Sum256(b.Bytes())
	return b.Bytes(), hex.EncodeToString(hash[:])
}

// received is a directory with what a host has of an archive before its restorer runs, and the rest of that archive.
func received(t *testing.T, archive, restorer []byte) (dir string, rest []byte) {
	t.Helper()
	dir = t.TempDir()
	head, rest := archive[:HeadSize+len(restorer)], archive[HeadSize+len(restorer):]
	for name, content := range map[string][]byte{Head: head, Restorer: restorer} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, rest
}

// Whatever pieces an archive comes in, each program is restored, and what follows it is not read.
func TestUnpack_RestoresWhatWasPacked(t *testing.T) {
	t.Parallel()
	for name, reads := range map[string]func(io.Reader) io.Reader{"at once": func(r io.Reader) io.Reader { return r }, "in halves": iotest.HalfReader} {
		for _, restorer := range [][]byte{[]byte("restorer"), bytes.Repeat([]byte("r"), 1024), nil} {
			archive, sum := archived(t, restorer, contents())
			dir, rest := received(t, archive, restorer)
			from := strings.NewReader(string(rest) + "next")
			if err := Restore([]string{dir, sum, fmt.Sprint(len(archive))}, reads(from)); err != nil {
				t.Fatal(name, err)
			}
			if next, err := io.ReadAll(from); err != nil || string(next) != "next" {
				t.Errorf("%s: %d bytes are left: %v", name, len(next), err)
			}
			for name, want := range contents() {
				got, err := os.ReadFile(filepath.Join(dir, name))
				if info, serr := os.Stat(filepath.Join(dir, name)); err != nil || serr != nil || !bytes.Equal(got, want) || info.Mode() != 0o755 {
					t.Errorf("%s: %d bytes, want %d: %v, %v", name, len(got), len(want), err, serr)
				}
			}
		}
	}
}

// What is not whole, or is not what was packed, is an error, wherever it was changed.
func TestUnpack_RefusesWhatIsDamaged(t *testing.T) {
	t.Parallel()
	restorer := []byte("restorer")
	archive, sum := archived(t, restorer, map[string][]byte{"it": contents()["large"]})
	for name, damage := range map[string]func(rest []byte) []byte{
		"nothing comes":           func([]byte) []byte { return nil },
		"cut in a program":        func(rest []byte) []byte { return rest[:len(rest)/2] },
		"cut at its end":          func(rest []byte) []byte { return rest[:len(rest)-1] },
		"changed in a program":    func(rest []byte) []byte { rest[len(rest)/2] ^= 1; return rest },
		"changed before it":       func(rest []byte) []byte { rest[0] ^= 1; return rest },
		"changed after all of it": func(rest []byte) []byte { rest[len(rest)-1] ^= 1; return rest },
	} {
		dir, rest := received(t, archive, restorer)
		if err := Unpack(dir, sum, int64(len(archive)), bytes.NewReader(damage(bytes.Clone(rest)))); err == nil {
			t.Errorf("%s: it is taken as whole", name)
		}
	}
	for _, at := range []int{0, HeadSize} {
		changed := bytes.Clone(archive)
		changed[at] ^= 1
		dir, rest := received(t, changed, restorer)
		if err := Unpack(dir, sum, int64(len(archive)), bytes.NewReader(rest)); err == nil {
			t.Errorf("byte %d was changed: it is taken as whole", at)
		}
	}
	for _, name := range []string{"../it", "/it", Restorer} {
		archive, sum := archived(t, restorer, map[string][]byte{name: []byte("it")})
		dir, rest := received(t, archive, restorer)
		if err := Unpack(dir, sum, int64(len(archive)), bytes.NewReader(rest)); err == nil {
			t.Errorf("%s is restored", name)
		}
	}
}
