package contents

import (
	"context"
	"time"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/pkg/namespaces"
)

// Conn is a connection to a store.
type Conn struct {
	Client    *client.Client
	Namespace string
	Disk      string // a directory on the disk of the contents; "" = it is unknown where they are
}

// Context adds the namespace to a context, for calls that bypass the client's own
// handling of it.
func (c Conn) Context(ctx context.Context) context.Context {
	return namespaces.WithNamespace(ctx, c.Namespace)
}

// Detached returns a context for work that must be done even if the caller is gone.
func (c Conn) Detached(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(c.Context(context.WithoutCancel(ctx)), limit)
}
