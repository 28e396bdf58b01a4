package instance

import "deployster/internal/base/diag"

// Secret is a secret block: an image that prints a value.
type Secret struct {
	Name string
	TypeSettings
	Config  Resolved
	Compare bool // a changed value is a change
	Range   diag.Range
}
