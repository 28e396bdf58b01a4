package ocidir

import (
	"context"
	"time"

	"github.com/containerd/containerd/v2/core/leases"
)

// unleased is a leases.Manager whose leases do nothing: sweep keeps what is young.
type unleased struct{}

// Create implements leases.Manager.
func (unleased) Create(_ context.Context, opts ...leases.Opt) (leases.Lease, error) {
	l := leases.Lease{CreatedAt: time.Now()}
	for _, opt := range opts {
		if err := opt(&l); err != nil {
			return leases.Lease{}, err
		}
	}
	return l, nil
}

// Delete implements leases.Manager.
func (unleased) Delete(context.Context, leases.Lease, ...leases.DeleteOpt) error { return nil }

// List implements leases.Manager.
func (unleased) List(context.Context, ...string) ([]leases.Lease, error) { return nil, nil }

// AddResource implements leases.Manager.
func (unleased) AddResource(context.Context, leases.Lease, leases.Resource) error { return nil }

// DeleteResource implements leases.Manager.
func (unleased) DeleteResource(context.Context, leases.Lease, leases.Resource) error { return nil }

// ListResources implements leases.Manager.
func (unleased) ListResources(context.Context, leases.Lease) ([]leases.Resource, error) {
	return nil, nil
}
