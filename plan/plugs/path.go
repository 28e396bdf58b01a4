package plugs

import (
	"errors"
	"fmt"
	"io/fs"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/links"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// ResolveLinks follows the symbolic links in the path of a plug, so that a plan declares where
// they lead, and apply mounts that or nothing: see package links.
func ResolveLinks(plug config.Plug, plugs map[string]config.Plug) (string, error) {
	writable := map[string]string{}
	for name, p := range plugs {
		if !p.ReadOnly && p.Artifact == "" && p.Content == "" {
			writable[name] = p.Path
		}
	}
	return links.Follow(plug.Path, writable)
}

// Blame returns the error of an image that failed because the path of a plug does not
// exist, with the place where the path is written; for any other error it returns diags.
func (p *Plugs) Blame(diags diag.Diagnostics, err error, t protocol.Type) diag.Diagnostics {
	var missing *runner.NoSourceError
	if !errors.As(err, &missing) || !errors.Is(err, fs.ErrNotExist) {
		return diags
	}
	for name, want := range t.Plugs {
		if plug, declared := p.byName[name]; declared && want.ContainerPath == missing.Target {
			at := plug.Range
			return diag.Diagnostics{{Severity: diag.Error, Summary: fmt.Sprintf("Plug %q: %s does not exist", name,
				diag.Visible(missing.Source)),
				Detail: "Create it, or write another path.", Range: &at}}
		}
	}
	return diags
}

func errPlugPath(r *config.Resource, plug config.Plug, err error) *diag.Diagnostic {
	d := plugError(r, "Plug leads through a link that others may change", "The path of the plug %q is not followed: %s.", plug.Name, err)
	at := plug.Range
	d.Range = &at
	return d
}
