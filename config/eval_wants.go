package config

// selfWants are what the references to self read.
func selfWants(refs []reference) []want {
	var wants []want
	for _, ref := range refs {
		if ref.t.RootName() == "self" {
			wants = append(wants, want{ref.t[1:], ref.open, ref.t.SourceRange()})
		}
	}
	return wants
}
