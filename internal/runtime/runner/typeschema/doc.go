// Package typeschema checks configs and states against the JSON Schemas of types, and finds
// out what a schema declares about one value. Schemas and documents come in; violations as
// sentences, and pointers to values that must not be shown, go out. The package owns the
// limits for hostile schemas: they can read nothing, and a check that takes too long is ended.
package typeschema
