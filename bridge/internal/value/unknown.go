package value

import (
	"strconv"
	"strings"
)

// Unknown stands in what a person wrote where a value is known only later.
type Unknown struct{}

// MarshalJSON tells it from all that can be written.
func (Unknown) MarshalJSON() ([]byte, error) { return []byte(`"\u0000unknown"`), nil }

// Forget puts Unknown into what a person wrote, where JSON pointers lead.
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
