package transfer

import (
	"strings"

	"github.com/distribution/reference"
)

// Familiar shortens a full name to the form that a user would write.
func Familiar(name string) string {
	if named, err := reference.ParseNormalizedNamed(name); err == nil {
		return reference.FamiliarString(named)
	}
	return name
}

// Repository returns a name without its tag.
func Repository(name string) string {
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		return name[:i]
	}
	return name
}
