// Package typeschema checks configs and states against the JSON Schemas of types, and
// finds out what a schema says of one value. Schemas and documents come in; violations
// in sentences, and pointers to what must not be shown, go out. It owns the limits of
// hostile schemas: they read nothing, and a check that takes too long ends.
package typeschema
