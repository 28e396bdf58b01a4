package modules

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"sync"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/modsource"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// Options are where packages come from and go to.
type Options struct {
	Dir      string   // of the lock file
	CacheDir string   // where packages are kept; "" = nowhere
	Environ  []string // of git
	// Images opens the store of images; nil = nothing is fetched, from repositories neither.
	Images  func(context.Context) (Images, error)
	Pin     bool // init: what the lock file lacks is pinned
	Upgrade bool // init -upgrade: the pins of the lock file are ignored
}

// Packages gives manifests the packages of their modules: those that are kept here, and others from
// where they come. It implements config.Packages.
type Packages struct {
	ctx  context.Context // of the command
	o    Options
	kept kept
	lock *config.Lock // nil = there is none, or it was not read

	mu   sync.Mutex
	had  map[string]*had
	pins map[string]config.ModulePin // of all packages that were used
}

// had is a package that was obtained.
type had struct {
	verified map[string]bool // by the key and the repository of the signature
	files    config.Package
	pin      config.ModulePin
}

// New returns the packages of a command.
func New(ctx context.Context, o Options) *Packages {
	p := &Packages{ctx: ctx, o: o, had: map[string]*had{}, pins: map[string]config.ModulePin{}}
	if o.CacheDir != "" {
		p.kept = kept{filepath.Join(o.CacheDir, "modules")}
	}
	return p
}

// Pins returns the pins of all packages that were used, by the source without the directory.
func (p *Packages) Pins() map[string]config.ModulePin {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.pins)
}

// Package implements config.Packages.
func (p *Packages) Package(a modsource.Address, verify *runner.Verify) (config.Package, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name, terms := a.Package(), ""
	if verify != nil {
		terms = verify.Repository + "\x00" + string(verify.Keys)
	}
	h := p.had[name]
	if h == nil {
		var err error
		if h, err = p.obtain(a, verify); err != nil {
			return config.Package{}, p.named(a, err)
		}
		p.had[name], p.pins[name] = h, h.pin
	} else if !h.verified[terms] {
		if err := p.verify(a, h.pin, verify); err != nil {
			return config.Package{}, p.named(a, err)
		}
	}
	h.verified[terms] = true
	return h.files, nil
}

// named returns an error with the package that it is about.
func (p *Packages) named(a modsource.Address, err error) error {
	if p.ctx.Err() != nil {
		return context.Cause(p.ctx)
	}
	if diag.Is[*diag.Diagnostic](err) || diag.Is[diag.Diagnostics](err) {
		return err
	}
	return diag.Because(err, "Cannot use the module "+a.Package(), "%s.", err)
}

// obtain returns a package that is kept here, or fetches it.
func (p *Packages) obtain(a modsource.Address, verify *runner.Verify) (*had, error) {
	name := a.Package()
	pin, pinned := config.ModulePin{}, false
	if p.lock == nil && !p.o.Upgrade {
		lock, diags := config.ReadLock(p.o.Dir)
		if diags.HasErrors() {
			return nil, diags
		}
		p.lock = lock
	}
	if p.lock != nil {
		pin, pinned = p.lock.Modules[name]
	}
	if !pinned && !p.o.Pin {
		return nil, diag.Errorf("The module "+name+" is not pinned", "%s has no entry for it. Run `deployster init` to fetch and pin "+
			"it.", config.LockName)
	}
	if pinned && (pin.Digest != "") != (a.Image != "") {
		return nil, diag.Errorf("The module "+name+" is pinned as a module of another kind", "The pin at %s is for another kind of "+
			"source. Remove that block, and run `deployster init`.", p.at(name))
	}
	if pinned {
		t, err := p.kept.read(pin.Tree)
		changed, is := errors.AsType[*changedError](err)
		switch {
		case err == nil:
			return &had{map[string]bool{"": true}, t.files(), pin}, p.verify(a, pin, verify)
		case is && !p.o.Pin:
			return nil, diag.Errorf("The module "+name+" was changed on this machine", "Its files in %s have the tree %s, and the lock "+
				"file pins the tree %s (%s). Run `deployster init` to fetch it again.", changed.at, changed.have, pin.Tree, p.at(name))
		case is:
			if err := p.kept.drop(pin.Tree); err != nil {
				return nil, err
			}
		}
	}
	return p.fetch(a, pin, pinned, verify)
}

// fetch fetches a package from where it comes, and keeps it.
func (p *Packages) fetch(a modsource.Address, pin config.ModulePin, pinned bool, verify *runner.Verify) (*had, error) {
	if p.o.Images == nil {
		return nil, errors.New("it is pinned and not on this machine. Run `deployster init` to fetch it")
	}
	var (
		got config.ModulePin
		t   *tree
		err error
	)
	if a.Image == "" {
		got, t, err = fetchGit(p.ctx, a, pin, p.o.Environ)
	} else {
		images, open := p.o.Images(p.ctx)
		if open != nil {
			return nil, open
		}
		got, t, err = fetchImage(p.ctx, images, a, pin, verify, p.o.Upgrade)
	}
	if err != nil {
		return nil, err
	}
	if pinned && got != pin {
		return nil, diag.Errorf("The module "+a.Package()+" is not the one that is pinned", "It is %s with the tree %s, and the lock file "+
			"pins %s with the tree %s (%s). To use the new one, run `deployster init "+
			"-upgrade`.", got.What(), got.Tree, pin.What(), pin.Tree,
			p.at(a.Package()))
	}
	if err := p.kept.write(t, got.Tree); err != nil {
		return nil, diag.Because(err, "The module "+a.Package()+" cannot be kept", "%s.", err)
	}
	h := &had{map[string]bool{"": true}, t.files(), got}
	return h, nil
}

// verify checks the signature of the image of a package that is here; nil = none is needed.
func (p *Packages) verify(a modsource.Address, pin config.ModulePin, verify *runner.Verify) error {
	if verify == nil {
		return nil
	}
	if p.o.Images == nil {
		return errors.New("its signature is not checked here")
	}
	images, err := p.o.Images(p.ctx)
	if err != nil {
		return err
	}
	_, err = images.Obtain(p.ctx, runner.Wanted{Reference: imagestore.WithDigest(a.Image, pin.Digest), Verify: verify})
	return err
}

// at returns the place of the pin of a package.
func (p *Packages) at(name string) string {
	at := p.lock.At["module."+name]
	return at.String()
}
