package protocol

import "context"

// Discoverer is implemented by types that can list what exists, for `deployster plan
// -generate-config-out`.
type Discoverer[C, S any] interface {
	// Discover tells of each thing that exists: the config that a resource of it would
	// have, and what the resource may be called; "" = no suggestion. It changes nothing,
	// and all plugs are read-only. It ends with the error of tell.
	Discover(ctx context.Context, c *Call[C, S], tell func(config C, name string) error) error
}

// found is one thing, as it is told.
type found[C any] struct {
	Config C      `json:"config"`
	Name   string `json:"name,omitempty"`
}

// discover lists what exists, an object a line.
func (s server[C, S]) discover(ctx context.Context, p Process, d Discoverer[C, S]) error {
	c, err := s.call(p)
	if err != nil {
		return err
	}
	return d.Discover(ctx, c, func(config C, name string) error { return writeAnswer(p.Stdout, found[C]{config, name}) })
}
