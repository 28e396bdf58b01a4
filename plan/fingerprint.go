package plan

import (
	"maps"
	"slices"

	"deployster/plan/digest"
	"deployster/protocol"
)

// Fingerprint returns a plan's id: the hash of its content without the id itself.
func Fingerprint(p *Plan) string {
	blank := *p
	blank.ID, blank.Resources = "", nil
	id, err := digest.Of(&blank, slices.Sorted(maps.Keys(p.Resources)), func(addr string) digest.Part {
		step := Step{}
		if s := p.Resources[addr]; s != nil { // a damaged file may have none
			step = *s
		}
		part := digest.Part{Init: step.Init}
		step.Init = protocol.Type{}
		part.Rest = &step
		return part
	})
	if err != nil {
		return "" // a plan that cannot be encoded has no id; Write says why
	}
	return id
}
