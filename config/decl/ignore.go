package decl

import (
	"github.com/hashicorp/hcl/v2"

	"deployster/config/ignore"
	"deployster/config/refs"
	"deployster/config/source"
)

// ignoreChanges decodes lifecycle.ignore_changes.
func (l *loader) ignoreChanges(a *hcl.Attribute) ignore.Rules {
	if a == nil {
		return ignore.Rules{}
	}
	if t := l.t.Refs.AsAddress(a.Expr); len(t) == 1 && t.RootName() == "all" {
		return ignore.Rules{All: true}
	}
	items, bad := hcl.ExprList(refs.Unparen(a.Expr))
	if bad.HasErrors() {
		l.add(source.Failure(a.Expr.Range(), "Invalid ignore_changes",
			"It is a list of attributes of the config, such as [size, tags[\"x\"], disks[0].size], or the word all."))
		return ignore.Rules{}
	}
	var out ignore.Rules
	for _, item := range items {
		if t := l.t.Refs.AsAddress(item); t != nil {
			out.Paths = append(out.Paths, ignore.Path{Steps: t, At: item.Range()})
			continue
		}
		l.add(source.Failure(item.Range(), "Not an attribute", "An element of ignore_changes names a part of the config, such as size, "+
			"tags[\"x\"] or disks[0].size."))
	}
	return out
}
