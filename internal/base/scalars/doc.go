// Package scalars converts the numbers, texts and truth values of a document to the
// kind that a JSON Schema names for their place: "80" to 80, 8080 to "8080", "true"
// to true. A schema and a document come in, a document goes out, which is the same
// where nothing is converted. Nothing is lost by it: what could not be written back
// as it was stays as it is, for the schema to refuse.
package scalars
