package place

import "deployster/internal/base/diag"

// Unreliable warns of a state in a place where a lock may not hold between
// machines; nil = it does, or it cannot be told.
func Unreliable(p Place) *diag.Diagnostic {
	s, err := p.Find()
	if err != nil {
		return nil // said by whoever opens it
	}
	return s.Warning()
}

// InUse says who holds a state for writing at this moment; false = nobody, as far as
// is known.
func InUse(p Place) (who string, inUse bool) {
	s, err := p.Find()
	if err != nil {
		return "", false
	}
	return s.Use()
}

// Clear lists what lies beside an encrypted state and is not encrypted: copies,
// and what was moved aside. It is empty when the state itself is in clear text.
func Clear(p Place) []string {
	s, err := p.Find()
	if err != nil {
		return nil
	}
	return s.Clear()
}
