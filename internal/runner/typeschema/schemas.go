package typeschema

import (
	"encoding/json"
	"sync"

	"deployster/internal/base/jsondoc"
)

// Reader says what schemas say. *Schemas and *Checker are ones that read each schema once:
// those of large providers are long, and are asked about for each resource.
type Reader interface {
	FindProperty(schema json.RawMessage, pointer string) (Property, bool)
	WriteOnly(schema, document json.RawMessage) []string
}

// Schemas are schemas that have been read. It is safe for concurrent use, and its zero
// value is ready.
type Schemas struct {
	mu    sync.Mutex
	known map[string]*schema // by their text
}

// schema is one of them. Nobody changes its document.
type schema struct {
	read     sync.Once
	document any
	err      error

	compiled compiledSchema // where documents were checked
}

// schema finds or reads one.
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
