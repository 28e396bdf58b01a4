package plan

import (
	"maps"
	"slices"

	"deployster/plan/reason"
)

// Later is what a plan leaves to a later round of its apply: a block whose instances become known only then, or what waits for
// one. Nothing is done with it in this round.
type Later struct {
	Sort      LaterSort      `json:"sort"`
	Attribute string         `json:"attribute,omitempty"` // of a block: for_each, count or enabled
	Type      string         `json:"type,omitempty"`      // the image, as far as it is known
	Source    string         `json:"source,omitempty"`    // file:line of its block
	Reason    *reason.Reason `json:"reason"`
}

// LaterSort reports what is left to a later round.
type LaterSort string

// What it can be.
const (
	LaterBlock    LaterSort = "block"    // its instances are not known; the address is that of the block
	LaterResource LaterSort = "resource" // it waits for such a block
	LaterEntry    LaterSort = "entry"    // it is recorded, and may be an instance of such a block, or waits for what may be one
)

// Continues reports whether an apply of the plan has later rounds, if it may.
func (p *Plan) Continues() bool { return len(p.LaterOf(LaterBlock)) > 0 && !p.Selection.RefreshOnly }

// LaterOf lists the addresses of one sort in Later, sorted.
func (p *Plan) LaterOf(sort LaterSort) (list []string) {
	for _, addr := range slices.Sorted(maps.Keys(p.Later)) {
		if p.Later[addr].Sort == sort {
			list = append(list, addr)
		}
	}
	return list
}

// LaterDeclared lists the addresses of blocks and resources in Later, sorted.
func (p *Plan) LaterDeclared() []string {
	list := append(p.LaterOf(LaterBlock), p.LaterOf(LaterResource)...)
	slices.Sort(list)
	return list
}

// later returns what waits for instances that are not known.
func (a assembly) later() map[string]Later {
	if len(a.subject.Later) == 0 {
		return nil
	}
	all := map[string]Later{}
	for addr, why := range a.subject.Later {
		one := Later{Sort: LaterResource, Reason: why}
		if r := a.subject.Manifest.Resource(addr); r != nil {
			one.Type, one.Source = r.TypeRef, r.Range.String()
		} else if a.subject.Entry(addr) {
			one.Sort, one.Type = LaterEntry, a.subject.Prior.Resources[addr].Type
		}
		all[addr] = one
	}
	images := map[string][]string{}
	for _, r := range a.subject.Manifest.Types().Pending() {
		images[r.Address] = append(images[r.Address], r.TypeRef)
	}
	for _, block := range a.subject.Manifest.Pending() { // one may only wait for another
		if one, is := all[block.Address]; is {
			one.Sort, one.Attribute, one.Source = LaterBlock, block.Attribute(), block.Range.String()
			if list := images[block.Address]; len(list) == 1 {
				one.Type = list[0]
			}
			all[block.Address] = one
		}
	}
	return all
}
