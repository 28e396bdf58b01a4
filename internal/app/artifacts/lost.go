package artifacts

import (
	"context"

	"deployster/config"
	"deployster/internal/artifact"
	"deployster/internal/base/diag"
)

// lost says of files that no plan has chosen, and whose image could not fetch them again, who
// was made with them, whether their source has them still, and how to do without them.
func (f *Front) lost(ctx context.Context, addr, key string, order artifact.Order, err error) error {
	if artifact.ClassOf(err) != artifact.Failed {
		return err
	}
	for _, p := range f.o.Pins() {
		if p.Key == key {
			return err // the manifest asks for that version, and not for one of before
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
		"%s was made with version %s, and %s. %s: %s Publish that version again; or leave the resource out with -exclude=%s; or remove its "+
			"block and forget it with a removed block that has destroy = false.", config.Reference(addr),
		diag.Visible(order.Recipe.Version.String()), why, said.Summary, said.Detail, addr)
}
