package value

import (
	"strconv"
	"strings"
)

// Unknown stands in a config for a value that is known only later.
type Unknown struct{}

// MarshalJSON returns a text that no config can contain.
func (Unknown) MarshalJSON() ([]byte, error) { return []byte(`"\u0000unknown"`), nil }

// Forget replaces the values at some JSON pointers into a config by Unknown.
func Forget(written any, pointers []string) {
	for _, pointer := range pointers {
		at, steps := written, strings.Split(strings.TrimPrefix(pointer, "/"), "/")
		for i, step := range steps {
			step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
			last := i == len(steps)-1
			switch parent := at.(type) {
			case map[string]any:
				if at = parent[step]; last {
					parent[step] = Unknown{}
				}
			case []any:
				n, err := strconv.Atoi(step)
				if err != nil || n < 0 || n >= len(parent) {
					at = nil
					continue
				}
				if at = parent[n]; last {
					parent[n] = Unknown{}
				}
			}
		}
	}
}
