package funcs

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/zclconf/go-cty/cty/function"
)

// pathFunctions transform paths, and read no file.
func pathFunctions(dir, home string) map[string]function.Function {
	return map[string]function.Function{
		"abspath": onTextAs("path", func(p string) (string, error) {
			if !filepath.IsAbs(p) {
				p = filepath.Join(dir, p)
			}
			return filepath.ToSlash(filepath.Clean(p)), nil
		}),
		"basename":   onTextAs("path", func(p string) (string, error) { return filepath.Base(p), nil }),
		"dirname":    onTextAs("path", func(p string) (string, error) { return filepath.Dir(p), nil }),
		"pathexpand": onTextAs("path", func(p string) (string, error) { return expand(p, home) }),
	}
}

func expand(p, home string) (string, error) {
	switch {
	case p == "" || p[0] != '~':
		return p, nil
	case len(p) > 1 && p[1] != '/':
		return "", fmt.Errorf("%q is the home directory of another user, which is not supported: write its path", p)
	case home == "":
		return "", fmt.Errorf("~ has no home directory: set HOME")
	}
	return filepath.Join(home, strings.TrimPrefix(p, "~")), nil
}
