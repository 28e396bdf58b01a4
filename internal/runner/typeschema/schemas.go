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
	mu   sync.Mutex
	read map[string]*document // by their text
}

// document is a schema that was read. Nobody changes it.
type document struct {
	once sync.Once
	root any
	err  error
}

// document reads a schema, once.
func (s *Schemas) document(text json.RawMessage) (any, error) {
	s.mu.Lock()
	d := s.read[string(text)]
	if d == nil {
		if s.read == nil {
			s.read = map[string]*document{}
		}
		d = &document{}
		s.read[string(text)] = d
	}
	s.mu.Unlock()
	d.once.Do(func() { d.root, d.err = jsondoc.Value(text) })
	return d.root, d.err
}
