// Package values handles single values: it converts cty to JSON and back, formats values for
// messages and the console, marks them (as sensitive, also by a state), follows paths into
// them, and derives the types of states from JSON Schemas. Its functions take values and
// return values or text; it only caches the types of schemas.
package values
