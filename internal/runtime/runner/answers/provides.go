package answers

import (
	"strings"

	"deployster/internal/base/diag"
	"deployster/protocol"
)

// maxProvidedID is the length limit of an identity that an image provides, in bytes: that of a path.
const maxProvidedID = 4096

// providesKey is the key of the objects of other kinds that an object brings.
const providesKey = "provides"

// provides returns the objects of other kinds that an object brings.
func provides(all []*Fields) []protocol.Provided {
	seen := map[protocol.Provided]bool{}
	var list []protocol.Provided
	for _, o := range all {
		one := protocol.Provided{Kind: o.needText("kind"), ID: o.needText("id")}
		o.Done()
		if !properName(one.Kind) {
			o.Problem("%q is not a valid name for a kind: at most %d bytes, no control or invisible characters", o.at("kind"), maxName)
		}
		if len(one.ID) > maxProvidedID || strings.ContainsAny(one.ID, "\n\t") || diag.Visible(one.ID) != one.ID {
			o.Problem("%q is not a valid identity: at most %d bytes, no control or invisible characters", o.at("id"), maxProvidedID)
		}
		if seen[one] {
			o.Problem("%q names %s %q twice", providesKey, one.Kind, one.ID)
		}
		seen[one], list = true, append(list, one)
	}
	return list
}
