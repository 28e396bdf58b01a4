package api

import (
	"context"

	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// GetLease returns a Lease as the store of the cluster has it now; nil = there is none.
func (c *Client) GetLease(ctx context.Context, name string) (*coordination.Lease, error) {
	out := &coordination.Lease{}
	err := c.again(ctx, func(ctx context.Context) error {
		*out = coordination.Lease{}
		return c.coordination.Get().Namespace(c.Namespace).Resource("leases").Name(name).Do(ctx).Into(out)
	})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return out, err
}

// CreateLease creates a Lease once. The error is a conflict if it exists already, as after a lost answer.
func (c *Client) CreateLease(ctx context.Context, l *coordination.Lease) (*coordination.Lease, error) {
	out := &coordination.Lease{}
	ctx, cancel := context.WithTimeout(ctx, perCall)
	defer cancel()
	err := c.coordination.Post().Namespace(c.Namespace).Resource("leases").Body(l).Do(ctx).Into(out)
	return out, err
}

// UpdateLease replaces the version of a Lease that was read. It is not tried again: whether an update whose answer
// was lost was carried out is visible in the Lease.
func (c *Client) UpdateLease(ctx context.Context, l *coordination.Lease) (*coordination.Lease, error) {
	out := &coordination.Lease{}
	ctx, cancel := context.WithTimeout(ctx, perCall)
	defer cancel()
	err := c.coordination.Put().Namespace(c.Namespace).Resource("leases").Name(l.Name).Body(l).Do(ctx).Into(out)
	return out, err
}
