package modules

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deployster/config"
	"deployster/internal/base/durable"
	"deployster/internal/runtime/modsource"
	"deployster/internal/runtime/runner"
)

// place is a directory with a lock file, a cache, and a store of images.
type place struct {
	t     *testing.T
	o     Options
	blobs *blobs
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{t: t, blobs: newBlobs(), o: Options{Dir: t.TempDir(), CacheDir: t.TempDir(), Environ: environ(t)}}
	p.o.Images = func(context.Context) (Images, error) { return p.blobs, nil }
	return p
}

// init is the command init: it writes the pins.
func (p *place) init(a modsource.Address, upgrade bool) error {
	p.t.Helper()
	o := p.o
	o.Pin, o.Upgrade = true, upgrade
	pins := New(p.t.Context(), o)
	if _, err := pins.Package(a, nil); err != nil {
		return err
	}
	lock := config.Lock{Modules: pins.Pins()}
	return durable.WriteFile(filepath.Join(p.o.Dir, config.LockName), lock.Bytes(), 0o600)
}

// read is a command that uses the package.
func (p *place) read(a modsource.Address, verify *runner.Verify) (string, error) {
	got, err := New(p.t.Context(), p.o).Package(a, verify)
	return string(got.Files["main.hcl"]), err
}

func TestPackages_WithoutAPinInitIsNamed(t *testing.T) {
	p := newPlace(t)
	p.blobs.image(t, imageName, layer(t, file("main.hcl")))
	_, err := p.read(modsource.Address{Image: imageName}, nil)
	if err == nil || !strings.Contains(err.Error(), "`deployster init`") || len(p.blobs.wanted) > 0 {
		t.Errorf("%v; fetched: %v", err, p.blobs.wanted)
	}
}

func TestPackages_ThePinIsWhatIsUsed(t *testing.T) {
	p, a := newPlace(t), modsource.Address{Image: imageName}
	p.blobs.image(t, imageName, layer(t, file("main.hcl")))
	first := p.blobs.named[imageName]
	if err := p.init(a, false); err != nil {
		t.Fatal(err)
	}
	p.blobs.image(t, imageName, layer(t, file("main.hcl"), file("new")))
	if err := p.init(a, false); err != nil { // the tag has moved
		t.Fatal(err)
	}
	if lock, _ := config.ReadLock(p.o.Dir); lock.Modules[a.Package()].Digest != first {
		t.Errorf("init moved the pin to %+v", lock.Modules)
	}
	p.blobs.fails = errors.New("no network")
	if got, err := p.read(a, nil); got != "main.hcl" || err != nil {
		t.Errorf("offline: %q, %v", got, err)
	}
	if err := os.RemoveAll(p.o.CacheDir); err != nil {
		t.Fatal(err)
	}
	if _, err := p.read(a, nil); err == nil || !strings.Contains(err.Error(), "no network") {
		t.Errorf("neither kept nor to be had: %v", err)
	}
	p.blobs.fails = nil
	if got, err := p.read(a, nil); got != "main.hcl" || err != nil || !strings.HasSuffix(p.blobs.wanted[len(p.blobs.wanted)-1].Reference, "@"+first) {
		t.Errorf("a plan fetches what is pinned: %q, %v, %+v", got, err, p.blobs.wanted)
	}
	if err := p.init(a, true); err != nil {
		t.Fatal(err)
	}
	if lock, _ := config.ReadLock(p.o.Dir); lock.Modules[a.Package()].Digest == first {
		t.Errorf("init -upgrade did not move the pin: %+v", lock.Modules)
	}
}

// Another tree than the pinned one is refused with both hashes, where it is kept and where it comes from.
func TestPackages_AnotherTreeIsRefused(t *testing.T) {
	p, a := newPlace(t), modsource.Address{Image: imageName}
	p.blobs.image(t, imageName, layer(t, file("main.hcl")))
	if err := p.init(a, false); err != nil {
		t.Fatal(err)
	}
	lock, _ := config.ReadLock(p.o.Dir)
	pin := lock.Modules[a.Package()]
	dir := filepath.Join(p.o.CacheDir, "modules", pin.Tree)
	if err := os.WriteFile(filepath.Join(dir, "main.hcl"), []byte("evil"), 0o600); err != nil {
		t.Fatal(err)
	}
	changed, err := readTree(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.read(a, nil); got != "" || err == nil || !strings.Contains(err.Error(), changed.hash("")) ||
		!strings.Contains(err.Error(), "pins the tree "+pin.Tree) {
		t.Errorf("%q, %v", got, err)
	}
	if err := p.init(a, false); err != nil {
		t.Fatal(err)
	}
	if got, err := p.read(a, nil); got != "main.hcl" || err != nil {
		t.Errorf("after init: %q, %v", got, err)
	}
	other := pin
	other.Tree = strings.Repeat("0", 64)
	if err := os.WriteFile(filepath.Join(p.o.Dir, config.LockName), (&config.Lock{Modules: map[string]config.ModulePin{a.Package(): other}}).Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := p.read(a, nil); got != "" || err == nil || !strings.Contains(err.Error(), pin.Tree) || !strings.Contains(err.Error(), other.Tree) {
		t.Errorf("%q, %v", got, err)
	}
}

// A signature is checked by each command, also of a package that is kept here.
func TestPackages_SignaturesAreChecked(t *testing.T) {
	p, a := newPlace(t), modsource.Address{Image: imageName}
	p.blobs.image(t, imageName, layer(t, file("main.hcl")))
	if err := p.init(a, false); err != nil {
		t.Fatal(err)
	}
	verify := &runner.Verify{Keys: []byte("key")}
	if got, err := p.read(a, verify); got != "main.hcl" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if last := p.blobs.wanted[len(p.blobs.wanted)-1]; last.Verify != verify || !strings.HasSuffix(last.Reference, "@"+p.blobs.named[imageName]) {
		t.Errorf("%+v", last)
	}
	p.blobs.unsigned = errors.New("not signed")
	both := New(t.Context(), p.o)
	if _, err := both.Package(a, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := both.Package(a, verify); len(got.Files) > 0 || err == nil || !strings.Contains(err.Error(), "not signed") {
		t.Errorf("another block needs a signature: %v, %v", got, err)
	}
	if got, err := p.read(a, verify); got != "" || err == nil || !strings.Contains(err.Error(), "not signed") {
		t.Errorf("%q, %v", got, err)
	}
	p.o.CacheDir = t.TempDir()
	if got, err := p.read(a, verify); got != "" || err == nil {
		t.Errorf("not kept: %q, %v", got, err)
	}
	if left, _ := os.ReadDir(p.o.CacheDir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestPackages_WithoutImagesNothingIsFetched(t *testing.T) {
	dir, _ := commit(t, "echo text >main.hcl")
	p, a := newPlace(t), addressOf(t, "git::file://"+dir)
	if err := p.init(a, false); err != nil {
		t.Fatal(err)
	}
	p.o.Images = nil
	if got, err := p.read(a, nil); got != "text\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	p.o.CacheDir = t.TempDir()
	if got, err := p.read(a, nil); got != "" || err == nil || !strings.Contains(err.Error(), "deployster init") {
		t.Errorf("%q, %v", got, err)
	}
}
