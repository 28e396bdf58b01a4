// Package compare finds how a real state differs from a config, field by field, as a type without a
// Compare of its own does. A config, what the user wrote of it and a state come in; differences and a
// forecast of the state go out.
package compare
