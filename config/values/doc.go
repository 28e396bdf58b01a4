// Package values is about single values: from cty to JSON and back, the words that
// messages and the console have for them, their marks (what is sensitive, and what a
// state made so), paths into them, and the types that a JSON Schema gives to states.
// Values come in, values or text go out; nothing is kept but the types of schemas
// that were read already.
package values
