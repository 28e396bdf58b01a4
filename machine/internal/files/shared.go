package files

import (
	"context"
	"io/fs"

	"deployster/machine/internal/access"
	"deployster/machine/internal/replace"
	"deployster/protocol"
)

// AttributeDocs describe attributes, with the other keys of a config of another package.
func AttributeDocs(with map[string]string) map[string]string { return attributeDocs(with) }

// Edges are what an object at a path with attributes comes after.
func Edges() []protocol.AutoEdge { return edges() }

// Describe returns the attributes of what exists, in the words of the config.
func Describe(ctx context.Context, m *access.Machine, info fs.FileInfo, want Attributes) Attributes {
	return Attributes(describe(ctx, m, info, want))
}

// Change returns the attributes as a change of a file, or an error for a user or group that does
// not exist.
func (a Attributes) Change(ctx context.Context, m *access.Machine) (replace.Change, error) {
	n, err := a.resolve(ctx, m)
	return replace.Change{Mode: n.mode, UID: n.uid, GID: n.gid}, err
}

// Missing returns reasons for the user and the group that do not exist yet.
func (a Attributes) Missing(ctx context.Context, m *access.Machine) []protocol.Reason {
	return a.missing(ctx, m)
}

// ForecastLoss adds to a plan what a new owner removes from a file whose mode is not managed.
func (a Attributes) ForecastLoss(have Attributes, unknown func(string) bool, plan *protocol.Plan) {
	forecast := forecastOf(plan.Forecast)
	a.forecastLoss(had(have), unknown, plan, forecast)
	plan.Forecast = forecast
}

// Parent returns an error if the directory of a path does not exist.
func Parent(m *access.Machine, path string) error { return parent(m, path) }
