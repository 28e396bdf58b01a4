package modsource

import (
	"fmt"
	"path/filepath"
	"strings"
)

// DirectoryFault returns why a source that is not one of a package names no directory of this machine, in
// sentences; "" = it does.
func DirectoryFault(path string) string {
	switch {
	case strings.ContainsRune(path, 0):
		return "A path cannot contain a null byte."
	case filepath.IsAbs(path):
		return fmt.Sprintf("%q is an absolute path, which differs on every machine. Write the path from this file: \"./DIRECTORY\" or "+
			"\"../DIRECTORY\".", path)
	case path == ".", path == "..", strings.HasPrefix(path, "./"), strings.HasPrefix(path, "../"):
		return ""
	case strings.Contains(path, ":") || strings.Count(path, "/") > 1 || strings.Contains(strings.Split(path, "/")[0], "."):
		return fmt.Sprintf("%q is not a source that deployster knows. A directory begins with ./ or ../, a repository of git with git::, "+
			"as in \"git::https://HOST/PATH//DIRECTORY?ref=TAG\", and an image with oci://, as in \"oci://HOST/NAME:TAG\".", path)
	}
	return fmt.Sprintf("A module is a directory, written from this file on with ./ or ../ at the beginning. Did you mean %q?", "./"+path)
}
