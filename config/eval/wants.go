package eval

import "deployster/config/refs"

// selfWants returns what the references to self read.
func selfWants(refs []refs.Reference) []Want {
	var wants []Want
	for _, ref := range refs {
		if ref.Traversal.RootName() == "self" {
			wants = append(wants, Want{ref.Traversal[1:], ref.Open, ref.Traversal.SourceRange()})
		}
	}
	return wants
}
