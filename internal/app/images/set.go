package images

// Set is the images of a manifest or of a saved plan: the digests of their names, and what
// fetches others.
type Set struct {
	Pins     map[string]string
	Resolver *Resolver
}
