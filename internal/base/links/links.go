package links

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// most is how many symbolic links a path may have: the kernel's own limit.
const most = 40

// Follow follows the symbolic links in a path. It does not follow a link in a directory that types may
// write to: one of them could have made the link, and so lead another type to any file of this machine.
// These are the paths of plugs, by name. From a part that does not exist on, Follow returns the path as
// written: the mount reports it.
func Follow(path string, writable map[string]string) (string, error) {
	at, rest, links := "/", parts(path), 0
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
		if name := around(at, writable); name != "" {
			return "", fmt.Errorf("%s is a symbolic link in the plug %q, and types that may write there could make it lead anywhere on "+
				"this host. Name its target, or declare the plug %q read_only = true", next, name, name)
		}
		to, err := os.Readlink(next)
		if links++; err != nil || links > most {
			return "", fmt.Errorf("the symbolic link %s has no target: there are more than %d on the way, or it cannot be "+
				"read", next, most)
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

// around returns the name of the plug that contains a directory; "" = none.
func around(dir string, writable map[string]string) string {
	for _, name := range slices.Sorted(maps.Keys(writable)) {
		root, err := filepath.EvalSymlinks(writable[name])
		if err == nil && (dir == root || root == "/" || strings.HasPrefix(dir, root+"/")) {
			return name
		}
	}
	return ""
}
