package original

import (
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/migrate/expressions"
)

// check loads the new manifests as `deployster validate` does.
func (m *migration) check() error {
	src := config.Sources{Workspace: ".", Dir: ".", Modules: map[string][]config.File{}, Reads: map[string][]byte{}}
	for _, name := range expressions.Sorted(m.result.Files) {
		src.Manifests = append(src.Manifests, config.File{Path: name, Bytes: m.result.Files[name]})
	}
	_, diags := config.Check(src, nil, config.Builtins{Version: m.options.Version})
	var problems diag.Diagnostics
	for _, d := range diags {
		if d.Severity != diag.Error {
			continue
		}
		became := ""
		if d.Snippet != nil {
			code, _, _ := strings.Cut(strings.TrimSpace(d.Snippet.Code), "\n")
			became = "\nIt would be written as: " + code
		}
		if d.Range != nil {
			became = " (" + d.Range.String() + ")" + became
		}
		problems = append(problems, diag.Errorf(d.Summary, "%s%s\nNothing was written.", d.Detail, became))
	}
	return problems.Err()
}
