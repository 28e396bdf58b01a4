package workspace

import (
	"context"

	"deployster/config"
	"deployster/internal/app/modules"
)

// PinModules has the manifests of this command pin the modules that the lock file lacks; with upgrade, all of
// them anew. It returns what knows the pins once the manifests are read.
func (w *Workspace) PinModules(ctx context.Context, upgrade bool) *modules.Packages {
	o := w.moduleOptions()
	o.Pin, o.Upgrade = true, upgrade
	w.modules = modules.New(ctx, o)
	return w.modules
}

func (w *Workspace) moduleOptions() modules.Options {
	return modules.Options{Dir: w.Dir, CacheDir: w.CacheDir, Environ: w.Environ, Images: w.ModuleImages}
}

// packages returns the packages of modules for manifests that a command works on.
func (w *Workspace) packages(ctx context.Context) config.Packages {
	if w.modules != nil {
		return w.modules
	}
	return modules.New(ctx, w.moduleOptions())
}

// keptPackages returns the packages of modules for manifests that a command is held to: those that are here.
func (w *Workspace) keptPackages(dir string) config.Packages {
	if w.modules != nil && dir == w.Dir {
		return w.modules
	}
	o := w.moduleOptions()
	o.Dir, o.Images = dir, nil
	return modules.New(context.Background(), o)
}

// Find reads the manifests, those in paths or all of the workspace. What loads them can obtain their modules.
func (w *Workspace) Find(ctx context.Context, paths []string, flags []config.VarFlag) (config.Sources, error) {
	sources, diags := config.Find(w.Dir, paths, flags)
	if diags.HasErrors() {
		return config.Sources{}, diags
	}
	sources.Packages = w.packages(ctx)
	return sources, nil
}
