package content

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secret"
	"deployster/internal/runtime/artifact"
)

// MaxPassed is how many versions of one source an entry records.
const MaxPassed = 100

// Passed is a version with which a resource was VALID.
type Passed struct {
	Line    string           `json:"line"` // of the artifact, see Line
	Space   string           `json:"space,omitempty"`
	Version artifact.Version `json:"version"`
}

// Is reports whether both are the same version of the same source.
func (p Passed) Is(other Passed) bool {
	return p.Line == other.Line && p.Space == other.Space && p.Version.Is(other.Version)
}

// Line names the line of versions that an image and a source have. It does not depend on sensitive values.
func Line(image string, source json.RawMessage, sensitive []string) string {
	masked := secret.Mask(source, sensitive)
	if c, err := jsondoc.Canonical(masked); err == nil {
		masked = c
	}
	sum := sha256.Sum256(append([]byte(image+"\x00"), masked...))
	return hex.EncodeToString(sum[:16])
}

// Passes returns a list with a version as its last. It keeps the last MaxPassed of each source.
func Passes(list []Passed, now Passed) []Passed {
	out := slices.DeleteFunc(slices.Clone(list), func(p Passed) bool { return p.Is(now) })
	out = append(out, now)
	count := 0
	for _, p := range out {
		if p.Line == now.Line {
			count++
		}
	}
	for i := 0; count > MaxPassed; i++ {
		if out[i].Line == now.Line {
			out = slices.Delete(out, i, i+1)
			count--
			i--
		}
	}
	return out
}
