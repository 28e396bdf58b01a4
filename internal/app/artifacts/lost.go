package artifacts

import (
	"context"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/artifact"
)

// lost explains the error about files that are not part of the plan and that their image could not fetch
// again: which resource uses them, whether their source still has them, and how to do without them.
func (f *Client) lost(ctx context.Context, addr, key string, order artifact.Order, err error) error {
	if artifact.ClassOf(err) != artifact.Failed {
		return err
	}
	for _, p := range f.o.Pins() {
		if p.Key == key {
			return err // the manifest selects that version, and not an earlier one
		}
	}
	why := "its image cannot fetch that again, most likely because its source no longer has it"
	if info, ierr := f.o.Client.Info(ctx, order.Target); ierr == nil && info.Protocol == artifact.Artifacts2 {
		if listed, lerr := f.has(ctx, order, info); lerr == nil && !listed {
			why = "its source no longer has that"
		}
	}
	said := diag.From("Cannot get an artifact", err)[0]
	return diag.Because(err, "A version of artifact."+order.Name+" is needed and cannot be fetched",
		"%s was made with version %s, and %s. %s: %s Publish that version again; or leave the resource out with -exclude=%s; or remove "+
			"its block and forget it with a removed block that has destroy = false.", config.Reference(addr),
		diag.Visible(order.Recipe.Version.String()), why, said.Summary, said.Detail, addr)
}
