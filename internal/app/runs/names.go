package runs

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// fileName returns a file name for an address or an action, whose text an image or a
// key of for_each chose. Different texts have different file names.
func fileName(name string) string {
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.[]", r) {
			return r
		}
		return '_'
	}, strings.ReplaceAll(name, `"`, ""))
	safe = strings.TrimLeft(safe, ".-")
	if len(safe) > 100 {
		safe = safe[:100]
	}
	if safe == "" {
		safe = "_"
	}
	if safe != name {
		sum := sha256.Sum256([]byte(name))
		safe += "-" + hex.EncodeToString(sum[:4])
	}
	return safe
}
