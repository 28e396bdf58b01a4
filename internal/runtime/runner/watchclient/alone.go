package watchclient

import (
	"context"

	"deployster/internal/runtime/runner/typeclient"
)

// watchAlone watches a resource with a process of its own.
func (c *Client) watchAlone(ctx context.Context, r *Request, report func(Event)) error {
	give, err := c.take(r)
	if err != nil {
		return err
	}
	defer give()
	s := r.Spec
	if c.o.Log != nil {
		w, flush := typeclient.Lines(r.Address, typeclient.StepWatch, typeclient.Stderr, c.o.Log)
		defer flush()
		s.Stderr = w
	}
	stdin := s.Stdin
	s.Stdin = nil
	p, err := c.launch(ctx, s, &eventReader{c: c, report: report}, maxEvent+1)
	if err != nil {
		return c.failure(r.subject(), &endError{err: err})
	}
	p.meter.expect()
	p.send(ctx, stdin)
	select {
	case <-ctx.Done():
		p.stop()
		return context.Cause(ctx)
	case <-p.gone:
	}
	return c.failure(r.subject(), p.ended())
}
