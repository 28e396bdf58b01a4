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
	"deployster/internal/runner"
	"deployster/protocol"
)

// maxLinks is how many symbolic links the way to a plug may have: the kernel's
// own limit.
const maxLinks = 40

// Lead follows the symbolic links on the way to a plug, so that a plan says
// where they lead, and apply mounts that or nothing. A link in a plug that
// types may write to is not followed: one of them could have made it, and lead
// another to any file of this host. What is not there is left as it is written,
// for the one who mounts it to say.
func Lead(plug config.Plug, plugs map[string]config.Plug) (string, error) {
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
			return "", fmt.Errorf("%s is a symbolic link in the plug %q, and types that may write there could make it lead anywhere on this "+
				"host. Name the place that is meant itself, or declare the plug %q read_only = true", next, name, name)
		}
		to, err := os.Readlink(next)
		if links++; err != nil || links > maxLinks {
			return "", fmt.Errorf("the symbolic link %s leads nowhere: there are more than %d on the way, or it cannot be read", next, maxLinks)
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

// writableAround gives the plug, if any, that types may write to and that a
// directory lies in.
func writableAround(dir string, plugs map[string]config.Plug) string {
	for _, name := range slices.Sorted(maps.Keys(plugs)) {
		p := plugs[name]
		if p.ReadOnly || p.Artifact != "" {
			continue
		}
		root, err := filepath.EvalSymlinks(p.Path)
		if err == nil && (dir == root || root == "/" || strings.HasPrefix(dir, root+"/")) {
			return name
		}
	}
	return ""
}

// Blame says of an error of an image whether it is one of a plug: of a path that does not
// exist. That is told where the path is written.
func (p *Plugs) Blame(diags diag.Diagnostics, err error, t protocol.Type) diag.Diagnostics {
	var missing *runner.NoSourceError
	if !errors.As(err, &missing) || !errors.Is(err, fs.ErrNotExist) {
		return diags
	}
	for name, want := range t.Plugs {
		if plug, declared := p.byName[name]; declared && want.ContainerPath == missing.Target {
			at := plug.Range
			return diag.Diagnostics{{Severity: diag.Error, Summary: fmt.Sprintf("Plug %q: %s does not exist", name, diag.Visible(missing.Source)),
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
