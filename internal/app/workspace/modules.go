package workspace

import (
	"context"

	"deployster/config"
	"deployster/internal/app/modules"
)

// ModuleImages is a store of images that modules come from.
type ModuleImages = modules.Images

// Modules gives the manifests of a command the modules that registries and repositories of git have.
type Modules struct {
	o      modules.Options
	pinned *modules.Packages // of a command that pins modules; nil = the lock file decides
}

func newModules(o Options) *Modules {
	return &Modules{o: modules.Options{Dir: o.Dir, CacheDir: o.CacheDir, Environ: o.Environ, Images: o.OpenImages}}
}

// Pin has the manifests of this command pin the modules that the lock file lacks; with upgrade, all of
// them again. It returns what knows the pins once the manifests are read.
func (m *Modules) Pin(ctx context.Context, upgrade bool) *modules.Packages {
	o := m.o
	o.Pin, o.Upgrade = true, upgrade
	m.pinned = modules.New(ctx, o)
	return m.pinned
}

// kept returns the packages of modules for manifests that a command is held to: those that are here.
func (m *Modules) kept(dir string) config.Packages {
	if m.pinned != nil && dir == m.o.Dir {
		return m.pinned
	}
	o := m.o
	o.Dir, o.Images = dir, nil
	return modules.New(context.Background(), o)
}

// Find reads the manifests, those in the paths or all of the workspace. What loads them can obtain their modules.
func (m *Modules) Find(ctx context.Context, in Inputs) (config.Sources, error) {
	sources, diags := in.Edited.Find(m.o.Dir, in.Paths, in.Variables)
	if diags.HasErrors() {
		return config.Sources{}, diags
	}
	if sources.Packages = m.pinned; m.pinned == nil {
		sources.Packages = modules.New(ctx, m.o)
	}
	return sources, nil
}
