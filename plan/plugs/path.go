package plugs

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// maxLinks is how many symbolic links the path of a plug may have: the kernel's
// own limit.
const maxLinks = 40

// ResolveLinks follows the symbolic links in the path of a plug, so that a plan declares where
// they lead, and apply mounts that or nothing. It does not follow a link in a plug that
// types may write to: one of them could have made the link, and so lead another type to
// any file of this host. From a part that does not exist on, Lead returns the path as
// written: the mount reports it.
func ResolveLinks(plug config.Plug, plugs map[string]config.Plug) (string, error) {
	at, rest, links := "/", parts(plug.Path), 0
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		if part == ".." {
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, part)
		info, err := os.Lstat(next)
		if err != nil {
			return filepath.Join(append([]string{next}, rest...)...), nil
		}
		if info.Mode().Type() != os.ModeSymlink {
			at = next
			continue
		}
		if name := writableAround(at, plugs); name != "" {
			return "", fmt.Errorf("%s is a symbolic link in the plug %q, and types that may write there could make it lead anywhere on "+
				"this host. Name its target, or declare the plug %q read_only = true", next, name, name)
		}
		to, err := os.Readlink(next)
		if links++; err != nil || links > maxLinks {
			return "", fmt.Errorf("the symbolic link %s has no target: there are more than %d on the way, or it cannot be "+
				"read", next, maxLinks)
		}
		if filepath.IsAbs(to) {
			at = "/"
		}
		rest = append(parts(to), rest...)
	}
	return at, nil
}

func parts(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

// writableAround returns the name of the plug that contains a directory and that types
// may write to; "" = none.
func writableAround(dir string, plugs map[string]config.Plug) string {
	for _, name := range slices.Sorted(maps.Keys(plugs)) {
		p := plugs[name]
		if p.ReadOnly || p.Artifact != "" || p.Content != "" {
			continue
		}
		root, err := filepath.EvalSymlinks(p.Path)
		if err == nil && (dir == root || root == "/" || strings.HasPrefix(dir, root+"/")) {
			return name
		}
	}
	return ""
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
