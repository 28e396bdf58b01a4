package place

import "deployster/internal/base/diag"

// Unreliable returns a warning if the lock of a state may not hold between machines; nil
// = it does, or this is unknown.
func Unreliable(p Place) *diag.Diagnostic {
	s, err := p.Find()
	if err != nil {
		return nil // whoever opens the state reports it
	}
	return s.Warning()
}

// InUse returns who holds a state for writing at this moment; false = nobody, as far as
// is known.
func InUse(p Place) (who string, inUse bool) {
	s, err := p.Find()
	if err != nil {
		return "", false
	}
	return s.Use()
}

// Clear lists the files next to an encrypted state that are not encrypted: copies, and
// state files that were moved aside. It is empty if the state itself is in clear text.
func Clear(p Place) []string {
	s, err := p.Find()
	if err != nil {
		return nil
	}
	return s.Clear()
}
