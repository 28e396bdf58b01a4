package protocol

import (
	"context"
	"slices"
)

// Provided is an object of another kind that an object brings, as a package brings a directory.
type Provided struct {
	Kind string `json:"kind"` // as types declare it
	ID   string `json:"id"`   // its one identity value: of a path, what is below it counts too
}

// MaxProvides is the most objects that an answer may list as provided.
const MaxProvides = 2000

// Provider is implemented by types whose objects bring objects of other kinds: where the manifest has
// auto_edges, the resources of these come after the one that brings them.
type Provider[C, S any] interface {
	// Provides returns what the object brings, or will bring when it matches the config: at most
	// MaxProvides, directories rather than files. have is nil when the object does not exist. Provides is
	// called after Plan.
	Provides(ctx context.Context, c *Call[C, S], have *S) ([]Provided, error)
}

// provided answers for the intent Present, with what the object brings.
func (s server[C, S]) provided(ctx context.Context, c *Call[C, S], have *S) (StateAnswer, error) {
	answer, err := s.present(ctx, c, have)
	p, provides := s.r.(Provider[C, S])
	if err != nil || !provides {
		return answer, err
	}
	list, err := p.Provides(ctx, c, have)
	answer.Provides = slices.Clip(list[:min(len(list), MaxProvides)])
	return answer, err
}
