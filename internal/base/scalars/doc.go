// Package scalars converts the numbers, texts and truth values of a document to the type
// that a JSON Schema names for their place: "80" to 80, 8080 to "8080", "true" to true. A
// schema and a document come in, a document goes out, which is unchanged if nothing is
// converted. A conversion loses nothing: a value that could not be converted back exactly
// stays unchanged, for the schema to reject.
package scalars
