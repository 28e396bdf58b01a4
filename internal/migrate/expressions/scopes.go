package expressions

import (
	"fmt"
	"slices"
	"strings"
)

// scopes are the names of loops, includes and assignments, with their values in HCL; the innermost is the last.
type scopes []map[string]Value

// open adds a scope, and returns what ends it.
func (s *scopes) open() (end func()) {
	*s = append(*s, map[string]Value{})
	return func() { *s = (*s)[:len(*s)-1] }
}

func (s scopes) innermost() map[string]Value { return s[len(s)-1] }

// find returns the value of a name.
func (s scopes) find(name string) (Value, bool) {
	for i := len(s) - 1; i >= 0; i-- {
		if v, ok := s[i][name]; ok {
			return v, true
		}
	}
	return Value{}, false
}

// hidden are the names at which references begin in HCL.
var hidden = []string{"var", "local", "dep", "resource", "plug", "type", "path", "deployster", "each", "count", "module", "self", "host",
	"artifact", "publish", "for", "in", "if", "else", "endif", "endfor", "null", "true", "false"}

// newName returns a name for a variable of a loop that no other variable has, nor one of others.
func (s scopes) newName(name string, others ...string) string {
	name = strings.TrimLeft(strings.Map(func(c rune) rune {
		if c == '_' || IsName("a"+string(c)) && c != '-' {
			return c
		}
		return '_'
	}, name), "_0123456789")
	if name == "" {
		name = "item"
	}
	for base, n := name, 2; slices.Contains(hidden, name) || slices.Contains(others, name) || s.taken(name); n++ {
		name = fmt.Sprintf("%s%d", base, n)
	}
	return name
}

// taken reports whether an open loop has this name in HCL.
func (s scopes) taken(name string) bool {
	for _, scope := range s {
		for _, v := range scope {
			if usesName(v.Code, name) {
				return true
			}
		}
	}
	return false
}

// usesName reports whether the inside of a template may use a name.
func usesName(body, name string) bool {
	return slices.Contains(strings.FieldsFunc(body, func(c rune) bool { return c != '_' && !IsName("a"+string(c)) }), name)
}
