package protocol

import "context"

// Discoverer is implemented by types that can list what exists, for `deployster plan
// -generate-config-out`.
type Discoverer[C, S any] interface {
	// Discover calls tell for each object that exists, with the config that a resource
	// for it would have and a suggested name; "" = no suggestion. It changes nothing,
	// and all plugs are read-only. If tell fails, it returns that error.
	Discover(ctx context.Context, c *Call[C, S], tell func(config C, name string) error) error
}

// found is the line that discover prints for one object.
type found[C any] struct {
	Config C      `json:"config"`
	Name   string `json:"name,omitempty"`
}

// discover prints what exists, one object a line.
func (s server[C, S]) discover(ctx context.Context, p Process, d Discoverer[C, S]) error {
	c, err := s.call(p)
	if err != nil {
		return err
	}
	return d.Discover(ctx, c, func(config C, name string) error { return writeAnswer(p.Stdout, found[C]{config, name}) })
}
