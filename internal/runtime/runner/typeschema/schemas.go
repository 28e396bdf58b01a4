package typeschema

import (
	"encoding/json"
	"sync"

	"deployster/internal/base/jsondoc"
)

// Reader answers questions about schemas. *Schemas and *Checker implement it and parse
// each schema once: the schemas of large providers are long, and each resource needs them.
type Reader interface {
	FindProperty(schema json.RawMessage, pointer string) (Property, bool)
	WriteOnly(schema, document json.RawMessage) []string
	Unrecorded(schema, document json.RawMessage) []string
	WithDefaults(schema, document json.RawMessage) json.RawMessage
}

// Schemas caches parsed schemas. It is safe for concurrent use, and its zero value is
// ready to use.
type Schemas struct {
	mu    sync.Mutex
	known map[string]*schema // by their text
}

// schema is one parsed schema. Its document is never changed.
type schema struct {
	read     sync.Once
	document any
	err      error

	compiled compiledSchema // set when documents are checked
}

// schema returns a schema from the cache, or parses it.
func (s *Schemas) schema(text json.RawMessage) *schema {
	s.mu.Lock()
	one := s.known[string(text)]
	if one == nil {
		if s.known == nil {
			s.known = map[string]*schema{}
		}
		one = &schema{}
		s.known[string(text)] = one
	}
	s.mu.Unlock()
	one.read.Do(func() { one.document, one.err = jsondoc.Value(text) })
	return one
}
