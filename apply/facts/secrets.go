package facts

import "deployster/protocol"

// SetApplied notes which secrets an object has: those of actions that have all ended well. nil = that is not known.
func (f *Facts) SetApplied(addr string, as protocol.Fingerprints) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.applied[addr] = as
}

// Applied returns which secrets an object has on which this apply has acted; nil = that is not known.
func (f *Facts) Applied(addr string) protocol.Fingerprints {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.applied[addr]
}
