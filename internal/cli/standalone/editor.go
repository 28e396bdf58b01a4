package standalone

import (
	"os"
	"strings"
	"syscall"

	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/programs"
	"deployster/internal/base/version"
)

// editorProgram is the program that serves editors, so that this one knows no library for that.
const editorProgram = "deployster-lsp"

// ServeEditor becomes the program that serves an editor on stdin and stdout, in the directory of the workspace. It
// returns only if that fails.
func ServeEditor(w *workspace.Workspace) error {
	path := programs.Find(editorProgram)
	if path == "" {
		return diag.Errorf("No language server", "%s is not installed with this deployster: it was not found in %s.", editorProgram,
			strings.Join(programs.Dirs(), ", "))
	}
	if err := os.Chdir(w.Dir); err != nil {
		return err
	}
	return diag.Errorf("The language server cannot be started", "%s: %s.", path,
		syscall.Exec(path, []string{path, "-for=" + version.Version, "-cache=" + w.CacheDir}, w.Environ))
}
