package answers

import (
	"strings"

	"deployster/internal/base/diag"
	"deployster/protocol"
)

// maxProvidedID is the length limit of an identity that an image provides, in bytes: that of a path.
const maxProvidedID = 4096

// provides returns the objects of other kinds that an object brings.
func provides(f *Fields) []protocol.Provided {
	seen := map[protocol.Provided]bool{}
	var list []protocol.Provided
	for _, o := range f.objectsUpTo("provides", protocol.MaxProvides) {
		one := protocol.Provided{Kind: o.needText("kind"), ID: o.needText("id")}
		o.Done()
		if !properName(one.Kind) {
			f.Problem("%q is not a valid name for a kind: at most %d bytes, no control or invisible characters", o.at("kind"), maxName)
		}
		if len(one.ID) > maxProvidedID || strings.ContainsAny(one.ID, "\n\t") || diag.Visible(one.ID) != one.ID {
			f.Problem("%q is not a valid identity: at most %d bytes, no control or invisible characters", o.at("id"), maxProvidedID)
		}
		if seen[one] {
			f.Problem("%q names %s %q twice", f.at("provides"), one.Kind, one.ID)
		}
		seen[one], list = true, append(list, one)
	}
	return list
}
