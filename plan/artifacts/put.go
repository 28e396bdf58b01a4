package artifacts

import (
	"encoding/json"
	"strings"

	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secret"
)

// SamePut reports whether two configs of a publish mean the same put. Sensitive values in
// the source are not compared: a new password publishes nothing. sensitive are pointers
// into the configs.
func SamePut(was, now json.RawMessage, sensitive []string) bool {
	var hidden []string
	for _, pointer := range sensitive {
		if pointer == "/source" || strings.HasPrefix(pointer, "/source/") {
			hidden = append(hidden, pointer)
		}
	}
	return jsondoc.Same(secret.Mask(was, hidden), secret.Mask(now, hidden))
}
